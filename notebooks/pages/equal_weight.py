"""Equal weight: the slowest sets the pace."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 一块慢，大家都慢？

**学会什么：** 说得出一条流水线有多快由谁说了算；会切模型，让每块显卡的活一样重。**约 15 分钟。**

4 块显卡，一大批切成 4 小份，只看往前算：每小份在每块显卡上用 1 格，一共 7 格（4+4-1）。

现在**显卡 3 慢一倍**：每小份要用 2 格，另外三块还是 1 格。

**先猜，写下来：** 一共要几格？8、9、11，还是 14？闲着的时间占百分之几？

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
        """
# One is slow: are all slow?

**You will be able to:** say what sets the pace of a production line, and cut a model so that each GPU has the same work.
**About 15 minutes.**

4 GPUs, a mini-batch in 4 pieces, the way forward only: each piece takes 1 slot on each GPU, 7 slots in all (4 + 4 - 1).

Now **GPU 3 is half as fast**: a piece takes 2 slots there, and 1 on the other three.

**Guess first, and write it down:** how many slots in all? 8, 9, 11 or 14? And what share of the time are the GPUs idle?

(A picture, but no buttons? Click the cell below and press Shift+Enter.)
""",
    ),
    code(
        """
from pipekit.learn import ControlRoom, Experiment

room = ControlRoom(lang="LANG", experiment=Experiment(batch_time=0.1))
room.apply("slow_stage")
room
"""
    ),
    text(
        """
## 真的训练一次

按“训练一次”，或者运行下面的单元格。显卡 3 真的慢一倍：替身显卡每格活都等满规定的时间。
""",
        """
## Really train once

Press "Train once", or run the next cell. GPU 3 really is half as fast: a stand-in waits out the time that is declared.
""",
    ),
    code("outcome = room.run().wait(timeout=60)\noutcome", hidden=True),
    code(
        """
slots = outcome.timeline.only("F").makespan / room.slot
assert abs(slots - 11) < 1, slots
""",
        hidden=True,
    ),
    text(
        """
## 为什么是这么多格？

第 1 小份要走完 4 块显卡：1+1+2+1 = 5 格。后面每一小份都跟着它，可是在慢的那块前面要排队：每 2 格才能过去一份，3 份再加 3×2 = 6 格。

所以往前算一遍的时间是 **T = t₁ + t₂ + … + t_K +（M-1）× 最慢的那一个**。下面按公式算一遍，再按时间表排一遍，两个数必须一样。
""",
        """
## Why so many?

Piece 1 has to pass all 4 GPUs: 1 + 1 + 2 + 1 = 5 slots. The others follow, but queue in front of the slow one: it lets one
piece through every 2 slots, so 3 pieces add 3 × 2 = 6.

One sweep takes **T = t₁ + t₂ + … + t_K + (M - 1) × the slowest**. Below it's reckoned by this formula and laid out as a
grid, and both must agree.
""",
    ),
    code(
        """
times, num_pieces = [1, 1, 2, 1], 4
sum(times) + (num_pieces - 1) * max(times)
""",
        "nbval-check-output",
        hidden=True,
    ),
    code(
        """
from pipekit import plan

plan.simulate(plan.gpipe(4, num_pieces), plan.Costs(forward=times)).only("F").makespan
""",
        "nbval-check-output",
        hidden=True,
    ),
    text(
        """
**再猜：** 慢的不是显卡 3，是显卡 1 呢？是显卡 4 呢？要几格？
""",
        """
**Guess again:** what if it isn't GPU 3 that is slow, but GPU 1? Or GPU 4?
""",
    ),
    code(
        """
for slow in range(4):
    times = [2 if device == slow else 1 for device in range(4)]
    timeline = plan.simulate(plan.gpipe(4, 4), plan.Costs(forward=times)).only("F")
    print(times, timeline.makespan)
""",
        "nbval-check-output",
        hidden=True,
    ),
    text(
        """
## 活要分得一样重

显卡都一样快，模型却不一样重，也会有一块最慢。下面的模型有 12 层：前 4 层每层的活是后面的 4 倍。

