"""Four games, one under the other."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 四个游戏

**学会什么：** 不训练，只用脑子和手，弄明白谁在等谁，为什么等。**约 20 分钟**，挑一个玩也行；鼠标、键盘、手指都可以。

**先猜：** 4 篮衣服，洗、烘、叠各 30 分钟。一篮全做完再做下一篮，要多久？像流水线那样，哪台机器一空就放下一篮呢？写下来，再往下玩。

（只有图、没有按钮？点一下图上面的单元格，再按 Shift+Enter。）

## 1 洗衣服

一格就是 30 分钟。先看“一篮接一篮”：洗衣机在干什么？
""",
        """
# Four games

**You will be able to:** say who waits for whom, and why. No training, only heads and hands. **About 20 minutes**, or pick one;
mouse, keyboard and fingers all do.

**Guess first:** 4 baskets, each 30 minutes to wash, 30 to dry, 30 to fold. How long if one basket is finished before the
next begins? And as on a production line? Write it down, then play.

(A picture, but no buttons? Click the cell above the picture and press Shift+Enter.)

## 1 Laundry

A slot is 30 minutes. Look at "One basket after another" first: what is the washer doing?
""",
    ),
    code(
        """
from pipekit.learn import LaundryGame

LaundryGame(lang="LANG")
"""
    ),
    text(
        """
## 2 传卡片

12 张卡片传过三个人的手：一次全传、分 3 份传、一张一张传。**先猜：** 第三个人最早什么时候能开始？
""",
        """
## 2 Cards

12 cards go through three pairs of hands: all at once, in 3 pieces, one by one. **Guess first:** when can the third person
begin?
""",
    ),
    code(
        """
from pipekit.learn import CardsGame

CardsGame(lang="LANG")
"""
    ),
    text(
        """
## 3 填时间表

4 块显卡，4 小份，第一格已经填好。填错了，它会说为什么。
""",
        """
## 3 Fill the grid

4 GPUs, 4 pieces, the first cell is given. A wrong cell is refused with its reason.
""",
    ),
    code(
        """
from pipekit.learn import GridPuzzle

GridPuzzle(lang="LANG")
"""
    ),
    text(
        """
## 4 草稿纸

从 2 开始算 9 步，再倒着问每一步的得数。草稿纸只有 3 格。**先猜：** 最少一共要算几次？
""",
        """
## 4 Scratch paper

9 steps from 2, then their results are asked for backward. The scratch paper has 3 cells. **Guess first:** how few
calculations can it be done in?
""",
    ),
    code(
        """
from pipekit.learn import ScratchPaperGame

ScratchPaperGame(lang="LANG")
"""
    ),
    text(
        """
## 只改一样

把一台机器、一个人调慢一倍，或者把草稿纸改成 2 格：先猜，再玩一遍。谁在等谁，变了吗？
""",
        """
## Change one thing

Make one machine or one person half as fast, or give the scratch paper 2 cells: guess, then play again. Does anybody wait for
somebody else now?
""",
    ),
]

TEACHER = (
    """
# 给老师：四个游戏

每个约 5 分钟；一节课里它们就在 `lesson-45` 的第 1、2、5 站。

* 洗衣服：一篮接一篮 360 分钟，洗衣机每篮白等 60 分钟；流水线 180 分钟。先猜再看，答案不要抢着说。
* 传卡片：一样快时第三个人在第 24、8、2 拍才能开始，第 36、20、14 拍全部做完。三人每张要 2、1、4 秒：36、12、3 秒开始，84、60、51 秒做完。
* 填时间表：4 块显卡 7 格，28 格里 16 格在干活、12 格闲着。
* 草稿纸：课上的办法 15 次；3 格最少 14 次；一格也没有 45 次，有 9 格 9 次。

常见的错：以为切得越细总是越快（交接也要时间）；以为闲着的格在中间（它们在开头和结尾）。

简化了什么：洗衣服的时间只是举例；传卡片没有“往回改”；草稿纸只算“往前算”的次数，真的训练里多花的是三分之一的时间。
""",
    """
# Four games (for the teacher)

About 5 minutes each; in one lesson they are stops 1, 2 and 5 of `lesson-45`.

* Laundry: one by one 360 minutes, the washer waits 60 per basket; the line takes 180. Guess first; don't give it away.
* Cards: at equal speeds the third person can begin at 24, 8, 2 card-times, all is done at 36, 20, 14. With 2, 1, 4 seconds
  a card: begins at 36, 12, 3 s, done at 84, 60, 51 s.
* Fill the grid: 4 GPUs by 7 slots, 16 of 28 cells busy and 12 idle.
* Scratch paper: the lesson's way takes 15; the best with 3 cells is 14; with none 45, with all 9.

Likely wrong ideas: finer is always faster (a hand-over takes time too); idle cells are in the middle (they are at the start
and at the end).

Simplified: the laundry's times are made up; cards have no way back; scratch paper counts forward calculations only, while
in training the extra is one third of the time.
""",
)

PAGE = Page(
    title=("四个游戏", "Four games"),
    question=("谁在等谁，为什么？", "Who waits for whom, and why?"),
    minutes=20,
    rows=(1, 5, 15, 16),
    runs=("不训练：时间表是算出来的", "no training: the timetables are predicted"),
    cells=CELLS,
    teacher=TEACHER,
)
