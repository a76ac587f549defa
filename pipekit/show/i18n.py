"""Every word a learner reads, in Chinese and English, in one table; and the one place where counting starts.

`WORDS[key]` is (Chinese, English), with class words. Errors carry a key and numbers: their Chinese is here, their
English in `errors.MESSAGES`.
"""

from __future__ import annotations

import re
from typing import Any

from pipekit.errors import PipekitError
from pipekit.plan import Timeline

LANGUAGES = ("zh", "en")
VIEWS = {"class": 1, "engineer": 0}  # where each audience starts counting


def number(index: int, view: str = "class") -> int:
    """What an index (from 0) is called: a class counts GPUs, pieces and slots from 1, an engineer from 0.

    >>> number(0), number(0, view="engineer")
    (1, 0)
    """
    return index + VIEWS[view]


def say(key: str, lang: str, **numbers: Any) -> str:
    """The words for `key`, filled with numbers.

    >>> say("device", "en", number=2)
    'GPU 2'
    """
    return WORDS[key][LANGUAGES.index(lang)].format(**numbers)


def tiny(value: float, lang: str) -> str:
    """A small share in words a class reads at once; what is not small, or smaller than all words, as a number.

    >>> tiny(4.6e-7, "zh"), tiny(4.6e-7, "en"), tiny(0.0, "en")
    ('千万分之五', '5 in 10 million', '0')
    """
    text = f"{value:.0e}"
    digit, power = int(text[0]), -int(text[2:])
    if not value or power not in SHARES:
        return "0" if not value else f"{value:.1e}"
    chinese, english = SHARES[power]
    return f"{chinese}分之{DIGITS_ZH[digit]}" if lang == "zh" else f"{digit} in {english}"


DIGITS_ZH = "零一二三四五六七八九"
SHARES = {
    2: ("百", "100"),
    3: ("千", "1,000"),
    4: ("万", "10,000"),
    5: ("十万", "100,000"),
    6: ("百万", "1 million"),
    7: ("千万", "10 million"),
    8: ("亿", "100 million"),
    9: ("十亿", "1 billion"),
}


def sentence(error: BaseException, lang: str) -> str:
    """What went wrong, in the learner's language; of a foreign error its name and its own words."""
    if not isinstance(error, PipekitError):
        return say("foreign_error", lang, name=type(error).__name__, words=error)
    if lang == "zh" and error.key in ERRORS_ZH:
        return ERRORS_ZH[error.key].format(**error.numbers)
    return str(error)


def devices_line(timeline: Timeline, lang: str) -> str:
    """Where a timeline comes from and on what: the line that no picture may lose."""
    return " · ".join(part for part in devices_words(timeline, lang) if part)


def devices_words(timeline: Timeline, lang: str) -> tuple[str, str]:
    """The same in two parts: measured or predicted, and on what."""
    on = timeline.devices
    if timeline.source == "predicted":
        on = on.partition(DECLARED)[0]  # a prediction measures nothing
    if lang == "zh":
        for pattern, chinese in DEVICE_WORDS_ZH:
            on = re.sub(pattern, chinese, on)
    return say(f"source_{timeline.source}", lang), on


DECLARED = "; durations declared, order and waiting measured"
# `Timeline.devices` is English, written by whoever ran; what has no line here stays English rather than vanish.
DEVICE_WORDS_ZH = (
    (DECLARED, "；每格活的时间是规定的，先后和等待是测到的"),
    (r"(\d+) stand-ins?, ", r"替身显卡×\1，"),
    (r"([\d.]+) ms a mini-batch forward", r"一大批往前算 \1 毫秒"),
    (r"([\d.]+) ms a tick", r"1 格 \1 毫秒"),
    (r"([\d.]+) ms a sample forward", r"一道题往前算 \1 毫秒"),
    (r", device (\d+) ([\d.]+) x slower", lambda m: f"，显卡 {number(int(m[1]))} 要用 {m[2]} 倍的时间"),
    (r", ([\d.]+) ms overhead an op", r"，每格活多花 \1 毫秒"),
    (r", ([\d.]+) ms a hop", r"，传一次 \1 毫秒"),
    (r", links ([\d.e+]+) MB/s", r"，每秒传 \1 MB"),
    (r"(\d+) predicted devices?", r"\1 块显卡"),
    (r"(\d+) CPU threads?, real time", r"\1 个 CPU 线程，真实计时"),
    (
        r", shared cores: not a bubble measurement "
        r"\(a piece of work takes (\d+) us alone, (\d+) us together\)",
        r"，CPU 核是挤着用的，气泡不算数（同一件活：单独做 \1 微秒，一起做 \2 微秒）",
    ),
)

