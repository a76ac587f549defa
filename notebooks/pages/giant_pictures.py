"""The image giant: AmoebaNet."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 巨人（一）：看图的 AmoebaNet

**学会什么：** 说得出 5 亿多个旋钮的网络有多大；知道它的小亲戚切成 4 段来训练，还认不认得准。**约 15 分钟。**

GPipe 的作者把一个看图网络放大到 5.57 亿个旋钮（参数），切开放在几块显卡（论文里用的是 TPU，课上都叫显卡）上训练。这种网络叫 AmoebaNet（变形虫网络）：它的“细胞”不是人设计的，是让电脑一代一代淘汰出来的。

**先猜：** 早先学过的 AlexNet 有约 6000 万个旋钮。一块 8 GB 的显卡放得下的 AmoebaNet，最多有多少个旋钮？8 块呢？写下来。
""",
        """
# Giants (1): AmoebaNet, which looks at pictures

**You will be able to:** say how large a network of over 500 million knobs is, and whether a small relative, trained in 4 stages,
still reads well. **About 15 minutes.**

GPipe's authors grew a picture network to 557 million knobs (parameters), and trained it cut up, on several accelerators. It
is called AmoebaNet: its cells weren't designed by a person, they are what was left after many generations of a competition.

**Guess first:** AlexNet had about 60 million knobs. How many has the largest AmoebaNet that fits on one 8 GB device? On
eight of them? Write it down.
""",
    ),
    text(
        """
## 数一数旋钮

`amoebanet(L, D)` 照论文搭出网络：L 个普通细胞，起步 D 个通道。在 `meta` 设备上只记形状，不占内存，所以再大也搭得出来。左边是我们数的，右边是论文表 1 里印的（单位：百万个）。
""",
        """
## Count the knobs

`amoebanet(L, D)` builds the network of the paper: L normal cells, D channels to begin with. On the `meta` device only shapes
are kept, and no memory is needed, however large it is. Left: counted here. Right: printed in the paper's Table 1 (millions).
""",
    ),
    code(
        """
import torch

from pipekit.learn.giants import PUBLISHED, amoebanet, num_parameters

with torch.device("meta"):
    counted = {size: num_parameters(amoebanet(*size)) for size in PUBLISHED}
"""
    ),
    code(
        """
for size, published in PUBLISHED.items():
    print(f"{size!s:9} {counted[size] / 1e6:7.1f} {published / 1e6:7.0f}")
    assert abs(counted[size] / published - 1) < 0.03
""",
        "nbval-check-output",
        hidden=True,
    ),
    text(
        """
一块 8 GB 的显卡，不切也不擦草稿，放得下 (18, 208)：8200 万个。用上“擦掉重算”，同一块就放得下 3 亿多个；切成 8 段放在 8 块上，放得下 18 亿个。这就是切开的用处：**放得下了**。
""",
        """
One 8 GB accelerator holds (18, 208), 82 million knobs, with nothing cut and nothing erased. With "erase and redo" the same
one holds over 300 million; cut in 8 stages on 8 of them, 1.8 billion. That is what cutting is for: **it fits**.
""",
    ),
    text(
        """
## 它的小亲戚

18 亿个旋钮在教室里训练不了。但是同样的细胞，少几个、窄一点，就能在这台电脑上真的训练：认 8×8 的手写数字。它有 7 层，切成 4 段，每段层数不一样，是为了让每段用的时间差不多。

注意：细胞要看“前一个”和“再前一个”两层的结果，所以两段之间传的不是一个数组，是**一对**。
""",
        """
## A small relative

1.8 billion knobs can't be trained in a classroom. But with the same cells, fewer and narrower, a network can really be trained
on this computer: it reads 8 x 8 handwritten digits. It has 7 layers, cut in 4 stages, not of equal length but of about equal time.

A cell looks at the result before it *and* the one before that: what goes from stage to stage is a **pair**.
""",
    ),
    code(
        """
from pipekit.learn.giants import Recipe, picture_net

newborn = picture_net(Recipe(epochs=1))
print(num_parameters(newborn.model), [len(stage) for stage in newborn.stages])
""",
        "nbval-check-output",
    ),
    text(
        """
## 真的练一遍

**先猜：** 没学过的网络认 10 个数字，瞎猜能对 10%。切成 4 段，只把 1437 张练习用的数字看一遍，能认对百分之几？
""",
        """
## Really train it, for one round

**Guess first:** a network that knows nothing gets 10% of ten digits right by chance. Cut in 4 stages, it now sees each of the
1437 training digits once. What share of unseen digits will it read right?
""",
    ),
    code(
        """
from pipekit.learn.giants import train_pictures

train_pictures(newborn)
assert newborn.accuracies[-1] > 0.2
newborn.losses, newborn.accuracies
""",
        hidden=True,
    ),
    text(
        """
左边的数是这一遍的平均损失（答案差多少，越小越好），右边的是没见过的数字认对的比例（0.55 就是 55%）。只看一遍，就比瞎猜强多了。

## 练 12 遍的存档

同样的网络练 12 遍，在普通电脑上要一两分钟。我们已经练好，存了档。让**切成 4 段**的它认 360 张从没见过的数字，再让**不切**的它认一遍。

**先猜：** 切开以后，认对的会变多、变少，还是一样？
""",
        """
The first number is the mean loss of the round, the second the share of unseen digits read right (0.55 is 55%). One round, and
it is far better than chance.

## Saved after 12 rounds

Twelve rounds take a minute or two on an ordinary computer. It was done before, and saved. Let it read 360 digits it has never
seen, **cut in 4 stages**, and then **whole**.

**Guess first:** will the cut one read more of them right, fewer, or just as many?
""",
    ),
    code(
        """
from pipekit.learn.giants import examine, saved_picture_net

exam = examine(saved_picture_net())
assert exam.accuracy >= 0.97 and exam.same
print(f"{exam.right_cut} / {exam.right_whole} / {exam.num_images}")
""",
        hidden=True,
    ),
    text(
        """
三个数是：切开认对的、不切认对的、一共几张。认的结果一张不差，每个旋钮要改的量也一样（只差小数计算的零头）。

认错的是哪几张？你认得出吗？
""",
        """
The three numbers: read right when cut, read right when whole, all. Both read every digit alike, and both would change each
knob by the same amount, but for rounding.

Which ones were read wrong? Could you read them?
""",
    ),
    code(
        """
from pipekit.learn.giants import misread

misread(exam, lang="LANG")
""",
        hidden=True,
    ),
    text(
        """
## 巨人和小亲戚

论文里最大的那个看图网络（AmoebaNet-B，和这里的 D 是姐妹，细胞不完全一样）有 5.57 亿个旋钮，看 480×480 的照片，在 ImageNet 的 1000 类里第一次就猜对 84.4%。来源：Huang 等，GPipe，arXiv 1811.06965，第 4 节。**这两个数是论文里印的，不是在这里测到的。**

它的旋钮是我们小亲戚的几倍？
""",
        """
## The giant and its relative

The paper's best picture network (AmoebaNet-B, a sister of the D here, with other cells) has 557 million knobs, looks at photos
of 480 x 480, and names 84.4% of ImageNet's photos right at the first guess, out of 1000 classes. Source: Huang and others,
GPipe, arXiv 1811.06965, section 4. **These two numbers are the paper's; they weren't measured here.**

How many times as many knobs as our relative is that?
""",
    ),
    code(
        """
from pipekit.learn.giants import GIANT_ACCURACY, GIANT_PARAMETERS

times = GIANT_PARAMETERS / num_parameters(newborn.model)
print(f"{GIANT_PARAMETERS / 1e6:.0f} / {GIANT_ACCURACY:.1%} / {times:.0f}")
""",
        "nbval-check-output",
        hidden=True,
    ),
    text(
        """
三个数是：巨人有多少百万个旋钮，第一次就猜对的比例，旋钮是小亲戚的几倍。

84.4% 比 98.6% 低，不是因为巨人更笨：1000 类照片比 10 个数字难得多。不同的题，分数不能比。

## 只改一样

* 把 `Recipe(epochs=1)` 换成 `Recipe(epochs=3)` 或者 `Recipe(epochs=1, seed=1)`，再练一次，认对的变了多少？
* 换成 `Recipe(epochs=1, num_filters=8)`：旋钮少了几成？还认得准吗？
* 想从头练完 12 遍：在终端里运行 `python -m pipekit giants pictures --full`。中途按 Ctrl-C 停下，再运行就接着练。
""",
        """
The three numbers: the giant's knobs in millions, what it gets right at the first guess, how many times our relative's knobs.

84.4% is less than 98.6%, but the giant isn't worse: 1000 kinds of photos are much harder than ten digits. Scores in different
tests can't be compared.

## Change one thing

* Make `Recipe(epochs=1)` into `Recipe(epochs=3)`, or `Recipe(epochs=1, seed=1)`, and train again. How much does it change?
* Try `Recipe(epochs=1, num_filters=8)`: how many knobs fewer? Does it still read well?
* All 12 rounds from the start: run `python -m pipekit giants pictures --full` in a terminal. Ctrl-C stops it, and the same
  command goes on from there.
""",
    ),
]

