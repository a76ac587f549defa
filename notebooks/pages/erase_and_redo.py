"""Erase and redo: time for memory."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 擦掉重算：用时间换内存

**学会什么：** 知道草稿不用全留着，擦掉的可以再算一遍；说得出这样省下多少地方，多花多少时间。**约 20 分钟。**

一串算式，从 2 开始，9 步：+4、×3、-8、×2、+5、÷5、×4、-11、×3。往前算完以后，会**倒着**问：第 8 步得几？第 7 步呢？……一直问到第 1 步。

草稿纸上的格子不够多，写不下 9 个数。

**先猜，写下来：** 格子有 9 个，一共要算 9 次。只有 3 个格子呢？一个也没有呢？

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
        """
# Erase and redo: time for memory

**You will be able to:** say why scratch paper need not be kept (what was erased can be computed again), how much room that
saves, and how much time it takes. **About 20 minutes.**

A chain of 9 steps from 2: +4, ×3, -8, ×2, +5, ÷5, ×4, -11, ×3. Once it is computed, the questions come **backward**: what
was step 8? Step 7? ... down to step 1.

The scratch paper has too few cells to hold 9 numbers.

**Guess first, and write it down:** with 9 cells, 9 steps are computed in all. How many with 3 cells? With none?

(A picture, but no buttons? Click the cell below and press Shift+Enter.)
""",
    ),
    code(
        """
from pipekit.learn import ScratchPaperGame

game = ScratchPaperGame(lang="LANG")
game
"""
    ),
    text(
        """
## 最少要算几次？

下面是电脑找到的最少次数：格子 0、1、2、……、9 个。和你玩的比一比。
""",
        """
## How few steps can it be?

The fewest, for 0, 1, 2, ... 9 cells, as the computer found them. Compare with yours.
""",
    ),
    code(
        """
from pipekit.learn.games.scratch_best import optimum

[optimum(num_steps=9, num_cells=cells) for cells in range(10)]
""",
        "nbval-check-output",
        hidden=True,
    ),
    text(
        """
## 三段的办法

画 10 个圆圈：开头的 2 和 9 步的得数。只留第 0、3、6 个，别的都擦掉。倒着走最后一段时，从第 6 个重新出发，再算第 7、第 8 步；中间一段从第 3 个出发，再算 4、5；第一段再算 1、2。

**先猜：** 这样一共算几次？

PyTorch 真的会这样做。下面是 9 层的小网络，分成 3 段，每段只留开头；每算完一层就记下它的号码。
""",
        """
## In three parts

Draw 10 circles: the 2 at the start, and the 9 results. Keep only number 0, 3 and 6. Going back over the last part, start
from 6 again and redo 7 and 8; over the middle part from 3, redo 4 and 5; over the first, redo 1 and 2.

**Guess first:** how many steps is that in all?

PyTorch really does this. Here is a small network of 9 layers in 3 parts, of which only the beginning is kept; each layer
writes down its number when it has been computed.
""",
    ),
    code(
        """
import torch
from torch.utils.checkpoint import checkpoint

layers, computed = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(9))), []
for number, layer in enumerate(layers, 1):
    layer.register_forward_hook(lambda *ignored, number=number: computed.append(number))
"""
    ),
    code(
        """
values = torch.ones(1, 4, requires_grad=True)
for part in (layers[:3], layers[3:6], layers[6:]):
    values = checkpoint(part, values, use_reentrant=False)
values.sum().backward()
print(computed, len(computed))
""",
        "nbval-check-output",
        hidden=True,
    ),
    code("assert computed == [1, 2, 3, 4, 5, 6, 7, 8, 9, 7, 8, 4, 5, 1, 2]"),
    text(
        """
9 + 3×2 = 15：比 9 次多了 6 次，也就是多三分之二；要留的数从 9 个降到 3 个。

## 训练时呢？

训练也要留草稿：往回改一层时，要用到往前算时的得数。4 块显卡，一大批切成 4 小份，每块显卡有三种办法：**都留着**；**最后一份留着**（别的擦掉）；**都擦掉**，往回改之前重算一遍。

**先猜：** 都擦掉，草稿少百分之几？时间多百分之几？提示：往回改一次，用的时间是往前算的两倍。
""",
        """
9 + 3 × 2 = 15: 6 more than 9, two thirds more, and instead of 9 numbers only 3 are kept.

