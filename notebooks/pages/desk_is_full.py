"""The desk is full: what lies in a GPU's memory, and what to do when it doesn't fit."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 书桌满了

**学会什么：** 说得出训练时显卡的内存里放着哪四样东西；会算一个网络放不放得下；知道放不下时怎么切。**约 15 分钟。**

一块显卡就像一张书桌：积木塔（网络）的旋钮（参数）要放在上面，算到一半的草稿（激活值）也要放在上面。桌子就这么大。

**先猜：** 每张书桌放得下 200 万字节（2 MB）。8 层的塔放得下。搭到几层就放不下了？写下来，再拉动滑块。

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
        """
# The desk is full

**You will be able to:** name the four things that lie in a GPU's memory during training, work out whether a network fits,
and say how to cut one that doesn't. **About 15 minutes.**

A GPU is like a desk: the tower's knobs (parameters) have to lie on it, and so does the scratch paper of unfinished work
(activations). The desk doesn't grow.

**Guess first:** a desk holds 2 million bytes (2 MB). A tower of 8 layers fits. With how many layers doesn't it fit any more?
Write it down, then move the slider.

(A picture, but no buttons? Click the cell below and press Shift+Enter.)
""",
    ),
    code(
        """
from pipekit.learn import DeskPanel

panel = DeskPanel(lang="LANG")
panel
"""
    ),
    text(
        """
## 数一数

桌上有四样：**旋钮**、每个旋钮**要改多少**（梯度）、优化器记的**笔记**（Adam 给每个旋钮记两个数）、**草稿**。滑块一动，图就变：那是按网络的形状算出来的。
下面的单元格真的训练一次，数真的占了多少。
""",
        """
## Count

Four things lie there: **knobs**, how far each of them **is to be moved** (gradients), the optimizer's **notes** (Adam keeps two
numbers a knob), and **scratch paper**. The picture follows the slider: that is predicted from the network's shape. The next
cell really trains one step and counts what was really there.
""",
    ),
    code(
        """
predicted, (counted,) = panel.predicted[0], panel.count()
assert predicted[:3] == counted[:3] and abs(predicted.activations / counted.activations - 1) < 0.02
panel.picture()
"""
    ),
    text(
        """
旋钮算 1 份，要改的量也是 1 份，笔记是 2 份：一共 4 份，草稿还没算。

## 搭高一点

下一个单元格一层一层加高，找到第一座放不下的塔。答案藏着，猜好了再点开。
""",
        """
Call the knobs 1 share: their changes are 1 more, the notes 2. That makes 4, and no scratch paper yet.

## Build higher

The next cell builds higher and higher, and finds the first tower that doesn't fit. The answer is hidden: guess, then click.
""",
    ),
    code(
        """
heights = {}
for panel.num_layers in (8, 12, 16, 20):
    heights[panel.num_layers] = panel.fits
heights
""",
        "nbval-check-output",
        hidden=True,
    ),
    text(
        """
## 切开：40 层，4 块显卡

40 层的塔，一张桌子远远放不下。按层切成 4 段，每块显卡放一段。**先猜：** 每块显卡是第几层到第几层？
""",
        """
## Cut it: 40 layers, 4 GPUs

A tower of 40 layers is far too much for one desk. Cut it by layers into 4 stages, one a GPU. **Guess first:** which layers does
each GPU get?
""",
    ),
    code(
        """
panel.num_layers = 40
alone = panel.fits
panel.num_devices = 4
panel.count()
print(alone, panel.fits, panel.layers_on)
""",
        "nbval-check-output",
        hidden=True,
    ),
    code("panel.picture()"),
    text(
        """
一张桌子放不下，四张就放得下了：每张只放 10 层的旋钮和 10 层的草稿。40 层和 4 块显卡是讲课用的例子，切法是真的，训练也是真的。

## 两个真的网络

2012 年的 AlexNet 约有 6000 万个旋钮，分在 2 块显卡上训练。GPipe 的翻译模型有 60 亿个。**先猜：** 是几倍？
""",
        """
One desk was too small, four are enough: each holds the knobs and the scratch paper of 10 layers. 40 layers on 4 GPUs are the
lesson's example; the cut is real, and so is the training.

## Two real networks

AlexNet (2012) has about 60 million knobs, and was trained on 2 GPUs. GPipe's translator has 6 billion. **Guess first:** how many
times as many?
""",
    ),
    code("6_000_000_000 / 60_000_000", "nbval-check-output", hidden=True),
    text(
        """
自己数一数：下面两座塔只有形状，没有数（放在 torch 的 meta 设备上），所以 60 亿个旋钮也不占地方。翻译模型这座塔和论文里的一样高（128 层）、一样重，每层的样子是我们简化的。
""",
        """
