"""What the room says after a run: figures checked by hand, every case in both languages and for both audiences."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from pipekit import plan
from pipekit.learn.controlroom import sentences
from pipekit.learn.controlroom.presets import LESSON, PRESETS
from pipekit.learn.controlroom.sentences import Said, count, evidence, idle_times, three
from pipekit.learn.experiment import Experiment, Outcome, Prediction, Settings
from pipekit.run import StepResult
from pipekit.run.result import Memory, Slip
from pipekit.show import LANGUAGES, say

SLOT = 0.04  # seconds; a forward on 16 of 64 digits
BATCH_TIME = 0.16
VIEWS = ("class", "engineer")
BOTH = list(itertools.product(LANGUAGES, VIEWS))


def declared(settings):
    """The lesson's clock, written down once more by hand."""
    forward = [
        BATCH_TIME / 64 * (settings.slow_factor if k == settings.slow_device else 1)
        for k in range(settings.num_stages)
    ]
    return plan.Costs(
        forward, [2 * f for f in forward], forward,
        overhead=settings.overhead_ms / 1000, latency=settings.latency_ms / 1000,
    )  # fmt: skip


def step(settings, peak=1000, costs=None, source="measured", overruns=0):
    """A step as if it had been measured: exactly what `costs` say."""
    schedule = settings.build()
    sizes = plan.micro_batch_sizes(64, schedule.num_micro_batches)
    timeline = replace(plan.simulate(schedule, costs or declared(settings), sizes), source=source)
    nothing = [0] * settings.num_stages
    memory = Memory(
        [peak] * settings.num_stages, nothing, nothing, nothing, nothing, np.zeros(0), [], nothing
    )
    return StepResult(torch.tensor(2.3), timeline, memory, overruns, Slip(0.0003, 0.0021), 64)


def outcome_of(settings, difference=3e-7, peak=400, trained=True, **how):
    """What a run with these settings comes to; `peak`: bytes where something is erased (1000 with all kept)."""
    erased = settings.checkpoint != "never"
    result = step(settings, peak if erased else 1000, **how)
    formula = plan.formula_bubble(settings.num_stages, settings.key().num_micro_batches)
    source = how.get("source", "measured")
    return Outcome(
        settings, Prediction(step(settings).timeline, None, formula), result, difference, 2.3, 2.2 if trained else None,
        uncut=step(settings.uncut(), source=source), kept=step(settings.kept(), source=source) if erased else None,
    )  # fmt: skip


def texts(outcome, lang="en", view="class", forward_only=True):
    return [said.text for said in three(outcome, SLOT, lang, view, forward_only)]


