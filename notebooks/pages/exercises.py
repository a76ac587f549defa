"""Exercises for pencil and paper; and what both pages of exercises are built from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pages import Page, Words, code, text
from pipekit.learn.exercises import BY_HAND, TASKS
from pipekit.show import LANGUAGES, say

HOW = (
    """
1. 运行题目的单元格，看题；自己先想，别急着看提示。
2. 把 `...` 换成你的答案，再运行一次。答错了，会告诉你错在哪一个想法上。
3. 想不出来，点开提示：三个提示一个套一个。实在不行，新开一个单元格，运行 `task1.solution()`（1 换成题号）。

做到哪一题，记在这个文件夹的 `results.jsonl` 里，没有姓名。
""",
    """
1. Run the cell with the problem and read it; think first, hints later.
2. Put your answer in place of `...` and run again. A wrong one is told which idea is wrong.
3. Stuck? Open the hints: three, one inside the other. If nothing helps, run `task1.solution()` in a new cell (1 is the exercise's number).

How far you are is noted in `results.jsonl` in this folder, without a name.
""",
)


def head(title: Words, goal: Words) -> dict[str, Any]:
    """The first cell: title, objective and how it works."""
    return text(*(f"# {title[i]}\n\n{goal[i]}\n{HOW[i]}" for i in range(len(LANGUAGES))))


def posed(keys: Iterable[str]) -> list[dict[str, Any]]:
    """The cells of these exercises: a heading, the problem, the stub with its check, the hints."""
    cells = [code("from pipekit.learn import exercises")]
    for number, key in enumerate(keys, start=1):
        # A name each: after "Run all" one name for all would check every answer against the last exercise.
        task, name = TASKS[key], f"task{number}"
        apart = "\n\n\n" if task.stub.startswith("def") else "\n"
        cells += [
            text(*(f"## {number}. {say(f'exercise_{key}_title', lang)}" for lang in LANGUAGES)),
            code(f'{name} = exercises.get("{key}", lang="LANG")\n{name}.show()'),
            code(f"{task.stub}{apart}{name}.check({task.name})", "nbval-check-output"),
            code(f"{name}.hint()"),
        ]
    return cells


def answers(keys: Iterable[str], lang: str) -> str:
    """For the teacher: one right answer to each, and why."""
    parts = []
    for number, key in enumerate(keys, start=1):
        title, why = (say(f"exercise_{key}_{part}", lang) for part in ("title", "right"))
        parts.append(f"### {number}. {title}\n\n```python\n{TASKS[key].solution}\n```\n\n{why}")
    return "\n\n".join(parts)


TEACHER = (
    f"""
# 给老师：练习（纸和笔）

**时间（25 分钟）** 说明怎么做 2 分钟；第 1 到 4 题每题 2 分钟；第 5 到 7 题每题 3 分钟；第 8 题两人一组 4 分钟；最后 2 分钟看全班的表。

**收成绩** 把每位同学的文件夹（或者里面的 `results.jsonl`）收到一个文件夹里，运行 `.venv/bin/python -m pipekit collect 那个文件夹`：
每题几个人试过、几个人做对、试了几次、最常见的想法是什么。文件里没有姓名。

**常见的错误想法** 判题时会说出来，例如：把干活的时间当成闲着的；拿闲着的除以干活的（3/4 当成气泡，其实是 3/7）；以为切成 M 份气泡就小 M 倍；
层数一样就以为一样重；以为只要是归一化都会改变结果。遇到最后一个：问“算一个样本时，要不要看别的样本？”

**简化了什么** 时间表只画往前算；每段、每份都一样重；交接不花时间。卡片和草稿游戏是打比方。

## 答案

{answers(BY_HAND, "zh")}
""",
    f"""
# Exercises with pencil and paper: for the teacher

**Time (25 minutes)** 2 for how it works; 2 each for exercises 1 to 4; 3 each for 5 to 7; 4 for 8, in pairs; 2 at the end for the class's table.

**Collecting** Put everybody's folder (or the `results.jsonl` in it) into one folder and run `.venv/bin/python -m pipekit collect THAT_FOLDER`:
how many tried and solved each exercise, in how many tries, and the commonest misconception. There are no names in the files.

**Wrong ideas to expect** The grader names them: busy time taken for idle time; idle divided by busy (3/4 instead of 3/7); M pieces make
the bubble M times as small; equally many layers weigh the same; every normalisation changes the result. To the last one ask: working on
one sample, does the layer look at other samples?

**What is simplified** Grids are forward only; stages and pieces weigh the same; handing over takes no time. Cards and scratch paper are analogies.

## Answers

{answers(BY_HAND, "en")}
""",
)

TITLE = ("练习：纸和笔", "Exercises: pencil and paper")
GOAL = (
    "**学会什么：** 不跑程序，也能数出格子、填好时间表、算出气泡、分好层。**约 25 分钟**，8 道题，从易到难。",
    "**You will be able to:** count cells, fill a grid, work out the bubble and share out layers without running anything. **About 25 minutes**, 8 exercises, easy ones first.",
)

PAGE = Page(
    title=TITLE,
    question=("不跑程序，你能算出气泡吗？", "Can you work out the bubble by hand?"),
    minutes=25,
    rows=(3, 4, 5, 6, 9, 10, 15, 16),
    runs=("判题；第 7 题真的切开训练 6 个小模型", "graders; exercise 7 really trains 6 small models, cut"),
    cells=[head(TITLE, GOAL), *posed(BY_HAND)],
    teacher=TEACHER,
)
