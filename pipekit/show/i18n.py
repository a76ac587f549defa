"""Every word a learner reads, in Chinese and English, in one table; and the one place where counting starts.

`WORDS[key]` is (Chinese, English), with class words; where engineers say it differently, `WORDS_ENGINEER[key]` is
theirs. Errors carry a key and numbers: their Chinese is here, their English in `errors.MESSAGES`.
"""

from __future__ import annotations

import math
import re
from typing import Any

from pipekit.errors import MESSAGES, PipekitError
from pipekit.plan import Op, Timeline
from pipekit.show import (
    card_words,
    classroom_words,
    comparison_words,
    desk_words,
    exercise_code_words,
    exercise_words,
    game_words,
    giant_words,
    handout_words,
    lesson_words,
    phone_words,
    scratch_words,
    translator_words,
    verdict_words,
)

LANGUAGES = ("zh", "en")
VIEWS = {"class": 1, "engineer": 0}  # where each audience starts counting


def number(index: int, view: str = "class") -> int:
    """What an index (from 0) is called: a class counts GPUs, pieces and slots from 1, an engineer from 0.

    >>> number(0), number(0, view="engineer")
    (1, 0)
    """
    return index + VIEWS[view]


def say(key: str, lang: str, view: str = "class", **numbers: Any) -> str:
    """The words for `key`, filled with numbers: an engineer's where there are such, else the class's.

    >>> say("device", "en", number=2), say("kind_R", "zh"), say("kind_R", "zh", "engineer")
    ('GPU 2', '擦掉重算', '激活重计算')
    """
    both = WORDS_ENGINEER.get(key, WORDS[key]) if view == "engineer" else WORDS[key]
    return both[LANGUAGES.index(lang)].format(**numbers)


def tiny(value: float, lang: str) -> str:
    """A share in words a class reads at once: small ones in words, larger ones in percent, smaller ones as a number.

    >>> tiny(4.6e-7, "zh"), tiny(4.6e-7, "en"), tiny(0.0, "en"), tiny(0.347, "zh")
    ('千万分之五', '5 in 10 million', '0', '35%')
    """
    if not value or not math.isfinite(value):
        return f"{value:g}"
    text = f"{value:.0e}"
    digit, power = int(text[0]), -int(text[2:])
    if value >= 1:
        return say("times", lang, count=f"{value:.1f}")
    if power < min(SHARES):
        return f"{100 * value:.0f}%"
    if power not in SHARES:
        return f"{value:.1e}"
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


def sentence(error: BaseException, lang: str, view: str = "class") -> str:
    """What went wrong, in the learner's language; of a foreign error its name and its own words.

    A class counts stages, devices, pieces and layers from 1 here too; an engineer, and `str(error)`, from 0.
    """
    if not isinstance(error, PipekitError):
        return say("foreign_error", lang, name=type(error).__name__, words=error)
    words = ERRORS_ZH[error.key] if lang == "zh" else MESSAGES[error.key]
    numbers = dict(error.numbers)
    if view == "class":
        for remark, instead in FROM_ZERO:
            words = words.replace(remark, instead)
        numbers = {name: _from_one(error.key, name, value, lang) for name, value in numbers.items()}
    if lang == "zh" and "chain" in numbers:
        numbers["chain"] = _chain_in_chinese(str(numbers["chain"]))
    if lang == "zh" and "advice" in numbers:
        numbers["advice"] = _advice_in_chinese(str(numbers["advice"]))
    return words.format(**numbers)


INDEXES = ("stage", "device", "micro_batch", "first", "second", "previous", "expected", "index", "tick")
FROM_ZERO = (  # what the table says for those who count from 0, and what a class reads instead
    ("（从 0 数起）", ""),
    ("，都从 0 数起", ""),
    ("，从 0 数起", ""),
    ("从 0 到 {last}", "从 1 到 {last}"),
    ("from 0 to {last}", "from 1 to {last}"),
    ("tick {", "slot {"),
)
_OP_IN_TEXT = re.compile(r"\b\d+[FBIWR]\d+\b")


def _from_one(key: str, name: str, value: Any, lang: str) -> Any:
    """One number of an error, as a class counts. (`clock_slow` is about a line of code, which counts from 0.)"""
    if name in ("op", "earlier_op"):
        return _op_in_words(str(value), lang)
    if name == "chain":
        text = re.sub(r"(?<=on device )\d+", lambda found: str(number(int(found[0]))), value)
        return _OP_IN_TEXT.sub(lambda found: _op_in_words(found[0], lang), text)
    is_index = name in INDEXES or (name == "last" and key != "clock_slow")
    return number(value) if is_index and isinstance(value, int) else value


def _op_in_words(text: str, lang: str) -> str:
    """`2F0` as a class says it; what is no op stays as it is."""
    if not _OP_IN_TEXT.fullmatch(text):
        return text
    op = Op.parse(text)
    kind = say(f"kind_{op.kind}", lang)
    return say("op_in_words", lang, stage=number(op.stage), piece=number(op.micro_batch), kind=kind)


def _chain_in_chinese(chain: str) -> str:
    """A deadlock's chain, which whoever found it wrote in English."""
    chain = re.sub(r", which stands behind ([^;]+?) on device (\d+)", r"（它排在显卡 \2 的\1后面）", chain)
    return chain.replace(" waits for ", "等").replace("; ", "；")


def _advice_in_chinese(advice: str) -> str:
    """A clock that would do, which whoever refused the asked one wrote in English."""
    return advice.replace(" or longer", "，或者更长").replace(" or slower", "，或者更慢")


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
    (r"([\d.]+) ms a slot", r"1 格 \1 毫秒"),
    (r", F:I:W:R ", r"，F:I:W:R "),
    (r", ([\d.]+) slots overhead an op", r"，每格活多花 \1 格"),
    (r", ([\d.]+) slots a hop", r"，传一次 \1 格"),
    (
        r", part (\d+) of the model ([\d.]+) x slower",
        lambda m: f"，模型的第 {number(int(m[1]))} 段要用 {m[2]} 倍的时间",
    ),
    (r"(\d+) predicted devices?", r"\1 块显卡"),
    (r"(\d+) CPU threads?, real time", r"\1 个 CPU 线程，真实计时"),
    (
        r", shared cores: not a bubble measurement "
        r"\(a piece of work takes (\d+) us alone, (\d+) us together\)",
        r"，CPU 核不够分，气泡不算数（同一件活：单独做 \1 微秒，一起做 \2 微秒）",
    ),
)

