"""Which schedule is best?."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 哪种排法最好？

**学会什么：** 比得出哪种排法用的格少、哪种留的草稿少，又各要付什么代价。**约 20 分钟。**

同一个模型、同一批手写数字、一样多的活，只是先后不一样。图里的每一种排法都用同一把尺子；淡的格子是**算出来的**。

**先猜：** GPipe 和 1F1B，谁用的格少？谁留的草稿少？ZB-V 把“往回改”拆成两半（I 和 W），能少几格？

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
        """
# Which schedule is best?

**You will be able to:** compare schedules: which takes fewer slots, which keeps less scratch paper, and what each costs.
**About 20 minutes.**

The same model, the same handwritten digits, the same total work: only the order differs. All schedules stand on one
ruler; pale cells are **predicted**.

**Guess first:** does GPipe or 1F1B take fewer slots, and which keeps less scratch paper? ZB-V cuts the way back into two
halves (I and W): how many slots does that save?

(A picture, but no buttons? Click the cell below and press Shift+Enter.)
""",
    ),
    code(
        """
from pipekit.learn import ComparisonPanel

panel = ComparisonPanel(lang="LANG", schedules=["gpipe", "1f1b", "zb_v"])
panel
"""
    ),
    text(
        """
## 真的训练

按“真的训练”，或者运行下面的单元格：每种排法都真的训练一遍，淡的格子换成**测到的**实心格子。下一个单元格检查：测到的和算出来的气泡相差不到 5 个百分点；
每种排法要改的量都和不切时一样。
""",
        """
## Really train

Press "Really train", or run the next cell: each schedule really trains, and solid, **measured** cells take the place of
pale ones. The cell after it demands that the measured bubble is within 5 points of the predicted one, and that every
schedule gives the uncut model's gradients.
""",
    ),
    code(
        """
rows = panel.run().wait(timeout=100)
panel.picture()
"""
    ),
    code(
        """
for row in rows:
    assert abs(row.figures.bubble - row.prediction.figures.bubble) < 0.05, row.variant
    assert row.measured.difference < 1e-4, row.variant
"""
    ),
    text(
        """
## 两种气泡

ZB-H2 号称“零气泡”，可是它用的格和 ZB-H1 一样多。第一个数是总共几格；第二个数是一块显卡从自己的第一格活到最后一格活，中间最多闲几格。
ZB-H2 只是把闲着的格挪到了两头：大家要等齐了才一起改旋钮，所以一格也没省。
""",
        """
## Two bubbles

ZB-H2 is called "zero bubble", and takes as many slots as ZB-H1. The first number is all slots; the second is the most
that a GPU idles between its own first and last op. ZB-H2 moves the idle slots to both ends: where all wait for each other
before the parameters change, nothing is saved.
""",
    ),
    code(
        """
from pipekit import plan

for build in (plan.zb_h1, plan.zb_h2):
    timeline = plan.simulate(build(4, 8), plan.Costs(forward=1, backward=2))
    print(build.__name__, timeline.makespan, plan.span_bubble(timeline))
""",
        "nbval-check-output",
    ),
    text(
        """
## 书桌只有这么大

草稿最多留 2 份，每格活要多花 0.05 格：每种排法自己挑最好的切法（切成几小份、每块显卡几段、擦不擦草稿）。**先猜：** 谁最快？
""",
        """
## A desk this big

At most 2 sheets of scratch paper, and every op costs 0.05 slots extra: each schedule chooses its own best (pieces, stages a
GPU, what to erase). **Guess first:** which is the fastest?
""",
    ),
    code(
        """
panel.overhead, panel.cap = 0.05, 2.0
panel.schedules = ["gpipe", "1f1b", "interleaved_1f1b", "zb_h1", "zb_v"]
for row in panel.find_best().wait(timeout=60):
    print(row.variant, row.num_micro_batches, round(row.figures.makespan, 2))
""",
        "nbval-check-output",
    ),
    code("panel.picture()"),
    text(
        """
## 看出来了吗

ZB-H1 最快，28.05 格；ZB-V 和 1F1B 差一点，29.7 格和 29.75 格。GPipe 往回改之前，一大批的草稿全要留着，切得再细也是 8 份，超过上限，只好擦掉重算，
要 39.95 格。没有处处都最好的排法：草稿的上限、每格活多花的时间一变，名次也会变。

## 只改一样

把 `panel.cap` 改成 4.0，或者把 `panel.overhead` 改成 0：先猜谁会变快，再运行。
""",
        """
## What came out

ZB-H1 is the fastest with 28.05 slots; ZB-V and 1F1B come close with 29.7 and 29.75. Before it goes back GPipe keeps the whole
mini-batch's scratch paper, 8 sheets however fine it is cut: too much, so it has to erase and redo, and needs 39.95. No schedule is the best everywhere: with another cap, or another cost of each op, the order changes.

## Change one thing

Make `panel.cap` 4.0, or `panel.overhead` 0: guess which one gets quicker, then run it.
""",
    ),
]

PAGE = Page(
    title=("哪种排法最好？", "Which schedule is best?"),
    question=(
        "GPipe、1F1B、ZB-V，谁用的格少？谁留的草稿少？",
        "GPipe, 1F1B, ZB-V: which takes fewer slots, which keeps less scratch paper?",
    ),
    minutes=20,
    rows=(14,),
    runs=("三种排法都真的训练", "all three schedules really train"),
    cells=CELLS,
)