BUSY = plan.Costs([0.0025] * 4, [0.005] * 4, latency=0.02)  # 20 ms a hop that nobody declared
REAL = plan.Costs([0.0025, 0.0025, 0.005, 0.0025], [0.005, 0.005, 0.01, 0.005], latency=0.01)
SCENARIOS = {
    "good run": outcome_of(LESSON),
    "overruns": outcome_of(LESSON, costs=BUSY, overruns=3),
    "slow stage": outcome_of(Settings(slow_device=2)),
    "overhead": outcome_of(Settings(num_micro_batches=32, overhead_ms=30)),
    "link": outcome_of(Settings(latency_ms=20)),
    "BatchNorm": outcome_of(Settings(batch_norm=True), difference=0.34),
    "recompute": outcome_of(Settings(checkpoint="always")),
    "refused real time": outcome_of(Settings(real_time=True), source="shared"),
    "real time": outcome_of(Settings(real_time=True), costs=REAL),
    "relay race": outcome_of(Settings(schedule="naive", num_micro_batches=1)),
}
SAID = {
    "good run": """
同一批64张手写数字：不切用了16格，切成4小份用了7格，少用9格。
4块显卡有42.9%的时间闲着（开头等活6格，结尾没活6格），公式算出来是42.9%。
结果一样：每个旋钮要改的量，和不切时最多只差千万分之三，是小数计算的零头。
真的训练了 · 替身显卡×4：CPU 算完一格活，再等满规定的时间 · 1格=40毫秒 · 0次超时

小批次 64 个样本：不切分 16 格，4 个微批次 7 格，少 9 格，加速比 2.3。
4 个设备的气泡占比（空闲 / (K × 总时间)）实测 42.9%（填充 6 格，排空 6 格），公式 42.9%。
与不切分等价：各参数的梯度相对误差最大为 3.0e-07，属于浮点舍入误差。
真的训练了 · 替身设备×4（限速的 CPU）：每个操作真的计算，再等满规定的时间 · 1 格 = 40 毫秒 · 0 次超时 · 唤醒延迟 0.3 毫秒（中位数），最大 2.1 毫秒

The same 64 digits took 16 slots uncut, 7 slots in 4 pieces: 9 slots fewer.
4 GPUs sat idle 42.9% of the time (6 slots at the start, 6 slots at the end); the formula says 42.9%.
Same result: what each parameter is changed by differs from uncut by at most 3 in 10 million, mere rounding.
Really trained · 4 stand-in GPUs: the CPU does each step, then waits out its time · 1 slot = 40 ms · 0 overruns

Mini-batch of 64 samples: uncut 16 slots, 4 micro-batches 7 slots, 9 slots fewer, speed-up 2.3.
Bubble fraction of 4 devices (idle / (K × makespan)): measured 42.9% (fill 6 slots, drain 6 slots), formula 42.9%.
Same gradients as uncut: relative difference of a parameter at most 3.0e-07, floating-point rounding.
Really trained · 4 stand-ins (CPU, slowed down): every op computes, then waits out its declared time · 1 slot = 40 ms · 0 overruns · woke up 0.3 ms late (median), 2.1 at worst
""",
    "overruns": """
同一批64张手写数字：不切用了16格，切成4小份用了8.5格，少用7.5格。
4块显卡有52.9%的时间闲着（开头等活9格，结尾没活9格），比公式的42.9%多10.1个百分点，主要因为：有的活超时了。
结果一样：每个旋钮要改的量，和不切时最多只差千万分之三，是小数计算的零头。
! 真的训练了 · 替身显卡×4：CPU 算完一格活，再等满规定的时间 · 1格=40毫秒 · 3次超时 · 请关掉别的程序再训练一次，或者把钟调慢：batch_time=0.32（现在0.16）

小批次 64 个样本：不切分 16 格，4 个微批次 8.5 格，少 7.5 格，加速比 1.9。
4 个设备的气泡占比（空闲 / (K × 总时间)）实测 52.9%（填充 9 格，排空 9 格），比公式 42.9% 多 10.1 个百分点，主要来自：操作超时（+10.1）。
与不切分等价：各参数的梯度相对误差最大为 3.0e-07，属于浮点舍入误差。
! 真的训练了 · 替身设备×4（限速的 CPU）：每个操作真的计算，再等满规定的时间 · 1 格 = 40 毫秒 · 3 次超时 · 唤醒延迟 0.3 毫秒（中位数），最大 2.1 毫秒 · 请关掉别的程序再训练一次，或者放慢时钟：batch_time=0.32（现在是 0.16）

The same 64 digits took 16 slots uncut, 8.5 slots in 4 pieces: 7.5 slots fewer.
4 GPUs sat idle 52.9% of the time, 10.1 points above the formula's 42.9%, mainly because ops overran.
Same result: what each parameter is changed by differs from uncut by at most 3 in 10 million, mere rounding.
! Really trained · 4 stand-in GPUs: the CPU does each step, then waits out its time · 1 slot = 40 ms · 3 overruns · close other programs and train again, or take a slower clock: batch_time=0.32 (now 0.16)

Mini-batch of 64 samples: uncut 16 slots, 4 micro-batches 8.5 slots, 7.5 slots fewer, speed-up 1.9.
Bubble fraction of 4 devices (idle / (K × makespan)): measured 52.9% (fill 9 slots, drain 9 slots), 10.1 points above the formula's 42.9%, mainly from: overruns (+10.1).
Same gradients as uncut: relative difference of a parameter at most 3.0e-07, floating-point rounding.
! Really trained · 4 stand-ins (CPU, slowed down): every op computes, then waits out its declared time · 1 slot = 40 ms · 3 overruns · woke up 0.3 ms late (median), 2.1 at worst · close other programs and train again, or take a slower clock: batch_time=0.32 (now 0.16)
""",
    "slow stage": """
同一批64张手写数字：不切用了20格，切成4小份用了11格，少用9格。
4块显卡有54.5%的时间闲着（开头等活7格，中间断活3格，结尾没活14格），比公式的42.9%多11.7个百分点，主要因为：显卡 3 慢。
结果一样：每个旋钮要改的量，和不切时最多只差千万分之三，是小数计算的零头。
真的训练了 · 替身显卡×4：CPU 算完一格活，再等满规定的时间 · 1格=40毫秒 · 显卡 3 要用2倍的时间 · 0次超时

小批次 64 个样本：不切分 20 格，4 个微批次 11 格，少 9 格，加速比 1.8。
4 个设备的气泡占比（空闲 / (K × 总时间)）实测 54.5%（填充 7 格，中间 3 格，排空 14 格），比公式 42.9% 多 11.7 个百分点，主要来自：设备 2 较慢（+11.7）。
与不切分等价：各参数的梯度相对误差最大为 3.0e-07，属于浮点舍入误差。
真的训练了 · 替身设备×4（限速的 CPU）：每个操作真的计算，再等满规定的时间 · 1 格 = 40 毫秒 · 设备 2 的耗时是 2 倍 · 0 次超时 · 唤醒延迟 0.3 毫秒（中位数），最大 2.1 毫秒

The same 64 digits took 20 slots uncut, 11 slots in 4 pieces: 9 slots fewer.
4 GPUs sat idle 54.5% of the time, 11.7 points above the formula's 42.9%, mainly because GPU 3 is slow.
Same result: what each parameter is changed by differs from uncut by at most 3 in 10 million, mere rounding.
Really trained · 4 stand-in GPUs: the CPU does each step, then waits out its time · 1 slot = 40 ms · GPU 3 takes 2 times as long · 0 overruns

Mini-batch of 64 samples: uncut 20 slots, 4 micro-batches 11 slots, 9 slots fewer, speed-up 1.8.
Bubble fraction of 4 devices (idle / (K × makespan)): measured 54.5% (fill 7 slots, in between 3 slots, drain 14 slots), 11.7 points above the formula's 42.9%, mainly from: slow device 2 (+11.7).
Same gradients as uncut: relative difference of a parameter at most 3.0e-07, floating-point rounding.
Really trained · 4 stand-ins (CPU, slowed down): every op computes, then waits out its declared time · 1 slot = 40 ms · device 2 takes 2 times as long · 0 overruns · woke up 0.3 ms late (median), 2.1 at worst
""",
    "overhead": """
同一批64张手写数字：不切用了19格，切成32小份用了30.6格，反而多用11.6格：每格活要多花30毫秒，切得越细，多花得越多。
4块显卡有8.6%的时间闲着（开头等活5.2格，结尾没活5.2格），公式算出来是8.6%。
结果一样：每个旋钮要改的量，和不切时最多只差千万分之三，是小数计算的零头。
真的训练了 · 替身显卡×4：CPU 算完一格活，再等满规定的时间 · 1格=40毫秒 · 每格活多花30毫秒 · 0次超时

小批次 64 个样本：不切分 19 格，32 个微批次 30.6 格，反而多 11.6 格：每个操作开销 30 毫秒，微批次越多，总开销越大。
4 个设备的气泡占比（空闲 / (K × 总时间)）实测 8.6%（填充 5.2 格，排空 5.2 格），公式 8.6%。
与不切分等价：各参数的梯度相对误差最大为 3.0e-07，属于浮点舍入误差。
真的训练了 · 替身设备×4（限速的 CPU）：每个操作真的计算，再等满规定的时间 · 1 格 = 40 毫秒 · 每个操作开销 30 毫秒 · 0 次超时 · 唤醒延迟 0.3 毫秒（中位数），最大 2.1 毫秒

The same 64 digits took 19 slots uncut, 30.6 slots in 32 pieces, 11.6 slots more: every op costs 30 ms extra, and finer pieces mean more ops.
4 GPUs sat idle 8.6% of the time (5.2 slots at the start, 5.2 slots at the end); the formula says 8.6%.
Same result: what each parameter is changed by differs from uncut by at most 3 in 10 million, mere rounding.
Really trained · 4 stand-in GPUs: the CPU does each step, then waits out its time · 1 slot = 40 ms · 30 ms extra per op · 0 overruns

Mini-batch of 64 samples: uncut 19 slots, 32 micro-batches 30.6 slots, 11.6 slots more: 30 ms overhead per op grows with the number of micro-batches.
Bubble fraction of 4 devices (idle / (K × makespan)): measured 8.6% (fill 5.2 slots, drain 5.2 slots), formula 8.6%.
Same gradients as uncut: relative difference of a parameter at most 3.0e-07, floating-point rounding.
Really trained · 4 stand-ins (CPU, slowed down): every op computes, then waits out its declared time · 1 slot = 40 ms · 30 ms overhead per op · 0 overruns · woke up 0.3 ms late (median), 2.1 at worst
""",
    "link": """
同一批64张手写数字：不切用了17.5格，切成4小份用了8.5格，少用9格。
4块显卡有52.9%的时间闲着（开头等活9格，结尾没活9格），比公式的42.9%多10.1个百分点，主要因为：传来传去花时间。
结果一样：每个旋钮要改的量，和不切时最多只差千万分之三，是小数计算的零头。
真的训练了 · 替身显卡×4：CPU 算完一格活，再等满规定的时间 · 1格=40毫秒 · 传一次20毫秒 · 0次超时

小批次 64 个样本：不切分 17.5 格，4 个微批次 8.5 格，少 9 格，加速比 2.1。
4 个设备的气泡占比（空闲 / (K × 总时间)）实测 52.9%（填充 9 格，排空 9 格），比公式 42.9% 多 10.1 个百分点，主要来自：每跳延迟（+10.1）。
与不切分等价：各参数的梯度相对误差最大为 3.0e-07，属于浮点舍入误差。
真的训练了 · 替身设备×4（限速的 CPU）：每个操作真的计算，再等满规定的时间 · 1 格 = 40 毫秒 · 每跳 20 毫秒 · 0 次超时 · 唤醒延迟 0.3 毫秒（中位数），最大 2.1 毫秒

The same 64 digits took 17.5 slots uncut, 8.5 slots in 4 pieces: 9 slots fewer.
4 GPUs sat idle 52.9% of the time, 10.1 points above the formula's 42.9%, mainly because handing over takes time.
Same result: what each parameter is changed by differs from uncut by at most 3 in 10 million, mere rounding.
Really trained · 4 stand-in GPUs: the CPU does each step, then waits out its time · 1 slot = 40 ms · 20 ms per hand-over · 0 overruns

Mini-batch of 64 samples: uncut 17.5 slots, 4 micro-batches 8.5 slots, 9 slots fewer, speed-up 2.1.
Bubble fraction of 4 devices (idle / (K × makespan)): measured 52.9% (fill 9 slots, drain 9 slots), 10.1 points above the formula's 42.9%, mainly from: latency per hop (+10.1).
Same gradients as uncut: relative difference of a parameter at most 3.0e-07, floating-point rounding.
Really trained · 4 stand-ins (CPU, slowed down): every op computes, then waits out its declared time · 1 slot = 40 ms · 20 ms per hop · 0 overruns · woke up 0.3 ms late (median), 2.1 at worst
""",
    "BatchNorm": """
同一批64张手写数字：不切用了16格，切成4小份用了7格，少用9格。
4块显卡有42.9%的时间闲着（开头等活6格，结尾没活6格），公式算出来是42.9%。
结果不一样（最多差34%）：BatchNorm 拿每一小份自己的平均数来算，不切时拿的是一大批的平均数。
真的训练了 · 替身显卡×4：CPU 算完一格活，再等满规定的时间 · 1格=40毫秒 · 0次超时

小批次 64 个样本：不切分 16 格，4 个微批次 7 格，少 9 格，加速比 2.3。
4 个设备的气泡占比（空闲 / (K × 总时间)）实测 42.9%（填充 6 格，排空 6 格），公式 42.9%。
梯度不一致（相对误差最大为 3.4e-01）：BatchNorm 用各微批次自己的统计量，不切分时用整个小批次的。
真的训练了 · 替身设备×4（限速的 CPU）：每个操作真的计算，再等满规定的时间 · 1 格 = 40 毫秒 · 0 次超时 · 唤醒延迟 0.3 毫秒（中位数），最大 2.1 毫秒

The same 64 digits took 16 slots uncut, 7 slots in 4 pieces: 9 slots fewer.
4 GPUs sat idle 42.9% of the time (6 slots at the start, 6 slots at the end); the formula says 42.9%.
Not the same result (up to 34% off): BatchNorm takes each piece's own average, not the whole batch's.
Really trained · 4 stand-in GPUs: the CPU does each step, then waits out its time · 1 slot = 40 ms · 0 overruns

Mini-batch of 64 samples: uncut 16 slots, 4 micro-batches 7 slots, 9 slots fewer, speed-up 2.3.
Bubble fraction of 4 devices (idle / (K × makespan)): measured 42.9% (fill 6 slots, drain 6 slots), formula 42.9%.
Gradients differ (up to 3.4e-01): BatchNorm normalises by each micro-batch's statistics, not the mini-batch's.
Really trained · 4 stand-ins (CPU, slowed down): every op computes, then waits out its declared time · 1 slot = 40 ms · 0 overruns · woke up 0.3 ms late (median), 2.1 at worst
""",
    "recompute": """
同一批64张手写数字：不切用了48格，切成4小份用了28格，少用20格。
草稿比都留着少了60%，多花了33%的时间；4块显卡有42.9%的时间闲着，公式算出来是42.9%。
结果一样：每个旋钮要改的量，和不切时最多只差千万分之三，是小数计算的零头。
真的训练了 · 替身显卡×4：CPU 算完一格活，再等满规定的时间 · 1格=40毫秒 · 0次超时

小批次 64 个样本：不切分 48 格，4 个微批次 28 格，少 20 格，加速比 1.7。
激活值峰值减少 60%，总时间增加 33%；4 个设备的气泡占比（空闲 / (K × 总时间)）实测 42.9%，公式 42.9%。
与不切分等价：各参数的梯度相对误差最大为 3.0e-07，属于浮点舍入误差。
真的训练了 · 替身设备×4（限速的 CPU）：每个操作真的计算，再等满规定的时间 · 1 格 = 40 毫秒 · 0 次超时 · 唤醒延迟 0.3 毫秒（中位数），最大 2.1 毫秒

The same 64 digits took 48 slots uncut, 28 slots in 4 pieces: 20 slots fewer.
Scratch paper is 60% less than keeping all, the time 33% more; 4 GPUs sat idle 42.9% of the time; the formula says 42.9%.
Same result: what each parameter is changed by differs from uncut by at most 3 in 10 million, mere rounding.
Really trained · 4 stand-in GPUs: the CPU does each step, then waits out its time · 1 slot = 40 ms · 0 overruns

Mini-batch of 64 samples: uncut 48 slots, 4 micro-batches 28 slots, 20 slots fewer, speed-up 1.7.
Peak activations 60% less, makespan 33% more; bubble fraction of 4 devices (idle / (K × makespan)): measured 42.9%, formula 42.9%.
Same gradients as uncut: relative difference of a parameter at most 3.0e-07, floating-point rounding.
Really trained · 4 stand-ins (CPU, slowed down): every op computes, then waits out its declared time · 1 slot = 40 ms · 0 overruns · woke up 0.3 ms late (median), 2.1 at worst
""",
    "refused real time": """
同一批64张手写数字：不切用了640毫秒，切成4小份用了280毫秒，少用360毫秒，速度是不切的2.3倍。
! CPU 核不够，4块显卡抢着用，谁在等谁量不准，所以没有气泡的数：请少用几块显卡，或者换回替身显卡。
结果一样：每个旋钮要改的量，和不切时最多只差千万分之三，是小数计算的零头。
! 真的训练了 · 4个 CPU 线程，真实计时，没有规定的时间 · CPU 核不够分，气泡不算数

小批次 64 个样本：不切分 640 毫秒，4 个微批次 280 毫秒，少 360 毫秒，加速比 2.3。
! CPU 核不够，4 个设备共享核心，气泡占比不可测：请减少设备，或者用替身设备。
与不切分等价：各参数的梯度相对误差最大为 3.0e-07，属于浮点舍入误差。
! 真的训练了 · 4 个 CPU 线程，真实计时，没有规定的时间 · CPU 核被共享，气泡占比不可测

The same 64 digits took 640 ms uncut, 280 ms in 4 pieces: 360 ms less, 2.3 times the speed of uncut.
! 4 GPUs share too few CPU cores, so who waits for whom can't be measured and there is no bubble: use fewer GPUs, or stand-ins.
Same result: what each parameter is changed by differs from uncut by at most 3 in 10 million, mere rounding.
! Really trained · 4 CPU threads in real time, nothing declared · on shared cores: not a bubble measurement

Mini-batch of 64 samples: uncut 640 ms, 4 micro-batches 280 ms, 360 ms less, speed-up 2.3.
! 4 devices share CPU cores, so the bubble can't be measured: use fewer devices, or stand-ins.
Same gradients as uncut: relative difference of a parameter at most 3.0e-07, floating-point rounding.
! Really trained · 4 CPU threads in real time, nothing declared · on shared cores: not a bubble measurement
""",
    "real time": """
同一批64张手写数字：不切用了640毫秒，切成4小份用了470毫秒，少用170毫秒，速度是不切的1.4倍。
4块显卡有57.4%的时间闲着，比公式的42.9%多14.6个百分点，主要因为：各段快慢不一、交接要时间。
结果一样：每个旋钮要改的量，和不切时最多只差千万分之三，是小数计算的零头。
真的训练了 · 4个 CPU 线程，真实计时，没有规定的时间

小批次 64 个样本：不切分 640 毫秒，4 个微批次 470 毫秒，少 170 毫秒，加速比 1.4。
4 个设备的气泡占比（空闲 / (K × 总时间)）实测 57.4%（填充 340 毫秒，中间 120 毫秒，排空 620 毫秒），比公式 42.9% 多 14.6 个百分点，主要来自：各阶段耗时不一（+11.7）、交接和等待（+2.9）。
与不切分等价：各参数的梯度相对误差最大为 3.0e-07，属于浮点舍入误差。
真的训练了 · 4 个 CPU 线程，真实计时，没有规定的时间

The same 64 digits took 640 ms uncut, 470 ms in 4 pieces: 170 ms less, 1.4 times the speed of uncut.
4 GPUs sat idle 57.4% of the time, 14.6 points above the formula's 42.9%, mainly because the stages differ in speed and handing over takes time.
Same result: what each parameter is changed by differs from uncut by at most 3 in 10 million, mere rounding.
Really trained · 4 CPU threads in real time, nothing declared

Mini-batch of 64 samples: uncut 640 ms, 4 micro-batches 470 ms, 170 ms less, speed-up 1.4.
Bubble fraction of 4 devices (idle / (K × makespan)): measured 57.4% (fill 340 ms, in between 120 ms, drain 620 ms), 14.6 points above the formula's 42.9%, mainly from: unequal stages (+11.7) and hand-over and waiting (+2.9).
Same gradients as uncut: relative difference of a parameter at most 3.0e-07, floating-point rounding.
Really trained · 4 CPU threads in real time, nothing declared
""",
    "relay race": """
一大批64张手写数字没有切，4块显卡像接力赛一样一块接一块地算，用了16格。
4块显卡有75.0%的时间闲着（开头等活24格，结尾没活24格），公式算出来是75.0%。
结果一样：每个旋钮要改的量，和不切时最多只差千万分之三，是小数计算的零头。
真的训练了 · 替身显卡×4：CPU 算完一格活，再等满规定的时间 · 1格=40毫秒 · 0次超时

小批次 64 个样本不切分，4 个设备依次执行，用时 16 格。
4 个设备的气泡占比（空闲 / (K × 总时间)）实测 75.0%（填充 24 格，排空 24 格），公式 75.0%。
与不切分等价：各参数的梯度相对误差最大为 3.0e-07，属于浮点舍入误差。
真的训练了 · 替身设备×4（限速的 CPU）：每个操作真的计算，再等满规定的时间 · 1 格 = 40 毫秒 · 0 次超时 · 唤醒延迟 0.3 毫秒（中位数），最大 2.1 毫秒

64 digits, not cut: a relay race over 4 GPUs, one after the other, in 16 slots.
4 GPUs sat idle 75.0% of the time (24 slots at the start, 24 slots at the end); the formula says 75.0%.
Same result: what each parameter is changed by differs from uncut by at most 3 in 10 million, mere rounding.
Really trained · 4 stand-in GPUs: the CPU does each step, then waits out its time · 1 slot = 40 ms · 0 overruns

Mini-batch of 64 samples, uncut, 4 devices one after the other: 16 slots.
Bubble fraction of 4 devices (idle / (K × makespan)): measured 75.0% (fill 24 slots, drain 24 slots), formula 75.0%.
Same gradients as uncut: relative difference of a parameter at most 3.0e-07, floating-point rounding.
Really trained · 4 stand-ins (CPU, slowed down): every op computes, then waits out its declared time · 1 slot = 40 ms · 0 overruns · woke up 0.3 ms late (median), 2.1 at worst
""",
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_case_is_said_in_both_languages_for_class_and_engineer(name):
    outcome, blocks = SCENARIOS[name], []
    for lang, view in BOTH:
        said = [*three(outcome, SLOT, lang, view), evidence(outcome.settings, outcome, SLOT, lang, view)]
        blocks.append("".join(f"{'! ' if each.tone == 'warn' else ''}{each.text}\n" for each in said))
    assert "\n" + "\n".join(blocks) == SAID[name]


def numbers(text):
    return [float(found) for found in re.findall(r"\d+(?:\.\d+)?", text)]


# -- the figures, by another way


@pytest.mark.parametrize(("stages", "pieces"), [(2, 2), (4, 4), (4, 8), (4, 16), (3, 4), (8, 32)])
def test_slots_saved_and_idle_are_gpipes_arithmetic(stages, pieces):
    outcome = outcome_of(Settings(num_stages=stages, num_micro_batches=pieces))
    size = 4 / pieces  # slots of one forward
    for forward_only, ways in ((True, 1), (False, 3)):
        long, idle, _ = texts(outcome, forward_only=forward_only)
        uncut, cut = 4 * stages * ways, (stages + pieces - 1) * size * ways
        samples, said_uncut, said_cut, said_pieces, saved = numbers(long)
        assert (samples, said_uncut, said_pieces) == (64, uncut, pieces)
        assert said_cut == pytest.approx(cut, abs=sentences.WHOLE + 1e-9)
        assert saved == pytest.approx(said_uncut - said_cut)  # as a learner subtracts
        percent = 100 * (stages - 1) / (pieces + stages - 1)
        assert numbers(idle)[:2] == [stages, round(percent, 1)] and numbers(idle)[-1] == round(percent, 1)


@pytest.mark.parametrize(("stages", "pieces"), [(2, 2), (4, 4), (4, 8), (5, 3)])
def test_idle_times_at_start_middle_and_end_are_the_triangles_of_the_picture(stages, pieces):
    """Forward and back take 1 and 2: device k waits k at the start, 2 k at the end, 3 (K-1-k) in between."""
    timeline = plan.simulate(plan.gpipe(stages, pieces), plan.Costs())
    triangle = stages * (stages - 1) / 2
    assert idle_times(timeline) == pytest.approx((triangle, 3 * triangle, 2 * triangle))
    assert idle_times(timeline.only("F")) == pytest.approx((triangle, 0, triangle))


def test_idle_times_add_up_to_the_bubble():
    timeline = plan.simulate(plan.one_f_one_b(4, 6), plan.Costs(forward=[1, 2, 1, 1], backward=[2, 4, 2, 2]))
    assert sum(idle_times(timeline)) == pytest.approx(plan.bubble_fraction(timeline) * 4 * timeline.makespan)


def test_the_way_back_is_in_view_where_it_is_asked_for():
    assert (
        "took 48 slots uncut, 21 slots in 4 pieces: 27 slots fewer"
        in texts(SCENARIOS["good run"], forward_only=False)[0]
    )
    assert (
        "(6 slots at the start, 18 slots in the middle, 12 slots at the end)"
        in texts(SCENARIOS["good run"], forward_only=False)[1]
    )


def test_forwards_alone_are_no_picture_of_1f1b():
    outcome = outcome_of(Settings(schedule="1f1b", num_micro_batches=8))
    assert texts(outcome, forward_only=True) == texts(outcome, forward_only=False)
    assert "48 slots uncut, 16.5 slots in 8 pieces" in texts(outcome)[0]  # (8 + 3) x 1/2 x 3
    assert sentences.forwards_first(LESSON) and not sentences.forwards_first(outcome.settings)
    assert sentences.forwards_first(Settings(schedule="1f1b", num_micro_batches=1))


def test_1f1b_says_how_much_scratch_paper_each_device_kept():
    outcome = outcome_of(Settings(schedule="1f1b", num_micro_batches=8))
    assert "keep scratch paper of 4, 3, 2, 1 pieces (GPipe: 8 each); 4 GPUs" in texts(outcome)[1]
    assert texts(outcome, "zh")[1].startswith("各块显卡最多留4、3、2、1份草稿（GPipe 都要留8份）；4块显卡")
    assert "In flight at most 4, 3, 2, 1 (GPipe: 8 each)" in texts(outcome, "en", "engineer")[1]
    assert "scratch" not in texts(outcome_of(Settings(schedule="1f1b", num_micro_batches=1)))[1]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.64, "16"), (0.287, "7.2"), (0.283, "7"), (0.744, "18.6"), (0.03, "0.8"), (0.0, "0")],
)
def test_slots_are_whole_where_they_nearly_are(seconds, words):
    assert count(seconds, 0.04) == words


