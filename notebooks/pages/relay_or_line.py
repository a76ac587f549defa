"""Relay race or production line: the same mini-batch uncut and in 4 pieces, really trained."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 接力赛，还是流水线？

**学会什么：** 看懂时间表；数得出 4 块显卡闲着几格；说得出切成小份以后少用了几格，为什么。**约 15 分钟。**

积木塔切成 4 段，放到 4 块显卡上。一大批（mini-batch）是 64 张手写数字，先从第 1 段往前算（前向）到第 4 段，再一段一段往回改（反向）。
整批一起走，就像接力赛：一个人跑，三个人等。

**先猜（只看往前算）：** 每块显卡算这一大批要 4 格，那么 4 块显卡 × 几格 = 几个格子？其中几格在干活，几格闲着？切成 4 小份（micro-batch）以后，一共要几格？
写下来，再往下做。

| | 一共几格 | 格子 | 在干活 | 闲着 |
|---|---|---|---|---|
| 一大批（不切） | ＿ | 4 × ＿ = ＿ | ＿ | ＿ |
| 切成 4 小份 | ＿ | 4 × ＿ = ＿ | ＿ | ＿ |

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
        """
# Relay race or production line?

**You will be able to:** read the grid, count how many slots 4 GPUs idle, and say how many slots smaller pieces save, and
why. **About 15 minutes.**

The tower is cut into 4 stages on 4 GPUs. A mini-batch of 64 handwritten digits goes forward from the first stage to the
last, then back again, stage by stage. All of it together is a relay race: one runs, three wait.

**Guess first (forward only):** a GPU needs 4 slots for this mini-batch. 4 GPUs x how many slots = how many cells? How many of them
are busy, how many idle? And with 4 pieces (micro-batches), how many slots in all? Write it down, then go on.

| | slots | cells | busy | idle |
|---|---|---|---|---|
| the whole mini-batch | _ | 4 x _ = _ | _ | _ |
| in 4 pieces | _ | 4 x _ = _ | _ | _ |

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
## 真的训练一次

按“训练一次”，或者运行下面的单元格：模型真的切开、真的训练，一次不切，一次切成 4 小份。实心的格子是**测到的**，虚线框是**算出来的**。
""",
        """
## Really train once

Press "Train once", or run the next cell: the model is really cut and really trained, once uncut and once in 4 pieces. Solid
cells are **measured**, dashed frames are **predicted**.
""",
    ),
    code(
        """
outcome = room.run().wait(timeout=60)
outcome
""",
        hidden=True,
    ),
    code("room.picture()", hidden=True),
    text(
        """
## 接力赛：数格子

从测到的时间里数，依次是：几格、几个格子、几格在干活、几格闲着。
""",
        """
## The relay race: count the cells

Out of the measured times, in this order: slots, cells, busy, idle.
""",
    ),
    code(
        """
from pipekit import plan

relay = outcome.uncut.timeline.only("F")
slots = round(relay.makespan / room.slot)
busy = round(sum(plan.busy_time(relay)) / room.slot)
print(slots, 4 * slots, busy, 4 * slots - busy)
assert (slots, 4 * slots, busy, 4 * slots - busy) == (16, 64, 16, 48)
""",
        hidden=True,
    ),
    text(
        """
4 块显卡 × 16 格 = 64 个格子，16 格在干活，48 格闲着：闲着的时间占 75%，这就是**气泡**。随便哪一刻，只有一块显卡在干活：买了 4 块，等于只用上 1 块。

## 流水线：少用几格？

依次是：几格、少用几格、几个格子、几格闲着。
""",
        """
4 GPUs x 16 slots = 64 cells, 16 of them busy, 48 idle: 75% idle, the **bubble**. Only one GPU works at any time: 4 bought, 1
used.

## The production line: how many slots fewer?

In this order: slots, how many fewer, cells, idle.
""",
    ),
    code(
        """
line = outcome.timeline.only("F")
slots = round(line.makespan / room.slot)
busy = round(sum(plan.busy_time(line)) / room.slot)
print(slots, 16 - slots, 4 * slots, 4 * slots - busy)
assert (slots, 16 - slots, 4 * slots, 4 * slots - busy) == (7, 9, 28, 12)
""",
        hidden=True,
    ),
    text(
        """
同样的活，7 格做完，少用 9 格。28 个格子里还有 12 格闲着。这 12 格在哪里：开头、中间、结尾各几格？
""",
        """
The same work in 7 slots, 9 fewer. 12 of the 28 cells are still idle. Where: how many at the start, in the middle, at the end?
""",
    ),
    code(
        """
from pipekit.learn.controlroom.sentences import idle_times

begin, between, end = (round(seconds / room.slot) for seconds in idle_times(line))
print(begin, between, end)
assert (begin, between, end) == (6, 0, 6)
""",
        hidden=True,
    ),
    text(
        """
开头 6 格：后面的显卡等第 1 小份传过来。结尾 6 格：前面的显卡没活了。就像一根水管，刚开始没灌满，最后在放空。一般地，每一头都是 K(K-1)/2 格，K 是显卡的块数。

哪一块显卡、哪一小份、在第几格？下面是用字母写的时间表，一行一块显卡，`.` 是闲着。写程序的人从 0 数起：`F0` 就是图里的第 1 小份。
**先想：** 显卡 k 在第几格做第 m 小份？
""",
        """
