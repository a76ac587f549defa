"""First steps."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 第一次训练：4 块显卡，几块在干活？

模型太大，就切成 4 段，放到 4 块显卡上。一大批（mini-batch）是 64 张手写数字：先从第 1 段往前算（前向）到第 4 段，再一段一段往回改（反向）。

**先猜：** 这一大批不切，4 块显卡的时间有百分之几是闲着的（这叫“气泡”）？切成 4 小份（micro-batch）呢？写下来，再往下做。

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
        """
# First steps: 4 GPUs, how many are working?

A model is too big, so it is cut into 4 stages on 4 GPUs. A mini-batch of 64 handwritten digits goes from the first
stage to the last, and then back again, stage by stage.

**Guess first:** if the mini-batch stays in one piece, what share of the time are the 4 GPUs idle (the bubble)? And in
4 pieces? Write it down, then go on.

(A picture, but no buttons? Click the cell below and press Shift+Enter.)
""",
    ),
    code(
        """
from pipekit.learn import ControlRoom

room = ControlRoom(lang="LANG")
room
"""
    ),
    text(
        """
## 真的训练一次

按“训练一次”，或者运行下面的单元格：模型会真的切开、真的训练。实心的时间表是**测到的**，虚线框是**算出来的**。
""",
        """
## Really train once

Press "Train once", or run the next cell: the model is really cut and really trained. Solid cells are **measured**,
dashed frames are **predicted**.
""",
    ),
    code(
        """
outcome = room.run().wait(timeout=60)
outcome
"""
    ),
    code("room.picture()"),
    text(
        """
测到的气泡、算出来的气泡和公式 (K-1)/(M+K-1) 各是多少？（K 是几块显卡，M 是切成几小份。）下一个单元格检查两件事：测到的和算出来的相差不到 5 个百分点；切开训练的结果和不切时一样。
""",
        """
How big are the measured bubble, the predicted one and the formula (K-1)/(M+K-1), with K GPUs and M pieces? The next
cell demands that measured and predicted differ by less than 5 points, and that cutting doesn't change the result.
""",
    ),
    code(
        """
from pipekit import plan

predicted = plan.bubble_fraction(outcome.prediction.timeline)
assert abs(outcome.bubble - predicted) < 0.05, f"{outcome.bubble:.1%} - {predicted:.1%}"
assert outcome.same
"""
    ),
    text(
        """
## 切得越细越好吗？

**先猜：** 切成 1、4、8、16 小份，气泡各是百分之几？猜好了，再每种真的跑一次。
""",
        """
## Is finer always better?

**Guess first:** how big is the bubble with 1, 4, 8 and 16 pieces? Then really run each of them.
""",
    ),
    code(
        """
outcomes = room.sweep().wait(timeout=60)
outcomes
"""
    ),
    code(
        """
for each in outcomes:
    assert abs(each.bubble - plan.bubble_fraction(each.prediction.timeline)) < 0.05, each
    assert each.same, each
room.picture()
"""
    ),
    text(
        """
## 同一张时间表，用字母写

`F0` 是小份 0 往前算，`B0` 是小份 0 往回改，`.` 是闲着。写程序的人从 0 数起：这里的小份 0，就是图里的小份 1。
""",
        """
## The same grid in letters

`F0` is piece 0 going forward, `B0` going back, `.` is idle. Programmers count from 0.
""",
    ),
    code(
        """
print(plan.simulate(outcome.settings.build(), plan.Costs(forward=1, backward=2)))
""",
        "nbval-check-output",
    ),
    code("print(outcome.timeline)"),
]

PAGE = Page(
    title=("第一次训练", "First steps"),
    question=("4 块显卡，几块在干活？", "4 GPUs: how many are working?"),
    minutes=15,
    rows=(4, 5, 6),
    runs=("控制室；M = 1、4、8、16 各真的训练一次", "the control room; real runs at M = 1, 4, 8, 16"),
    cells=CELLS,
)