**先猜：** 12 层分给 4 块显卡，每块 3 层，公平吗？你会怎么分？（一段只能是挨着的几层。）

活有多重，看运算次数：轻的一层算一张图片是 8192 次；替身显卡每秒做 2000 万次。
""",
        """
## Cut it into equal weights

GPUs may be equally fast and the model's layers not equally heavy: again one is the slowest. This model has 12 layers; each
of the first 4 has four times as much to do as one of the others.

**Guess first:** 12 layers, 4 GPUs, 3 layers each: is that fair? How would you cut? (A stage is a row of neighbours.)

Weight is counted in operations: 8192 for a light layer and one picture; a stand-in does 20 million a second.
""",
    ),
    code(
        """
from torch.nn.functional import cross_entropy

from pipekit import run
from pipekit.learn import digits, uneven_mlp

model = uneven_mlp([4, 4, 4, 4, 1, 1, 1, 1, 1, 1, 1, 1])
"""
    ),
    code(
        """
batch, target = digits().train_images[:64], digits().train_labels[:64]
shape = run.inspect(run.partition(model, 12), batch, loss=cross_entropy, target=target)
costs = [stage.flops / 8192 for stage in shape.stages]
costs
""",
        "nbval-check-output",
    ),
    code(
        """
schedule = plan.gpipe(4, 4)


def train(cut):
    devices = run.stand_ins(4, speed=2e7)
    with run.Pipeline(run.partition(model, balance=cut), devices) as pipeline:
        return run.measure(pipeline, schedule, batch, target, cross_entropy, steps=1, late=0.01).median


before = train([3, 3, 3, 3])
"""
    ),
    text(
        """
每块 3 层的结果出来了，先不看。让电脑来分：它试遍所有的切法，找最重的一段最轻的那一种。
""",
        """
3 layers each has been measured; don't look yet. Let the computer cut: of all cuts it takes the one whose heaviest stage is
the lightest.
""",
    ),
    code("cut = plan.balance(costs, num_stages=4)\ncut", "nbval-check-output", hidden=True),
    code(
        """
after = train(cut)
[f"{result.timeline.makespan:.2f} s" for result in (before, after)]
""",
        hidden=True,
    ),
    code("assert after.timeline.makespan < 0.87 * before.timeline.makespan"),
    text(
        """
## 和公式对一对

每块 3 层：四段的活是 12、6、3、3.2，最重的是 12。电脑分的：8、4、6、6.2，最重的是 8。下面的单元格会检查：往前算的时间，测到的和公式 T 相差不到 5%（`unit` 是轻的一层算一小份，也就是 16 张图片，要几秒）。

最重的一段轻了三分之一，总时间少了五分之一。活的总量没有变，一层也没有少算。
""",
        """
## Against the formula

3 layers each: the stages weigh 12, 6, 3 and 3.2, the heaviest 12. The computer's cut: 8, 4, 6 and 6.2, the heaviest 8. The
next cell demands that the measured way forward is within 5 % of T (`unit`: the seconds that a light layer takes for a piece of
16 pictures).

The heaviest stage lost a third, the time a fifth. The work is the same: no layer was left out.
""",
    ),
    code(
        """
unit = 16 * 8192 / 2e7
for result, weights in ((before, [12, 6, 3, 3.16]), (after, [8, 4, 6, 6.16])):
    formula = (sum(weights) + 3 * max(weights)) * unit
    assert abs(result.timeline.only("F").makespan / formula - 1) < 0.05
"""
    ),
    text(
        """
## 只改一样

* 把 `times` 里的 2 换成 3：先用公式算，再运行。
* 小份切得更多（`num_pieces = 16`），慢的那一块更要紧，还是更不要紧？
* 真的显卡上没人告诉你每层要多久，要量一量：`run.profile(run.partition(model, 12), batch, target, cross_entropy).forward`。
  再把量到的数给 `plan.balance`。每次量的都一样吗？
* 往回改也是一样的道理：一步的总时间是两遍加起来，各看各的最慢。
""",
        """
## Change one thing