6 at the start, where later GPUs wait for piece 1, and 6 at the end, where earlier ones have no work left: like a water pipe that
first fills and then drains. In general K(K-1)/2 cells at each end, with K GPUs.

Which GPU works on which piece in which slot? Below is the grid in letters, a row a GPU; `.` is idle. Programmers count from 0:
`F0` is piece 1 of the picture. **Think first:** in which slot does GPU k work on piece m?
""",
    ),
    code(
        """
print(plan.simulate(plan.gpipe(4, 4), plan.Costs(forward=1, backward=2)).only("F"))
""",
        "nbval-check-output",
        hidden=True,
    ),
    text(
        """
第 k + m - 1 格（都从 1 数起）：每往下一块显卡，晚一格；每往后一小份，也晚一格。

## 相当于几块显卡在干活？

显卡的块数 ×（1 - 气泡），就是“相当于一直有几块显卡在干活”。下面的单元格还检查两件事：测到的气泡和算出来的相差不到 5 个百分点；切开训练，结果和不切时一样。
""",
        """
In slot k + m - 1, all counted from 1: one later for each GPU further down, one later for each piece.

## As if how many GPUs worked?

GPUs x (1 - bubble) is how many would do the same if they never idled. The next cell also demands that the measured bubble is
within 5 points of the predicted one, and that cutting didn't change the result.
""",
    ),
    code(
        """
busy = [plan.busy_devices(outcome.uncut.timeline), plan.busy_devices(outcome.timeline)]
predicted = plan.bubble_fraction(outcome.prediction.timeline)
assert abs(outcome.bubble - predicted) < 0.05, f"{outcome.bubble:.1%} - {predicted:.1%}"
assert outcome.same
[round(number, 1) for number in busy]
""",
        hidden=True,
    ),
    text(
        """
## 只改一样

回到控制室，把显卡改成 3 块，还切成 4 小份。先用 k + m - 1 算出要几格、闲着几格，再训练一次。（答案：6 格，18 个格子里闲着 6 格。）
往回改也画上（“加上往回改”），闲着的时间占的比例会变吗？
""",
        """
## Change one thing

In the control room set 3 GPUs and keep 4 pieces. Work out with k + m - 1 how many slots it takes and how many cells idle, then
train once. (6 slots; 6 of 18 cells.) Draw the way back too ("and backward"): does the idle share change?
""",
    ),
    code(
        """
room.num_stages = 3
shorter = plan.simulate(room.settings.build(), plan.Costs(forward=1, backward=2)).only("F")
print(shorter.makespan, 3 * shorter.makespan - sum(plan.busy_time(shorter)))
""",
        "nbval-check-output",
        hidden=True,
    ),
]

TEACHER = (
    """
# 给老师：接力赛，还是流水线？

**时间（15 分钟）** 猜、填表 4，训练 2，数接力赛 3，数流水线 4，只改一样 2。

**答案** 不切：16 格，4 × 16 = 64 个格子，16 格干活，48 格闲着，75%，相当于 1 块显卡在干活。切成 4 小份：7 格，少 9 格，28 个格子里 12 格闲着（43%），开头 6 格、结尾 6 格，相当于 2.3 块。
3 块显卡：6 格，18 个格子里闲着 6 格（33%）。画上往回改，比例不变：往回改和往前算的形状一样，只是反过来。

**简化了什么** 表里只画往前算；闲着的百分数是 4 块显卡时的公式。格子的长短是规定的：电脑替 4 块慢显卡干活（替身显卡），每格活真的算完，再等满规定的时间；先后和等待是测到的。
“结果一样”不包括批归一化（BatchNorm），见“结果一样吗？”那一页。

**可能的误解** “切成 4 小份，活就少了”——活一样多，少的是等。“9 格是少算了 9 格”——是总时间少了 9 格。“闲着的格子可以去掉”——小份越多，占的比例越小，可是去不光（下一页）。
""",
    """
# Relay race or production line?: for the teacher

**Time (15 minutes)** Guess and fill in 4, train 2, count the relay race 3, count the line 4, change one thing 2.

**Answers** Uncut: 16 slots, 4 x 16 = 64 cells, 16 busy, 48 idle, 75%, as if 1 GPU worked. In 4 pieces: 7 slots, 9 fewer, 12 of 28
cells idle (43%), 6 at the start and 6 at the end, as if 2.3 GPUs worked. With 3 GPUs: 6 slots, 6 of 18 cells idle (33%). With the way
back drawn the share stays: it has the same shape, mirrored.

**Simplified** The grids show the way forward only; idle shares are the formula's at 4 GPUs. How long a slot lasts is declared: the
computer works for 4 slow GPUs (stand-ins), really does each op and then waits out its time; order and waiting are measured. "The same
result" leaves BatchNorm aside: see "Is the result the same?".

**Likely wrong ideas** "Four pieces are less work": as much work, less waiting. "9 slots of work were left out": the total time is 9 slots
shorter. "Idle cells can be removed": with more pieces their share shrinks, and never to nothing (next page).
""",
)

PAGE = Page(
    title=("接力赛，还是流水线？", "Relay race or production line?"),
    question=("4 块显卡，几块在干活？", "4 GPUs: how many are working?"),
    minutes=15,
    rows=(4, 5),
    runs=("控制室：不切和切成 4 小份，真的训练", "the control room: uncut and in 4 pieces, really trained"),
    cells=CELLS,
    teacher=TEACHER,
)