WORDS: dict[str, tuple[str, str]] = {
    # -- pictures
    "device": ("显卡 {number}", "GPU {number}"),
    "slot": ("格", "slot"),
    "source_predicted": ("算出来的", "Predicted"),
    "source_measured": ("测到的", "Measured"),
    "source_shared": ("CPU 核是挤着用的，气泡不算数", "Ran on shared cores: not a bubble measurement"),
    "not_measured": ("还没测：请按“训练一次”", 'Not measured yet: press "Train once"'),
    "kind_F": ("往前算", "forward"),
    "kind_B": ("往回改", "backward"),
    "kind_I": ("往回改（前一半）", "backward, input half"),
    "kind_W": ("往回改（后一半）", "backward, weight half"),
    "kind_R": ("擦掉重算", "recompute"),
    "idle": ("闲着", "idle"),
    "dashed_frame": ("虚线框 = 预测", "dashed frame = predicted"),
    "whole_batch": ("一大批", "whole batch"),
    "bubble_note": ("气泡 {percent:.1f}%", "bubble {percent:.1f}%"),
    "font_hint": (
        "这台电脑没有中文字体，所以图里是英文：请安装 Noto Sans CJK 字体，或者运行 pip install pylopdf-fonts-zh-cn。",
        "This machine has no Chinese font, so pictures are in English: install Noto Sans CJK or pylopdf-fonts-zh-cn.",
    ),
    # -- charts
    "bubble_title": (
        "切得越细，气泡越小（K = {num_devices}）",
        "More pieces, smaller bubble (K = {num_devices})",
    ),
    "bubble_x": ("切成几小份（M）", "pieces M"),
    "bubble_y": ("气泡（%）", "bubble %"),
    "curve": ("算出来的", "predicted"),
    "points": ("测到的", "measured"),
    "memory_title": ("每块显卡的书桌（显存）占了多少 KiB", "Memory per GPU (KiB)"),
    "memory_predicted": ("算出来的草稿", "scratch, predicted"),
    "memory_measured": ("测到的草稿", "scratch, measured"),
    "memory_weights": ("旋钮和要改的量", "parameters + gradients"),
    # -- the control room
    "title": ("控制室", "Control room"),
    "num_stages": ("显卡 K", "GPUs K"),
    "num_micro_batches": ("小份 M", "Pieces M"),
    "checkpoint": ("草稿", "Scratch paper"),
    "schedule": ("排法", "Schedule"),
    "never": ("都留着", "keep all"),
    "except_last": ("最后一份留着", "keep the last"),
    "always": ("都擦掉，用时重算", "erase all, redo"),
    "naive": ("接力赛（不切）", "relay race (uncut)"),
    "gpipe": ("GPipe", "GPipe"),
    "1f1b": ("1F1B（算完一份就往回改）", "1F1B (go back at once)"),
    "train": ("训练一次（约 {seconds} 秒）", "Train once (about {seconds} s)"),
    "sweep": ("试 M = {counts}（约 {seconds} 秒）", "Try M = {counts} (about {seconds} s)"),
    "cancel": ("停", "Stop"),
    "idle_status": ("先拖动滑块看一看，再真的训练一次。", "Move the sliders, then really train."),
    "preparing": ("正在准备：切模型、热身……", "Getting ready: cutting the model, warming up …"),
    "checking": (
        "先真的训练一次，再和不切的模型比一比……",
        "Really training one step, and comparing it with the uncut model …",
    ),
    "measuring": (
        "正在测量：同样的一步量 {steps} 遍，现在是第 {step} 遍……",
        "Measuring the same step {steps} times: now number {step} …",
    ),
    "sweeping": ("正在试 M = {count}……", "Trying M = {count} …"),
    "cancelling": ("正在停下……", "Stopping …"),
    "cancelled": (
        "停下了。模型的旋钮没有改，可以再来一次。",
        "Stopped. No parameter was changed; you can start again.",
    ),
    "finished": ("测完了，用了 {seconds:.1f} 秒。", "Measured; it took {seconds:.1f} s."),
    "failed": ("没成功：{why}", "That did not work: {why}"),
    "foreign_error": ("{name}：{words}", "{name}: {words}"),
    "figure_bubble": ("气泡 = 闲着的时间 ÷（显卡数 × 总时间）", "Bubble = idle time / (GPUs × total time)"),
    "formula": ("公式 (K-1)/(M+K-1)", "formula (K-1)/(M+K-1)"),
    "simulated": ("算出来的", "predicted"),
    "measured": ("测到的", "measured"),
    "figure_makespan": ("总时间", "Total time"),
    "slots": ("{count:.1f} 格", "{count:.1f} slots"),
    "figure_busy": ("相当于一直在干活的显卡", "As if always busy"),
    "busy": ("{count:.2f} 块（共 {total} 块）", "{count:.2f} of {total} GPUs"),
    "loss": (
        "对答案（损失）：改旋钮之前差 {before:.3f}，改了一次之后差 {after:.3f}。",
        "Loss: {before:.3f} before the parameters were changed, {after:.3f} after one change.",
    ),
    "equal": (
        "结果一样 √ 每个旋钮（参数）要改的量，和不切时最多只差{difference}，只是小数四舍五入的零头。",
        "Same result √ What each parameter is changed by differs from the uncut model by at most {difference}: rounding.",
    ),
    "not_equal": (
        "结果不一样！每个旋钮（参数）要改的量，和不切时最多差{difference}。",
        "Not the same result! What a parameter is changed by differs from the uncut model by up to {difference}.",
    ),
    "equal_unknown": (
        "结果和不切时一样吗？训练一次就知道。",
        "Is the result the same? Train once to find out.",
    ),
    "declared": (
        "替身显卡×{count}：CPU 算完一格活，再等满规定的时间 · 1 格 = {slot_ms:.0f} 毫秒",
        "{count} stand-in GPUs: the CPU does each step, then waits out its time · 1 slot = {slot_ms:.0f} ms",
    ),
    "really_trained": ("真的训练了 · ", "Really trained · "),
    "will_train": ("还没训练 · ", "Not trained yet · "),
    "overruns": (
        " · {overruns} 次超时 · 比规定时间晚了 {slip_ms:.1f} 毫秒（中位数）",
        " · {overruns} overruns · woke up {slip_ms:.1f} ms late (median)",
    ),
    "formula_gap": (
        "公式假定每一小份都一样大，而且要么都重算、要么都不重算；这里不是这样，请看“算出来的”那一列。",
        "The formula takes all pieces to be equal and all or none to be redone; here they are not: go by the prediction.",
    ),
}

