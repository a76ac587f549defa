"""Your own experiment."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 你自己的实验

**学会什么：** 自己提一个问题，先算、再测，最后写一句有数字的结论。**约 20 分钟。**

做法一共五步，少一步都不算实验：

1. **问题**：只改一个条件，别的都不变。
2. **先猜**：写下一个数。
3. **测**：两种情况都真的训练。
4. **比**：测到的、算出来的、猜的。
5. **一句话**：带上数字，也带上条件。

先一起做一遍。**我们的问题：** 显卡之间每传一次要多等 10 毫秒，GPipe 和 1F1B 谁吃亏更多？
不用等的时候，两种排法的总时间一样（4 块显卡、8 小份，660 毫秒）。

**先猜：** GPipe 会多用几毫秒？1F1B 呢？

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
        """
# Your own experiment

**You will be able to:** ask a question of your own, predict, measure, and write one sentence with numbers in it. **About 20 minutes.**

An experiment has five steps, and needs them all:

1. **Question**: one knob moves, all others stay.
2. **Guess**: write a number down.
3. **Measure**: both cases really train.
4. **Compare**: measured, predicted, guessed.
5. **One sentence**: with its numbers, and its conditions.

First one together. **Our question:** if each hand-over between GPUs takes 10 milliseconds more, who loses more, GPipe or
1F1B? Without that, both take equally long (4 GPUs, 8 pieces: 660 milliseconds).

**Guess first:** how many milliseconds more does GPipe take? And 1F1B?

(A picture, but no buttons? Click the cell below and press Shift+Enter.)
""",
    ),
    code(
        """
from pipekit import plan
from pipekit.learn import SweepPanel

panel = SweepPanel(lang="LANG", micro_batches="8", schedules=["gpipe", "1f1b"], overhead_ms=0.0)
panel
"""
    ),
    text(
        "把你们猜的毫秒数写进来，再往下运行（这里先写了 100 和 100）。",
        "Put your guesses in, in milliseconds, before you go on (it says 100 and 100 so far).",
    ),
    code('guesses = {"gpipe": 100, "1f1b": 100}'),
    text(
        "**测：** 先是不用等，再是每传一次等 10 毫秒。四次都真的训练，约 6 秒。",
        "**Measure:** first without the wait, then with 10 milliseconds a hand-over. All four really train, about 6 s.",
    ),
    code(
        """
before = panel.run().wait(timeout=60)
panel.latency_ms = 10.0
after = panel.run().wait(timeout=60)
"""
    ),
    text("**比：** 多用的毫秒数。", "**Compare:** milliseconds more."),
    code(
        """
predicted, measured = {}, {}
for old, new in zip(before, after, strict=True):
    name = new.settings.schedule
    predicted[name] = round(1000 * (new.step_predicted - old.step_predicted))
    measured[name] = round(1000 * (new.step - old.step))
predicted, measured, guesses
""",
        hidden=True,
    ),
    code(
        """
assert predicted == {"gpipe": 60, "1f1b": 160}
assert all(abs(measured[name] - predicted[name]) < 30 for name in predicted)
assert all(row.difference < 1e-4 for row in before + after)
"""
    ),
    text("图在面板里，也可以单独拿出来：", "The charts are in the panel, and can be had alone:"),
    code(
        """
panel.picture()
"""
    ),
    text(
        """
**一句话：** “4 块显卡、8 小份，每传一次多等 10 毫秒：GPipe 多用约 60 毫秒，1F1B 多用约 160 毫秒，和算出来的相差不到 30 毫秒。
因为 GPipe 连着往前送，只有开头和结尾要等；1F1B 送出去一份就要等回来一份，每一轮都等。”

好的一句话有四样：条件、测到的数、算出来的数、为什么。

## 存下来

面板里的“存表格（CSV）”把所有的点存成 CSV，用 Excel 或 WPS 都能打开；写 `panel.save_csv()` 也一样，文件就在这个笔记本旁边。表里有这些列：
""",
        """
**One sentence:** "With 4 GPUs and 8 pieces, 10 milliseconds more a hand-over cost GPipe about 60 milliseconds and 1F1B
about 160, within 30 of what was predicted: GPipe sends one piece after another and waits only at the start and the end;
1F1B waits for a piece to come back in every round."

A good sentence has four things: conditions, the measured number, the predicted one, and why.

## Keep it

The panel's button for the table saves all points as CSV, which Excel opens; `panel.save_csv()` does the same, and the
file lies beside this notebook. Its columns:
""",
    ),
    code(
        """
from pipekit.learn.sweeping import csv_bytes

print(*csv_bytes(panel.points).decode("utf-8-sig").splitlines()[0].split(","), sep="\\n")
""",
        "nbval-check-output",
    ),
    text(
        """
## 轮到你

挑一个问题，或者自己想一个。只改一个条件！

