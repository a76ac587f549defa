"""A schedule of your own."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 自己排一个时间表

**学会什么：** 自己排一个时间表，看得出它能不能跑、要几格，再真的照着它训练。**约 20 分钟。**

2 块显卡，一大批切成 3 小份。每一小份都要往前算（F）、再往回改（B）；往回改要用 2 格。**先猜：** 最少要几格才能都做完？

拿一格活（`F1` 是第 1 小份往前算），再按一块显卡的那一行，或者直接拖过去。放不下，它会说为什么。用键盘也行：方向键走动，回车放下，Delete 拿掉，Ctrl+Z 撤销。
放齐了，按“训练一次”：它会真的按你排的先后训练。

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
        """
# A schedule of your own

**You will be able to:** make a schedule of your own, see whether it can run and how many slots it takes, and really train by
it. **About 20 minutes.**

2 GPUs, a mini-batch in 3 pieces. Each piece goes forward (F) and back (B) on both; going back takes 2 slots. **Guess
first:** how few slots can it be done in?

Take an op (`F1` is piece 1 going forward), then press a GPU's row, or drag it there. Where it can't go, you are told
why. The keyboard does it too: arrows move, Enter puts down, Delete takes off, Ctrl+Z undoes. When all are there, press
"Train once": it really trains, in your order.

(A picture, but no buttons? Click the cell below and press Shift+Enter.)
""",
    ),
    code(
        """
from pipekit.learn import DesignBoard

board = DesignBoard(lang="LANG")
board
"""
    ),
    text(
        """
## 用文字写

一行一块显卡，用 `|` 隔开；`1F0` 是段 1、小份 0 往前算（写程序的人从 0 数起）。`load` 说出它认得的排法。
""",
        """
## As text

A row a GPU, divided by `|`; `1F0` is stage 1, piece 0, forward (programmers count from 0). `load` names the schedule
that it knows.
""",
    ),
    code(
        """
board.load("0F0 0F1 0F2 0B2 0B1 0B0 | 1F0 1F1 1F2 1B2 1B1 1B0")
""",
        "nbval-check-output",
    ),
    text("做不成的排法，它会说为什么：", "One that can't work is refused, with the reason:"),
    code(
        """
from pipekit.errors import ScheduleError

try:
    board.load("0F0 0B0 | 1B0 1F0")
except ScheduleError as error:
    print(error)
""",
        "nbval-check-output",
    ),
    text(
        """
## 用 Python 写

**先猜：** 下面这一个叫什么名字？和上面那个比，总时间一样吗？草稿呢？
""",
        """
## In Python

**Guess first:** what is this one called? Does it take as long as the one above? Does it keep as much scratch paper?
""",
    ),
    code(
        """
from pipekit import plan

first = ["0F0", "0F1", "0B0", "0F2", "0B1", "0B2"]
last = [f"1{kind}{piece}" for piece in range(3) for kind in "FB"]
board.load(plan.Schedule([first, last]))
""",
        "nbval-check-output",
    ),
    code(
        """
board.figures
""",
        "nbval-check-output",
    ),
    text(
        """
## 真的训练

测到的时间表就在板的下面。下一个单元格检查：测到的气泡和板上排的相差不到 5 个百分点，结果和不切时一样。
""",
        """
## Really train it

The measured grid stands under the board. The next cell demands that its bubble is within 5 points of the designed one,
and that cutting didn't change the result.
""",
    ),
    code(
        """
outcome = board.run().wait(timeout=60)
outcome
"""
    ),
    code(
        """
assert abs(outcome.bubble - board.figures.bubble) < 0.05, f"{outcome.bubble:.1%}"
assert outcome.same
board.picture()
"""
    ),
    text(
        """
## 看出来了吗

最少 12 格，GPipe 和 1F1B 都做得到：显卡 2 有 3 × (1 + 2) = 9 格活；开始之前，显卡 1 要先往前算 1 格；做完以后，显卡 1 还要往回改 2 格：1 + 9 + 2 = 12。1F1B 一样快，草稿却留得少：显卡 1 留 2 份，不是 3 份。

## 只改一样

切成 4 小份，再排一次：最少几格？显卡 1 最少要留几份草稿？想不出来，按“提示”。
""",
        """
## What came out

12 slots is the fewest, and both GPipe and 1F1B reach it: GPU 2 has 3 x (1 + 2) = 9 slots of work; before them GPU 1 has to go
forward once (1 slot), after them it has to go back once (2): 1 + 9 + 2 = 12. 1F1B is as quick and keeps less: 2 sheets on GPU 1, not 3.

## Change one thing

Make it 4 pieces, and lay them out again: how few slots? How few sheets of scratch paper on GPU 1? Stuck? Press "Hint".
""",
    ),
]

PAGE = Page(
    title=("自己排一个时间表", "A schedule of your own"),
    question=("2 块显卡、3 小份，最少要几格？", "2 GPUs, 3 pieces: how few slots?"),
    minutes=20,
    rows=(14,),
    runs=("设计板；照你排的先后真的训练", "the design board; real training in your order"),
    cells=CELLS,
)
