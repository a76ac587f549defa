"""Too fine: the U-curve on stand-ins with an overhead and in real time, fitted, with its best M."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 切得太细

**学会什么：** 知道为什么小份不是越多越好；会从测到的时间里拟合出“每份都要花的时间”和“一共要算的时间”；会算最好的 M，再和真的跑出来的比。**约 20 分钟。**

一块显卡里有成千上万个“同学”（并行单元）一起算。小份太小，很多同学分不到题；而且不管份多小，每一份都要花一点时间准备和交接。

**先猜：** 4 块显卡，每格活都要多花 5 毫秒准备。切成 1、2、4、8、16、32 小份，哪一种最快？

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
        """
# Too fine

**You will be able to:** say why more pieces aren't always better, fit "what every piece costs" and "what all the work costs" to measured
times, and work out the best M and compare it with what really came out. **About 20 minutes.**

Inside a GPU thousands of workers compute together. If a piece is too small many of them get nothing to do, and however small it is,
each piece costs a little time to set up and hand over.

**Guess first:** 4 GPUs, and every op costs 5 milliseconds extra. Which is the fastest: 1, 2, 4, 8, 16 or 32 pieces?

(A picture, but no buttons? Click the cell below and press Shift+Enter.)
""",
    ),
    code(
        """
from pipekit.learn import ControlRoom, Experiment

room = ControlRoom(lang="LANG", experiment=Experiment(batch_time=0.08))
room.overhead_ms = 5
room
"""
    ),
    text(
        """
## 替身显卡：每种真的跑一次

每格活真的算完，再等满规定的时间；这里规定的时间里有 5 毫秒是“多花的”。约 5 秒。
""",
        """
## Stand-ins: really run each of them

Every op is really computed, then its declared time is waited out; here 5 milliseconds of it are extra. About 5 seconds.
""",
    ),
    code(
        """
outcomes = room.experiment.sweep(room.settings, (1, 2, 4, 8, 16, 32))
steps = {each.key.num_micro_batches: each.timeline for each in outcomes}
assert all(each.same for each in outcomes)
{pieces: f"{1000 * step.makespan:.0f} ms" for pieces, step in steps.items()}
""",
        hidden=True,
    ),
    text(
        """
先变快，再变慢，像字母 U。切得太粗，显卡等活；切得太细，时间都花在准备上。

## 拟合：α 和 β

一小份在一块显卡上要用 α + β/M：α 是每份都要花的，β 是一大批的活一共要花的。从测到的时间里找出 α 和 β（小份的时间短，但是看 α 全靠它，所以按相对误差来拟合）。
**先想：** 一小份要往前算一次、往回改一次，每次多花 5 毫秒，α 应该是几毫秒？
""",
        """
First faster, then slower, like the letter U. Too coarse, and GPUs wait; too fine, and the time goes into setting up.

## Fit alpha and beta

One piece on one GPU takes alpha + beta/M: alpha is what every piece costs, beta what all the mini-batch's work costs. Find them from the
measured times. (Small pieces take little time, and they alone show alpha: so the fit weighs relative errors.) **Think first:** a piece goes
forward once and back once, each with 5 milliseconds extra. How much should alpha be?
""",
    ),
    code(
        """
from pipekit import plan, run, show

cost = plan.fit_piece_cost({pieces: plan.busy_time(step)[0] / pieces for pieces, step in steps.items()})
assert abs(cost.alpha - 0.010) < 0.002 and abs(cost.beta - 0.240) < 0.024, cost
print(f"α = {1000 * cost.alpha:.1f} ms, β = {1000 * cost.beta:.0f} ms")
""",
        hidden=True,
    ),
    text(
        """
## 最好的 M

一共要用 (M+K-1)(α + β/M)。这个式子在 M = √(β(K-1)/α) 的时候最小。代进去：√(240 × 3 ÷ 10) ≈ 8.5。算出来的曲线和真的跑出来的点：
""",
        """
## The best M

A step takes (M+K-1)(alpha + beta/M), and that is smallest at M = sqrt(beta (K-1) / alpha). Put the numbers in: sqrt(240 x 3 / 10) is about
8.5. The predicted curve and what really came out:
""",
    ),
    code('show.step_chart(steps, cost, lang="LANG")', hidden=True),
    code(
        """
found = min(steps, key=lambda pieces: steps[pieces].makespan)
assert found in (4, 8, 16) and steps[1].makespan > steps[found].makespan < steps[32].makespan, found
print(found, round(cost.best(num_devices=4), 1))
""",
        hidden=True,
    ),
    text(
        """
## 不规定时间：这台电脑自己有多快

上面的 5 毫秒是规定的。真的电脑没有人规定，也一样吗？下面用 2 个处理器核当 2 块显卡，一格活要多久就是多久。**先猜：** 最好的 M 会比上面大还是小？

测量要靠得住，2 个核都得空着；电脑会在前后各检查一次。不够空，图上就写“不算测量”，点也画成空心的：这时候别信那条曲线，换一台空闲的电脑再来。
""",
        """
## Nothing declared: how fast this computer is

Those 5 milliseconds were declared. Is it the same where nobody declares anything? Now 2 processor cores play the 2 GPUs, and an op takes as
long as it takes. **Guess first:** will the best M be larger or smaller than above?