ERRORS_ZH: dict[str, str] = {
    # -- schedules
    "num_devices": "流水线至少要有 1 块显卡，不能是 {asked} 块；请选 K >= 1",
    "num_stages": "排法至少要有 1 段，不能是 {asked} 段；请选 K >= 1",
    "num_micro_batches": "一大批至少要切成 1 小份，不能是 {asked} 小份；请选 M >= 1",
    "too_many": "{name} 最多是 {most}，不能是 {asked}；请选小一点的数",
    "whole_number": "{name} 必须是整数，不能是 {asked!r}",
    "policy": "没有 {asked!r} 这种留草稿的办法；请从这些里选：{known}",
    "recompute": "没有 {asked!r} 这种重算时机；请从这些里选：{known}",
    "schedule_name": "没有叫 {asked!r} 的排法；请从这些里选：{known}",
    "op_text": "看不懂 {text!r}；请按“段、种类、小份”的顺序写，例如 2F0（种类：F B I W R）",
    "op_range": "{op} 超出范围：段和小份的编号只能从 0 到 {last}",
    "empty_schedule": "排法里至少要有一格活；现在有 {num_devices} 行，全是空的",
    "missing_op": "少了 {op}：哪一行都没有它；请补上",
    "repeated_op": "{op} 出现了 {count} 次；每格活只做一次，请只留一个",
    "both_backwards": "段 {stage}、小份 {micro_batch} 既有完整的往回改（B），又有分成两半的（I、W）；请只留一种",
    "wrong_device": "{op} 写在显卡 {device} 那一行，可是段 {stage} 在显卡 {expected} 上；请移到那一行",
    "unplaced": "{op} 用到段 {stage}，可是一共只安排了 {num_stages} 段（从 0 数起）",
    "placement_device": "段 {stage} 安排在显卡 {device} 上，可是一共只有 {num_lanes} 行（从 0 数起）",
    "deadlock_cycle": "卡死了（死锁）：下面这几格活互相等着，请调换先后：{chain}",
    # -- costs, timelines
    "costs_length": "{name} 给了 {given} 个数，可是排法有 {num_stages} 段；请给一个数，或者每段一个数",
    "costs_number": "{name} 对所有段只能给一个数，不能是 {asked}；想每段给一个数，请用 forward、backward 或 recompute",
    "costs_negative": "{name} 必须是有限的数，而且不能是负数，现在是 {asked}",
    "costs_positive": "{name} 必须是有限的数，而且大于 0，现在是 {asked}",
    "costs_zero": "每格活的时间都是 0，没有东西可画；请给 forward 或 backward 一个正的时间",
    "shape_stages": "模型切成了 {given} 段，可是排法有 {num_stages} 段；请让两边的段数一样",
    "sizes_length": "sizes 里有 {given} 小份，可是排法有 {num_micro_batches} 小份；请给得一样多",
    "sizes_positive": "每一小份至少要有 1 道练习题；sizes 里写的是 {asked}",
    "picture_column": "一格的时间必须大于 0，不能是 {asked}",
    "empty_timeline": "时间表是空的，没有东西可以测量",
    "labels": "没有 {asked!r} 这种格子上的字；请从这些里选：{known}",
    # -- cutting models
    "cut_layers": "{num_layers} 层切不成 {num_stages} 段；请选 K <= {num_layers}",
    "balance_costs": "{num_layers} 个数分不成 {num_stages} 段；请选 K <= {num_layers}",
    "balance_sum": "balance {balance} 加起来是 {total} 层，可是模型有 {num_layers} 层；请让总和等于 {num_layers}",
    "balance_positive": "每段至少要有一层；balance {balance} 里有一段只有 {smallest} 层",
    "balance_or_number": "num_stages={num_stages} 和 balance={balance}（{given} 段）对不上；请只写一个",
    "balance_nothing": "请说明怎么切：num_stages=4，或者 balance=[2, 3, 3, 2]",
    "not_sequential": "{type} 没法切：请给 torch.nn.Sequential，或者一个列表，里面的模块一个接一个地运行",
    "empty_model": "模型至少要有一层才能切；现在有 {num_layers} 层",
    "not_a_module": "第 {index} 层（从 0 数起）是 {type}，不是 torch.nn.Module；请把它包成模块",
    "shared_module": "同一个模块（{type}）既在段 {first} 又在段 {second}；请做成两个共用旋钮的模块",
    "lazy_parameter": "第 {index} 层（{type}，从 0 数起）的旋钮（参数）还没生成；切之前，请先让模型跑一批数据",
    # -- pipelines
    "stage_count": "排法有 {schedule_stages} 段，流水线有 {pipeline_stages} 段；请写 {line}",
    "device_count": "排法用 {schedule_devices} 块显卡，流水线有 {pipeline_devices} 块；请写 {line}",
    "placement": "排法把各段放在显卡 {schedule_placement}，流水线却放在 {pipeline_placement}；请写 {line}",
    "placement_shape": "placement {placement} 要给 {num_stages} 段里的每一段写一块显卡，而且 {num_devices} 块都要用上",
    "too_many_devices": "有 {num_devices} 块显卡，却只有 {num_stages} 段：{idle} 块永远没活干；请选 K <= {num_stages}",
    "closed": "这条流水线已经关了；请用 run.Pipeline(stages, devices) 再开一条",
    "broken": "这条流水线坏了：{why}；请用 run.Pipeline(stages, devices) 再开一条",
    "busy": "这条流水线正在训练；请等它做完，或者另开一条",
    "busy_model": "另一条流水线正用同样的旋钮（参数）训练到一半；请等它做完",
    "forked": "这条流水线的线程在另一个进程里；请在 fork 之后用 run.Pipeline(stages, devices) 再开一条",
    "no_grad": "训练要记草稿，可是现在关掉了（{mode}）；请先退出那一段代码",
    "ops_unsupported": "引擎还不会做 {kind} 这种活（{op}）；请用完整的往回改（B）",
    # -- batches
    "batch_small": "{num_samples} 道练习题切不成 {num_micro_batches} 小份；请选 M <= {num_samples}",
    "batch_digits": "一共 {found} 张手写数字，没法取 {asked} 张；请选 1 到 {found}",
    "batch_no_tensor": "这一大批里没有可以切的张量；请给张量，它的第一维是练习题的道数",
    "batch_first": "{name} 的第一维是 {found}，可是这一大批有 {num_samples} 道练习题；如果它不该切，请写 run.whole(...)",
    "batch_scalar": "{name} 是没有维度的张量，没法切；请写 run.whole(...)",
    "batch_object": "{name} 是 {type}，没法切成小份；请给张量（torch.as_tensor），或者用 run.whole(...) 包起来",
    "weight_name": '没有 {asked!r} 这种加权办法；请选 "samples"、"sum"，或者写一个函数 target_piece -> number',
    "weight_zero": "所有小份的权重加起来是 {total}；至少要有一道练习题算数",
    "weight_negative": "小份 {micro_batch} 的权重是 {weight}；权重必须是有限的数，而且不能是负数",
    "loss_shape": "对答案（损失）必须得出一个数，可是得出的形状是 {shape}；请用 reduction='mean'（或者 weight=\"sum\" 加 reduction='sum'）",
    "loss_type": "对答案（损失）必须得出张量，不能是 {type}",
    "loss_not_finite": "小份 {micro_batch}（从 0 数起）对答案（损失）得出 {loss}；这次训练已经撤销：请把学习率调小，或者检查那一大批数据",
    "loss_no_grad": "对答案（损失）的结果和哪个旋钮都没有关系，没有东西可以训练",
    # -- devices
    "device_number": "没法准备 {asked} 块显卡；请至少选 1 块",
    "clock_choice": "请只选一种计时办法：batch_time=、tick=、per_sample= 或 speed=；现在给了 {given}",
    "clock_positive": "{name} 必须大于 0，不能是 {asked}",
    "clock_slow": "slow={asked}：请写显卡的编号（0 到 {last}）和大于 0 的倍数",
    "clock_coarse": "这台电脑的时钟最细只能分到 {grain_ms:.1f} 毫秒，一格活却只有 {op_ms:.1f} 毫秒，测不准；请选 {advice}",
    "speed_zero": "段 {stage}（{layers}）数出来是 0 次运算，speed= 没法给它计时；请用 batch_time= 或 tick=，或者换个切法",
    "shape_unknown": "speed= 和 bandwidth= 要先知道运算次数和每次传多少数据，这要从模型和一批数据里看出来；请给出这批数据，或者用 batch_time=",
    "nothing_declared": "{devices}：真的显卡没有规定的时间，没法先算出来；请用 run.profile 测一测",
    "no_cuda": "想要 {asked} 块真的显卡（GPU），可是 torch 只找到 {found} 块；请用 run.stand_ins({asked}, batch_time=0.16)",
    "memory_budget": "书桌（显存）不够大：算出来最多要用 {predicted_mib:.0f} MiB，可是只能用 {available_mib:.0f} MiB（空闲的 80%）；请用 checkpoint='always'，或者多切几小份，或者把一大批变小",
    # -- running
    "stage_failed": "{op} 没做成（段 {stage}，显卡 {device}，都从 0 数起）：{cause}",
    "stage_none": "{op}：段 {stage} 什么也没交出来（None）；最后一层必须交出张量，或者装着张量的元组、字典",
    "stage_output": "{op}：段 {stage} 交出来的 {type} 里没有张量；请交出张量，或者装着张量的元组、字典",
    "stage_object": "{op}：段 {stage} 交出了一个装着张量的 {type}；请放进元组或字典再交给下一段",
    "stage_shape": "{op}：段 {stage} 从段 {previous} 收到 {found}，对不上：{cause}",
    "stage_inplace_input": "{op}：段 {stage} 只有这一次直接改写了输入（原地操作）；请让那一层不要用原地操作",
    "stage_draws_back": "{op}：段 {stage} 在往回改时抽随机数，不可能和往前算时抽到的一样；请用排法的 checkpoint=，不要用 torch.utils.checkpoint",
    "stage_timeout": "{op} 过了 {seconds:g} 秒还没做完（段 {stage}，显卡 {device}，都从 0 数起）；这条流水线坏了，请再开一条",
    "cancelled": "这次训练停下了；模型里的东西都和训练前一样",
}