@pytest.mark.parametrize(
    "settings",
    [
        LESSON,
        Settings(num_micro_batches=7),
        Settings(schedule="1f1b", num_micro_batches=8, slow_device=1, slow_factor=3.0),
        Settings(checkpoint="except_last", overhead_ms=4.0, latency_ms=6.0),
        Settings(num_stages=2, schedule="naive"),
    ],
    ids=str,
)
def test_the_costs_of_the_causes_are_those_the_stand_ins_declare(settings):
    predicted = EXPERIMENT.predict(settings).timeline
    sizes = plan.micro_batch_sizes(64, settings.key().num_micro_batches)
    again = plan.simulate(settings.build(), sentences.costs(settings, 64, EXPERIMENT.slot), sizes)
    np.testing.assert_allclose(again.spans.ends, predicted.spans.ends, rtol=1e-12)


EXPERIMENT = Experiment()


# -- why another bubble than the formula's


def test_a_slow_device_makes_the_gap_that_leaving_it_out_closes():
    """K = M = 4, device 2 needs 2 slots an op: 1 + 1 slots until it begins, 8 there, 1 behind it."""
    idle = texts(SCENARIOS["slow stage"])[1]
    percent = 100 * (1 - (4 + 4 + 8 + 4) / (4 * 11))
    assert numbers(idle)[1] == round(percent, 1)
    assert f"{percent - 300 / 7:.1f} points above the formula's 42.9%, mainly because GPU 3 is slow." in idle