PAGE = Page(
    title=("巨人（一）：看图的 AmoebaNet", "Giants (1): AmoebaNet, which looks at pictures"),
    question=(
        "5 亿多个旋钮有多大？它的小亲戚切成 4 段，还认得准吗？",
        "How large are 500 million knobs? Does a small relative, cut in 4, still read well?",
    ),
    minutes=15,
    rows=(2, 9, 12),
    runs=(
        "AmoebaNet 的小亲戚切成 4 段真的练一遍；存档认 360 张数字",
        "a small AmoebaNet, cut in 4, really trained for a round; a saved one reads 360 digits",
    ),
    cells=CELLS,
    teacher=(
        """
# 给老师：巨人（一）

**时间（15 分钟）：** 猜和数旋钮 4 分钟；小亲戚练一遍 4 分钟（程序约 5 到 10 秒）；存档、认错的数字 4 分钟；巨人和只改一样 3 分钟。

**答案：** 一块 8 GB 的显卡：8200 万（不擦），3.18 亿（擦掉重算）；2、4、8 块：5.42 亿、10.5 亿、18 亿。小亲戚有 97,082 个旋钮，每段 2、1、1、3 层。练一遍能认对大约一半，每台电脑略有不同；练 12 遍认对 355/360，约 98.6%，切和不切一张不差。换种子再练（种子 0、1、2），结果见 `pipekit/learn/giants/pictures.json`。巨人的旋钮是小亲戚的 5737 倍。

**哪里简化了：** 论文在谷歌的 TPU 上训练，课文里都叫显卡。表 1 的 8 GB 是一块 TPU 的内存。小亲戚把论文里的 BatchNorm（批归一化）换成了每张图自己归一化，因为 BatchNorm 会让切开的结果不一样（见“结果一样吗？”那一页）；两种归一化的旋钮一样多。论文里最好成绩用的是姐妹网络 AmoebaNet-B，这里只引用它的数。论文的训练还用了别的技巧（数据增强等），这里没有。

**常见的错误想法：** “切成 4 段，每段只学到一部分，所以会变笨。”——切的是摆在哪里算，不是切掉知识；每个旋钮要改的量一样。“98.6% 比 84.4% 高，所以小的更好。”——题目不同，不能比。“旋钮多就一定好。”——论文比较的是同一道题；小数据上旋钮太多反而容易死记。
""",
        """
# Giants (1): for the teacher

**Time (15 minutes):** guessing and counting 4; training for one round 4 (the program takes 5 to 10 seconds); the saved one and
its mistakes 4; the giant, and changing one thing, 3.

**Answers:** one 8 GB accelerator: 82 million (nothing erased), 318 million (erase and redo); on 2, 4 and 8: 542 million, 1.05
billion, 1.8 billion. The relative has 97,082 knobs in stages of 2, 1, 1 and 3 layers. After one round about half of the digits are right,
a little different on each computer; after 12 rounds 355 of 360, about 98.6%, with not one digit read differently cut and whole. Other
seeds (0, 1, 2): see `pipekit/learn/giants/pictures.json`. The giant has 5737 times as many knobs.

**What is simplified:** the paper trained on Google's TPUs, which the lesson calls GPUs. Table 1's 8 GB is the memory of one
accelerator. The relative normalises each picture by itself instead of BatchNorm, which would change the result of a cut (see the page
"the result is the same"); both have as many knobs. The paper's best score belongs to a sister net, AmoebaNet-B: its numbers are
only quoted. The paper's training has more to it (data augmentation and so on), which is left out.

**Likely wrong ideas:** "Cut in 4, each stage learns only a part, so it gets worse." The cut decides where something is computed, it
takes no knowledge away: each knob changes by the same amount. "98.6% is more than 84.4%, so the small one is better." Other
test, other score. "More knobs are always better." The paper compares on one and the same test; with little data, a net with too
many knobs learns by heart.
""",
    ),
)