WORDS: dict[str, tuple[str, str]] = {
    # -- pictures
    "device": ("显卡 {number}", "GPU {number}"),
    "slot": ("格", "slot"),
    "source_predicted": ("算出来的", "Predicted"),
    "source_measured": ("测到的", "Measured"),
    "source_shared": ("CPU 核不够分，气泡不算数", "Ran on shared cores: not a bubble measurement"),
    "not_measured": ("还没测：请按“训练一次”", 'Not measured yet: press "Train once"'),
    "kind_F": ("往前算", "forward"),
    "kind_B": ("往回改", "backward"),
    "kind_I": ("往回改（前一半）", "backward, input half"),
    "kind_W": ("往回改（后一半）", "backward, weight half"),
    "kind_R": ("擦掉重算", "recompute"),
    "idle": ("闲着", "idle"),
    "dashed_frame": ("虚线框 = 算出来的", "dashed frame = predicted"),
    "whole_batch": ("一大批", "whole batch"),
    "bubble_note": ("气泡 {percent:.1f}%", "bubble {percent:.1f}%"),
    "font_hint": (
        "这台电脑没有中文字体，所以图里是英文：请安装 Noto Sans CJK 字体，或者运行 pip install pylopdf-fonts-zh-cn。",
        "This machine has no Chinese font, so pictures are in English: install Noto Sans CJK or pylopdf-fonts-zh-cn.",
    ),
    # -- charts
    "bubble_title": (
        "切成 M 小份时的气泡（K = {num_devices}）",
        "The bubble with M pieces (K = {num_devices})",
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
    "always": ("都擦掉", "erase all"),
    "naive": ("接力赛（不切）", "relay race (uncut)"),
    "gpipe": ("GPipe", "GPipe"),
    "1f1b": ("1F1B（算完一份就往回改）", "1F1B (go back at once)"),
    "train": ("训练一次（约 {seconds} 秒）", "Train once ~{seconds} s"),
    "sweep": ("试 M = {counts}（约 {seconds} 秒）", "Try M = {counts} (about {seconds} s)"),
    "cancel": ("停", "Stop"),
    "preparing": ("正在准备：切模型、热身……", "Getting ready: cutting the model, warming up …"),
    "checking": (
        "先真的训练一次，再和不切的模型比一比……",
        "Really training one step, and comparing it with the uncut model …",
    ),
    "measuring": (
        "正在测量：同样的训练做 {steps} 遍，现在是第 {step} 遍……",
        "Measuring the same step {steps} times: now number {step} …",
    ),
    "sweeping": ("正在试 M = {count}……", "Trying M = {count} …"),
    "cancelling": ("正在停下……", "Stopping …"),
    "cancelled": (
        "停下了。模型的旋钮没有改，可以再来一次。",
        "Stopped. No parameter was changed; you can start again.",
    ),
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
    "op_in_words": ("第 {stage} 段第 {piece} 小份{kind}", "stage {stage}'s {kind} of piece {piece}"),
    # -- the control room: knobs, buttons, the line of guesses
    "view": ("视图", "View"),
    "view_class": ("课堂", "class"),
    "view_engineer": ("工程师", "engineer"),
    "text_size": ("字", "Text"),
    "text_big": ("大", "large"),
    "text_normal": ("普通", "normal"),
    "guess_intro": (
        "先猜：不切要{uncut}格（1格：一块显卡算{samples}张）。切成{count}小份要几格？",
        "Guess: uncut takes {uncut} slots (1 slot: {samples} digits on a GPU). With {count} pieces?",
    ),
    "guess_first": ("先猜：不切要{uncut}格。", "Guess first: uncut it takes {uncut} slots."),
    "guess_percent": ("闲着百分之几？", "Idle, in %?"),
    "slots_asked": ("要几格？", "How many slots?"),
    "progress": ("进度", "How far it is"),
    "replay_slider": ("慢放到第几格", "Slot of the replay"),
    "language": ("语言", "Language"),
    "guess_done": ("猜好了", "That's it"),
    "guess_none": ("不猜", "No guess"),
    "more": ("更多设置", "More"),
    "history": ("历史", "History"),
    "sweeps": ("多试几种", "Sweeps"),
    "history_empty": (
        "还没有训练过：训练一次，这里就记一行。",
        "Nothing yet: every training run adds a line here.",
    ),
    "memory": ("内存", "Memory"),
    "save_picture": ("存图", "Save picture"),
    "replay_back": ("退一格", "Back one slot"),
    "replay_forward": ("进一格", "On one slot"),
    "only_forward": ("只看往前算", "forward only"),
    "both_ways": ("加上往回改", "and backward"),
    "dashed_is_predicted": ("虚线框 = 算出来的", "dashed = predicted"),
    "saved_slots": ("少用 {count} 格", "{count} slots fewer"),
    "bubble": ("气泡", "Bubble"),
    "stages_label": ("显卡", "GPUs"),
    "stages_unit": ("块", ""),
    "pieces_label": ("切成", "Pieces"),
    "pieces_unit": ("小份", ""),
    "clock": ("钟", "Clock"),
    "times_slower": ("时间×{times:g}", "{times:g} × slower"),
    "slower": ("钟慢一倍，再来一次", "Slow the clock down, once more"),
    "wide": ("满屏", "Full window"),
    "wide_why": (
        "占满浏览器窗口；再按一次回到笔记本",
        "Fill the browser's window; press again for the notebook",
    ),
    "nobody": ("都一样快", "none"),
    "replay_pace": ("每格", "a slot in"),
    "seconds_a_slot": ("{seconds:g} 秒", "{seconds:g} s"),
    "column": ("第 {column} 格：{devices}", "Slot {column}: {devices}"),
    "column_device": ("{device} {what}", "{device}: {what}"),
    "column_part": ("{name}：{words}。", "{name}: {words}."),
    "uncut_short": ("不切", "Uncut"),
    "all_done": ("都做完了", "all done"),
    "live_now": ("正在量", "being measured"),
    "semicolon": ("；", "; "),
    "save_as": ("存成：", "Save as:"),
    "go_back": ("回到", "Back to run"),
    "uncut": ("正在训练：一大批（不切）……", "Training the whole batch, uncut …"),
    "kept": ("正在训练：草稿都留着……", "Training with all scratch paper kept …"),
    "uncut_title": ("一大批（不切）", "Whole batch (uncut)"),
    "cut_title": ("切成 {count} 小份", "Cut into {count} pieces"),
    "guessed": ("你们猜", "guessed"),
    "measured_short": ("测到", "measured"),
    "formula_short": ("公式", "formula"),
    "busy_short": ("相当于一直有{count}块显卡在干活", "≈ {count} busy GPUs"),
    "same_short": ("结果一样 √", "Same result √"),
    "different_short": ("结果不一样！", "Not the same result!"),
    "still_line": (
        "这是一张不会动的图。想让它动起来：点一下上面的单元格，按 Shift+Enter；或者运行 python3 start.py。",
        "This is a still picture. To bring it alive: click the cell above and press Shift+Enter, or run python3 start.py.",
    ),
    "ask_long": ("要花约 {seconds} 秒，真的要跑吗？", "This takes about {seconds} s. Really run it?"),
    "reset": ("回到课堂设置", "Back to the lesson"),
    "slow_stage": ("慢显卡", "Slow GPU"),
    "slow_factor": ("要几倍时间", "Times slower"),
    "overhead_ms": ("每格活多花（毫秒）", "Extra per op (ms)"),
    "latency_ms": ("传一次要花（毫秒）", "Each hand-over (ms)"),
    "batch_norm": ("模型里有 BatchNorm", "Model with BatchNorm"),
    "real_time": ("真实计时（不用替身）", "Real time (no stand-ins)"),
    "foreground_note": (
        "在这个网站上，只有单元格还在运行的时候，图才会动。",
        "On this site the picture moves only while the cell is running.",
    ),
    # -- presets, and what each shows
    "preset_relay_race": ("接力赛", "Relay race"),
    "preset_relay_race_why": (
        "不切：一块显卡干活，别的显卡等着。",
        "Uncut: one GPU works, the others wait.",
    ),
    "preset_4_pieces": ("4 小份", "4 pieces"),
    "preset_4_pieces_why": (
        "切成 4 小份：几块显卡同时干活。",
        "Cut into 4 pieces: several GPUs work at once.",
    ),
    "preset_16_pieces": ("16 小份", "16 pieces"),
    "preset_16_pieces_why": (
        "切得更细：闲着的时间更少。",
        "Cut finer: less idle time.",
    ),
    "preset_slow_stage": ("一块显卡慢", "A slow GPU"),
    "preset_slow_stage_why": (
        "第 3 块显卡慢一倍：大家都等它。",
        "The third GPU takes twice as long: all the others wait for it.",
    ),
    "preset_erase": ("擦掉重算", "Erase and redo"),
    "preset_erase_why": (
        "草稿都擦掉，用到再算一遍：省了书桌，多花了时间。",
        "All scratch paper erased and redone: less on the desk, more time.",
    ),
    "preset_1f1b": ("1F1B", "1F1B"),
    "preset_1f1b_why": (
        "算完一份就往回改：一样快，草稿少。",
        "Go back as soon as a piece is done: as fast, with less scratch paper.",
    ),
    # -- the three sentences
    "amount_slots": ("{count}格", "{count} slots"),
    "amount_slot": ("{count}格", "{count} slot"),
    "amount_ms": ("{count}毫秒", "{count} ms"),
    "gpus": ("{count}块显卡", "{count} GPUs"),
    "gpu": ("{count}块显卡", "{count} GPU"),
    "full_stop": ("。", "."),
    "times": ("{count}倍", "{count} times"),
    "comma": ("，", ", "),
    "listed": ("、", " and "),
    "then_comma": ("、", ", "),
    "bracketed": ("（{words}）", " ({words})"),
    "said_saved": (
        "同一批{samples}张手写数字：不切用了{uncut}，切成{count}小份用了{cut}，少用{saved}",
        "The same {samples} digits took {uncut} uncut, {cut} in {count} pieces: {saved} fewer",
    ),
    "said_saved_ms": (
        "同一批{samples}张手写数字：不切用了{uncut}，切成{count}小份用了{cut}，少用{saved}",
        "The same {samples} digits took {uncut} uncut, {cut} in {count} pieces: {saved} less",
    ),
    "said_slower": (
        "同一批{samples}张手写数字：不切用了{uncut}，切成{count}小份用了{cut}，反而多用{more}",
        "The same {samples} digits took {uncut} uncut, {cut} in {count} pieces, {more} more",
    ),
    "said_as_fast": (
        "同一批{samples}张手写数字：不切用了{uncut}，切成{count}小份也用了{cut}，一样快",
        "The same {samples} digits took {uncut} uncut, {cut} in {count} pieces too, just as fast",
    ),
    "said_relay": (
        "一大批{samples}张手写数字没有切，{devices}像接力赛一样一块接一块地算，用了{cut}",
        "{samples} digits, not cut: a relay race over {devices}, one after the other, in {cut}",
    ),
    "said_relay_longer": ("，比草稿都留着多用{more}", ", {more} more than with all scratch paper kept"),
    "said_one_device": (
        "一大批{samples}张手写数字全在一块显卡上算，用了{cut}，没有人接力",
        "{samples} digits, all on one GPU, in {cut}: there is nobody to hand over to",
    ),
    "said_alone": (
        "：只有一块显卡，切了也没有别人同时干活",
        ": with one GPU nobody else can work at the same time",
    ),
    "said_only_cut": (
        "一大批{samples}张手写数字切成{count}小份用了{cut}；训练一次，就能和不切时比",
        "{samples} digits in {count} pieces took {cut}; train once to compare with uncut",
    ),
    "said_ratio": ("，速度是不切的{ratio}倍", ", {ratio} times the speed of uncut"),
    "said_because_overhead": (
        "：每格活要多花{overhead}毫秒，切得越细，多花得越多",
        ": every op costs {overhead} ms extra, and finer pieces mean more ops",
    ),
    "said_because_small": (
        "：切小以后，同样的活加起来要{cut}，不切只要{uncut}",
        ": cut small, the same work adds up to {cut}, and to {uncut} uncut",
    ),
    "said_because_link": (
        "：传一次要花{latency}毫秒，时间花在路上了",
        ": every hand-over takes {latency} ms, and that time adds up",
    ),
    "said_idle": (
        "{devices}有{percent}的时间闲着{parts}，公式算出来是{formula}",
        "{devices} sat idle {percent} of the time{parts}; the formula says {formula}",
    ),
    "said_idle_more": (
        "{devices}有{percent}的时间闲着{parts}，比公式的{formula}多{points}个百分点",
        "{devices} sat idle {percent} of the time{parts}, {points} points above the formula's {formula}",
    ),
    "said_idle_less": (
        "{devices}有{percent}的时间闲着{parts}，比公式的{formula}少{points}个百分点",
        "{devices} sat idle {percent} of the time{parts}, {points} points below the formula's {formula}",
    ),
    "idle_start": ("开头等活{amount}", "{amount} at the start"),
    "idle_middle": ("中间断活{amount}", "{amount} in the middle"),
    "idle_end": ("结尾没活{amount}", "{amount} at the end"),
    "said_because": ("，主要因为：{causes}", ", mainly because {causes}"),
    "cause_slow": ("{device} 慢", "{device} is slow"),
    "cause_overhead": ("每格活多花时间", "every op costs extra time"),
    "cause_link": ("传来传去花时间", "handing over takes time"),
    "cause_uneven": ("小份大小不一样", "the pieces differ in size"),
    "cause_recompute": ("重算要时间", "redoing takes time"),
    "cause_overruns": ("有的活超时了", "ops overran"),
    "cause_busy": ("电脑忙", "the computer was busy"),
    "cause_stages": ("各段快慢不一", "the stages differ in speed"),
    "cause_waiting": ("交接要时间", "handing over takes time"),
    "cause_points": ("{cause}（{points}）", "{cause} ({points})"),
    "said_shared": (
        "CPU 核不够，{devices}抢着用，谁在等谁量不准，所以没有气泡的数：请少用几块显卡，或者换回替身显卡",
        "{devices} share too few CPU cores, so who waits for whom can't be measured and there is no bubble:"
        " use fewer GPUs, or stand-ins",
    ),
    "papers_kept": (
        "各块显卡最多留{counts}份草稿（GPipe 都要留{all}份）；",
        "The GPUs keep scratch paper of {counts} pieces (GPipe: {all} each); ",
    ),
    "scratch_less": ("草稿比都留着少了{share}", "Scratch paper is {share} less than keeping all"),
    "scratch_more": ("草稿反而多了{share}", "Scratch paper is {share} more, not less"),
    "scratch_same": ("草稿没有少", "Scratch paper is no less"),
    "time_more": ("，多花了{share}的时间；", ", the time {share} more; "),
    "time_less": ("，时间少了{share}；", ", the time {share} less; "),
    "time_same": ("，时间没有多花；", ", the time the same; "),
    "said_same": (
        "结果一样：每个旋钮要改的量，和不切时最多只差{difference}，是小数计算的零头",
        "Same result: what each parameter is changed by differs from uncut by at most {difference}, mere rounding",
    ),
    "said_same_exactly": (
        "结果一样：每个旋钮要改的量，和不切时完全一样",
        "Same result: what each parameter is changed by is exactly the same as uncut",
    ),
    "said_batch_norm": (
        "结果不一样（最多差{difference}）：BatchNorm 拿每一小份自己的平均数来算，不切时拿的是一大批的平均数",
        "Not the same result (up to {difference} off): BatchNorm takes each piece's own average,"
        " not the whole batch's",
    ),
    "said_different": (
        "结果不一样！每个旋钮要改的量，和不切时最多差{difference}。模型里有随机的层（Dropout）吗？没有就请再训练一次",
        "Not the same result! What a parameter is changed by differs from uncut by up to {difference}."
        " Does the model hold a random layer (Dropout)? If not, train again",
    ),
    # -- the line of evidence
    "evidence_trained": ("真的训练了", "Really trained"),
    "evidence_tried": ("真的算了一遍（旋钮没改）", "Really run (no parameter changed)"),
    "evidence_not_yet": ("还没训练", "Not trained yet"),
    "evidence_stand_ins": (
        "替身显卡×{count}：CPU 算完一格活，再等满规定的时间",
        "{count} stand-in GPUs: the CPU does each step, then waits out its time",
    ),
    "evidence_stand_in": (
        "替身显卡×{count}：CPU 算完一格活，再等满规定的时间",
        "{count} stand-in GPU: the CPU does each step, then waits out its time",
    ),
    "evidence_real_time": (
        "{count}个 CPU 线程，真实计时，没有规定的时间",
        "{count} CPU threads in real time, nothing declared",
    ),
    "evidence_shared": ("CPU 核不够分，气泡不算数", "on shared cores: not a bubble measurement"),
    "evidence_slot": ("1格={ms}毫秒", "1 slot = {ms} ms"),
    "evidence_slow": ("{device} 要用{factor}倍的时间", "{device} takes {factor} times as long"),
    "evidence_overhead": ("每格活多花{ms}毫秒", "{ms} ms extra per op"),
    "evidence_latency": ("传一次{ms}毫秒", "{ms} ms per hand-over"),
    "evidence_overruns": ("{overruns}次超时", "{overruns} overruns"),
    "evidence_overrun": ("{overruns}次超时", "{overruns} overrun"),
    "evidence_late": ("电脑忙，有活晚了{worst}毫秒", "computer busy: {worst} ms late"),
    "evidence_slip": (
        "醒晚{median}毫秒（中位数），最多{worst}毫秒",
        "woke up {median} ms late (median), {worst} at worst",
    ),
    "evidence_slower": (
        "请关掉别的程序再训练一次，或者把钟调慢：batch_time={slower}（现在{now}）",
        "close other programs and train again, or take a slower clock: batch_time={slower} (now {now})",
    ),
    # -- why is it idle?
    "piece": ("第 {piece} 小份", "piece {piece}"),
    "whole_piece": ("一大批", "the whole batch"),
    "piece_and_kind": ("{piece}{kind}", "{kind} of {piece}"),
    "idle_fill": ("活还没传到：等{device} 把{what}完", "nothing has come yet: waits for {device}'s {what}"),
    "idle_waits": ("等{device} 把{what}完", "waits for {device}'s {what}"),
    "idle_queued": (
        "等{device} 把{what}完，现在还没轮到它",
        "waits for {device}'s {what}, which has not begun yet",
    ),
    "idle_link": ("{device} 的{what}做完了，正在传过来", "{device}'s {what} is done and on its way"),
    "idle_late": ("活已经到了，是电脑慢了一点", "its work is there; the computer was a little late"),
    "idle_done": ("活都干完了", "all its work is done"),
    "idle_done_forward": ("往前算的活都干完了", "all its forward work is done"),
    "idle_before": ("还没开始", "not begun yet"),
    "idle_after": ("都结束了", "all over"),
    # -- guesses
    "guess_not_a_number": (
        "“{text}”看不懂：请写一个数，例如 {example}",
        "can't read “{text}”: write a number such as {example}",
    ),
    "guess_negative": ("不会比 0 少：请写 0 或更大的数", "it can't be less than 0: write 0 or more"),
    "guess_over_100": ("最多是 100%：请写 0 到 100 的数", "100% is the most: write a number from 0 to 100"),
    "guess_no_slots": ("干活总要时间：请写大于 0 的数", "work takes time: write a number above 0"),
    "guess_too_large": ("这个数太大了：请写小一点的数", "that is too large: write a smaller number"),
    "guess_right": ("猜中了", "spot on"),
    "guess_slots_off": ("差 {count} 格", "{count} slots off"),
    "guess_slot_off": ("差 {count} 格", "{count} slot off"),
    "guess_points_off": ("差 {count} 个百分点", "{count} points off"),
    "guess_slots_said": ("格数{words}", "slots: {words}"),
    "guess_percent_said": ("气泡{words}", "idle: {words}"),
    # -- the doctor
    "doctor_title": ("看看这台电脑能不能上课：", "Is this machine ready for the lesson?"),
    "doctor_what_to_do": ("   怎么办：{words}", "   What to do: {words}"),
    "doctor_well": ("没有问题，可以上课。", "Nothing is in the way."),
    "doctor_ill": ("{count} 个问题要先解决。", "To be put right first: {count}."),
    "doctor_crashed": ("“{check}”没查成：{why}", 'the check "{check}" failed itself: {why}'),
    "doctor_crashed_remedy": (
        "请运行 python3 start.py setup 重新准备；还不行，就把这一行发给 pipekit 的作者。",
        "run python3 start.py setup; if it stays, send this line to pipekit's authors.",
    ),
    "doctor_versions": ("版本：{versions}", "versions: {versions}"),
    "doctor_not_installed": (
        "这个 Python 里没有装 {names}（{python}）",
        "{names} not installed in this Python ({python})",
    ),
    "doctor_not_installed_remedy": (
        "请运行 python3 start.py setup，再用 .venv 里的 Python。",
        "run python3 start.py setup, then use the Python in .venv.",
    ),
    "doctor_lab": (
        "JupyterLab 和滑块配得上：{versions}（{python}）",
        "JupyterLab and its sliders fit: {versions} ({python})",
    ),
    "doctor_no_lab": ("没有找到 JupyterLab，看不到控制室", "no JupyterLab found, so no control room"),
    "doctor_no_lab_remedy": (
        '请运行 python3 start.py，或者 {python} -m pip install "jupyterlab>=4.2,<5"；命令行 python -m pipekit run 现在就能用。',
        'run python3 start.py, or {python} -m pip install "jupyterlab>=4.2,<5"; python -m pipekit run works as it is.',
    ),
    "doctor_widgets_missing": (
        "JupyterLab 那边（{python}）没有装 jupyterlab_widgets，滑块显示不出来",
        "JupyterLab's Python ({python}) lacks jupyterlab_widgets: sliders can't be shown",
    ),
    "doctor_widgets_differ": (
        "内核这边 ipywidgets 是 {ipywidgets}，JupyterLab 那边（{python}）{name} 是 {found}，配不上，滑块显示不出来",
        "the kernel has ipywidgets {ipywidgets}, JupyterLab's Python ({python}) has {name} {found}: they don't fit, sliders can't be shown",
    ),
    "doctor_widgets_remedy": (
        '请运行 {python} -m pip install "{name}=={wanted}.*"，然后重新打开 JupyterLab。',
        'run {python} -m pip install "{name}=={wanted}.*", then open JupyterLab again.',
    ),
    "doctor_ipywidgets_old": (
        "ipywidgets 是 {ipywidgets}，pipekit 要第 {wanted} 版",
        "ipywidgets is {ipywidgets}, but pipekit needs version {wanted}",
    ),
    "doctor_gpus": ("{count} 块真的显卡（CUDA）：{names}", "CUDA GPUs: {count} ({names})"),
    "doctor_no_gpu": (
        "没有真的显卡（CUDA），用“替身”上课，这是正常的",
        "no CUDA GPU: the lesson uses stand-ins, as it is meant to",
    ),
    "doctor_mps": (
        "苹果的 MPS 只算一块显卡，流水线用不上，所以不用它；用“替身”上课",
        "Apple's MPS is one device, too few for a pipeline, and is not used: the lesson uses stand-ins",
    ),
    "doctor_cores": (
        "能用 {usable:.3g} 个 CPU 核（电脑有 {present} 个，允许用 {affinity} 个，配额 {quota}）",
        "usable CPU cores: {usable:.3g} (counted {present}, allowed {affinity}, quota {quota})",
    ),
    "doctor_cores_one_remedy": (
        "用“替身”上课没有问题；真实计时（--devices cpu）每块显卡要一个核，这里不够，测出来不算数。",
        "stand-ins work well; real time (--devices cpu) needs a core a device and is no measurement here.",
    ),
    "doctor_cores_quota_remedy": (
        "配额不到 1 个核，程序会一次次被停住几十毫秒，测不准：请把容器的配额调到至少 1 个核（例如 docker run --cpus 2）。",
        "a quota below 1 core stops the program for tens of ms at a time: give the container at least 1 (docker run --cpus 2).",
    ),
    "doctor_sleep": (
        "时钟：让程序睡 10 毫秒，晚醒 {late_10:.2f} 毫秒；睡 1 毫秒，晚醒 {late_1:.2f} 毫秒（中位数）；最多晚 {worst:.1f} 毫秒",
        "clock: a sleep of 10 ms is {late_10:.2f} ms late, of 1 ms {late_1:.2f} ms (median); the worst {worst:.1f} ms",
    ),
    "doctor_sleep_coarse_remedy": (
        "时钟太粗（一格 40 毫秒，晚醒要少于 {limit:g} 毫秒）：请放慢，用 --batch-time {batch_time:.1f}（笔记本里写 batch_time={batch_time:.1f}）；Windows 上用 Python 3.11 或更新的版本，关掉省电模式。",
        "too coarse (a slot of 40 ms asks for less than {limit:g} ms): slow the clock with --batch-time {batch_time:.1f} (in a notebook batch_time={batch_time:.1f}); on Windows take Python 3.11 or newer and leave power saving.",
    ),
    "doctor_sleep_worst_remedy": (
        "有时候醒得很晚：上课时请关掉别的程序，接上电源。",
        "now and then it wakes up late: close other programs during the lesson, and plug the machine in.",
    ),
    "doctor_font": ("中文字体：{name}", "Chinese font: {name}"),
    "doctor_no_font": ("没有中文字体", "no Chinese font"),
    "doctor_browser": ("浏览器：{name}", "browser: {name}"),
    "doctor_no_browser": (
        "没有找到浏览器，控制室不会自己打开",
        "no browser found: the control room can't open by itself",
    ),
    "doctor_no_browser_remedy": (
        "请装一个浏览器，或者把 start.py 打印的网址粘贴到别的浏览器里；也可以设环境变量 BROWSER。",
        "install one, or paste the address that start.py prints into any browser; BROWSER may name one.",
    ),
    "doctor_folders": ("文件夹可以写：{folders}", "folders can be written to: {folders}"),
    "doctor_folder_closed": ("文件夹 {folder} 不能写：{why}", "folder {folder} can't be written to: {why}"),
    "doctor_folder_remedy": (
        "请把 pipekit 放到自己的文件夹里（例如“文档”），或者请管理员给写的权限；磁盘满了就清理一下。",
        "move pipekit to a folder of your own, or ask for the right to write there; make room if the disk is full.",
    ),
    "doctor_ours": ("pipekit {version}：{folder}", "pipekit {version}: {folder}"),
    "doctor_foreign": (
        "还装着另一个也叫 pipekit 的软件包：{where}，笔记本可能会用错",
        "another package called pipekit is installed: {where}; a notebook may import the wrong one",
    ),
    "doctor_foreign_remedy": (
        "请运行 {python} -m pip uninstall pipekit，再运行 python3 start.py setup。",
        "run {python} -m pip uninstall pipekit, then python3 start.py setup.",
    ),
    "doctor_smoke": (
        "真的训练了一次（K = 2，M = 4）：结果和不切时一样（只差 {difference:.0e}），气泡测到 {measured:.1%}，算出来 {predicted:.1%}",
        "really trained one step (K = 2, M = 4): gradients as uncut (within {difference:.0e}), bubble measured {measured:.1%}, predicted {predicted:.1%}",
    ),
    "doctor_smoke_gradients": (
        "训练了一次，结果却和不切时不一样（差 {difference:.0e}）",
        "trained one step, but its gradients differ from the uncut model's by {difference:.0e}",
    ),
    "doctor_smoke_gradients_remedy": (
        "请运行 python3 start.py setup 装回配好的 torch；还不行，就把这一页发给 pipekit 的作者。",
        "run python3 start.py setup for the torch that was tested; if it stays, send this page to pipekit's authors.",
    ),
    "doctor_smoke_bubble": (
        "训练了一次，气泡测到 {measured:.1%}，算出来 {predicted:.1%}，差得太多",
        "trained one step, but the bubble measured {measured:.1%} is far from the predicted {predicted:.1%}",
    ),
    "doctor_smoke_bubble_remedy": (
        "电脑太忙：请关掉别的程序再试；还是这样就放慢时钟，用 --batch-time 0.5。",
        "the machine is busy: close other programs and try again, or slow the clock with --batch-time 0.5.",
    ),
    "doctor_smoke_failed": ("试着训练一次，没成功：{why}", "training one step failed: {why}"),
    "doctor_smoke_failed_remedy": (
        "请照上面那句话做；如果没说怎么办，请运行 python3 start.py setup 再试。",
        "do what that sentence says; if it says nothing, run python3 start.py setup and try again.",
    ),
    # -- the design board
    "design_title": ("排法设计板", "Design board"),
    "design_begin": (
        "拿一格活，放进一块显卡那一行。放不下，它会说为什么。",
        "Take an op and put it into a GPU's row. Where it can't go, you are told why.",
    ),
    "design_tray": ("要放的活", "Ops to place"),
    "design_grid": ("时间表：一行一块显卡，一列一格", "Schedule: a row a GPU, a column a slot"),
    "design_take_off": ("拿掉", "Take off"),
    "design_take_off_why": (
        "拿掉选中的活；按 Delete 键也可以",
        "Take the chosen op off the board; the Delete key does the same",
    ),
    "design_train": ("训练一次", "Train once"),
    "design_undo": ("撤销", "Undo"),
    "design_redo": ("重做", "Redo"),
    "design_clear": ("清空", "Clear"),
    "design_hint": ("提示", "Hint"),
    "design_push_left": ("靠左排紧", "Push left"),
    "design_push_left_why": (
        "先后不变，每格活都尽早做",
        "The same order, every op as early as it can be",
    ),
    "design_files": ("存取", "Save, load"),
    "design_chip": ("第 {piece} 小份{kind}：{devices}还没有", "{kind} of piece {piece}: still for {devices}"),
    "design_chip_used": ("第 {piece} 小份{kind}：都放好了", "{kind} of piece {piece}: on every row"),
    "design_row": ("放到{device}，越早越好", "Put it on {device}, as early as possible"),
    "design_free": ("{device} 第 {slot} 格，空着", "{device}, slot {slot}, free"),
    "design_op": (
        "{op}，{device}，第 {first} 格到第 {last} 格",
        "{op}, {device}, slots {first} to {last}",
    ),
    "design_take_first": (
        "先拿一格活，再选放在哪里。",
        "First take an op, then choose where it goes.",
    ),
    "design_refused": ("不行：{why}。", "Refused: {why}."),
    "design_put": ("{op}放在{device} 第 {slot} 格了。", "{op} is on {device}, slot {slot}."),
    "design_taken_off": ("{op}拿掉了。", "{op} is off the board."),
    "design_hinted": (
        "可以把{op}放在{device} 第 {slot} 格。",
        "{op} could go on {device}, slot {slot}.",
    ),
    "design_hint_train": ("放齐了：按“训练一次”试一试。", 'All there: press "Train once".'),
    "design_hint_push": (
        "放齐了。“靠左排紧”能早 {count} 格做完。",
        'All there. "Push left" would end it {count} slots earlier.',
    ),
    "design_found": ("你排出了 {name}！", "You have found {name}!"),
    "design_own": (
        "放齐了，这是你自己的排法，可以训练。",
        "All there: a schedule of your own, and it can train.",
    ),
    "design_pushed": ("早 {count} 格做完了。", "It ends {count} slots earlier now."),
    "design_loaded": ("读进来了：{count} 格活。", "Loaded: {count} ops."),
    "design_makespan": ("总时间", "Total time"),
    "design_in_flight": ("草稿最多几份", "Most pieces kept"),
    "design_missing": ("还差", "Missing"),
    "design_missing_count": ("{count} 格活：", "{count} ops: "),
    "design_complete": ("0 格，放齐了", "nothing"),
    "design_trained": (
        "真的训练了：测到 {measured} 格，排的是 {designed} 格；气泡测到 {bubble}，排的是 {planned}。",
        "Really trained: {measured} slots measured, {designed} designed; bubble {bubble} measured, {planned} designed.",
    ),
    "design_text": ("文字", "As text"),
    "design_load": ("读入", "Load"),
    "design_upload": ("读文件", "Load a file"),
    "design_designed": ("设计的（虚线框）", "Designed (dashed frame)"),
    # -- the sweep panel
    "sweep_title": ("一次试好多种", "Try many settings"),
    "sweep_again": ("测过的也再测一遍", "measure known points again"),
    "sweep_start": ("开始测：{count} 个点，约 {seconds} 秒", "Measure {count} points, about {seconds} s"),
    "sweep_confirm": (
        "{count} 个点要约 {seconds} 秒：再按一次就开始",
        "{count} points, about {seconds} s: press again to start",
    ),
    "sweep_pause": ("暂停", "Pause"),
    "sweep_resume": ("接着测", "Go on"),
    "sweep_save_csv": ("存表格（CSV）", "Save table (CSV)"),
    "sweep_save_png": ("存图（PNG）", "Save picture (PNG)"),
    "sweep_saved": ("存好了：{path}", "Saved: {path}"),
    "sweep_idle": ("写上要试的 K 和 M，再按“开始测”。", 'Write which K and M to try, then press "Measure".'),
    "sweep_known": (
        "这 {count} 个点都测过了；想再测，请勾上“测过的也再测一遍”。",
        'All {count} points are known; to repeat them, tick "measure known points again".',
    ),
    "sweep_preparing": ("正在准备……", "Getting ready …"),
    "sweep_warming": (
        "先空跑一次热身：K={stages} M={pieces}……",
        "Warming up with one step: K={stages} M={pieces} …",
    ),
    "sweep_point": ("正在测 K={stages} M={pieces}……", "Measuring K={stages} M={pieces} …"),
    "sweep_waiting": ("等一等：别处正在训练同一个模型……", "Waiting: this model is being trained elsewhere …"),
    "sweep_pausing": ("这个点测完就暂停……", "Will pause after this point …"),
    "sweep_paused": ("暂停了；按“接着测”从下一个点开始。", 'Paused; "Go on" continues with the next point.'),
    "sweep_progress": (
        "测了 {done}/{total} 个点，还要约 {seconds} 秒",
        "{done} of {total} points, about {seconds} s left",
    ),
    "sweep_cancelled": (
        "停下了：测了 {done}/{total} 个点，都留着。",
        "Stopped: {done} of {total} points were run, and all are kept.",
    ),
    "sweep_finished": (
        "测完了：{done} 个点里有 {good} 个测到了，用了 {seconds:.0f} 秒。",
        "Done: {good} of {done} points measured; it took {seconds:.0f} s.",
    ),
    "sweep_skipped": (
        "有 {count} 种做不到，会跳过：",
        "{count} combinations can't be run and are skipped:",
    ),
    "sweep_more": ("……另外还有 {count} 种", "… and {count} more"),
    "sweep_extra": ("每格活多花{ms:g}毫秒", "+{ms:g} ms an op"),
    "sweep_hop": ("传一次{ms:g}毫秒", "{ms:g} ms a hop"),
    "sweep_bubble": ("气泡（%）：越低越好", "Bubble (%): lower is better"),
    "sweep_slots": ("训练一次用几格：越低越快", "Slots of one step: lower is faster"),
    "sweep_seconds": ("训练一次用几秒：越低越快", "Seconds of one step: lower is faster"),
    "sweep_source_measured": (
        "点是真的训练一次测到的 · 替身显卡：CPU 算完一格活，再等满规定的时间 · 1格={slot_ms:.0f}毫秒",
        "Marks: really trained, measured · stand-in GPUs: the CPU does each step, then waits out its time"
        " · 1 slot = {slot_ms:.0f} ms",
    ),
    "sweep_source_predicted": (
        "还没有测：线是算出来的 · 1格={slot_ms:.0f}毫秒",
        "Not measured yet: the lines are predicted · 1 slot = {slot_ms:.0f} ms",
    ),
    "sweep_overrun": ("有超时，不可信", "overrun: not to be trusted"),
    "sweep_fastest": ("最快 M={pieces}", "fastest M={pieces}"),
    "sweep_fastest_predicted": ("算出来最快 M={pieces}", "predicted fastest M={pieces}"),
    "sweep_best": (
        "{name}：测到最快的是 M={pieces}，一次 {time}；算出来最快的是 M={predicted}。",
        "{name}: fastest measured M={pieces}, {time} a step; predicted fastest M={predicted}.",
    ),
    "sweep_undrawn": (
        "图里只画 {most} 条线；其余 {count} 条在表里。",
        "The charts show {most} lines; {count} more are in the table.",
    ),
    "sweep_time": ("一次用时", "Step time"),
    "sweep_second_unit": ("{count:.3f} 秒", "{count:.3f} s"),
    "sweep_outcome": ("结果", "Outcome"),
}

WORDS_ENGINEER: dict[
    str, tuple[str, str]
] = {  # where an engineer says it differently; same numbers as in `WORDS`
    "device": ("设备 {number}", "device {number}"),
    "idle": ("空闲", "idle"),
    "dashed_frame": ("虚线框 = 预测", "dashed frame = predicted"),
    "bubble_title": (
        "气泡占比随微批次数 M 的变化（K = {num_devices}）",
        "Bubble fraction over M (K = {num_devices})",
    ),
    "bubble_x": ("微批次数 M", "micro-batches M"),
    "bubble_y": ("气泡占比（%）", "bubble fraction %"),
    "memory_title": ("各设备的显存（KiB）", "Memory per device (KiB)"),
    "memory_predicted": ("激活值（预测）", "activations, predicted"),
    "memory_measured": ("激活值（实测）", "activations, measured"),
    "memory_weights": ("参数和梯度", "parameters + gradients"),
    "source_shared": (
        "CPU 核被共享，气泡占比不可测",
        "Ran on shared cores: not a bubble measurement",
    ),
    "simulated": ("预测", "predicted"),
    "curve": ("预测", "predicted"),
    "points": ("实测", "measured"),
    "guessed": ("猜测", "guessed"),
    "figure_bubble": (
        "气泡占比 = 空闲 ÷（设备数 × 总时间）",
        "Bubble fraction = idle / (devices × makespan)",
    ),
    "figure_makespan": ("总时间", "Makespan"),
    "figure_busy": ("等效满载设备数", "Devices' worth of work"),
    "busy": ("{count:.2f}（共 {total}）", "{count:.2f} of {total}"),
    "cancelled": (
        "已停止，参数没有更新，可以重新开始。",
        "Stopped. No parameter was changed; you can start again.",
    ),
    "uncut": ("正在训练：不切分……", "Training the mini-batch, uncut …"),
    "kept": ("正在训练：不重计算……", "Training without recomputation …"),
    "sweeps": ("参数扫描", "Sweeps"),
    "sweep_extra": ("每个操作开销 {ms:g} 毫秒", "+{ms:g} ms an op"),
    "sweep_hop": ("每跳延迟 {ms:g} 毫秒", "{ms:g} ms a hop"),
    "sweep_source_measured": (
        "点：真实训练一步的实测 · 替身设备：每个操作真的计算，再等满规定的时间 · 1 格 = {slot_ms:.0f} 毫秒",
        "Marks: one real training step, measured · stand-ins: every op computes, then waits out its declared time"
        " · 1 slot = {slot_ms:.0f} ms",
    ),
    "design_title": ("调度设计板", "Design board"),
    "design_begin": (
        "选一个操作，放进一个设备行。不合法时会说明原因。",
        "Take an op and put it into a device's row. Where it can't go, you are told why.",
    ),
    "design_tray": ("待放置的操作", "Ops to place"),
    "design_grid": ("调度：每行一个设备，每列一格", "Schedule: a row a device, a column a tick"),
    "design_take_off": ("移除", "Take off"),
    "design_take_off_why": (
        "移除选中的操作；按 Delete 键也可以",
        "Take the chosen op off the board; the Delete key does the same",
    ),
    "design_push_left": ("向左压紧", "Push left"),
    "design_push_left_why": (
        "顺序不变，每个操作尽早开始",
        "The same order, every op as early as it can be",
    ),
    "design_chip": (
        "微批次 {piece} 的{kind}：{devices}还没有",
        "{kind} of micro-batch {piece}: still for {devices}",
    ),
    "design_chip_used": (
        "微批次 {piece} 的{kind}：已全部放置",
        "{kind} of micro-batch {piece}: on every row",
    ),
    "design_row": ("放到{device}，尽早开始", "Put it on {device}, as early as possible"),
    "design_free": ("{device} 第 {slot} 格，空闲", "{device}, tick {slot}, free"),
    "design_op": ("{op}，{device}，第 {first} 格到第 {last} 格", "{op}, {device}, ticks {first} to {last}"),
    "design_take_first": ("先选一个操作，再选放在哪里。", "First take an op, then choose where it goes."),
    "design_put": ("{op} 放在{device} 第 {slot} 格。", "{op} is on {device}, tick {slot}."),
    "design_taken_off": ("{op} 已移除。", "{op} is off the board."),
    "design_hinted": ("可以把 {op} 放在{device} 第 {slot} 格。", "{op} could go on {device}, tick {slot}."),
    "design_hint_train": ("已完整：可以训练。", 'Complete: press "Train once".'),
    "design_hint_push": (
        "已完整。向左压紧可以早 {count} 格结束。",
        'Complete. "Push left" would end it {count} ticks earlier.',
    ),
    "design_found": ("这就是 {name}。", "You have found {name}."),
    "design_own": ("完整，可以训练：一种新的调度。", "Complete: a schedule of your own, and it can train."),
    "design_pushed": ("早 {count} 格结束。", "It ends {count} ticks earlier now."),
    "design_loaded": ("已读入 {count} 个操作。", "Loaded: {count} ops."),
    "design_makespan": ("总时间", "Makespan"),
    "design_in_flight": ("在途微批次峰值", "Most in flight"),
    "design_missing_count": ("{count} 个操作：", "{count} ops: "),
    "design_complete": ("无", "nothing"),
    "design_trained": (
        "真实训练：总时间实测 {measured} 格，设计 {designed} 格；气泡占比实测 {bubble}，设计 {planned}。",
        "Really trained: makespan {measured} ticks measured, {designed} designed;"
        " bubble {bubble} measured, {planned} designed.",
    ),
    "design_designed": ("设计（虚线框）", "Designed (dashed frame)"),
    "clock": ("时钟", "Clock"),
    "slower": ("时钟放慢一倍，再测一次", "Slow the clock down, once more"),
    "nobody": ("没有", "none"),
    "preset_relay_race": ("不切分", "Uncut"),
    "preset_relay_race_why": (
        "不切分：同一时刻只有一个设备在计算。",
        "Uncut: one device works at a time.",
    ),
    "preset_4_pieces": ("4 个微批次", "4 micro-batches"),
    "preset_4_pieces_why": (
        "4 个微批次：几个设备同时计算。",
        "4 micro-batches: several devices work at once.",
    ),
    "preset_16_pieces": ("16 个微批次", "16 micro-batches"),
    "preset_16_pieces_why": (
        "微批次更多：气泡占比更低。",
        "More micro-batches: a smaller bubble.",
    ),
    "preset_slow_stage": ("慢设备", "A slow device"),
    "preset_slow_stage_why": (
        "设备 2 的耗时是别的设备的 2 倍：其余设备都等它。",
        "Device 2 takes twice as long: all the others wait for it.",
    ),
    "preset_erase": ("激活重计算", "Recompute"),
    "preset_erase_why": (
        "全部重计算：以时间换内存。",
        "All activations are recomputed: time for memory.",
    ),
    "preset_1f1b_why": (
        "1F1B：总时间不变，激活值峰值更低。",
        "1F1B: the same makespan, fewer activations at the peak.",
    ),
    "kind_F": ("前向", "forward"),
    "kind_B": ("反向", "backward"),
    "kind_I": ("反向（输入梯度）", "backward (input gradient)"),
    "kind_W": ("反向（权重梯度）", "backward (weight gradient)"),
    "kind_R": ("激活重计算", "recompute"),
    "num_stages": ("设备数 K", "Devices K"),
    "num_micro_batches": ("微批次数 M", "Micro-batches M"),
    "checkpoint": ("重计算", "Checkpoint"),
    "schedule": ("调度", "Schedule"),
    "never": ("不重计算", "never"),
    "except_last": ("除最后一个微批次外重计算", "except_last"),
    "always": ("全部重计算", "always"),
    "naive": ("不切分", "naive (uncut)"),
    "1f1b": ("1F1B", "1F1B"),
    "source_predicted": ("预测（仿真）", "Predicted"),
    "source_measured": ("实测", "Measured"),
    "measured": ("实测", "measured"),
    "measured_short": ("实测", "measured"),
    "memory": ("显存", "Memory"),
    "stages_label": ("K", "K"),
    "stages_unit": ("", ""),
    "pieces_label": ("M", "M"),
    "pieces_unit": ("", ""),
    "only_forward": ("只看前向", "forward only"),
    "both_ways": ("前向和反向", "both ways"),
    "saved_slots": ("少 {count} 格", "{count} slots fewer"),
    "uncut_title": ("不切分（一个小批次）", "Uncut (one mini-batch)"),
    "cut_title": ("{count} 个微批次", "{count} micro-batches"),
    "guess_intro": (
        "先猜：不切分 {uncut} 格（1 格：一个设备前向 {samples} 个样本），{count} 个微批次几格？",
        "Guess: uncut {uncut} slots (1 slot: {samples} samples forward). With {count} micro-batches?",
    ),
    "guess_percent": ("气泡占比（%）？", "Bubble fraction in %?"),
    "busy_short": ("等效 {count} 个设备满载", "{count} devices' worth of work"),
    "same_short": ("梯度一致 √", "Gradients equal √"),
    "different_short": ("梯度不一致！", "Gradients differ!"),
    "slow_stage": ("慢设备", "Slow device"),
    "slow_factor": ("耗时倍数", "Slow factor"),
    "overhead_ms": ("每个操作的开销（毫秒）", "Overhead per op (ms)"),
    "latency_ms": ("每跳延迟（毫秒）", "Latency per hop (ms)"),
    "real_time": ("真实计时（CPU 线程）", "Real time (CPU threads)"),
    "gpus": ("{count} 个设备", "{count} devices"),
    "gpu": ("{count} 个设备", "{count} device"),
    "amount_slots": (" {count} 格", "{count} slots"),
    "amount_slot": (" {count} 格", "{count} slot"),
    "amount_ms": (" {count} 毫秒", "{count} ms"),
    "said_saved": (
        "小批次 {samples} 个样本：不切分{uncut}，{count} 个微批次{cut}，少{saved}",
        "Mini-batch of {samples} samples: uncut {uncut}, {count} micro-batches {cut}, {saved} fewer",
    ),
    "said_saved_ms": (
        "小批次 {samples} 个样本：不切分{uncut}，{count} 个微批次{cut}，少{saved}",
        "Mini-batch of {samples} samples: uncut {uncut}, {count} micro-batches {cut}, {saved} less",
    ),
    "said_slower": (
        "小批次 {samples} 个样本：不切分{uncut}，{count} 个微批次{cut}，反而多{more}",
        "Mini-batch of {samples} samples: uncut {uncut}, {count} micro-batches {cut}, {more} more",
    ),
    "said_as_fast": (
        "小批次 {samples} 个样本：不切分{uncut}，{count} 个微批次{cut}，一样快",
        "Mini-batch of {samples} samples: uncut {uncut}, {count} micro-batches {cut}, no difference",
    ),
    "said_relay": (
        "小批次 {samples} 个样本不切分，{devices}依次执行，用时{cut}",
        "Mini-batch of {samples} samples, uncut, {devices} one after the other: {cut}",
    ),
    "said_relay_longer": ("，比不重计算多{more}", ", {more} more than without recomputation"),
    "said_one_device": (
        "小批次 {samples} 个样本在一个设备上用时{cut}",
        "Mini-batch of {samples} samples on one device: {cut}",
    ),
    "said_alone": ("：只有一个设备，无从并行", ": one device has nothing to overlap with"),
    "said_only_cut": (
        "小批次 {samples} 个样本，{count} 个微批次{cut}；训练一次可与不切分对比",
        "Mini-batch of {samples} samples, {count} micro-batches {cut}; train once to compare with uncut",
    ),
    "said_ratio": ("，加速比 {ratio}", ", speed-up {ratio}"),
    "said_because_overhead": (
        "：每个操作开销 {overhead} 毫秒，微批次越多，总开销越大",
        ": {overhead} ms overhead per op grows with the number of micro-batches",
    ),
    "said_because_link": ("：每跳延迟 {latency} 毫秒", ": {latency} ms latency per hop"),
    "said_idle": (
        "{devices}的气泡占比（空闲 / (K × 总时间)）实测 {percent}{parts}，公式 {formula}",
        "bubble fraction of {devices} (idle / (K × makespan)): measured {percent}{parts}, formula {formula}",
    ),
    "said_idle_more": (
        "{devices}的气泡占比（空闲 / (K × 总时间)）实测 {percent}{parts}，比公式 {formula} 多 {points} 个百分点",
        "bubble fraction of {devices} (idle / (K × makespan)): measured {percent}{parts}, {points} points above"
        " the formula's {formula}",
    ),
    "said_idle_less": (
        "{devices}的气泡占比（空闲 / (K × 总时间)）实测 {percent}{parts}，比公式 {formula} 少 {points} 个百分点",
        "bubble fraction of {devices} (idle / (K × makespan)): measured {percent}{parts}, {points} points below"
        " the formula's {formula}",
    ),
    "idle_start": ("填充{amount}", "fill {amount}"),
    "idle_middle": ("中间{amount}", "in between {amount}"),
    "idle_end": ("排空{amount}", "drain {amount}"),
    "said_because": ("，主要来自：{causes}", ", mainly from: {causes}"),
    "cause_slow": ("{device} 较慢", "slow {device}"),
    "cause_overhead": ("每个操作的开销", "overhead per op"),
    "cause_link": ("每跳延迟", "latency per hop"),
    "cause_uneven": ("微批次大小不一", "uneven micro-batches"),
    "cause_recompute": ("重计算", "recomputation"),
    "cause_overruns": ("操作超时", "overruns"),
    "cause_busy": ("唤醒延迟（机器忙）", "late wake-ups (busy machine)"),
    "cause_stages": ("各阶段耗时不一", "unequal stages"),
    "cause_waiting": ("交接和等待", "hand-over and waiting"),
    "said_shared": (
        "CPU 核不够，{devices}共享核心，气泡占比不可测：请减少设备，或者用替身设备",
        "{devices} share CPU cores, so the bubble can't be measured: use fewer devices, or stand-ins",
    ),
    "papers_kept": (
        "在途微批次峰值 {counts}（GPipe：各 {all}）；",
        "In flight at most {counts} (GPipe: {all} each); ",
    ),
    "scratch_less": ("激活值峰值减少 {share}", "Peak activations {share} less"),
    "scratch_more": ("激活值峰值反而增加 {share}", "Peak activations {share} more, not less"),
    "scratch_same": ("激活值峰值没有减少", "Peak activations no less"),
    "time_more": ("，总时间增加 {share}；", ", makespan {share} more; "),
    "time_less": ("，总时间减少 {share}；", ", makespan {share} less; "),
    "time_same": ("，总时间不变；", ", makespan the same; "),
    "said_same": (
        "与不切分等价：各参数的梯度相对误差最大为 {difference}，属于浮点舍入误差",
        "Same gradients as uncut: relative difference of a parameter at most {difference}, floating-point rounding",
    ),
    "said_same_exactly": (
        "与不切分等价：各参数的梯度完全一致",
        "Same gradients as uncut: exactly the same for every parameter",
    ),
    "said_batch_norm": (
        "梯度不一致（相对误差最大为 {difference}）：BatchNorm 用各微批次自己的统计量，不切分时用整个小批次的",
        "Gradients differ (up to {difference}): BatchNorm normalises by each micro-batch's statistics,"
        " not the mini-batch's",
    ),
    "said_different": (
        "梯度不一致！相对误差最大为 {difference}。模型里有随机的层（Dropout）吗？没有就请再训练一次",
        "Gradients differ! Relative difference up to {difference}."
        " Does the model hold a random layer (Dropout)? If not, train again",
    ),
    "evidence_stand_ins": (
        "替身设备×{count}（限速的 CPU）：每个操作真的计算，再等满规定的时间",
        "{count} stand-ins (CPU, slowed down): every op computes, then waits out its declared time",
    ),
    "evidence_stand_in": (
        "替身设备×{count}（限速的 CPU）：每个操作真的计算，再等满规定的时间",
        "{count} stand-in (CPU, slowed down): every op computes, then waits out its declared time",
    ),
    "evidence_tried": ("真的运行了一遍（参数没有更新）", "Really run (no parameter changed)"),
    "evidence_real_time": (
        "{count} 个 CPU 线程，真实计时，没有规定的时间",
        "{count} CPU threads in real time, nothing declared",
    ),
    "evidence_shared": ("CPU 核被共享，气泡占比不可测", "on shared cores: not a bubble measurement"),
    "evidence_slot": ("1 格 = {ms} 毫秒", "1 slot = {ms} ms"),
    "evidence_slow": ("{device} 的耗时是 {factor} 倍", "{device} takes {factor} times as long"),
    "evidence_overruns": ("{overruns} 次超时", "{overruns} overruns"),
    "evidence_overrun": ("{overruns} 次超时", "{overruns} overrun"),
    "evidence_slip": (
        "唤醒延迟 {median} 毫秒（中位数），最大 {worst} 毫秒",
        "woke up {median} ms late (median), {worst} at worst",
    ),
    "evidence_slower": (
        "请关掉别的程序再训练一次，或者放慢时钟：batch_time={slower}（现在是 {now}）",
        "close other programs and train again, or take a slower clock: batch_time={slower} (now {now})",
    ),
    "evidence_overhead": ("每个操作开销 {ms} 毫秒", "{ms} ms overhead per op"),
    "evidence_latency": ("每跳 {ms} 毫秒", "{ms} ms per hop"),
    "idle_fill": ("填充：等待{device} 的 {what}", "fill: waits for {what} from {device}"),
    "idle_waits": ("等待{device} 的 {what}", "waits for {what} from {device}"),
    "idle_queued": (
        "等待{device} 的 {what}（还在排队）",
        "waits for {what} from {device} (still queued there)",
    ),
    "idle_link": ("{device} 的 {what} 已完成，正在传输", "{what} from {device} is done and on its way"),
    "idle_late": ("输入已就绪，唤醒延迟", "inputs are there; the worker woke up late"),
    "idle_done": ("排空：没有剩下的操作", "drain: no op left"),
    "idle_done_forward": ("前向都已完成", "all its forwards are done"),
    "guess_percent_said": ("气泡占比{words}", "bubble: {words}"),
}

WORDS |= comparison_words.WORDS | game_words.WORDS | lesson_words.WORDS
WORDS |= exercise_words.WORDS | exercise_code_words.WORDS | verdict_words.WORDS | classroom_words.WORDS
WORDS_ENGINEER |= comparison_words.ENGINEER
WORDS |= card_words.WORDS | scratch_words.WORDS
WORDS |= giant_words.WORDS | handout_words.WORDS | translator_words.WORDS
WORDS |= phone_words.WORDS
WORDS |= desk_words.WORDS

ERRORS_ZH: dict[str, str] = {
    # -- schedules
    "num_pipelines": "没法有 {asked} 条流水线；请至少选 1 条",
    "pipelines_share": "{pipelines} 条流水线分不匀 {devices} 块显卡和 {pieces} 小份；请换一个两个都能整除的数",
    "num_devices": "流水线至少要有 1 块显卡，不能是 {asked} 块；请选 K >= 1",
    "num_stages": "排法至少要有 1 段，不能是 {asked} 段；请选 K >= 1",
    "num_micro_batches": "一大批至少要切成 1 小份，不能是 {asked} 小份；请选 M >= 1",
    "num_chunks": "每块显卡至少要放 1 段，不能是 {asked} 段；请选 v >= 1",
    "too_many": "{name} 最多是 {most}，不能是 {asked}；请选小一点的数",
    "whole_number": "{name} 必须是整数，不能是 {asked!r}",
    "policy": "没有 {asked!r} 这种留草稿的办法；请从这些里选：{known}",
    "recompute": "没有 {asked!r} 这种重算时机；请从这些里选：{known}",
    "schedule_name": "没有叫 {asked!r} 的排法；请从这些里选：{known}",
    "no_policy": "排法 {name} 里没有重算（要的是 checkpoint={asked!r}）；请用 never，或者从这些里选：{known}",
    "interleaved_rounds": "交错 1F1B 把 {num_micro_batches} 小份分成 {num_rounds} 轮，每轮一样多，而且不少于 K = {num_devices}；{num_micro_batches} 分不匀，请选 M = {fewer} 或 {more}",
    "even_devices": "{name} 从两头一起进，每块显卡对面都要有一块：K 必须是双数，不能是 {asked}；请选 K = {more}",
    "few_micro_batches": "{name} 要从两边填满 K = {num_devices} 块显卡，至少要 2 K = {least} 小份，不能是 {asked}；请选 M >= {least}",
    "even_micro_batches": "{name} 两个方向各走一半小份：M 必须是双数，不能是 {asked}；请选 M = {more}",
    "chimera_units": "Chimera 一组是 K = {num_devices} 小份，{num_micro_batches} 不是它的倍数；请选 M = {fewer} 或 {more}，或者不超过 {num_devices}",
    "op_text": "看不懂 {text!r}；请按“段、种类、小份”的顺序写，例如 2F0（种类：F B I W R）",
    "schedule_text": "显卡 {device} 那一行第 {place} 个词：看不懂 {asked}；请按“段、种类、小份”的顺序写，例如 2F0（种类：F B I W R），两格活之间空一格，两块显卡之间写 |",
    "op_range": "{op} 超出范围：段和小份的编号只能从 0 到 {last}",
    "empty_schedule": "排法里至少要有一格活；现在有 {num_devices} 行，全是空的",
    "missing_op": "少了 {op}：哪一行都没有它；请补上",
    "repeated_op": "{op} 出现了 {count} 次；每格活只做一次，请只留一个",
    "both_backwards": "段 {stage}、小份 {micro_batch} 既有完整的往回改（B），又有分成两半的（I、W）；请只留一种",
    "wrong_device": "{op} 写在显卡 {device} 那一行，可是段 {stage} 在显卡 {expected} 上；请移到那一行",
    "unplaced": "{op} 用到段 {stage}，可是一共只安排了 {num_stages} 段（从 0 数起）",
    "placement_device": "段 {stage} 安排在显卡 {device} 上，可是一共只有 {num_lanes} 行（从 0 数起）",
    "wrong_devices": "{op} 写在显卡 {device} 那一行，可是段 {stage} 在显卡 {first} 和显卡 {second} 上；请移到其中一行",
    "placement_homes": "段 {stage} 安排在 {given} 块显卡上；请写一块，如果这一段存两份，就写两块",
    "split_pair": "{earlier_op}在显卡 {first} 上，{op}却写在显卡 {device} 那一行；同一段算同一小份的几格活要在同一块显卡上，要用的中间结果只留在那里",
    "deadlock_cycle": "卡死了（死锁）：下面这几格活互相等着，请调换先后：{chain}",
    "memory_limit": "内存上限 {asked} 太小：一块显卡往前算、再往回改，至少要留着 1 份（段，小份）的草稿；请选 memory_limit >= 1",
    # -- games
    "guess_number": "“{asked}”不是分钟数；请写一个数，比如 100",
    "puzzle_count": "“{asked}”不是整数；数一数有几格，再写下来，比如 8",
    "puzzle_back_first": "{op} 要往回改，可是显卡 {device} 还有小份没往前算；GPipe 先把所有小份都往前算完",
    "puzzle_forward_order": "{op} 太早了：小份按 1、2、3……的顺序往前算；显卡 {device} 接下来是 {earlier_op}",
    "puzzle_back_order": "{op} 太早了：GPipe 从最后一小份开始往回改；显卡 {device} 接下来是 {earlier_op}",
    "puzzle_late": "{op} 太晚了：第 {tick} 格（从 0 数起）显卡 {device} 就闲着，它要等的也做好了；别让显卡白等",
    "puzzle_there": "{op} 已经放好了；请选别的",
    "puzzle_kind": "这一题里没有 {op}，只有：{known}",
    # -- 和 PyTorch 交换
    "torch_recompute": "PyTorch 的排法 CSV 里没有“擦掉重算”，可是这个排法里有 {op}；请用 checkpoint='never' 来排，到那边再用 torch.utils.checkpoint 包住这一段的层",
    "torch_replicas": "PyTorch 的排法 CSV 里一段只在一块显卡上，可是段 {stage} 有两份，在显卡 {first} 和显卡 {second} 上；双向的排法里只有 dualpipe_v 能写：它不用存两份",
    "torch_idle": "显卡 {device} 一格活也没有，PyTorch 不收没有活的显卡；请去掉这块显卡",
    "torch_loss_order": "{op} 排在 {earlier_op} 前面，可是 PyTorch 按先后来找每一小份的误差：最后一段往前算必须按小份的顺序；请按这个顺序给小份编号",
    "torch_csv": "排法的第 {row} 行不能当作 CSV 来读（{cause}）；请一块显卡写一行，格子用逗号隔开",
    "torch_row": "排法的第 {row} 行一格活也没有；每一行是一块显卡，都要有活：请去掉这一行，或者补上",
    "torch_cell": "第 {row} 行第 {cell} 格：看不懂 {asked}；请按“段、种类、小份”的顺序写，例如 2F0（种类：F B I W），格子用逗号隔开",
    "torch_repeated": "第 {row} 行第 {cell} 格：{op} 在第 {earlier_row} 行第 {earlier_cell} 格已经有了；每格活只做一次，请只留一个",
    "torch_two_ranks": "第 {row} 行第 {cell} 格：{op} 把段 {stage} 放到了第二块显卡上，可是第 {earlier_row} 行第 {earlier_cell} 格已经有这一段；一段只在一块显卡上，请把 {op} 移到第 {earlier_row} 行",
    "torch_forward": "第 {row} 行第 {cell} 格：{op} 要用 {earlier_op}，可是哪一行都没有它；如果这是 PyTorch 自己的 1F1B，那么它最后一行往前算是从 1 数起的：请改用 plan.one_f_one_b",
    # -- the design board
    "board_needs": "{op} 要等 {earlier_op}，那格活满 {end} 格才做完；请放在第 {tick} 格（从 0 数起）或更后面",
    "board_needed": "{op} 要等 {earlier_op}，那格活会满 {end} 格才做完；请先把 {op} 移到第 {tick} 格（从 0 数起）或更后面",
    "board_needs_missing": "{op} 要等 {earlier_op}，可是板上还没有那格活；请先放好它",
    "board_taken": "{op} 放不下：第 {tick} 格（从 0 数起）已经是 {earlier_op}；请选空着的格，或者先移开它",
    "board_stays": "{op} 要等 {earlier_op}，所以它要留着；请先拿掉 {op}",
    "board_absent": "{op} 不在板上，没法拿掉",
    "board_micro_batch": "{op} 用到小份 {micro_batch}（从 0 数起），可是板上只有 {num_micro_batches} 小份；请把 M 调大",
    "board_placement": "板上一块显卡只放一段，可是这个排法有 {num_stages} 段、{num_devices} 块显卡；请用文字来排",
    "board_incomplete": "还差 {count} 格活，第一格是 {op}；放齐了才能训练",
    # -- costs, timelines
    "costs_length": "{name} 给了 {given} 个数，可是排法有 {num_stages} 段；请给一个数，或者每段一个数",
    "costs_number": "{name} 对所有段只能给一个数，不能是 {asked}；想每段给一个数，请用 forward、backward 或 recompute",
    "costs_negative": "{name} 必须是有限的数，而且不能是负数，现在是 {asked}",
    "costs_positive": "{name} 必须是有限的数，而且大于 0，现在是 {asked}",
    "fit_points": "两个未知数，至少要有 2 种切法（M）的时间，现在有 {given} 种；请再测几种",
    "costs_zero": "每格活的时间都是 0，没有东西可画；请给 forward 或 backward 一个正的时间",
    "shape_stages": "模型切成了 {given} 段，可是排法有 {num_stages} 段；请让两边的段数一样",
    "sizes_length": "sizes 里有 {given} 小份，可是排法有 {num_micro_batches} 小份；请给得一样多",
    "sizes_positive": "每一小份至少要有 1 道练习题；sizes 里写的是 {asked}",
    "picture_column": "一格的时间必须大于 0，不能是 {asked}",
    "empty_timeline": "时间表是空的，没有东西可以测量",
    "labels": "没有 {asked!r} 这种格子上的字；请从这些里选：{known}",
    # -- files
    "file_missing": "没有 {path} 这个文件；请看看名字对不对，再看看文件夹 {folder}",
    "file_no_folder": "没法写 {path}：没有 {folder} 这个文件夹；请先建好，或者换一个",
    "file_folder": "{path} 是文件夹；请写里面的一个文件名",
    "file_irregular": "{path} 是管道、设备之类，不是普通文件；请写一个普通文件的名字",
    "file_exists": "{path} 已经有了；请换个名字，想盖掉它就写 overwrite=True",
    "file_refused": "系统不让用 {path}（{cause}）；请在别的程序里关掉它，或者换个短一点的名字、换个文件夹",
    "file_suffix": "从 {name!r} 看不出要存成什么；文件名请用这些里的一个结尾：{known}",
    "file_several": "{name} 只能放 1 个时间表，不能放 {given} 个；请一个一个存，或者存成 .png、.svg、.gif",
    "file_large": "{path} 超过 {most_mb} MB，时间表用不了这么大；是不是选错了文件？",
    "file_encoding": "{path} 不是 UTF-8 文字（第 {position} 个字节）；请另存为 UTF-8（Excel 里选 CSV UTF-8）",
    "file_json": "{path} 不能当作 JSON 来读（{cause}）；可能没存完整，请再存一次",
    "font_missing": "这台电脑没有中文字体，印出来全是方框，所以没有写文件；请安装 Noto Sans CJK 字体，或者运行 pip install pylopdf-fonts-zh-cn，或者用 --lang en 出英文版",
    "font_lacks": "字体 {name} 里没有 {characters}；请安装 Noto Sans CJK 字体，或者运行 pip install pylopdf-fonts-zh-cn",
    "giant_file": "{path} 里没有这个网络的存档（{cause}）；换一个文件，或者重新训练",
    "words_number": "{asked!r} 不行：只会写 {least} 到 {most} 的整数；请换一个数",
    "giant_other": "{path} 里存的是别的种子或别的遍数；用 --weights 换一个文件，或者用同样的种子和遍数",
    "file_kind": "{path} 里没有 pipekit 的时间表；请给 plan.write_timeline 存的 JSON、CSV 或 Chrome 轨迹文件",
    "file_version": "{path} 的格式是版本 {asked}，这里的 pipekit 只会读版本 {known}；请更新 pipekit",
    "file_field": "{where}：少了 {name}；请补上，或者再存一次",
    "file_object": "{where}：这里要用花括号括起来的一组值，不能是 {asked}",
    "file_list": "{where}：{name} 要是一个列表，长度也要对，不能是 {asked}",
    "file_whole": "{where}：{name} 必须是 {least} 到 {most} 的整数，不能是 {asked}",
    "file_number": "{where}：{name} 必须是有限的数，最大 {most:g}，不能是 {asked}",
    "file_text": "{where}：{name} 必须是一行文字，不能是 {asked}",
    "file_choice": "{where}：{name} 只能是 {known} 里的一个，不能是 {asked}",
    "file_op": "{where}：看不懂 {asked}；请按“段、种类、小份”的顺序写，例如 2F0（种类：F B I W R）",
    "file_device": "{where}：没有显卡 {asked}：num_devices 是 {num_devices}，编号只能从 0 到 {last}",
    "file_order": "{where}：{op} 从 {start} 开始，却在那之前的 {end} 就结束了；结束要在开始之后",
    "file_repeated": "{where}：{op} 从 {start} 做到 {end}，可是 {earlier} 里已经有它了，从 {earlier_start} 做到 {earlier_end}；每格活只做一次，请只留一个，或者再存一次",
    "file_overlap": "{where}：{op} 在显卡 {device} 上从 {start} 做到 {end}，可是 {earlier_op}（{earlier}）在那里从 {earlier_start} 做到 {earlier_end}；一块显卡一次只做一格活，请改好时间，或者再存一次",
    "file_columns": "{where}：各列必须是 {wanted}，不能是 {found}",
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
    "batch_norm_type": "{name} 是 {type}，它可能用自己的办法统计；要推迟更新，请换成 BatchNorm1d、BatchNorm2d 或 BatchNorm3d",
    # -- pipelines
    "stage_count": "排法有 {schedule_stages} 段，流水线有 {pipeline_stages} 段；请写 {line}",
    "device_count": "排法用 {schedule_devices} 块显卡，流水线有 {pipeline_devices} 块；请写 {line}",
    "placement": "排法把各段放在显卡 {schedule_placement}，流水线却放在 {pipeline_placement}；请写 {line}",
    "placement_shape": "placement {placement} 要给 {num_stages} 段里的每一段写一块显卡，而且 {num_devices} 块都要用上",
    "replica_buffers": "段 {stage} 在显卡 {first} 和显卡 {second} 上各有一份，可是它的 {type} 往前算时会改缓冲区 {name}，两份会改得不一样；请用 eval()，或者换成不记统计量的层（LayerNorm、GroupNorm），或者用每段只存一份的排法（dualpipe_v、zb_v）",
    "replica_compiled": "段 {stage} 在显卡 {first} 和显卡 {second} 上各要一份，可是它的 {type} 没法复制；请不要编译它，或者用每段只存一份的排法（dualpipe_v、zb_v）",
    "too_many_devices": "有 {num_devices} 块显卡，却只有 {num_stages} 段：{idle} 块永远没活干；请选 K <= {num_stages}",
    "closed": "这条流水线已经关了；请用 run.Pipeline(stages, devices) 再开一条",
    "broken": "这条流水线坏了：{why}；请用 run.Pipeline(stages, devices) 再开一条",
    "busy": "这条流水线正在训练；请等它做完，或者另开一条",
    "busy_model": "另一条流水线正用同样的旋钮（参数）训练到一半；请等它做完",
    "forked": "这条流水线的线程在另一个进程里；请在 fork 之后用 run.Pipeline(stages, devices) 再开一条",
    "no_grad": "训练要记草稿，可是现在关掉了（{mode}）；请先退出那一段代码",
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
    # -- sweeps
    "sweep_list": "{name} 的列表里有 {asked!r}，看不懂；请写整数，例如 1, 2, 4, 8 或者 1-8",
    "sweep_range": "{name} 有一段写了 {asked} 个数，最多只能试 {most} 个；请写短一点",
    "sweep_points": "这几个列表一共有 {asked} 种搭配，一次最多试 {most} 种；请少写几个",
    "sweep_nothing": "没有东西可试：K 有 {num_stages} 个，M 有 {num_micro_batches} 个，草稿的办法有 {num_policies} 种，排法有 {num_schedules} 种；每样至少要选一个",
    "sweep_empty": "还没有表格可存：测好的点有 {found} 个；请先开始测",
    # -- devices
    "number_range": "{name} 必须在 {least} 到 {most} 之间，不能是 {asked}；请换一个数",
    "device_number": "没法准备 {asked} 块显卡；请至少选 1 块",
    "clock_choice": "请只选一种计时办法：batch_time=、tick=、per_sample= 或 speed=；现在给了 {given}",
    "clock_positive": "{name} 必须大于 0，不能是 {asked}",
    "clock_slow": "slow={asked}：请写显卡的编号（0 到 {last}）和大于 0 的倍数",
    "clock_slow_copies": "段 {stage} 在显卡 {first} 和显卡 {second} 上各有一份，slow= 却让这两块不一样快，而一段的活只能规定一种时间；请让两块一样慢，或者用每段只存一份的排法（dualpipe_v、zb_v）",
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
    "halves_reused": "段 {stage}：{num_weights} 组参数里有 {num_early} 组在 I（往回传）时就算好了梯度，没有留到 W：它们在后面（{name}）又被用了一次，留到 W 会算重",
    "halves_function": "段 {stage}：{num_weights} 组参数里有 {num_early} 组在 I（往回传）时就算好了梯度，没有留到 W：{name} 是自己写的函数，它的反向不一定能做两遍",
    "halves_checkpoint": "段 {stage}：{num_weights} 组参数里有 {num_early} 组在 I（往回传）时就算好了梯度，没有留到 W：{name} 在 torch.utils.checkpoint 里面，到 W 时又要重算一遍；请改用排法的 checkpoint=",
    "halves_reentrant": "段 {stage}：往回改在 I 时一次做完，W 时什么也不做：{name} 自己会再跑一次反向，没法只做一半；请用排法的 checkpoint=，不要用 torch.utils.checkpoint",
    "halves_fused": "段 {stage}：{num_weights} 组参数里有 {num_early} 组在 I（往回传）时就算好了梯度，没有留到 W：{name} 背后的内核一次就把两半都算完了",
}