def test_causes_are_named_largest_first_and_small_ones_not_at_all():
    both = Settings(num_micro_batches=8, slow_device=1, latency_ms=15.0)
    assert "mainly because GPU 2 is slow and handing over takes time." in texts(outcome_of(both))[1]
    mostly_link = Settings(num_micro_batches=8, slow_device=1, slow_factor=1.1, latency_ms=40.0)
    assert "mainly because handing over takes time." in texts(outcome_of(mostly_link))[1]


def test_what_makes_the_bubble_smaller_is_no_cause_of_a_larger_one():
    """Overhead on every op makes a slow device less unlike the others."""
    idle = texts(outcome_of(Settings(slow_device=2, overhead_ms=40.0)), view="engineer")[1]
    assert "points above" in idle and "overhead" not in idle


def test_uneven_pieces_and_recomputing_are_causes():
    assert "mainly because the pieces differ in size." in texts(outcome_of(Settings(num_micro_batches=7)))[1]
    redone = outcome_of(Settings(checkpoint="except_last"))
    assert "mainly because redoing takes time." in texts(redone, forward_only=False)[1]


def test_what_no_declared_time_explains_is_the_computers():
    assert "mainly because the computer was busy." in texts(outcome_of(LESSON, costs=BUSY))[1]
    assert "mainly because ops overran." in texts(SCENARIOS["overruns"])[1]


