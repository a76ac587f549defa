"""Is the result the same: gradients fill up piece by piece, training cut and uncut, BatchNorm, and what mends it."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 结果一样吗？

**学会什么：** 说得出切成小份为什么不改变结果：先记下、再相加、最后一起改；会看“结果一样”那个数；知道哪一种层是例外，能补回来什么，补不回来什么。**约 20 分钟。**

一大批 64 张手写数字，切成 4 小份一份一份地算。**先猜：** 每个旋钮要改的量，和整批一起算的比，差多少？训练完，认对的张数一样吗？

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
        """
# Is the result the same?

**You will be able to:** say why pieces don't change the result (note down, add up, change once at the end), read the number that says "the same
result", and name the kind of layer that is the exception: what of it can be mended, and what can't. **About 20 minutes.**

A mini-batch of 64 handwritten digits, one of 4 pieces after another. **Guess first:** by how much does each knob's change differ from the whole
mini-batch's? And after training, are as many digits read right?

(A picture, but no buttons? Click the cell below and press Shift+Enter.)
""",
    ),
    code(
        """
from pipekit.learn import ControlRoom, Experiment, mlp

room = ControlRoom(lang="LANG", experiment=Experiment(batch_time=0.04))
room
"""
    ),
    text(
        """
## 一份一份地加

先把整批一起算，记下每个旋钮要改的量（梯度）。
""",
        """
## Piece by piece

First the whole mini-batch at once, and note how far each knob is to be moved (the gradients).
""",
    ),
    code(
        """
from pipekit import plan, run
from pipekit.learn.experiment import seeded

lab, model = room.experiment, seeded(mlp)
images, labels = lab.batch, lab.target
lab.loss(model(images), labels).backward()
whole = run.gradients([model])
""",
    ),
    text(
        """
现在切成 4 小份。每份算完，要改的量**加**到 `.grad` 里，旋钮先不动。每份只占 16/64，所以先乘 16/64。看其中一个旋钮：
""",
        """
Now in 4 pieces. After each one its change is **added** to `.grad`, and the knobs stay where they are. A piece is 16/64 of all, so it is multiplied
by 16/64 first. Watch one knob:
""",
    ),
    code(
        """
model.zero_grad()
for piece, answers in zip(images.tensor_split(4), labels.tensor_split(4), strict=True):
    (lab.loss(model(piece), answers) * len(piece) / len(images)).backward()
    number = float(run.gradients([model])[-1][0])
    print("█" * round(500 * abs(number)), f"{number:+.4f}")
print(f"{whole[-1][0]:+.4f}")
""",
    ),
    text(
        """
最后两行一样：四份加起来，就是整批的。（有的小份会让它变小：那几张数字想让旋钮往反方向转。）

只看一个旋钮不够。把所有旋钮都比一遍，取差得最多的，除以它自己的大小：这就是“结果一样”那个数。
""",
        """
The last two lines are the same: four pieces add up to the whole. (A piece may make it smaller: its samples disagree.)

One knob isn't enough. Compare all of them, take the largest difference, and divide by the parameter's own size: that is the number behind "the
same result".
""",
    ),
    code(
        """
difference = run.relative_difference(run.gradients([model]), whole)
assert difference < 1e-4
print(f"{difference:.0e}")
""",
        hidden=True,
    ),
    text(
        """
不是 0，是千万分之几：电脑算小数只留 7 位左右，加的先后不同，零头就不一样。

## 控制室里每次都查

真的切成 4 段、4 小份，真的训练一次。第三句话和下面这个数，说的就是这件事。
""",
        """
Not 0, but a few in 10 million: a computer keeps about 7 digits, and what is added first changes the last of them.

## The control room checks it every time

Really cut into 4 stages and 4 pieces, really trained once. Its third sentence, and the number below, say just this.
""",
    ),
    code(
        """
outcome = room.run().wait(timeout=60)
assert outcome.same
print(f"{outcome.difference:.0e}")
""",
    ),
    text(
        """
## 训练完，旋钮和成绩也一样

从同样的旋钮开始，同样的数字、同样的先后，一个不切，一个切成 4 段 4 小份，各训练 3 遍。这里的小数留 16 位（`double`）。**先猜：** 旋钮差多少？认对的张数差几张？
""",
        """
## After training: the same knobs, the same score

From the same knobs, with the same digits in the same order: one uncut, one in 4 stages and 4 pieces, 3 epochs each, with 16 digits
(`double`). **Guess first:** how far apart are the knobs? And how many digits does one read that the other doesn't?
""",
    ),
    code(
        """
