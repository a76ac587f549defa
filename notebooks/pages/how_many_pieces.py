"""How many pieces: the bubble at M = 1, 4, 8, 16, really measured, and what the paper's rule of 4 K means."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 切成几小份？

**学会什么：** 会用分数算出气泡；知道小份越多气泡越小，可是永远到不了 0；说得清论文里“小份数至少是显卡数的 4 倍”是什么意思。**约 15 分钟。**

4 块显卡，同一大批手写数字，切成 1、4、8、16 小份。**先猜：** 闲着的时间（气泡）各占百分之几？相当于几块显卡一直在干活？写下来，再往下做。

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
        """
# How many pieces?

**You will be able to:** work out the bubble as a fraction, say why more pieces make it smaller and never nothing, and say what the
paper means by "at least 4 times as many pieces as GPUs". **About 15 minutes.**

4 GPUs, the same mini-batch of handwritten digits, in 1, 4, 8 and 16 pieces. **Guess first:** what share of the time is idle (the
bubble) in each case? As if how many GPUs worked all the time? Write it down, then go on.

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
## 每种真的跑一次

约 5 秒。跑完，点开下面两个单元格的结果。
""",
        """
## Really run each of them

About 5 seconds. Then open the results of the next two cells.
""",
    ),
    code(
        """
outcomes = room.sweep().wait(timeout=60)
outcomes
""",
        hidden=True,
    ),
    code("room.picture()", hidden=True),
    text(
        """
## 用分数算

K 块显卡，M 小份：每块显卡干 M 格活，一共 M+K-1 格，所以闲着的是 (K-1)/(M+K-1)。**先算：** K=4，M=1、4、8、16，各是几分之几？
""",
        """
## As fractions

K GPUs and M pieces: every GPU works for M slots of M+K-1, so (K-1)/(M+K-1) of the time is idle. **Work out first:** which fractions are
they for K=4 and M=1, 4, 8, 16?
""",
    ),
    code(
        """
from fractions import Fraction

formula = {pieces: Fraction(3, pieces + 3) for pieces in (1, 4, 8, 16)}
print(*[f"{pieces}: {share} = {float(share):.0%}" for pieces, share in formula.items()], sep="\\n")
""",
        "nbval-check-output",
        hidden=True,
    ),
    text(
        """
测到的和它差多少？下面检查：每一种都相差不到 5 个百分点，结果也都和不切时一样。
""",
        """
How far is what was measured from that? The next cell demands less than 5 points each time, and the same result as uncut.
""",
    ),
    code(
        """
for each in outcomes:
    assert abs(each.bubble - formula[each.key.num_micro_batches]) < 0.05, each
    assert each.same, each
"""
    ),
    text(
        """
## 相当于几块显卡在干活？

K ×（1 - 气泡）。左边是公式，右边是测到的。
""",
        """
## As if how many GPUs worked?

K x (1 - bubble): the formula on the left, measured on the right.
""",
    ),
    code(
        """
from pipekit import plan

for each in outcomes:
    expected = 4 * (1 - formula[each.key.num_micro_batches])
    print(f"{float(expected):.2f}  {plan.busy_devices(each.timeline):.2f}")
    assert abs(plan.busy_devices(each.timeline) - expected) < 0.2
""",
        hidden=True,
    ),
    text(
        """
## 把往回改也画上，会变吗？

课上的时间表只画了往前算。往回改的时候形状一样，只是反过来：总格数变成 2(M+K-1)（往回改也用 1 格时），分数不变。左边只看往前算，右边两样都算，都是测到的。
""",
        """
## Does the way back change it?

The lesson's table shows the way forward only. The way back has the same shape, mirrored: 2(M+K-1) slots if going back takes 1 slot too,
and the same fraction. On the left forward only, on the right both; all measured.
""",
    ),
    code(
        """
for each in outcomes:
    forward = plan.bubble_fraction(each.timeline.only("F"))
    print(f"{each.key.num_micro_batches:2}: {forward:.0%}  {each.bubble:.0%}")
    assert abs(forward - each.bubble) < 0.05
""",
        hidden=True,
    ),
    code(
        """
costs = plan.Costs(forward=1, backward=1)
print({pieces: plan.simulate(plan.gpipe(4, pieces), costs).makespan for pieces in formula})
""",
        "nbval-check-output",
    ),
    text(
        """
## 4 倍就够了吗？

论文说：小份数 M 至少是显卡数 K 的 4 倍，气泡就不太要紧了。是这样吗？我们自己算。**先猜：** K=4、M=16 时还闲着百分之几？显卡越来越多，一直按 4 倍切，气泡会变成 0 吗？
""",
        """
## Is 4 times enough?

The paper says: with at least 4 times as many pieces as GPUs, the bubble hardly matters. Let us see. **Guess first:** what share is idle at
K=4, M=16? With more and more GPUs, and always 4 times as many pieces, does the bubble go to 0?
""",
    ),
    code(
        """
def idle(num_stages, *policy):
    schedule = plan.gpipe(num_stages, 4 * num_stages, *policy)
    return plan.bubble_fraction(plan.simulate(schedule, plan.Costs(forward=1, backward=2)))


print({num_stages: f"{idle(num_stages):.1%}" for num_stages in (2, 4, 8, 64)})
""",
        "nbval-check-output",
        hidden=True,
    ),
    text(
        """
K=4 时还有 15.8%；显卡越多，越接近 20%，因为 (K-1)/(5K-1) 越来越接近 1/5。所以“不太要紧”不是定理：5 块显卡里差不多有 1 块白买。

那论文错了吗？论文里还有一样：擦掉重算。往回改之前，要把草稿重算一遍（约多一次往前算），这件事可以**趁着等活的时候提前做**，于是一部分重算藏进了气泡里。再算一次：
""",
        """
