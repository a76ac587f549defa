"""One lesson on one page."""

from pages import Page, code
from pipekit.learn.handouts.teacher_sheets import MINUTES

CELLS = [
    code(
        """
from pipekit.learn import Lesson

lesson = Lesson(lang="LANG")
lesson
"""
    ),
]

WITHOUT_A_COMPUTER = (
    (
        "洗衣服：黑板上画三台机器；猜，答案留着",
        "laundry: three machines on the board; guess, keep the answer",
    ),
    ("传卡片三轮；黑板上记各组的两个数", "three rounds of cards; each group's two numbers on the board"),
    (
        "填 4×16 和 4×7 两张时间表（第一格已填好）；数闲着的格",
        "fill in 4 × 16 and 4 × 7 (the first cell given); count idle cells",
    ),
    (
        "4 小份换成 8 小份、16 小份：闲着的格÷全部的格，算出 27%、16%；给洗衣服的答案",
        "8 and 16 pieces for 4: idle cells over all cells, 27 %, 16 %; the laundry's answer",
    ),
    (
        "草稿纸：两人一组，B 倒着问，A 只有三个格子",
        "scratch paper in pairs: B asks backward, A has three cells",
    ),
    ("收尾三问", "exit questions"),
)


def without_a_computer(place: int) -> str:
    """The rows of that lesson's table in one language, with the minutes of the printed plan."""
    return "\n".join(
        f"| {minutes} | {what[place]} |" for minutes, what in zip(MINUTES, WITHOUT_A_COMPUTER, strict=True)
    )


