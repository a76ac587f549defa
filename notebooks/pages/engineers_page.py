"""The engineer's page."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 工程师的一页：换上你自己的模型

**学会什么：** 切分、测耗时、均衡、仿真、换调度、实测、导出轨迹和 PyTorch 的 CSV，一件事一个单元格。**约 20 分钟。**

和课堂页不同，这里用工程师的说法：设备（显卡）、阶段（段）、微批次（小份）都**从 0 数起**；排法叫调度，草稿叫激活值。模型只有一个要求：是 `nn.Sequential`（或者一个接一个运行的模块列表）；
层与层之间可以传张量，也可以传元组、字典。把下面这个单元格换成你的模型、你的批次、你的损失函数就行。
""",
        """
# The engineer's page: run it on your own model

**You will be able to:** partition, profile, balance, simulate, choose a schedule, measure, and export a trace and PyTorch's
CSV, a cell each. **About 20 minutes.**

Unlike the class's pages this one uses engineers' words: devices (GPUs), stages and micro-batches (pieces) count **from 0**,
and scratch paper is called activations. A model
has to be an `nn.Sequential` (or a list of modules that run one after the other); what passes between layers is a tensor,
or a tuple or dict of tensors. Put your model, batch and loss into the next cell.
""",
    ),
    code(
        """
import torch
from torch import nn

layers = [nn.Sequential(nn.Linear(64, w), nn.ReLU(), nn.Linear(w, 64)) for w in [512] * 10 + [2048] * 2]
batch, target = torch.randn(64, 64), torch.randint(64, (64,))
loss = nn.functional.cross_entropy
"""
    ),
    text(
        """
## 切分

12 层按层数平均切成 4 个阶段，每段 3 层。最后两层各有前面一层的 4 倍大。
**先猜：** 最重的阶段是最轻的几倍？均衡以后，最重的阶段有多重（前面的一层算 1）？
""",
        """
## Partition

12 layers in 4 stages by count: 3 layers each. The last two are 4 times as large as the others.
**Guess first:** how many times the lightest is the heaviest stage? And after balancing, how heavy is the heaviest, one of
the small layers being 1?
""",
    ),
    code(
        """
from pipekit import plan, run, show

by_count = run.partition(layers, num_stages=4)
flops = [layer.flops for layer in run.inspect(layers, batch).stages]
cut = plan.balance(flops, num_stages=4)
balanced = run.partition(layers, balance=cut)
"""
    ),
    code(
        """
for stages in (by_count, balanced):
    heavy = [sum(layer[0].out_features for layer in stage) // 512 for stage in stages]
    print([len(stage) for stage in stages], heavy)
""",
        "nbval-check-output",
        hidden=True,
    ),
    text(
        """
`run.inspect` 不计算，只看形状，数出每层的浮点运算次数（FLOP）、参数和激活值的字节数。按 FLOP 均衡是 [5, 5, 1, 1]：最重的从 9 降到 5。

FLOP 不等于时间。要按实测的耗时来切，给 `partition` 一批数据；要每个操作的耗时，用 `run.profile`（一个线程、一个一个地跑，取中位数）。
在这台机器上：
""",
        """
`run.inspect` computes nothing: it reads shapes, and counts FLOP and the bytes of parameters and activations. By FLOP the
balance is [5, 5, 1, 1], and the heaviest stage goes from 9 to 5.

FLOP aren't time. Given a batch, `partition` cuts by each layer's measured time; `run.profile` measures every op (one
thread, one op at a time, medians). On this machine:
""",
    ),
    code(
        """
print([len(stage) for stage in run.partition(layers, num_stages=4, example=batch)])
costs = run.profile(balanced, batch, target, loss, num_micro_batches=8)
print([f"{1e3 * seconds:.2f} ms" for seconds in costs.forward])
"""
    ),
    text(
        """
## 仿真

`plan.simulate(schedule, costs)` 给出一条预测的时间线。换调度只换一个函数；`plan.greedy` 会按这些耗时和激活上限自己排一个。
""",
        """
## Simulate

`plan.simulate(schedule, costs)` predicts a timeline. Another schedule is another function; `plan.greedy` makes one for
these costs under a cap on activations.
""",
    ),
    code(
        """
for build in (plan.gpipe, plan.one_f_one_b, plan.zb_h1):
    timeline = plan.simulate(build(4, 8), costs)
    print(f"{build.__name__:12}", f"{1e3 * timeline.makespan:.1f} ms", plan.peak_in_flight(timeline))
"""
    ),
    text(
        """
看 ZB-H1：算出来的气泡最小，在这颗 CPU 上却未必最快。把反向拆成 I 和 W，每一半都有自己的开销，小的层尤其吃亏；所以要先测，再选调度。

## 实测

4 个设备，这台电脑却未必有 4 个空闲的核，所以用替身设备：CPU 真的算完每个操作，再占满规定的时间。这里按 FLOP 规定（3×10⁸ FLOP/s）：
*时长是规定的，顺序和等待是实测的*。有足够的核就用 `run.cpu(4)`，有 GPU 就用 `run.cuda(4)`，别的代码一字不改。

**先猜：** 均衡以后，一步的时间变成原来的几成？
""",
        """
Look at ZB-H1: its bubble is the smallest, but on this CPU it needn't be the fastest. Each half of a backward has an
overhead of its own, which small layers feel most: measure first, then choose a schedule.

## Measure

4 devices, and perhaps not 4 idle cores here: so they are stand-ins. The CPU really computes each op and then fills the
declared time, here by FLOP (3e8 FLOP/s): *durations are declared; order and waiting are measured*. With enough cores
it's `run.cpu(4)`, with GPUs `run.cuda(4)`, and nothing else changes.

**Guess first:** after balancing, what is left of a step's time?
""",
    ),
    code(
        """
schedule, results, predictions = plan.one_f_one_b(4, 8), [], []
for stages in (by_count, balanced):
    with run.Pipeline(stages, run.stand_ins(4, speed=3e8)) as pipeline:
        predictions.append(pipeline.predict(schedule, batch))
        results.append(run.measure(pipeline, schedule, batch, target, loss, steps=1).median)
"""
    ),
    code(
        """
timelines = [result.timeline for result in results]
show.grid_chart(timelines, lang="LANG", view="engineer", notes=["[3, 3, 3, 3]", "[5, 5, 1, 1]"])
""",
        hidden=True,
    ),
    code(
        """
for timeline, predicted in zip(timelines, predictions, strict=True):
    assert abs(plan.bubble_fraction(timeline) - plan.bubble_fraction(predicted)) < 0.05
assert timelines[1].makespan < 0.8 * timelines[0].makespan
"""
    ),
    text(
        """
约 6 成。最后看梯度：在 4 个 CPU 线程上不限速地跑一步（核不够时，时间线的来源写的是 "shared"，不算气泡的测量），
和不切分的模型比相对误差。`.grad` 已经累加好，接下来用哪个优化器都行。
""",
        """
About 60 %. Last the gradients: a step on 4 CPU threads as fast as they are (with too few cores the timeline's source is
"shared": no bubble measurement), and the relative difference from the uncut model's. They have been added up in `.grad`,
and any optimizer can take its step.
""",
    ),
    code(
        """
model = nn.Sequential(*layers)
whole = torch.autograd.grad(loss(model(batch), target), list(model.parameters()))
model.zero_grad()
with run.Pipeline(balanced, run.cpu(4)) as pipeline:
    result = pipeline.step(schedule, batch, target, loss)
assert run.relative_difference(run.gradients(layers), whole) < 1e-4
"""
    ),
    text(
        """
## 导出

`show.save(timelines[1], "run.trace.json")` 写出 Chrome 轨迹，用 ui.perfetto.dev 打开；`.png`、`.svg`、`.gif`、`.csv`、`.json` 也都行。
轨迹里一个操作是一个事件：
""",
        """
## Export

`show.save(timelines[1], "run.trace.json")` writes a Chrome trace for ui.perfetto.dev; `.png`, `.svg`, `.gif`, `.csv` and
`.json` work too. In a trace an op is an event:
""",
    ),
    code(
        """
events = plan.chrome_trace(timelines[1])["traceEvents"]
ops = [event["name"] for event in events if event["ph"] == "X"]
print(len(ops), *ops[:4])
""",
        "nbval-check-output",
    ),
    text(
        """
`plan.to_torch_csv` 写出 `torch.distributed.pipelining` 能读的 CSV：一行一个设备，一格一个操作。只交换顺序，不交换时间。反过来也能读，还认得出是什么调度：
""",
        """
`plan.to_torch_csv` writes the CSV that `torch.distributed.pipelining` reads: a row a device, a cell an op. Only the order
is exchanged, no times. It can be read back, and is recognised:
""",
    ),
    code(
        """
csv = plan.to_torch_csv(schedule)
print(csv)
assert plan.recognise(plan.from_torch_csv(csv)) == "1f1b"
""",
        "nbval-check-output",
    ),
    text(
        """
## 到了集群上，什么会变

| 这里 | 集群上 |
|---|---|
| 一个进程，一个设备一个线程 | 一个设备一个进程，只建自己那个阶段 |
| 张量在内存里拷贝 | NCCL 点对点发送；时延和带宽不能忽略（先用 `stand_ins(latency=, bandwidth=)` 估一估） |
| `.grad` 都在一处 | 各阶段各自更新；梯度裁剪要先汇总范数；有数据并行还要汇总梯度 |
| 耗时在这颗 CPU 上测 | 要在那种 GPU 上重测；小算子的启动时间占得更多 |
| 一步失败，全部撤销 | 一个进程挂了，其余的会一直等：要有超时和存档 |

**诚实的限制：** 替身的气泡是真的等待，可是它的速度和 GPU 无关；这里不做张量并行，也不把一个前向和一个反向叠在一起算；
多块 GPU 的代码写好了，还没有在多块 GPU 上跑过；随机丢弃（dropout）每个微批次抽的数和不切分时不同；BatchNorm 只看得到自己的微批次。

## 只改一样

把 `schedule` 换成 `plan.zb_h1(4, 8)`，或者 `plan.gpipe(4, 8, "always")`（全部重计算），从“实测”重新运行：气泡、在途微批次数各变多少？
""",
        """
## What changes on a cluster

| here | on a cluster |
|---|---|
| one process, a thread a device | a process a device, which builds its own stage only |
| tensors are copied in memory | NCCL sends; latency and bandwidth count (estimate with `stand_ins(latency=, bandwidth=)`) |
| all `.grad` in one place | each stage updates its own; clipping needs the norm over all; data parallelism adds a sum of gradients |
| costs of this CPU | measure again on that GPU; launching small kernels weighs more there |
| a step that fails is undone | a process that dies leaves the others waiting: timeouts, and checkpoints on disk |

**Limits, honestly:** a stand-in's bubble is real waiting, but its speed says nothing about a GPU's. There is no tensor
parallelism here, and a forward is never overlapped with a backward on one device. The code for several GPUs is written and
has not been run on several. Dropout draws other numbers for each micro-batch than uncut, and BatchNorm sees only its
own micro-batch.

## Change one thing

Make `schedule` `plan.zb_h1(4, 8)`, or `plan.gpipe(4, 8, "always")` (recompute all), and run again from "Measure": how do
bubble and micro-batches in flight change?
""",
    ),
]

