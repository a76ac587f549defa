"""Pipelines side by side."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 几条流水线一起跑

**学会什么：** 说得出 8 块显卡是排成一条长长的流水线好，还是分成几条短的好，要看什么。**约 15 分钟。** 这一页的时间表都是**算出来的**，没有训练。

现在训练巨人，几种分工的办法会一起用。除了流水线，还有一种叫**数据并行**（data parallel）：同样的模型做几套，一大批也分成几股，每套练一股；
最后把各套要改的量加到一起，大家改得一模一样。

一大批切成 8 小份。一小份走完整个模型，往前算 8 格，往回改 16 格。

**先猜：** 8 块显卡，分成 1 条、2 条、4 条流水线，还是 8 块各做各的一整套？哪一种最快？
""",
        """
# Pipelines side by side

**You will be able to:** say when 8 GPUs should be one long pipeline, and when several short ones. **About 15 minutes.** The
grids of this page are **predicted**; nothing trains.

Giants are trained today with several ways of sharing work at once. One besides the pipeline is **data parallel**: the same
model several times over, each copy with its part of the mini-batch; at the end all copies add their changes up, so that all
change alike.

The mini-batch is in 8 pieces. One piece needs 8 slots forward through the whole model and 16 back.

**Guess first:** 8 GPUs as 1, 2 or 4 pipelines, or each with a whole model of its own? Which is the fastest?
""",
    ),
    code(
        """
from pipekit import plan, show

cluster = {"num_devices": 8, "num_micro_batches": 8, "forward": 8, "backward": 16}
ways = [plan.side_by_side(num_pipelines=copies, **cluster) for copies in (1, 2, 4, 8)]
show.side_by_side_chart(ways, lang="LANG")
""",
        hidden=True,
    ),
    code(
        """
assert [way.step for way in ways] == [45, 42, 36, 24]
assert [way.parameters for way in ways] == [1 / 8, 1 / 4, 1 / 2, 1]
"""
    ),
    text(
        """
## 为什么不都用 8 套？

各做各的最快：没有谁等谁，24 格。可是每块显卡要放得下**整个**模型；一条流水线里，每块只放八分之一。巨人放不下，才要切开。

还有一件事刚才没算：几套模型要把要改的量加到一起，这要花时间。各套围成一圈，一块传一块（这叫 ring all-reduce）。
模型切得越细，每块显卡要传的就越少。

**先猜：** 如果把整个模型要改的量传一遍要 16 格，哪一种最快？
""",
        """
## Why not 8 copies, always?

Each for itself is the fastest: nobody waits, 24 slots. But every GPU must hold the **whole** model; in one pipeline each
holds an eighth. Giants don't fit: that is why they are cut.

And something was left out: copies must add their changes up, which takes time. They stand in a ring and each hands on to the
next (a ring all-reduce). The finer the model is cut, the less each GPU has to send.

**Guess first:** if sending the whole model's changes once takes 16 slots, which is the fastest?
""",
    ),
    code(
        """
slow = [plan.side_by_side(num_pipelines=copies, all_reduce=16, **cluster) for copies in (1, 2, 4, 8)]
show.side_by_side_chart(slow, lang="LANG")
""",
        hidden=True,
    ),
    code(
        """
assert [way.step for way in slow] == [45, 46, 48, 52]
quick = [plan.side_by_side(num_pipelines=copies, all_reduce=8, **cluster) for copies in (1, 2, 4, 8)]
assert [way.step for way in quick] == [45, 44, 42, 38]
"""
    ),
    text(
        """
## 看出来了吗

传得慢，就用一条长流水线：45、46、48、52 格。传得快一倍，正好反过来：45、44、42、38 格。真的集群两样都用：机器里面、机器之间快慢不同，
模型放得下几层也不同。GPipe 是最早把流水线做好的论文之一，后来的办法都在这上面再加。

**简化了什么：** 真的训练里，一边往回改就可以一边开始加，这里等都做完才加；流水线一段交给下一段也不花时间；一小份再大也不会更划算。

## 只改一样

把小份改成 16（`num_micro_batches`），或者把排法换成 1F1B（`schedule=plan.one_f_one_b`）：先猜哪个数会变，再运行。
""",
        """
## What came out

With slow links one long pipeline is best: 45, 46, 48, 52 slots. Twice as quick, it is the other way round: 45, 44, 42, 38. Real
clusters use both: links are quick inside a machine and slower between machines, and more or fewer layers fit. GPipe is one
of the first papers to do pipelines well; what came later adds to it.

**Simplified:** in real training the adding can begin while others still go back, here it waits until all are done; handing on
from stage to stage takes no time; a larger piece is never better used.

## Change one thing

Take 16 pieces (`num_micro_batches`), or 1F1B (`schedule=plan.one_f_one_b`): guess which number changes, then run it.
""",
    ),
    code(
        """
way = plan.side_by_side(num_pipelines=2, all_reduce=16, **{**cluster, "num_micro_batches": 16})
print(way.timeline.makespan, way.exchange, way.step)
""",
        "nbval-check-output",
    ),
]

TEACHER = (
    """
# 给老师：几条流水线一起跑

时间（15 分钟）：讲数据并行 3 分钟；第一次猜和看图 4 分钟；讲为什么放不下、怎么加到一起 3 分钟；第二次猜和看图 3 分钟；改一样 2 分钟。

答案
* 不算“加到一起”：45、42、36、24 格；气泡 46.7%、42.9%、33.3%、0%；每块显卡放模型的 1/8、1/4、1/2、全部。
* 传一遍要 16 格：一共 45、46、48、52 格。只要 8 格：45、44、42、38 格。
* 一圈里每块显卡要传 2(D-1)/D 份自己那一段的量（D 是几条流水线）。
* 改成 16 小份、2 条：干活 66 格，加 4 格，一共 70 格。活多了一倍，时间没有多一倍：气泡小了。

简化了什么
* 都是算出来的：这里没有几台机器一起训练。
* 加到一起排在最后；真的训练会一边往回改一边加。

常见的错误想法
* “显卡各做各的最快，所以不用流水线”：先问放不放得下。
* “几套模型会练出几种结果”：要改的量加到一起才改，和一套模型练整批一样。
""",
    """
# For the teacher: pipelines side by side

Time (15 minutes): data parallel explained 3; first guess and picture 4; why it may not fit, how changes are added up 3; second
guess and picture 3; change one thing 2.

Answers
* Without adding up: 45, 42, 36, 24 slots; bubbles 46.7, 42.9, 33.3, 0 %; each GPU holds 1/8, 1/4, 1/2, all of the model.
* Sending once takes 16 slots: 45, 46, 48, 52. With 8: 45, 44, 42, 38.
* In the ring every GPU sends 2(D-1)/D of its own stage's changes, D being the number of pipelines.
* 16 pieces, 2 pipelines: 66 slots of work, 4 of adding up, 70 together. Twice the work in less than twice the time: the
  bubble is smaller.

Simplified
* All is predicted: no several machines train here.
* Adding up comes last; real training begins it while others still go back.

Likely wrong ideas
* "Each for itself is fastest, so nobody needs a pipeline": ask first whether it fits.
* "Several copies learn several things": they change only after all changes were added up, as one model with the whole
  mini-batch does.
""",
)

PAGE = Page(
    title=("几条流水线一起跑", "Pipelines side by side"),
    question=("8 块显卡，一条流水线还是几条？", "8 GPUs: one pipeline, or several?"),
    minutes=15,
    rows=(13,),
    runs=("不训练：都是算出来的", "no training: all is predicted"),
    cells=CELLS,
    teacher=TEACHER,
)