def test_a_bubble_smaller_than_the_formulas_is_said_too():
    """Two ops took 4 slots instead of 2, where the other device was busy anyhow: idle 4 of 16, not 4 of 12."""
    ran = [("0F0", 0, 0, 2), ("0F1", 0, 2, 6), ("1F0", 1, 2, 6), ("1F1", 1, 6, 8)]
    spans = [plan.Span(plan.Op.parse(op), device, start * SLOT, end * SLOT) for op, device, start, end in ran]
    outcome = outcome_of(Settings(num_stages=2, num_micro_batches=2), overruns=2)
    outcome = replace(outcome, result=replace(outcome.result, timeline=plan.Timeline(spans, 2, "measured")))
    assert texts(outcome)[1] == (
        "2 GPUs sat idle 25.0% of the time, 8.3 points below the formula's 33.3%, mainly because ops overran."
    )


def test_an_engineer_gets_each_causes_points_and_counts_devices_from_0():
    idle = texts(SCENARIOS["slow stage"], view="engineer")[1]
    assert "mainly from: slow device 2 (+11.7)." in idle


# -- recompute


def test_recompute_says_what_it_saves_and_costs_as_measured():
    """28 slots of time where 21 do without: a third more. 400 bytes of 1000: 60% less."""
    idle = texts(SCENARIOS["recompute"])[1]
    assert idle.startswith(
        "Scratch paper is 60% less than keeping all, the time 33% more; 4 GPUs sat idle 42.9% of the time;"
    )