TEACHER_ZH = """
# 给老师：工程师的一页

给会写 Python 的学生，或者您自己。时间（20 分钟）：切分和均衡 5 分钟；测耗时、仿真 4 分钟；实测 5 分钟；导出 3 分钟；集群和限制 3 分钟。

答案
* 按层数切，最重是 9、最轻是 3，差 3 倍；均衡以后最重是 5（总共 18，平均 4.5，没有更好的切法）。
* 一步的时间约变成原来的 6 成。
* 全部重计算：在途的微批次数不变，每个只留输入；一步的时间约多三分之一。

简化了什么
* 替身设备规定反向是前向的两倍，I、W、重计算各和前向一样长。
* 按 FLOP 均衡假定每次运算一样快；小层在真的设备上往往更“贵”，所以上面按实测切出来的可能不同。

常见的错误想法
* “实测的毫秒数就是 GPU 上的毫秒数”：不是，只有顺序和等待可以带走。
* “层数一样就是均衡”：看最后两层。
"""

TEACHER_EN = """
# For the teacher: the engineer's page

For students who write Python, or for you. Time (20 minutes): partition and balance 5; profile and simulate 4; measure 5;
export 3; cluster and limits 3.

Answers
* By count the heaviest stage weighs 9, the lightest 3: three times; balanced the heaviest is 5 (18 in all, 4.5 on
  average; no cut is better).
* A step takes about 60 % of what it took.
* Recompute all: as many micro-batches in flight, each keeps only its input; a step takes about a third longer.

What is simplified
* A stand-in's backward is declared twice its forward; I, W and recompute are as long as a forward.
* Balancing by FLOP takes every operation for equally fast; small layers often cost more on real devices, so that the cut
  by measured time may be another.

Likely wrong ideas
* "These milliseconds are a GPU's": no; order and waiting are what carries over.
* "As many layers each is balanced": look at the last two.
"""

PAGE = Page(
    title=("工程师的一页", "The engineer's page"),
    question=(
        "换上自己的模型：切在哪里，一步快多少？",
        "On your own model: where to cut, and what is gained?",
    ),
    minutes=20,
    rows=(3, 5, 10, 14),
    runs=("切得匀和不匀，各真的训练", "an even and an uneven cut really train"),
    cells=CELLS,
    teacher=(TEACHER_ZH, TEACHER_EN),
)