Both cores have to be free for a measurement, and the computer looks before and afterwards. If they aren't, the chart says "no measurement" and its marks are
hollow: then don't trust the curve, and try again on a quiet computer.
""",
    ),
    code(
        """
from torch import nn

from pipekit.learn import mlp
from pipekit.learn.fine import real_steps

big, counts = Experiment(mlp(5, 512, nn.Identity), batch_size=512), (1, 2, 4, 8, 16, 32)
real = real_steps(big, run.partition(big.model, balance=[3, 2]), counts)
""",
    ),
    text(
        """
α 和 β 要在**一块**显卡上量：整个模型放在一个核上，一小份的时间除以 2，就是半个模型（一段）的时间。
""",
        """
Alpha and beta are measured on **one** device: the whole model on one core, and half of a piece's time for half of the model (a stage).
""",
    ),
    code(
        """
alone = real_steps(big, run.partition(big.model, num_stages=1), counts)
fitted = plan.fit_piece_cost({pieces: step.makespan / pieces / 2 for pieces, step in alone.items()})
show.step_chart(real, fitted, lang="LANG")
""",
        hidden=True,
    ),
    code(
        """
fastest = min(real, key=lambda pieces: real[pieces].makespan)
print(real[1].source, fastest, round(fitted.best(num_devices=2), 1))
assert fastest < 32
""",
        hidden=True,
    ),
    text(
        """
切得最细的一种从来不是最快的，电脑忙的时候也一样。

这里的 α 没有人规定：它是这台电脑开始一格活、交接一份数据要花的时间，再加上小份太小、算得不划算的部分。β/α 越大，可以切得越细。论文说的“4 倍”在这台电脑上划不划算，要看它自己的 α 和 β：
K=2 时，要 β/α 至少是 64，最好的 M 才到得了 4K = 8。

## 只改一样

把 `overhead_ms` 改成 20，最好的 M 变成几？先用式子算，再跑一次。（α 变成 4 倍，M 变成一半。）
""",
        """
The finest is never the fastest, not even on a busy computer.

Nobody declared this alpha: it is what this computer needs to begin an op and hand over a value, and what small pieces lose by being small. The
larger beta/alpha, the finer you may cut. Whether the paper's "4 times" pays here depends on them: at K=2 beta/alpha must be at least 64 for the
best M to reach 4K = 8.

## Change one thing

Set `overhead_ms` to 20: what is the best M now? Use the formula, then run it. (4 times alpha, half of M.)
""",
    ),
    code(
        """
times = plan.PieceCost(alpha=0.040, beta=0.240)
print(round(times.best(num_devices=4), 1), plan.PieceCost(0.001, 0.064).best(num_devices=2))
""",
        "nbval-check-output",
        hidden=True,
    ),
]

TEACHER = (
    """
# 给老师：切得太细

**时间（20 分钟）** 猜 2，替身跑 3，拟合 4，最好的 M 4，真实计时 5，只改一样 2。

**答案** α = 10 毫秒（往前、往回各多花 5 毫秒），β = 240 毫秒（往前 80，往回 160）；最好的 M = √(240×3÷10) ≈ 8.5，真的跑 8 最快（4 和 16 也可能）。`overhead_ms=20`：α = 40，M ≈ 4.2。
K=2 时 M 的最好值等于 4K=8，要 β/α = 64；K=4、8 时要 85、146。

**简化了什么** 第一部分的 5 毫秒是规定的，测到的是先后、等待和总时间。第二部分什么都没规定，可是 2 个核要空着才算测量；教室电脑上常常会写“不算测量”，这是故意的，请照实说。
曲线没有算交接本身的时间，也没有管一大批能不能正好分成 M 份、内存够不够。

**可能的误解** “准备时间让气泡变大”——不：每格都多花，闲着的比例不变，可是总时间变长；只看百分数会被骗。“M 越大越好”——看 U 的右边。“最好的 M 处处一样”——它跟机器、模型、批的大小都有关。
""",
    """
# Too fine: for the teacher

**Time (20 minutes)** Guess 2, stand-ins 3, fit 4, best M 4, real time 5, change one thing 2.

**Answers** alpha = 10 ms (5 forward and 5 back), beta = 240 ms (80 forward, 160 back); best M = sqrt(240 x 3 / 10), about 8.5; 8 is the fastest
run (4 and 16 may be). `overhead_ms=20`: alpha = 40, M about 4.2. At K=2 the best M is 4K=8 for beta/alpha = 64; K=4 and 8 need 85 and 146.

**Simplified** The 5 ms of the first part are declared; order, waiting and total time are measured. Nothing is declared in the second part, and it
is a measurement only if 2 cores are free; on a classroom's computer it will often say that it isn't. That is on purpose: say so. The curve
leaves out the time of the hand-over itself, whether M divides the mini-batch, and memory.

**Likely wrong ideas** "The overhead makes the bubble larger": no, every op costs more, so the idle share stays and the total time grows; a share
alone can mislead. "The larger M the better": look at the right side of the U. "There is one best M": it depends on machine, model and batch.
""",
)

PAGE = Page(
    title=("切得太细", "Too fine"),
    question=("为什么小份不是越多越好？", "Why are more pieces not always better?"),
    minutes=20,
    rows=(8,),
    runs=(
        "6 种 M 在替身显卡上，再在 2 个处理器核上真的跑",
        "6 values of M on stand-ins, and in real time on 2 cores",
    ),
    cells=CELLS,
    teacher=TEACHER,
)