def test_recompute_that_saves_nothing_says_so():
    assert "Scratch paper is no less" in texts(outcome_of(Settings(checkpoint="always"), peak=1000))[1]
    more = outcome_of(Settings(checkpoint="except_last", schedule="1f1b"), peak=1250)
    assert "Scratch paper is 25% more, not less" in texts(more)[1]


# -- how long, in all cases


def test_pieces_that_cost_more_than_they_save_are_called_slower_and_why():
    long = texts(SCENARIOS["overhead"])[0]
    uncut, cut = 4 * (4 + 0.75), 35 * (4 / 32 + 0.75)  # slots; 30 ms are 3/4 of one
    assert f"took {uncut:g} slots uncut, {cut:.1f} slots in 32 pieces, {cut - uncut:.1f} slots more:" in long
    assert long.endswith("every op costs 30 ms extra, and finer pieces mean more ops.")


def test_one_device_has_nobody_to_work_with():
    assert texts(outcome_of(Settings(num_stages=1)))[0] == (
        "The same 64 digits took 4 slots uncut, 4 slots in 4 pieces too, just as fast: "
        "with one GPU nobody else can work at the same time."
    )
    assert "all on one GPU, in 4 slots" in texts(outcome_of(Settings(num_stages=1, num_micro_batches=1)))[0]