Count them: the two towers below have shapes and no numbers (torch's meta device), so that 6 billion knobs take no room. The
translator's tower is as high (128 layers) and as heavy as the published one; what one layer looks like is simplified.
""",
    ),
    code(
        """
from pipekit.learn import desk
from pipekit.learn.giants import num_parameters

giant = desk.translator()
print(num_parameters(desk.alexnet()), len(giant), num_parameters(giant))
""",
        "nbval-check-output",
    ),
    text(
        """
一个旋钮 4 个字节。旋钮、要改的量和笔记，一块 16 GB 的显卡放得下几成？
""",
        """
A knob takes 4 bytes. How much of its knobs, changes and notes fits on a GPU with 16 GB?
""",
    ),
    code(
        """
from pipekit import run, show

desks = desk.weigh(run.partition(giant, num_stages=1))
show.desk_chart(desks, 16 * desk.GB, "desk_predicted", lang="LANG", unit=desk.GB)
""",
        hidden=True,
    ),
    text(
        """
## 只改一样

切成 8 段够吗？别忘了这里一张草稿也没放。再回到上面的图：20 层的塔，最少要几块显卡？
""",
        """
## Change one thing

Are 8 stages enough? Mind that no sheet of scratch paper lies there yet. Then go back to the panel: how few GPUs will do for a
tower of 20 layers?
""",
    ),
    code(
        """
desks = desk.weigh(run.partition(giant, num_stages=8))
max(each.total for each in desks) < 16 * desk.GB
""",
        "nbval-check-output",
        hidden=True,
    ),
]

TEACHER = (
    """
# 给老师：书桌满了

**时间（15 分钟）** 猜和拉滑块 4，数一数 3，搭高 2，切开 3，两个真的网络 3。

**答案** 16 层放得下（1.64 MB），20 层放不下（2.05 MB）。40 层一块显卡要 4.09 MB；4 块显卡时每块约 1.05 MB，各放第 1–10、11–20、21–30、31–40 层。
6 000 000 000 ÷ 60 000 000 = 100 倍。60 亿个旋钮 × 4 字节 × 4 份 = 96 GB；8 段时每段 12 GB，草稿另算。20 层至少要 2 块显卡。

**简化了什么** 书桌 2 MB 是规定的，电脑真正的内存大得多；桌上的东西是真的数出来的。40 层分给 4 块显卡是讲课的例子。AlexNet 数的是有参数的层：60 965 224 个。
翻译模型那座塔每层都一样，只求层数和总数对得上；每个旋钮记两个数是优化器 Adam 的做法，这里按它算。论文的实验主要在谷歌的 TPU 上做，课上一律叫显卡。

**可能的误解** “内存里只有网络”——旋钮只占四份里的一份。“切成 4 段就快 4 倍”——这一课只解决放不放得下，快不快是下一课。“草稿和层数无关”——每一层都要留自己的草稿。
""",
    """
# The desk is full: for the teacher

**Time (15 minutes)** Guess and slider 4, count 3, build higher 2, cut 3, two real networks 3.

**Answers** 16 layers fit (1.64 MB), 20 don't (2.05 MB). 40 layers need 4.09 MB on one GPU, about 1.05 MB on each of four, which hold
layers 1-10, 11-20, 21-30, 31-40. 6,000,000,000 / 60,000,000 = 100. 6 billion knobs x 4 bytes x 4 shares = 96 GB; 12 GB each in
8 stages, scratch paper not counted. A tower of 20 layers needs at least 2 GPUs.

**Simplified** The desk of 2 MB is declared, a computer has far more; what lies on it is really counted. 40 layers over 4 GPUs are
the lesson's example. Of AlexNet the layers with parameters are counted: 60,965,224. The translator's tower has equal layers and
matches the published number of layers and parameters only; that each knob has two notes is Adam's way, chosen here. The paper's
experiments ran mainly on Google's TPUs, which the lesson calls GPUs.

**Likely wrong ideas** "Only the network lies in memory": the knobs are one share of four. "Four stages are four times as fast": this
page is about fitting, the next about speed. "Scratch paper doesn't depend on the layers": every layer keeps its own.
""",
)

PAGE = Page(
    title=("书桌满了", "The desk is full"),
    question=("多高的塔，一张书桌就放不下了？", "How high a tower does one desk hold?"),
    minutes=15,
    rows=(2, 3),
    runs=("8 层和 40 层的塔各真的训练一次，数内存", "one real step of 8 and of 40 layers, bytes counted"),
    cells=CELLS,
    teacher=TEACHER,
)
