"""After GPipe."""

from pages import Page, code, text

CELLS = [
    text(
        """
# GPipe 之后：排法还能更好吗？

**学会什么：** 说得出不换模型、不换显卡，只改先后，能省下什么。**约 20 分钟。**

GPipe 先让 8 小份都往前算完，再一份一份往回改。下面就是它的时间表：4 块显卡、8 小份（往回改要 2 格）。

**先猜：** 如果一份刚往前算完就**马上**往回改（这种排法叫 1F1B），
① 总时间会变短吗？② 每块显卡最多要同时留几份草稿？

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
        """
# After GPipe: is there a better schedule?

**You will be able to:** say what can be saved with the same model and the same GPUs, by changing only the order. **About 20
minutes.**

GPipe lets all 8 pieces go forward, and then all of them back. Below is its grid: 4 GPUs, 8 pieces (going back takes 2
slots).

**Guess first:** if a piece goes back **as soon as** it has come to the end (this is called 1F1B),
(a) is all done earlier? (b) how many pieces' scratch paper must each GPU keep at once?

(A picture, but no buttons? Click the cell below and press Shift+Enter.)
""",
    ),
    code(
        """
from pipekit import plan
from pipekit.learn import ComparisonPanel

panel = ComparisonPanel(lang="LANG", schedules=["gpipe"])
panel
"""
    ),
    text(
        "猜好了吗？点开下面的答案：先是 GPipe，再是 1F1B，每块显卡最多留几份草稿。",
        "Guessed? Open the answer below: the most scratch papers on each GPU, first GPipe's, then 1F1B's.",
    ),
    code(
        """
costs = plan.Costs(forward=1, backward=2)
gpipe, one_f_one_b = (plan.simulate(build(4, 8), costs) for build in (plan.gpipe, plan.one_f_one_b))
print(*plan.peak_in_flight(gpipe), "|", *plan.peak_in_flight(one_f_one_b))
print(gpipe.makespan, "|", one_f_one_b.makespan)
""",
        "nbval-check-output",
        hidden=True,
    ),
    code(
        """
assert plan.peak_in_flight(gpipe) == [8, 8, 8, 8]
assert plan.peak_in_flight(one_f_one_b) == [4, 3, 2, 1]
assert gpipe.makespan == one_f_one_b.makespan == 33
"""
    ),
    text(
        """
## 为什么

总时间一样：两种排法都是 33 格，气泡都是 27.3%。可是草稿少了：显卡 1 最多留 4 份，显卡 4 只留 1 份。
往回改完一份，那一份的草稿就可以擦掉，不必等 8 份都算完。小份切得再多，1F1B 留的草稿也不会变多，GPipe 的会。

## 再挤一挤气泡

往回改其实是两件事：**I** 算出要交给前一段的量，**W** 算出自己的旋钮要改多少。前一段只等 I；W 谁也不等，可以先放着，拿来填空格。

**先猜：** 把往回改拆成 I 和 W，27.3% 的气泡能降到多少？
""",
        """
## Why

All is done at the same time: 33 slots and a bubble of 27.3 % both. But less scratch paper is kept: at most 4 pieces on
GPU 1, only 1 on GPU 4. When a piece has gone back, its scratch paper can be thrown away; it needn't wait for all 8. With more
pieces GPipe keeps more; 1F1B doesn't.

## Squeezing the bubble

Going back is two things: **I** makes what the stage before is waiting for, **W** makes the changes of the stage's own
parameters. Nobody waits for W, so it can be put off and fill an empty slot.

**Guess first:** with the way back cut into I and W, how far does the bubble of 27.3 % go down?
""",
    ),
    code(
        """
panel.schedules = ["gpipe", "1f1b", "zb_h1", "dualpipe", "zb_v"]
for row in panel.rows:
    print(row.variant.name, f"{row.prediction.figures.bubble:.1%}", row.prediction.copies)
""",
        "nbval-check-output",
        hidden=True,
    ),
    code(
        """
bubbles = {row.variant.name: round(100 * row.prediction.figures.bubble, 1) for row in panel.rows}
assert bubbles["gpipe"] == bubbles["1f1b"] == 27.3
assert bubbles["zb_h1"] == 11.1 and bubbles["zb_v"] == 5.9
"""
    ),
    text(
        """
最后一列是旋钮要存几套。ZB-H1 把 W 留到后面，气泡降到 11.1%。ZB-V 让每块显卡管 2 段，小份像画一个 V 那样走过去再走回来，降到 5.9%。

## DualPipe：数字要说清楚

DualPipe（DeepSeek-V3，2024 年）从两头同时送小份进去，每块显卡要存**两套**旋钮。它发表的公式，把一份的往前算和另一份的往回改
算成一整块活，做完才一起交出去；这一块按 3 格算（没算它边传边算省下的时间），气泡是 7.7%：
""",
        """
The last column says how many copies of the parameters are kept. ZB-H1 puts W off: 11.1 %. In ZB-V each GPU has 2 stages,
and the pieces walk through them like the letter V: 5.9 %.

## DualPipe: numbers need their conditions

DualPipe (DeepSeek-V3, 2024) sends pieces in from both ends, and each GPU keeps **two** copies of the parameters. Its
published formula counts one piece's forward and another's backward as one block that hands over both results at its end.
With 3 slots for a block (what it gains by overlapping computing and sending is not counted) the bubble is 7.7 %:
""",
    ),
    code(
        """
forward = input_grad = weight_grad = 1
block = forward + input_grad + weight_grad
published = (4 / 2 - 1) * (block + input_grad + weight_grad - 3 * weight_grad)
print(f"{published / (8 * block + published):.1%}")
""",
        "nbval-check-output",
    ),
    code(
        """
assert round(100 * published / (8 * block + published), 1) == 7.7
assert bubbles["dualpipe"] == 4.0
"""
    ),
    text(
        """
表里却是 4.0%：这里的往前算和往回改是两格活，先做完的先交出去，下一块显卡少等一会儿。两个数都对，条件不同。
课文说“气泡几乎挤没了”，诚实的说法是：4 块显卡、8 小份时，从 27.3% 降到 4% 至 11%，而且各有代价（两套旋钮，或者多传一倍的次数）。

## 真的训练

上面都是算出来的。现在用 ZB-H1 和 DualPipe 各真的训练几次（GPipe、1F1B、ZB-V 在[哪种排法最好？](compare-schedules.ipynb)里训练）。
**先猜：** 从两头送、还拆成两半，要改的量还和不切时一样吗？
""",
        """
The table says 4.0 %: here a forward and a backward are two ops, and what is done first is handed over first, so the next
GPU waits less. Both numbers are right, under their conditions. "The bubble is almost gone", said honestly: with 4 GPUs and
8 pieces it falls from 27.3 % to between 4 and 11 %, and each way has its price (two copies of the parameters, or twice as
many hand-overs).

## Really train

All of that was predicted. Now ZB-H1 and DualPipe really train a few steps (GPipe, 1F1B and ZB-V do in
[Which schedule is best?](compare-schedules.ipynb)). **Guess first:** with pieces from both ends and the way back cut in
two, are the changes still the uncut model's?
""",
    ),
    code(
        """
panel.schedules = ["zb_h1", "dualpipe"]
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
## 没有变的

每张时间表下面都写着“结果一样”：排法只管先后，要改的量一份一份加起来，最后一起改。擦掉重算也一样能用在 1F1B 上。
所以要先懂 GPipe：它的两个主意（切成小份、擦掉重算）今天还在用，变的只是先后。

## 只改一样

* 在上面的面板里把小份从 8 改成 16：1F1B 显卡 1 的草稿还是 4 份吗？
* 下面的设计板上是 2 块显卡、4 小份的 GPipe，每块显卡最多留 4 份草稿。把往回改的往前挪：总时间不变，显卡 1 只留 2 份，行吗？
  （怎么用设计板，见[自己排一个时间表](design-board.ipynb)。）
""",
        """
## What stayed

Under each grid it says that the result is the same: a schedule only decides the order; the changes of all pieces are
added up, and made together at the end. Erase and redo works with 1F1B, too. That is why one understands GPipe first: its two
ideas (pieces, and erase and redo) are still in use; only the order has changed.

## Change one thing

* In the panel above, make it 16 pieces instead of 8: does GPU 1 still keep 4 papers with 1F1B?
* On the board below is GPipe for 2 GPUs and 4 pieces, with up to 4 papers on each GPU. Move backwards to the front: can it
  take as long as before with only 2 papers on GPU 1? (How to use the board: [A schedule of your own](design-board.ipynb).)
""",
    ),
    code(
        """
from pipekit.learn import DesignBoard

board = DesignBoard(lang="LANG")
board.load(plan.gpipe(2, 4))
board
"""
    ),
]

TEACHER_ZH = """
# 给老师：GPipe 之后

时间（20 分钟）：猜 1F1B 3 分钟；看答案、讲草稿 4 分钟；猜 I 和 W 3 分钟；五种排法的表 3 分钟；真的训练和“结果一样” 4 分钟；设计板 3 分钟（可以带回家）。

答案
* 总时间不变，都是 33 格；最多留的草稿：GPipe 8、8、8、8，1F1B 4、3、2、1。
* 气泡：GPipe 和 1F1B 27.3%，ZB-H1 11.1%，ZB-V 5.9%；DualPipe 按发表的公式 7.7%，按这里的两格活 4.0%。
* 16 小份：1F1B 还是 4、3、2、1，GPipe 变成 16。
* 设计板：1F1B 就行，显卡 1 留 2 份，显卡 2 留 1 份，总时间不变。

简化了什么
* 往前算、I、W 各 1 格，传送不花时间；真的机器上三者不等，ZB-V 手排的先后就不再刚好填满。
* “气泡”按大家都做完才算（最后一起改）。论文里说的“零气泡”是一块显卡自己头尾之间的空闲，不是这个数。
* DualPipe 真正的好处是边算边传，这里没有传送的时间，看不到。
* 每份草稿都按一样大算；W 留到后面时，那份草稿也要多留一会儿。

常见的错误想法
* “马上往回改，所以更快”：没有更快，只是少留草稿。请学生数一数显卡 1 的空格。
* “零气泡就是一格都不闲”：开头等活、结尾没活总还有一点，ZB-V 这里还剩 1.5 格。
* “先后改了，结果也会改”：加法的先后不影响和（只差小数的零头），最后才一起改旋钮。
"""

TEACHER_EN = """
# For the teacher: after GPipe

Time (20 minutes): guess 1F1B 3; the answer, and why 4; guess I and W 3; the table of five 3; really train, the same
result 4; the board 3 (or at home).

Answers
* All done at 33 slots both; papers kept: GPipe 8, 8, 8, 8, 1F1B 4, 3, 2, 1.
* Bubble: GPipe and 1F1B 27.3 %, ZB-H1 11.1 %, ZB-V 5.9 %; DualPipe 7.7 % by its published formula, 4.0 % with two ops
  as here.
* 16 pieces: 1F1B still 4, 3, 2, 1; GPipe 16.
* The board: 1F1B does it, 2 papers on GPU 1, 1 on GPU 2, in the same time.

What is simplified
* Forward, I and W take 1 slot each, sending takes none. On real machines they differ, and ZB-V's hand-made order no
  longer fits exactly.
* The bubble counts until all are done (one change at the end). "Zero bubble" in the paper is said of a GPU's idle
  time between its own first and last op.
* DualPipe's real gain is computing while sending; nothing is sent slowly here, so it doesn't show.
* Each paper counts as one; one that waits for its W is kept a little longer.

Likely wrong ideas
* "Going back at once is faster": it isn't, it only keeps less. Let them count GPU 1's empty slots.
* "Zero bubble means nobody is ever idle": filling and draining stay; ZB-V has 1.5 slots left here.
* "Another order gives another result": a sum doesn't depend on the order (but for rounding), and the parameters change
  once, at the end.
"""

PAGE = Page(
    title=("GPipe 之后", "After GPipe"),
    question=(
        "不换显卡、只改先后，能省下什么？",
        "The same GPUs in another order: what is saved?",
    ),
    minutes=20,
    rows=(14,),
    runs=("ZB-H1 和 DualPipe 真的训练", "ZB-H1 and DualPipe really train"),
    cells=CELLS,
    teacher=(TEACHER_ZH, TEACHER_EN),
)