def test_a_relay_race_that_erases_takes_longer_than_one_that_keeps():
    outcome = outcome_of(Settings(num_micro_batches=1, checkpoint="always"))
    assert texts(outcome, forward_only=False)[0].endswith(
        "in 64 slots, 16 slots more than with all scratch paper kept."
    )


def test_a_sweeps_point_has_no_uncut_step_to_compare_with():
    outcome = replace(outcome_of(LESSON, trained=False), uncut=None)
    assert texts(outcome)[0] == "64 digits in 4 pieces took 7 slots; train once to compare with uncut."
    assert evidence(LESSON, outcome, SLOT, "en").text.startswith("Really run (no parameter changed) · ")


def test_real_time_counts_milliseconds_and_says_how_much_faster():
    assert texts(SCENARIOS["real time"])[0] == (
        "The same 64 digits took 640 ms uncut, 470 ms in 4 pieces: 170 ms less, 1.4 times the speed of uncut."
    )


def test_real_time_measures_why_small_pieces_were_slower():
    """Uncut 4 ops of 64 ms; cut 16 ops of 40 + 30 ms, in 7 columns."""
    small = plan.Costs([0.0025] * 4, [0.005] * 4, overhead=0.03)
    outcome = outcome_of(Settings(real_time=True), costs=small)
    outcome = replace(outcome, uncut=step(LESSON.uncut(), costs=plan.Costs([0.001] * 4, [0.002] * 4)))
    assert texts(outcome)[0] == (
        "The same 64 digits took 256 ms uncut, 490 ms in 4 pieces, 234 ms more: "
        "cut small, the same work adds up to 1120 ms, and to 256 ms uncut."
    )


def test_shared_cores_have_no_bubble():
    said = three(SCENARIOS["refused real time"], SLOT, "en")[1]
    assert said.tone == "warn" and "%" not in said.text and "stand-ins" in said.text


# -- the same result?


def test_the_result_is_the_same_but_for_rounding_or_exactly():
    assert "at most 3 in 10 million" in texts(outcome_of(LESSON))[2]
    assert "exactly the same" in texts(outcome_of(LESSON, difference=0.0))[2]
    assert "完全一样" in texts(outcome_of(LESSON, difference=0.0), "zh")[2]


def test_batch_norm_is_not_the_same_and_why():
    said = three(SCENARIOS["BatchNorm"], SLOT, "en")[2]
    assert said == Said(
        "Not the same result (up to 34% off): BatchNorm takes each piece's own average, not the whole batch's."
    )
    whole = outcome_of(Settings(batch_norm=True, num_micro_batches=1))
    assert texts(whole)[2].startswith("Same result")
    assert three(replace(whole, difference=0.2), SLOT, "en")[2].tone == "warn"  # one piece: that's no reason