## And in training?

Training keeps scratch paper too: to go back over a layer, what it computed on the way forward is needed. 4 GPUs, a mini-batch
in 4 pieces, and three ways: **keep all**; **keep the last** piece's and erase the others'; **erase all** and redo before
going back.

**Guess first:** if all is erased, how much less scratch paper is it? How much more time? A hint: a backward takes twice as
long as a forward.
""",
    ),
    code(
        """
from pipekit.learn.lesson.erase import EraseAndRedo

panel = EraseAndRedo(lang="LANG")
panel
"""
    ),
    code("never, except_last, always = panel.run().wait(timeout=60)\npanel", hidden=True),
    code(
        """
kept = [max(each.result.memory.peak_activation_bytes) for each in (never, except_last, always)]
assert kept[2] < 0.5 * kept[0], kept
longer = always.timeline.makespan / never.timeline.makespan - 1
assert abs(longer - 1 / 3) < 0.05, f"{longer:.1%}"
assert always.same and except_last.same
"""
    ),
    text(
        """
## 为什么多三分之一？

不擦：往前算 1 格，往回改 2 格，一共 3 格。擦掉：多一次往前算，一共 4 格。4 比 3 多三分之一，7 格×3 = 21 变成 7 格×4 = 28。绿色的 R 就是重算。

游戏里多了三分之二，训练里只多三分之一：游戏只数往前算的次数，往回问不花力气；训练里往回改比往前算还费时间，重算只是其中一小块。

“最后一份留着”省下最后一份的重算：它一算完就轮到它往回改，擦了又马上重算，白做。

结果一样吗？一样：上面的单元格检查了，重算出来的是同样的数。
""",
        """
## Why a third more?

Kept: 1 slot forward and 2 back make 3. Erased: one more forward makes 4. That is a third more than 3: 7 × 3 = 21 slots
become 7 × 4 = 28. The green R is what is redone.

In the game it was two thirds more, in training it's one: the game counts steps forward only, and asking costs nothing. In
training the way back takes more time than the way forward, so redoing is a smaller part of it.

"Keep the last" saves redoing the last piece, which goes back as soon as it is computed: erasing it would be for nothing.

Is the result the same? Yes: the cell above checked it. What is redone are the same numbers.
""",
    ),
    code(
        """
from pipekit import plan

costs = plan.Costs(forward=1, backward=2, recompute=1)
[plan.simulate(plan.gpipe(4, 4, policy), costs).makespan for policy in plan.CHECKPOINTS]
""",
        "nbval-check-output",
        hidden=True,
    ),
    text(
        """
## 早一点重算

GPipe 还有一招：不等后面的显卡把要改的量传回来，**闲着的时候就先重算**。

**先猜：** 28 格能变成几格？
""",
        """
## Redo early

GPipe does one thing more: it doesn't wait for the gradient from the next GPU, it redoes **while it is idle anyway**.

**Guess first:** 28 slots become how many?
""",
    ),
    code(
        """
early = plan.gpipe(4, 4, "always", recompute="early")
late = plan.gpipe(4, 4, "always", recompute="late")
[plan.simulate(schedule, costs).makespan for schedule in (late, early)]
""",
        "nbval-check-output",
        hidden=True,
    ),
    code(
        """
from pipekit import run
from pipekit.learn import digits, mlp

data, loss = digits(), torch.nn.functional.cross_entropy
lesson = data.train_images[:64], data.train_labels[:64], loss
"""
    ),
    code(
        """
with run.Pipeline(run.partition(mlp(), 4), run.stand_ins(4, batch_time=0.08)) as pipeline:
    for schedule, slots in ((late, 28), (early, 25)):
        result = run.measure(pipeline, schedule, *lesson, steps=1, late=0.01).median
        print(f"{result.timeline.makespan / 0.02:.1f}")
        assert abs(result.timeline.makespan / 0.02 - slots) < 1.5
""",
        hidden=True,
    ),
    text(
        """
不提前，重算要多花 7 格（21 到 28）；提前，只多花 4 格（25）：另外 3 格藏进了气泡。论文说气泡不太要紧，一部分道理就在这里。

## 只改一样