from pipekit.learn import accuracy, digits, train

data = digits()
exact = data._replace(train_images=data.train_images.double(), test_images=data.test_images.double())
""",
    ),
    code(
        """
models = [seeded(mlp).double() for _ in range(2)]
for each, num_stages in zip(models, (1, 4), strict=True):
    train(each, exact, num_stages=num_stages, epochs=3)
""",
    ),
    code(
        """
uncut, cut = (list(each.parameters()) for each in models)
scores = [accuracy(each, exact.test_images, exact.test_labels) for each in models]
assert run.relative_difference(cut, uncut) < 1e-9 and scores[0] == scores[1]
print(f"{run.relative_difference(cut, uncut):.0e}", [f"{score:.1%}" for score in scores])
""",
        hidden=True,
    ),
    text(
        """
一模一样。要是小数只留 7 位，每次的零头会越滚越大，训练完旋钮能差百分之几，成绩可能差一两张：那是小数的零头，不是切的错（把 `.double()` 去掉试试）。

## 例外：批归一化（BatchNorm）

有一种层，训练时要看**同一批**里的别的练习题：先算这一批的平均，再减掉。切成小份，它就只看得见自己那一小份。
""",
        """
The same. With only 7 digits the rounding of each step grows and grows: after training the knobs may be some percent apart and the score a
digit or two: that is rounding, not cutting (try without `.double()`).

## The exception: BatchNorm

One kind of layer looks at the **other samples of the batch** while training: it takes the batch's mean and subtracts it. In pieces it sees its
own piece only.
""",
    ),
    code(
        """
room.batch_norm = True
spoiled = room.run().wait(timeout=60)
assert not spoiled.same, spoiled
"""
    ),
    code("spoiled.same", "nbval-check-output", hidden=True),
    text(
        """
这回结果**不一样**，控制室的第三句话也会照实说。而且它还记着一份“运行统计”（`running_mean`）：平时看到的平均，考试的时候用。每份都记一次，一大批就记了 4 次，记的还都是小份的平均。
""",
        """
This time the result is **not** the same, and the control room's third sentence says so. Moreover the layer keeps running statistics
(`running_mean`): the mean it usually sees, for the day of the test. In pieces it notes 4 times a mini-batch, and each time a piece's mean.
""",
    ),
    code(
        """
from torch import nn


def one_step(model, num_stages, pieces):
    with run.Pipeline(run.partition(model, num_stages), run.cpu(num_stages)) as pipeline:
        pipeline.step(plan.gpipe(num_stages, pieces), images, labels, lab.loss)
    return [layer for layer in model.modules() if isinstance(layer, nn.BatchNorm1d)]
""",
    ),
    code(
        """
plain, cut, deferred = (seeded(lambda: mlp(normalise=nn.BatchNorm1d)) for _ in range(3))
run.defer_batch_norm(deferred)
layers = [one_step(plain, 1, 1), one_step(cut, 4, 4), one_step(deferred, 4, 4)]
for first, *_ in layers:
    print(int(first.num_batches_tracked), [f"{mean:+.4f}" for mean in first.running_mean[:4].tolist()])
""",
        hidden=True,
    ),
    text(
        """
三行：不切；切成 4 小份；切成 4 小份，但先用了 `run.defer_batch_norm(model)`（把统计推迟到最后再记）。前面的数是记了几次。推迟以后，4 小份的统计先攒着，一大批做完才记一次，和不切时一样。

**补回来的：** 第一个 BatchNorm 层收到的数据和不切时一样，它的运行统计也就一样，有多少小份都行，擦掉重算也不会多记。
""",
        """
Three lines: uncut; in 4 pieces; in 4 pieces after `run.defer_batch_norm(model)`. The first number says how often it noted. Deferred, the pieces'
statistics are gathered, and noted once a mini-batch, as in the uncut model.

**What it mends:** the first BatchNorm receives what it does in the uncut model, so its running statistics are the same: with any number of
pieces, and recomputing counts nothing twice.
""",
    ),
    code(
        """
def apart(ours, place):
    return run.relative_difference([ours[place].running_mean], [layers[0][place].running_mean])


assert apart(layers[2], 0) < 1e-5 < 0.1 < apart(layers[1], 0)
"""
    ),
    text(
        """
**补不回来的：** 每一小份还是用自己的平均来减，所以要改的量还是不一样；后面的层收到的数据已经变了样，它们的运行统计也只是近了很多，不会相等。想要完全一样，就换一种只看一道练习题的层（LayerNorm、GroupNorm），控制室平时用的就是它。