@pytest.mark.parametrize("difference", [0.02, float("nan"), float("inf")])
def test_a_difference_nobody_expects_warns(difference):
    said = three(outcome_of(LESSON, difference=difference), SLOT, "en")[2]
    assert said.tone == "warn" and said.text.startswith("Not the same result!")


# -- the line of evidence


def test_before_the_first_run_the_line_says_that_nothing_was_trained():
    assert evidence(LESSON, None, SLOT, "zh") == Said(
        "还没训练 · 替身显卡×4：CPU 算完一格活，再等满规定的时间 · 1格=40毫秒"
    )


def test_whatever_is_declared_stands_in_the_line():
    settings = Settings(slow_device=1, slow_factor=1.5, overhead_ms=5.0, latency_ms=3.0)
    text = evidence(settings, None, SLOT, "en").text
    assert text.endswith(
        "1 slot = 40 ms · GPU 2 takes 1.5 times as long · 5 ms extra per op · 3 ms per hand-over"
    )
    assert "device 1 takes 1.5 times" in evidence(settings, None, SLOT, "en", "engineer").text


def test_overruns_of_every_step_count_once_and_offer_a_slower_clock():
    outcome = replace(outcome_of(LESSON, overruns=1), uncut=step(LESSON.uncut(), overruns=2))
    said = evidence(LESSON, outcome, SLOT, "en")
    assert (
        said.tone == "warn"
        and " · 3 overruns · " in said.text
        and said.text.endswith("batch_time=0.32 (now 0.16)")
    )
    relay = outcome_of(Settings(num_micro_batches=1), overruns=2)
    assert " · 2 overruns" in evidence(relay.settings, replace(relay, uncut=relay.result), SLOT, "en").text
    assert evidence(LESSON, outcome_of(LESSON), SLOT, "en").tone == "plain"


# -- all of it


TRUTH_TABLE = list(
    itertools.product(
        plan.CHECKPOINTS,
        ("naive", "gpipe", "1f1b"),
        (1, 4),  # K
        (1, 3, 8),  # M
        ({}, {"slow_device": 0}, {"overhead_ms": 30.0, "latency_ms": 8.0}, {"batch_norm": True}),
        ("measured", "shared", "real time"),
    )
)


def cases():
    """Every row of the table; overruns, difference and a missing uncut step take turns."""
    turns = itertools.cycle(itertools.product((0, 2), (0.0, 3e-7, 0.2), (True, False)))
    for (checkpoint, schedule, stages, pieces, more, source), turn in zip(TRUTH_TABLE, turns, strict=False):
        settings = Settings(stages, pieces, checkpoint, schedule, real_time=source != "measured", **more)
        overruns, difference, trained = turn
        where = "shared" if source == "shared" else "measured"
        outcome = outcome_of(settings, difference, trained=trained, source=where, overruns=overruns)
        yield outcome if trained else replace(outcome, uncut=None, kept=None)


def test_every_combination_gives_three_whole_sentences_in_one_language():
    chinese = re.compile(r"[\u3000-\u9fff\uff00-\uffef]")
    english = re.compile(r"[A-Za-z]{2,}")
    names = {"CPU", "BatchNorm", "Dropout", "GPipe", "batch", "time"}
    audiences = itertools.cycle(itertools.product(LANGUAGES, VIEWS, (True, False)))
    for outcome, (lang, view, forward_only) in zip(cases(), audiences, strict=False):
        said = three(outcome, SLOT, lang, view, forward_only)
        assert len(said) == 3
        for each in [*said, evidence(outcome.settings, outcome, SLOT, lang, view)]:
            assert each.tone in ("plain", "warn")
            assert not set(each.text) & set("{}") and "模拟" not in each.text and "None" not in each.text
            assert each.text.encode("gbk")
            if lang == "en":
                assert not chinese.search(each.text), each.text
            else:
                assert set(english.findall(each.text)) <= names, each.text
        assert all(each.text.endswith("。" if lang == "zh" else ".") for each in said)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_a_presets_sentences_fit_one_line_of_the_projector(preset):
    """1180 px, 18 px a Chinese character and half of that a letter."""
    outcome = outcome_of(preset.settings)
    for lang in LANGUAGES:
        for text in texts(outcome, lang, forward_only=not preset.both_ways):
            assert sum(18 if ord(letter) > 0x2E7F else 9 for letter in text) <= 1180, text


def test_a_class_loses_the_brackets_of_a_sentence_too_long_for_its_line_and_an_engineer_keeps_them():
    long = outcome_of(Settings(slow_device=2, latency_ms=20.0, num_micro_batches=8))
    for lang, bracket in (("zh", "（"), ("en", "(")):
        assert bracket not in texts(long, lang)[1]
        assert bracket in texts(long, lang, "engineer")[1]
    assert "（开头等活7格，中间断活3格，结尾没活14格）" in texts(SCENARIOS["slow stage"], "zh")[1]


def test_presets_have_names_and_say_what_there_is_to_see():
    assert [preset.key for preset in PRESETS] == [
        "relay_race",
        "4_pieces",
        "16_pieces",
        "slow_stage",
        "erase",
        "1f1b",
    ]
    assert Settings() == LESSON
    for preset, lang in itertools.product(PRESETS, LANGUAGES):
        assert say(f"preset_{preset.key}", lang) and say(f"preset_{preset.key}_why", lang)
        assert preset.both_ways or sentences.forwards_first(preset.settings)