| 问题 | 改哪个条件 |
|---|---|
| 每格活多花 10 毫秒，切几小份最快？ | `overhead_ms` |
| 显卡从 2 块变成 6 块，气泡怎么变？ | `stages="2-6"` |
| 草稿都擦掉，总时间多几成？ | `policies=["never", "always"]` |
| 有一块显卡慢一倍，多切几小份有用吗？ | `slow_device`（下面的单元格） |

前三个在上面的面板里做。第四个要这样写。**先猜**，再运行：4 小份和 16 小份，气泡各是百分之几？
""",
        """
## Your turn

Choose a question, or think of one. Move one knob only!

| question | the knob |
|---|---|
| With 10 milliseconds more for every op, how many pieces are fastest? | `overhead_ms` |
| From 2 to 6 GPUs, how does the bubble change? | `stages="2-6"` |
| All scratch paper erased: how much longer does it take? | `policies=["never", "always"]` |
| One GPU is half as fast: do more pieces help? | `slow_device` (the cell below) |

The panel above does the first three. The fourth is written like this. **Guess first**, then run it: how big is the bubble
with 4 pieces, and with 16?
""",
    ),
    code(
        """
from pipekit.learn import Experiment, Settings

outcomes = Experiment().sweep(Settings(slow_device=2, slow_factor=2.0), [4, 16])
outcomes
""",
        hidden=True,
    ),
    code(
        """
for outcome in outcomes:
    assert abs(outcome.bubble - plan.bubble_fraction(outcome.prediction.timeline)) < 0.05
    assert outcome.same
"""
    ),
    text(
        """
## 只改一样

把 `slow_factor` 改成 1.5，再跑一次。然后写下你的一句话：

> 当 ____ 时，____ 从 ____ 变成 ____（算出来是 ____），因为 ____。
""",
        """
## Change one thing

Make `slow_factor` 1.5 and run it again. Then write your sentence:

> When ____, ____ goes from ____ to ____ (predicted: ____), because ____.
""",
    ),
]

TEACHER_ZH = """
# 给老师：你自己的实验

时间（20 分钟）：五步 2 分钟；一起做一遍 8 分钟；各组选题、猜、测 7 分钟；两三组念一句话 3 分钟。一组一台电脑，不必做完四题。

答案
* 传一次多等 10 毫秒：GPipe 多 60 毫秒（来回各 3 次，只等一回），1F1B 多 160 毫秒。测到的差几毫秒是正常的。
* `overhead_ms`=10：大约 8 小份最快（机器不同会差一点），再细反而慢。
* `stages="2-6"`、8 小份：气泡 11.1%、20.0%、27.3%、33.3%、38.5%。
* 都擦掉：多 1/3（往回改要 2 格的时候）。
* 慢一倍的显卡：慢的那块一直忙，别的都在等它；小份多了气泡还是降不下来，4 小份和 16 小份算出来是 55% 和 43%。该做的是重新切，见“一块慢，大家都慢？”那一页。

简化了什么
* 显卡是替身：每格活的时间是规定的，先后和等待是真的测到的。
* 传送只有延迟，不占显卡的时间，也不堵车。

常见的错误想法
* 一次改两个条件：问他们“变了，是因为哪一个？”
* 只写“变快了”：没有数字和条件，别人没法检查。
* 猜错了就改猜的数：猜错正是学到东西的地方，请保留。
"""

TEACHER_EN = """
# For the teacher: your own experiment

Time (20 minutes): the five steps 2; one together 8; groups choose, guess and measure 7; two or three read their
sentence 3. One computer a group; nobody needs all four questions.

Answers
* 10 milliseconds a hand-over: GPipe 60 more (3 there and 3 back, waited for once), 1F1B 160. A few milliseconds off is
  normal.
* `overhead_ms` = 10: about 8 pieces are fastest (machines differ a little); finer is slower.
* `stages="2-6"`, 8 pieces: bubble 11.1, 20.0, 27.3, 33.3, 38.5 %.
* All erased: 1/3 more (where going back takes 2 slots).
* A GPU half as fast: it is always busy and the others wait for it; more pieces don't bring the bubble down far: 55 and
  43 % predicted at 4 and 16 pieces. What helps is another cut; see "One is slow: are all slow?".

What is simplified
* GPUs are stand-ins: times of ops are declared; order and waiting are measured.
* A hand-over only takes time; it keeps no GPU busy and there are no jams.

Likely wrong ideas
* Two knobs at once: ask "which of them was it?"
* "It got faster": without numbers and conditions nobody can check it.
* Changing the guess afterwards: a wrong guess is where something is learnt. Keep it.
"""

PAGE = Page(
    title=("你自己的实验", "Your own experiment"),
    question=(
        "你的问题：改哪一个条件，会变多少？",
        "Your question: which knob, and by how much?",
    ),
    minutes=20,
    rows=(6, 8, 10, 14),
    runs=("每个点都真的训练一次", "one real training step a point"),
    cells=CELLS,
    teacher=(TEACHER_ZH, TEACHER_EN),
)