* 游戏里换成 2 个格子，再换成 4 个：哪个格子最划算？
* 把 `plan.gpipe(4, 4, …)` 的第二个 4 换成 16：都擦掉，时间还是多三分之一吗？
* 模型再大一倍、书桌不变：哪种办法放得下？
""",
        """
Late, redoing costs 7 slots more (21 to 28); early only 4 (25): the other 3 hide in the bubble. That is part of what the paper means when it says that the bubble matters
little.

## Change one thing

* In the game, try 2 cells, then 4: which cell is worth most?
* Put 16 for the second 4 in `plan.gpipe(4, 4, ...)`: is erasing all still a third more?
* A model twice as large on the same desk: which way still fits?
""",
    ),
]

TEACHER = (
    """
# 给老师：擦掉重算

**时间（20 分钟）：** 游戏 6 · 最少几次 2 · 三段的办法 3 · 训练：猜、跑、解释 6 · 早一点重算 2 · 只改一样 1。

**答案**

* 每步的得数：6、18、10、20、25、5、20、9、27。
* 9 个格子 9 次；3 个格子按课上的规则 15 次（第 3、6 步留着，第三个格子留给重算时的第一步）；一个也没有 45 次（9+8+…+1）。
* 3 个格子的最少是 14：往前算的时候就把第 7 步写进第三个格子。15 次是 2 个格子时的最少。不用第三个格子是 18 次。
* 0 到 9 个格子的最少：45、20、15、14、13、12、11、10、9、9（8 个格子就只要 9 次了）。
* 训练：21、27、28 格，多 29%（最后一份留着）、33%（都擦掉）；草稿约少 60%（这个模型、M = 4）；早一点重算 25 格。

**常见的想法，可以这样说**

* “擦掉了，结果就不准了。” → 重算的是同一层、同一份数据，得数一样；训练时检查过。
* “重算一遍，时间要多一倍。” → 往前算只占三分之一，再来一遍是多三分之一。
* “擦得越多越省。” → 每段的开头不能擦；段数多，要留的开头也多。

**简化了什么：** 游戏是个简单的比方：只数往前算，往回问不花力气；“10 个圆圈”那张图也是示意。训练的草稿用字节数，
不是格子；往回改正好两倍是规定的，真的显卡上大约是两倍。“多三分之一”说的是每段都重算、不早一点重算。
""",
    """
# 07 Erase and redo (for the teacher)

**Time (20 minutes):** the game 6 · the fewest 2 · three parts 3 · training: guess, run, why 6 · early 2 · change one thing 1.

**Answers**

* The steps' results: 6, 18, 10, 20, 25, 5, 20, 9, 27.
* 9 cells: 9 steps. 3 cells by the book's rule: 15 (3 and 6 are kept, the third cell takes the first step redone). None: 45
  (9 + 8 + ... + 1).
* The fewest with 3 cells is 14: write step 7 into the third cell on the way forward already. 15 is the fewest with 2 cells.
  Without using the third cell it's 18.
* The fewest for 0 to 9 cells: 45, 20, 15, 14, 13, 12, 11, 10, 9, 9 (8 cells are enough for 9).
* Training: 21, 27, 28 slots, 29 % more (keep the last), 33 % (erase all); about 60 % less scratch paper (this model, M = 4);
  25 slots when redone early.

**Likely ideas, and what to say**

* "Erased, so the result is less exact." The same layer on the same data gives the same numbers; it was checked.
* "Computing again takes twice as long." The way forward is a third of it; once more is a third more.
* "The more is erased, the better." A part's beginning can't be: more parts, more beginnings.

**Simplified:** the game is an analogy: it counts steps forward only, and asking costs nothing; the 10 circles are an
illustration. Training counts bytes, not cells; a backward of exactly two forwards is declared, on real GPUs it's about two.
"A third more" is with every stage redone, and not early.
""",
)

PAGE = Page(
    title=("擦掉重算", "Erase and redo"),
    question=(
        "草稿只留几处，要多花多少时间，省下多少地方？",
        "Keep little scratch paper: how much more time, how much less room?",
    ),
    minutes=20,
    rows=(11, 16),
    runs=(
        "草稿纸游戏；9 层的网络分 3 段重算；三种草稿办法都真的跑一遍",
        "the scratch-paper game; 9 layers redone in 3 parts; three policies really run",
    ),
    cells=CELLS,
    teacher=TEACHER,
)