TEACHER = (
    f"""
# 给老师：一节课

学生看不到这一页。学生那边只有一个笔记本：打开就是五站，上面一排按钮走站，右边是秒表。PageDown、PageUp（翻页笔也行）走下一站、上一站；
跳过哪一站都可以，回来时原样还在。

## 45 分钟

| 站 | 分钟 | 老师做什么 | 学生做什么 |
|---|---|---|---|
| 课前 | – | 双击开始（第一次要几分钟），等五站出来；发卡片和记录表 | 四人一组：A、B、C 和计时员 |
| 1 洗衣服 | 7 | 念题；看“一篮接一篮”，一格一格走到第 3、4 格，问：洗衣机在干什么？再收流水线的猜测，**不给答案** | 1 分钟讨论；猜流水线要几分钟，写在纸上 |
| 2 传卡片 | 13 | 讲规则 2 分；三种方法各做一轮，每轮约 1 分半，中间歇半分钟；秒表放大；收各组的两个数 3 分；看三张时间表 2 分 | A 画圈、B 打勾、C 对折放进盒子；计时员记“C 拿到第一张”和“全部做完” |
| 3 两张时间表 | 9 | 先收两个猜测 2 分；按“训练一次”（约 5 秒，走到这一站还要先等两三秒）；上下两张时间表对着看 4 分；慢放一遍 1 分；指着空格问“为什么闲着？” 2 分 | 填空：16×4 = 64 格，干活 16 格，闲着 48 格 |
| 4 切得更细 | 6 | 收四个猜测 1 分；按“都真的跑一遍”（5 到 10 秒）；看表和曲线 3 分；**现在给洗衣服的答案** 1 分 | 说出规律；回头看自己第 1 站的猜测 |
| 5 擦掉重算 | 7 | 玩草稿纸游戏 4 分（全班喊，老师按）；切到“真的跑一遍”（约 5 秒），看草稿和时间各变了多少 3 分 | 喊下一步；说为什么多出来的是三分之一 |
| 收尾 | 3 | 三个问题（见后） | 写在纸条上 |

等电脑的时间，五站加起来不到半分钟（用秒表走过三遍，25 到 28 秒）；45 分钟都是人的时间。

晚了 5 分钟：第 2 站只做方法 1 和 2（省 2 分），第 5 站不玩游戏，只真的跑一遍（省 4 分）。早了：第 3 站把一块显卡调慢一倍，先猜再跑。

## 两节课（2×45 分钟）

* **第一节：** 第 1 站 10 · 第 2 站 25（三种方法各两轮；一个人故意慢一倍再来一轮；填 3×5 的格子）· 第 3 站 10。作业：笔记本 01、02。
* **第二节：** 复习填 4×7 的格子 5 · 第 4 站 10 · 切得太细（传卡片时每次交接多等 1 秒，看切成几份最好）8 · 第 5 站 15（每组自己玩一遍，比谁算得少）· 收尾 7。
  作业：03、06、07 选一个。

## 没有电脑

洗衣服画在黑板上；卡片、格子、草稿纸用打印的（`python -m pipekit handouts`，一组 36 张卡片）；秒表用手机。

| 分钟 | 做什么 |
|---|---|
{without_a_computer(0)}

没有真的跑，就不要说“测到的”；数都是算出来的。

## 答案

* **洗衣服：** 一篮 90 分钟；4 篮一篮接一篮 360 分钟，每洗一篮，洗衣机要白等 60 分钟；流水线 (4+3-1)×30 = 180 分钟。
* **传卡片（每张 1 秒）：** C 拿到第一张在第 24、8、2 秒，全部做完在第 36、20、14 秒。真的做，每组不一样；差别的样子是一样的。
  方法 2 的格子：A `1 2 3 . .`，B `. 1 2 3 .`，C `. . 1 2 3`，9 格干活，6 格闲着。
* **一人慢（2、1、4 秒一张）：** 全部做完 84、60、51 秒；三个人都按最慢的走。
* **两张时间表：** 不切 16 格，64 格里干活 16、闲着 48（75%），相当于 1 块显卡在干活；切成 4 小份 7 格，28 格里闲着 12（43%），开头等活 6、结尾没活 6；少用 9 格。
* **切得更细：** 75、43、27、16%，也就是 3/4、3/7、3/11、3/19；相当于 1.0、2.29、2.91、3.37 块显卡。到不了 0：分子总有 3。
* **草稿纸：** 6、18、10、20、25、5、20、9、27。9 个格子算 9 次，3 个格子照课上的办法算 15 次（最少 14 次），没有格子算 45 次。
* **真的跑一遍：** 21、27、28 格；都擦掉多三分之一时间，草稿少六成左右。
* **收尾三问：** ① 4 块显卡、4 小份，显卡 3 第几格开始干活？（第 3 格。）② 份数加倍，气泡会变成一半吗？（不会：43% 到 27%。）③ 擦掉重算拿什么换什么？（用时间换内存。）

## 简化了什么（给大人的话）

* 只是举例的：洗衣服的时间、40 层分给 4 块显卡、两张时间表、10 个圆圈的图，还有“一组人一起犯错，一起改”的比方。
* 时间表只画往前算；往回改一份也算 1 格的话，加上往回改一共 2×(M+K-1) 格，闲着的比例不变；往回改一份要 2 格，比例也不变。
* 75、43、27、16% 是 K = 4 时的**公式**。屏幕上“测到”的，是替身显卡上真的跑出来的：CPU 算完一格，再等满规定的时间；所以每格的长短是规定的，先后和等待是测到的。
* 草稿纸游戏是简单的比方：只数往前算的次数。真的训练还要往回改，所以游戏里多三分之二，训练里多三分之一。
* 论文的实验主要在谷歌的 TPU 上做，课文里一律叫显卡。
* “结果一样”没有算上批归一化（BatchNorm）：它在训练时只看得到自己那一小份的统计数。
* 份数至少是显卡数的 4 倍，气泡就“不太要紧”：这是论文的说法，K = 4 时还有 16%，显卡越多越接近 20%。

## 学生会问

* **显卡真的在这台电脑里吗？** 不在。是 CPU 扮的：算是真算，每格多久是规定好的。
* **为什么不切成 64 小份？** 每小份都要多花一点固定的时间；份太小，显卡里的许多“同学”也没活干；见笔记本 04。
* **一边往前算，一边往回改，行不行？** 行，那就是 1F1B：气泡一样大，草稿少得多；见笔记本 10。
* **能不能一点气泡也没有？** 几乎可以：见 ZB-V、DualPipe（笔记本 10），它们也有代价。
* **每小份都改一次旋钮，不是更快吗？** 那就不是同一个结果了：后面的小份会用到改过的旋钮。GPipe 坚持最后一起改。
* **最慢的那个人换到最后，会不会快？** 不会：公式里只有“加起来”和“最慢的”；见笔记本 06。
""",
    f"""
# One lesson (for the teacher)

Students don't see this page. They have one notebook: it opens on five stops, with a row of buttons to walk along and a
stopwatch beside them. PageDown and PageUp (a presenter's clicker too) go to the next stop and back; any stop can be skipped,
and is as it was when the class comes back.

## 45 minutes

| stop | min | the teacher | the class |
|---|---|---|---|
| before | – | double-click start (minutes, the first time), wait for the five stops; hand out cards and records | groups of four: A, B, C and a timekeeper |
| 1 Laundry | 7 | read it out; in "one after another" step to slots 3 and 4: what does the washer do? Then take guesses for the line, and **give no answer** | talk for a minute; guess the line's minutes, write it down |
| 2 Cards | 13 | rules 2; one round of each way, about 1½ each and ½ between; the stopwatch large; take each group's two numbers 3; look at the three grids 2 | A draws a circle, B ticks it, C folds it into the box; a timekeeper notes C's first card and the end |
| 3 Two grids | 9 | take two guesses 2; "Train once" (about 5 s, and two or three to reach the stop); compare the grids 4; replay 1; point at an idle cell: why? 2 | fill in: 16 × 4 = 64 cells, 16 busy, 48 idle |
| 4 More pieces | 6 | take four guesses 1; "Really run all" (5 to 10 s); table and curve 3; **now the laundry's answer** 1 | say the rule; look back at their first guess |
| 5 Erase and redo | 7 | the scratch-paper game 4 (the class calls, the teacher presses); then "The real thing" (about 5 s): what changed, paper and time 3 | call the next step; say why it is a third |
| exit | 3 | three questions (below) | on a slip of paper |

Waiting for the computer adds up to less than half a minute over all five stops (walked through with a stopwatch: 25 to
28 s); the 45 minutes are people's.

Five minutes late: at stop 2 only ways 1 and 2 (saves 2), at stop 5 no game, only the run (saves 4). Early: at stop 3 make one GPU
half as fast; guess, then run.

## Two lessons (2 × 45 minutes)

* **First:** stop 1 10 · stop 2 25 (two rounds of each way; one more with somebody half as fast; fill in the 3 × 5 grid) · stop 3
  10. Homework: notebooks 01 and 02.
* **Second:** fill in the 4 × 7 grid 5 · stop 4 10 · too fine (at the cards let each hand-over take 1 s: how many pieces are best?)
  8 · stop 5 15 (each group plays; who computes least?) · exit 7. Homework: one of 03, 06, 07.

## Without a computer

The laundry on the blackboard; cards, grids and scratch paper printed (`python -m pipekit handouts`, 36 cards a group); a phone
for the stopwatch.

| min | what |
|---|---|
{without_a_computer(1)}

Where nothing ran, say "reckoned", never "measured".

## Answers

* **Laundry:** one basket 90 minutes; four one after another 360, and the washer waits 60 minutes a basket; as a line (4 + 3 - 1)
  × 30 = 180.
* **Cards (1 s a card):** C gets its first at 24, 8, 2 s; all done at 36, 20, 14. By hand every group differs; the pattern doesn't.
  Way 2: A `1 2 3 . .`, B `. 1 2 3 .`, C `. . 1 2 3`, 9 cells busy, 6 idle.
* **One is slow (2, 1, 4 s a card):** all done at 84, 60, 51 s: all go at the slowest one's pace.
* **Two grids:** uncut 16 slots, of 64 cells 16 busy and 48 idle (75 %), as if 1 GPU worked; in 4 pieces 7 slots, 12 of 28 idle
  (43 %), 6 at the start and 6 at the end; 9 slots fewer.
* **More pieces:** 75, 43, 27, 16 %, that is 3/4, 3/7, 3/11, 3/19; as if 1.0, 2.29, 2.91, 3.37 GPUs worked. Never 0: the 3 stays.
* **Scratch paper:** 6, 18, 10, 20, 25, 5, 20, 9, 27. With 9 cells 9 steps, with 3 by the book 15 (14 at best), with none 45.
* **The real thing:** 21, 27, 28 slots; erasing all takes a third more time and about 60 % less paper.
* **Exit:** (1) 4 GPUs, 4 pieces: in which slot does GPU 3 begin? (The third.) (2) Twice the pieces, half the bubble? (No: 43 to
  27 %.) (3) What is traded for what, when you erase and redo? (Time for memory.)

## What is simplified (for adults)

* Illustrations only: the laundry's times, 40 layers on 4 GPUs, both grids, the picture of 10 circles, and the "group that makes
  mistakes and mends them together".
* Grids show the way forward. With the way back it is 2 (M + K - 1) slots if a piece takes 1 slot there too, and the idle share
  is the same; so it is if a piece takes 2 slots back.
* 75, 43, 27, 16 % is the **formula** at K = 4. What the screen calls measured ran on stand-ins: the CPU computes each op, then
  waits out its time. So how long an op takes is declared; order and waiting are measured.
* The scratch-paper game is an analogy: it counts steps forward only. Training also goes back: two thirds more in the game is a
  third more in training.
* The paper's experiments ran mainly on Google's TPUs; the lesson calls all of them GPUs.
* "The result is the same" leaves batch normalisation aside: in training it sees the statistics of its own piece only.
* With at least 4 pieces a GPU the bubble "hardly matters": that is the paper's word. At K = 4 it's still 16 %, and with more GPUs
  it tends to 20 %.

## What a class asks

* **Are there GPUs in this computer?** No: the CPU plays them. The sums are real, how long each takes is declared.
* **Why not 64 pieces?** Each piece has a fixed cost, and a GPU's many workers run out of work; notebook 04.
* **Could it go back while others go forward?** Yes: 1F1B. The same bubble, much less scratch paper; notebook 10.
* **Can the bubble be filled?** Almost: ZB-V and DualPipe (notebook 10), at a price.
* **Why not turn the knobs after each piece?** It would be another result: later pieces would meet turned knobs. GPipe turns them
  once, at the end.
* **Would it help to put the slow one last?** No: the formula has only the sum and the slowest; notebook 06.
""",
)

PAGE = Page(
    title=("一节课：五站", "One lesson: five stops"),
    question=(
        "4 块显卡一起训练一个模型，怎样才不闲着？",
        "4 GPUs train one model together: how are they kept busy?",
    ),
    minutes=45,
    rows=(1, 4, 5, 6, 11, 15, 16, 17),
    runs=(
        "控制室；M = 1、4、8、16；三种草稿办法：都真的跑",
        "the control room; M = 1, 4, 8, 16; three checkpoint policies: all really run",
    ),
    cells=CELLS,
    teacher=TEACHER,
)
