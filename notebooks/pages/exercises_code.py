"""Exercises that are answered with a few lines of code."""

from __future__ import annotations

from pages import Page
from pages.exercises import answers, head, posed
from pipekit.learn.exercises import IN_CODE

TITLE = ("练习：写几行代码", "Exercises: a few lines of code")
GOAL = (
    "**学会什么：** 写出第几格、多久做完、GPipe 和 1F1B 的先后，把梯度加对，用重算省草稿。**约 40 分钟**，7 道题，从易到难。",
    "**You will be able to:** write down slots, times, the orders of GPipe and 1F1B, add up gradients rightly, and recompute to save memory. **About 40 minutes**, 7 exercises, easy ones first.",
)

TEACHER = (
    f"""
# 给老师：练习（写代码）

**时间（40 分钟）** 第 1、2 题每题 4 分钟；第 3 题 5 分钟；第 4、5 题每题 6 分钟；第 6、7 题选一题，10 分钟；最后 5 分钟看全班的表（`.venv/bin/python -m pipekit collect 文件夹`）。

**怎么判** 不比对代码，只看它做了什么：梯度和不切时真的比一比；草稿真的数一数还留着几张、算了几次；排法交给同一个检查程序，能不能跑、多久做完、留几份。
每题除了课上的数，还换别的数再试；死循环 10 秒后停下，报错会说是第几行。

**常见的错误想法** 梯度大了 M 倍（每份求了平均，却没有再除）；`zero_grad` 放进了循环；各份样本数不同，还按 1/M 算；整座塔包成一个 checkpoint
（往回改时又全摆出来）；一份一份来（草稿少了，显卡闲着）。

**简化了什么** 每格活的时间都是给定的整数格；交接不花时间；“最好的 M”用 alpha、beta 两个数代表真机器。

## 答案

{answers(IN_CODE, "zh")}
""",
    f"""
# Exercises in code: for the teacher

**Time (40 minutes)** 4 each for exercises 1 and 2; 5 for 3; 6 each for 4 and 5; 10 for one of 6 and 7; 5 at the end for the class's table (`.venv/bin/python -m pipekit collect FOLDER`).

**How it is graded** By what the code does, not by how it looks: gradients are compared with the uncut model's; layers' results that are still in
memory and calls are really counted; orders go through the same check as everywhere: can it run, how long, how much is kept. Besides the lesson's numbers
others are tried; a loop that never ends is stopped after 10 seconds, an error is told with its line.

**Wrong ideas to expect** Gradients M times too large (each piece took a mean, the sum was not divided); `zero_grad` inside the loop; 1/M for pieces of
different sizes; one checkpoint around everything (all laid out again on the way back); piece by piece (little kept, GPUs idle).

**What is simplified** Costs are given in whole slots; handing over takes no time; "the best M" lets two numbers, alpha and beta, stand for a real machine.

## Answers

{answers(IN_CODE, "en")}
""",
)

PAGE = Page(
    title=TITLE,
    question=("几行代码，写得出流水线吗？", "Can you write a pipeline in a few lines?"),
    minutes=40,
    rows=(5, 8, 9, 10, 11, 14),
    runs=("判题：真的求梯度，真的数草稿", "graders: real gradients, scratch paper really counted"),
    cells=[head(TITLE, GOAL), *posed(IN_CODE)],
    teacher=TEACHER,
)