最后一个 BatchNorm 层的运行平均，和不切时差多少？左边是切开的，右边是切开又推迟的：
""",
        """
**What it doesn't mend:** each piece still subtracts its own mean, so the changes still differ; and deeper layers receive something else than in
the uncut model, so their running statistics come much closer but aren't equal. For the very same result take a layer that looks at one sample
only (LayerNorm, GroupNorm), as the control room usually does.

How far is the last BatchNorm's running mean from the uncut model's? On the left cut, on the right cut and deferred:
""",
    ),
    code(
        """
last_cut, last_deferred = apart(layers[1], -1), apart(layers[2], -1)
assert 1e-4 < last_deferred < 0.2 * last_cut, (last_deferred, last_cut)
print(f"{last_cut:.1%} {last_deferred:.1%}")
""",
        hidden=True,
    ),
    text(
        """
## 只改一样

64 张切成 5 小份，份有大有小（13、13、13、13、12）。还乘 1/5 行不行？（不行：每份占的是 13/64 或 12/64。控制室会自己按张数算。）
""",
        """
## Change one thing

64 digits in 5 pieces: 13, 13, 13, 13, 12. May each be multiplied by 1/5? (No: a piece counts 13/64 or 12/64. The control room does that by
itself.)
""",
    ),
    code(
        """
model.zero_grad()
for piece, answers in zip(images.tensor_split(5), labels.tensor_split(5), strict=True):
    (lab.loss(model(piece), answers) / 5).backward()
fifths = run.relative_difference(run.gradients([model]), whole)
assert fifths > 1e-3
print(f"{fifths:.1%}")
""",
        hidden=True,
    ),
]

TEACHER = (
    """
# 给老师：结果一样吗？

**时间（20 分钟）** 猜 2，一份一份地加 5，控制室 2，训练完比一比 4，BatchNorm 5，只改一样 2。

**答案** 四份要改的量加起来就是整批的；“结果一样”那个数是千万分之几，是小数的零头。训练 3 遍（16 位小数）：旋钮差不到十亿分之一，成绩相同。有 BatchNorm 就不一样。
第一层的运行统计：不切记 1 次，切成 4 小份记 4 次，推迟以后又是 1 次，数也一样；最后一层推迟以后近得多，但不相等。5 小份不能都乘 1/5。

**简化了什么** “结果一样”不管批归一化（课文也这样说明）。只比一次用的是 7 位小数，比训练用的是 16 位，因为零头会越滚越大。随机丢弃（dropout）也不能和不切时比：随机数不同。

**可能的误解** “每份算完就改一次旋钮”——那就是四次小批训练，结果不一样；要先记下、再相加、最后一起改。“加起来要除以 4”——要看每份占几成，份不一样大时不是 1/4；忘了除，就大了 4 倍。
“推迟了就全好了”——只补运行统计，要改的量还是不一样。
""",
    """
# Is the result the same?: for the teacher

**Time (20 minutes)** Guess 2, piece by piece 5, control room 2, after training 4, BatchNorm 5, change one thing 2.

**Answers** Four pieces' changes add up to the whole's; the number behind "the same result" is a few in 10 million, rounding. After 3 epochs with 16
digits the knobs differ by less than 1 in a billion, the scores not at all. With BatchNorm the result is not the same. The first layer's
running statistics are noted once uncut, 4 times in 4 pieces, once again when deferred, with the same numbers; the last layer's come much
closer, not equal. 5 pieces must not all be multiplied by 1/5.

**Simplified** "The same result" leaves BatchNorm aside, as the lesson says. One step is compared with 7 digits, training with 16, because rounding
grows. With dropout cut and uncut can't be compared: they draw other random numbers.

**Likely wrong ideas** "The knobs change after each piece": that would be four small training steps; note down, add up, change once. "Divide the sum by
4": by what a piece counts, which isn't 1/4 for uneven pieces; who forgets it is 4 times too large. "Deferring mends all": the running
statistics only.
""",
)

PAGE = Page(
    title=("结果一样吗？", "Is the result the same?"),
    question=(
        "切成小份训练，旋钮和成绩跟不切时一样吗？",
        "Trained in pieces: are knobs and score those of the uncut model?",
    ),
    minutes=20,
    rows=(9,),
    runs=(
        "一份一份地比；不切和切开各训练 3 遍；有 BatchNorm 的也真的跑",
        "step by step; 3 epochs cut and uncut; and with BatchNorm",
    ),
    cells=CELLS,
    teacher=TEACHER,
)