* Put 3 for the 2 in `times`: reckon first, then run it.
* With more pieces (`num_pieces = 16`), does the slow one matter more, or less?
* On real GPUs nobody tells you what a layer takes; it is measured:
  `run.profile(run.partition(model, 12), batch, target, cross_entropy).forward`. Give that to `plan.balance`. Is it the same
  every time?
* The way back follows the same rule: a step is both sweeps, each with its own slowest.
""",
    ),
]

TEACHER = (
    """
# 给老师：一块慢，大家都慢？

**时间（15 分钟）：** 读题、猜 3 · 真的训练 2 · 公式 3 · 第二次猜（谁慢都一样）2 · 分 12 层 3 · 公式对一对 1 · 只改一样 1。

**答案**

* 11 格；闲着 1 - 20/44 = 54.5%（只看往前算；加上往回改也是这个数，因为往回改都是往前算的两倍）。7 格是没有慢的时候。
* 显卡 1、2、3、4 谁慢都是 11 格：公式里只有“加起来”和“最慢的”，和顺序没有关系。
* 12 层：每块 3 层时四段是 12、6、3、3，T = 24 + 3×12 = 60；分成 [2, 1, 3, 6] 层，四段是 8、4、6、6，T = 24 + 3×8 = 48，少 20%。
  最后一层多一点点（0.16），因为它后面还带着认数字的那一层。

**常见的想法，可以这样说**

* “慢一格，只多一格。” → 每一小份都要在那里等一次，多的是 M 次，不是一次：7 到 11。
* “快的显卡多做一点，把慢的补上。” → 显卡 3 的活只有显卡 3 的那几层能做；要补，就得重新切，那正是这一页的后一半。
* “每块层数一样多就公平。” → 公平看时间，不看层数。
* “切得更多，慢的就被藏起来了。” → 相反：M 越大，(M-1)×最慢 占得越多；气泡趋向 1 - 平均/最慢。

**简化了什么：** 替身显卡每格活的时间是规定的（按运算次数），真的显卡上要量；传一次数据不花时间；每小份一样大。公式说的是一遍，
GPipe 往前、往回两遍各自用各自的最慢。1F1B 没有这样的公式。
""",
    """
# 06 One is slow: are all slow? (for the teacher)

**Time (15 minutes):** question and guess 3 · the run 2 · formula 3 · second guess 2 · cutting 12 layers 3 · against the
formula 1 · change one thing 1.

**Answers**

* 11 slots; idle 1 - 20/44 = 54.5 % (forward; with the way back drawn too it is the same, since a backward takes twice its
  forward everywhere). Without a slow GPU it's 7.
* Whichever GPU is slow, it's 11: the formula has only the sum and the largest, no order.
* 12 layers: 3 each weighs 12, 6, 3, 3, so T = 24 + 3 × 12 = 60; cut [2, 1, 3, 6] weighs 8, 4, 6, 6, T = 24 + 3 × 8 = 48,
  20 % less. The last layer has a little more (0.16): it carries the layer that names the digit.

**Likely ideas, and what to say**

* "One slot slower, one slot more." Every piece waits there once, so M times, not once: 7 becomes 11.
* "The fast ones help out." Only GPU 3 has GPU 3's layers; to help means to cut anew, which is the second half.
* "The same number of layers is fair." Fair is the time, not the count.
* "More pieces hide it." The opposite: the more pieces, the more (M - 1) × slowest weighs; the bubble tends to 1 - mean /
  slowest.

**Simplified:** stand-ins take a declared time for each op (by its operations); on real GPUs it is measured. Handing over takes
no time. Pieces are equal. The formula is of one sweep: GPipe's two sweeps each have their own slowest; 1F1B has no such
formula.
""",
)

PAGE = Page(
    title=("一块慢，大家都慢？", "One is slow: are all slow?"),
    question=("一块显卡慢一倍，一共要几格？", "One GPU is half as fast: how many slots in all?"),
    minutes=15,
    rows=(10,),
    runs=(
        "控制室里一块慢的显卡；12 层的模型分两次，每次真的训练",
        "a slow GPU in the control room; a model of 12 layers, cut twice and trained",
    ),
    cells=CELLS,
    teacher=TEACHER,
)