15.8% at K=4, and closer and closer to 20% with more GPUs, since (K-1)/(5K-1) goes to 1/5. So "negligible" is no theorem: about one GPU in
five is bought for nothing.

Is the paper wrong? It has one thing more: recomputation. Before going back, the scratch paper is made once more (about one more forward),
and that can be done **early, while a GPU waits**. Part of it hides in the bubble. Once more:
""",
    ),
    code(
        """
print({num_stages: f"{idle(num_stages, 'always', 'early'):.1%}" for num_stages in (2, 4, 8, 64)})
""",
        "nbval-check-output",
        hidden=True,
    ),
    text(
        """
K=4 时从 15.8% 降到 12.3%，显卡很多时接近 3/19 = 15.8%。（两处都是 15.8%，是碰巧：一个是 K=4 不擦草稿，一个是 K 很大、提前重算。）少了，但不是没有。

这一次也真的跑一遍：4 块显卡，16 小份，草稿都擦掉，提前重算。
""",
        """
At K=4 it falls from 15.8% to 12.3%, with very many GPUs it goes to 3/19 = 15.8%. (That both are 15.8% is chance: one is K=4 without
recomputing, the other very large K with early recomputing.) Less, and not nothing.

This one is really run too: 4 GPUs, 16 pieces, all scratch paper erased, recomputed early.
""",
    ),
    code(
        """
from pipekit import run

lab, schedule = room.experiment, plan.gpipe(4, 16, "always", "early")
with run.Pipeline(run.partition(lab.model, 4), run.stand_ins(4, batch_time=0.16)) as pipeline:
    early = run.measure(pipeline, schedule, lab.batch, lab.target, lab.loss, steps=1).median.timeline
print(f"{plan.bubble_fraction(early):.1%}")
""",
        hidden=True,
    ),
    code(
        """
assert abs(plan.bubble_fraction(early) - idle(4, "always", "early")) < 0.05
"""
    ),
    text(
        """
## 只改一样

8 块显卡，要切成几小份，气泡才不到 10%？先用 (K-1)/(M+K-1) 算，再运行。切得再细一点不就好了吗？下一页：[切得太细](04-too-fine.ipynb)。
""",
        """
## Change one thing

With 8 GPUs, how many pieces bring the bubble under 10%? Work it out with (K-1)/(M+K-1), then run the cell. Why not cut still finer? Next
page: [Too fine](04-too-fine.ipynb).
""",
    ),
    code(
        """
next(pieces for pieces in range(1, 100) if plan.formula_bubble(8, pieces) < 0.10)
""",
        "nbval-check-output",
        hidden=True,
    ),
]

TEACHER = (
    """
# 给老师：切成几小份？

**时间（15 分钟）** 猜 2，真的跑 2，用分数算 4，往回改 2，4 倍 4，只改一样 1。

**答案** M=1、4、8、16：3/4、3/7、3/11、3/19，即 75%、43%、27%、16%；相当于 1.00、2.29、2.91、3.37 块显卡在干活。往回改也用 1 格时总格数是 8、14、22、38。
K=4、M=16 是 15.8%；M=4K 时 K=2、4、8、64 是 11.1%、15.8%、17.9%、19.7%，趋近 20%。提前重算：8.6%、12.3%、14.1%、15.6%，趋近 15.8%（3/19）。8 块显卡要 64 小份（7/71 = 9.9%）。

**简化了什么** 分数是理想情况：各段一样重，小份一样大，传东西不花时间。测到的是替身显卡：每格活的时间是规定的，先后和等待是测到的。往回改按往前算的 2 倍，重算和往前算一样长。
“不太要紧”是论文的说法，理由之一是重算可以提前；别当成定理教。

**可能的误解** “M 加倍，气泡减半”——只是差不多，3/7 到 3/11。“M 够大，气泡就是 0”——分子 K-1 一直在。“16 小份就用 16 块显卡”——小份和显卡是两回事。
""",
    """
# How many pieces?: for the teacher

**Time (15 minutes)** Guess 2, really run 2, fractions 4, the way back 2, 4 times 4, change one thing 1.

**Answers** M=1, 4, 8, 16: 3/4, 3/7, 3/11, 3/19, or 75, 43, 27, 16%; as if 1.00, 2.29, 2.91, 3.37 GPUs worked. With a way back of 1 slot it is
8, 14, 22, 38 slots. K=4, M=16: 15.8%; with M=4K at K=2, 4, 8, 64: 11.1, 15.8, 17.9, 19.7%, tending to 20%. Recomputed early: 8.6, 12.3,
14.1, 15.6%, tending to 15.8% (3/19). 8 GPUs need 64 pieces (7/71 = 9.9%).

**Simplified** The fractions are ideal: equal stages, equal pieces, free links. Measured are stand-ins: how long an op takes is declared, order
and waiting are measured. Going back takes twice as long as forward, recomputing as long as forward. "Negligible" is the paper's word, and
early recomputing one of its reasons; don't teach it as a theorem.

**Likely wrong ideas** "Twice the pieces, half the bubble": roughly, 3/7 to 3/11. "With M large enough it is 0": K-1 stays on top. "16 pieces
need 16 GPUs": pieces aren't GPUs.
""",
)

PAGE = Page(
    title=("切成几小份？", "How many pieces?"),
    question=("切成 1、4、8、16 小份，各闲着百分之几？", "1, 4, 8, 16 pieces: what share is idle?"),
    minutes=15,
    rows=(6, 7),
    runs=(
        "M = 1、4、8、16 各真的训练一次；提前重算一次",
        "real runs at M = 1, 4, 8, 16; one with early recompute",
    ),
    cells=CELLS,
    teacher=TEACHER,
)
