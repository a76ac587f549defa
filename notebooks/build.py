"""Build the notebooks: one source, two languages, executed, without what dies with a kernel.

    python notebooks/build.py            write and execute every notebook
    python notebooks/build.py --check    complain about what differs from the source, or was not executed

Text is written in both languages, code once; `LANG` in code becomes the notebook's language. A saved widget view
opens as "model not found" without its kernel, so only the panel's still picture and its words are kept.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

HERE = Path(__file__).resolve().parent
LANGUAGES = ("zh", "en")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
TIMEOUT = 120  # seconds a cell

KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def text(zh: str, en: str) -> dict[str, Any]:
    """A text cell in both languages."""
    return {"kind": "markdown", "zh": zh.strip(), "en": en.strip()}


def code(source: str, *tags: str) -> dict[str, Any]:
    """A code cell; tagged `nbval-check-output`, its output must be the same every time."""
    return {"kind": "code", "source": source.strip(), "tags": list(tags)}


NOTEBOOKS: dict[str, list[dict[str, Any]]] = {
    "control-room": [
        code(
            """
from pipekit.learn import ControlRoom

room = ControlRoom(lang="LANG")
room
"""
        ),
    ],
    "first-steps": [
        text(
            """
# 第一次训练：4 块显卡，几块在干活？

模型太大，就切成 4 段，放到 4 块显卡上。一大批（mini-batch）是 64 张手写数字：先从第 1 段往前算（前向）到第 4 段，再一段一段往回改（反向）。

**先猜：** 这一大批不切，4 块显卡的时间有百分之几是闲着的（这叫“气泡”）？切成 4 小份（micro-batch）呢？写下来，再往下做。

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
            """
# First steps: 4 GPUs, how many are working?

A model is too big, so it is cut into 4 stages on 4 GPUs. A mini-batch of 64 handwritten digits goes from the first
stage to the last, and then back again, stage by stage.

**Guess first:** if the mini-batch stays in one piece, what share of the time are the 4 GPUs idle (the bubble)? And in
4 pieces? Write it down, then go on.

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

按“训练一次”，或者运行下面的单元格：模型会真的切开、真的训练。实心的时间表是**测到的**，虚线框是**算出来的**。
""",
            """
## Really train once

Press "Train once", or run the next cell: the model is really cut and really trained. Solid cells are **measured**,
dashed frames are **predicted**.
""",
        ),
        code(
            """
outcome = room.run().wait(timeout=60)
outcome
"""
        ),
        code("room.picture()"),
        text(
            """
测到的气泡、算出来的气泡和公式 (K-1)/(M+K-1) 各是多少？（K 是几块显卡，M 是切成几小份。）下一个单元格检查两件事：测到的和算出来的相差不到 5 个百分点；切开训练的结果和不切时一样。
""",
            """
How big are the measured bubble, the predicted one and the formula (K-1)/(M+K-1), with K GPUs and M pieces? The next
cell demands that measured and predicted differ by less than 5 points, and that cutting doesn't change the result.
""",
        ),
        code(
            """
from pipekit import plan

predicted = plan.bubble_fraction(outcome.prediction.timeline)
assert abs(outcome.bubble - predicted) < 0.05, f"{outcome.bubble:.1%} - {predicted:.1%}"
assert outcome.same
"""
        ),
        text(
            """
## 切得越细越好吗？

**先猜：** 切成 1、4、8、16 小份，气泡各是百分之几？猜好了，再每种真的跑一次。
""",
            """
## Is finer always better?

**Guess first:** how big is the bubble with 1, 4, 8 and 16 pieces? Then really run each of them.
""",
        ),
        code(
            """
outcomes = room.sweep().wait(timeout=60)
outcomes
"""
        ),
        code(
            """
for each in outcomes:
    assert abs(each.bubble - plan.bubble_fraction(each.prediction.timeline)) < 0.05, each
    assert each.same, each
room.picture()
"""
        ),
        text(
            """
## 同一张时间表，用字母写

`F0` 是小份 0 往前算，`B0` 是小份 0 往回改，`.` 是闲着。写程序的人从 0 数起：这里的小份 0，就是图里的小份 1。
""",
            """
## The same grid in letters

`F0` is piece 0 going forward, `B0` going back, `.` is idle. Programmers count from 0.
""",
        ),
        code(
            """
print(plan.simulate(outcome.settings.build(), plan.Costs(forward=1, backward=2)))
""",
            "nbval-check-output",
        ),
        code("print(outcome.timeline)"),
    ],
    "design-board": [
        text(
            """
# 自己排一个时间表

2 块显卡，一大批切成 3 小份。每一小份都要往前算（F）、再往回改（B）；往回改要用 2 格。**先猜：** 最少要几格才能都做完？

拿一格活（`F1` 是第 1 小份往前算），再按一块显卡的那一行，或者直接拖过去。放不下，它会说为什么。用键盘也行：方向键走动，回车放下，Delete 拿掉，Ctrl+Z 撤销。
放齐了，按“训练一次”：它会真的按你排的先后训练。

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
            """
# A schedule of your own

2 GPUs, a mini-batch in 3 pieces. Each piece goes forward (F) and back (B) on both; going back takes 2 slots. **Guess
first:** how few slots can it be done in?

Take an op (`F1` is piece 1 going forward), then press a GPU's row, or drag it there. Where it can't go, you are told
why. The keyboard does it too: arrows move, Enter puts down, Delete takes off, Ctrl+Z undoes. When all are there, press
"Train once": it really trains, in your order.

(A picture, but no buttons? Click the cell below and press Shift+Enter.)
""",
        ),
        code(
            """
from pipekit.learn import DesignBoard

board = DesignBoard(lang="LANG")
board
"""
        ),
        text(
            """
## 用文字写

一行一块显卡，用 `|` 隔开；`1F0` 是段 1、小份 0 往前算（写程序的人从 0 数起）。`load` 说出它认得的排法。
""",
            """
## As text

A row a GPU, divided by `|`; `1F0` is stage 1, piece 0, forward (programmers count from 0). `load` names the schedule
that it knows.
""",
        ),
        code(
            """
board.load("0F0 0F1 0F2 0B2 0B1 0B0 | 1F0 1F1 1F2 1B2 1B1 1B0")
""",
            "nbval-check-output",
        ),
        text("做不成的排法，它会说为什么：", "One that can't work is refused, with the reason:"),
        code(
            """
from pipekit.errors import ScheduleError

try:
    board.load("0F0 0B0 | 1B0 1F0")
except ScheduleError as error:
    print(error)
""",
            "nbval-check-output",
        ),
        text(
            """
## 用 Python 写

**先猜：** 下面这一个叫什么名字？和上面那个比，总时间一样吗？草稿呢？
""",
            """
## In Python

**Guess first:** what is this one called? Does it take as long as the one above? Does it keep as much scratch paper?
""",
        ),
        code(
            """
from pipekit import plan

first = ["0F0", "0F1", "0B0", "0F2", "0B1", "0B2"]
last = [f"1{kind}{piece}" for piece in range(3) for kind in "FB"]
board.load(plan.Schedule([first, last]))
""",
            "nbval-check-output",
        ),
        code(
            """
board.figures
""",
            "nbval-check-output",
        ),
        text(
            """
## 真的训练

测到的时间表就在板的下面。下一个单元格检查：测到的气泡和排的相差不到 5 个百分点，结果和不切时一样。
""",
            """
## Really train it

The measured grid stands under the board. The next cell demands that its bubble is within 5 points of the designed one,
and that cutting didn't change the result.
""",
        ),
        code(
            """
outcome = board.run().wait(timeout=60)
outcome
"""
        ),
        code(
            """
assert abs(outcome.bubble - board.figures.bubble) < 0.05, f"{outcome.bubble:.1%}"
assert outcome.same
board.picture()
"""
        ),
    ],
    "compare-schedules": [
        text(
            """
# 哪种排法最好？

同一个模型、同一批手写数字、一共同样多的活，只是先后不一样。图里的每一种排法都用同一把尺子；淡的格子是**算出来的**。

**先猜：** GPipe 和 1F1B，谁用的格少？谁留的草稿少？ZB-V 把“往回改”拆成两半（I 和 W），能少几格？

（只有图、没有按钮？点一下下面的单元格，再按 Shift+Enter。）
""",
            """
# Which schedule is best?

The same model, the same handwritten digits, the same total work: only the order differs. All schedules stand on one
ruler; pale cells are **predicted**.

**Guess first:** does GPipe or 1F1B take fewer slots, and which keeps less scratch paper? ZB-V cuts the way back into two
halves (I and W): how many slots does that save?

(A picture, but no buttons? Click the cell below and press Shift+Enter.)
""",
        ),
        code(
            """
from pipekit.learn import ComparisonPanel

panel = ComparisonPanel(lang="LANG", schedules=["gpipe", "1f1b", "zb_v"])
panel
"""
        ),
        text(
            """
## 真的训练

按“真的训练”，或者运行下面的单元格：每种排法都真的训练一遍，淡的格子换成**测到的**实心格子。下一个单元格检查：测到的和算出来的气泡相差不到 5 个百分点；
每种排法要改的量都和不切时一样。
""",
            """
## Really train

Press "Really train", or run the next cell: each schedule really trains, and solid, **measured** cells take the place of
pale ones. The cell after it demands that the measured bubble is within 5 points of the predicted one, and that every
schedule gives the uncut model's gradients.
""",
        ),
        code(
            """
rows = panel.run().wait(timeout=100)
panel.picture()
"""
        ),
        code(
            """
for row in rows:
    assert abs(row.figures.bubble - row.prediction.figures.bubble) < 0.05, row.variant
    assert row.measured.difference < 1e-4, row.variant
"""
        ),
        text(
            """
## 两种气泡

ZB-H2 号称“零气泡”，可是它用的格和 ZB-H1 一样多。第一个数是总共几格；第二个数是一块显卡从自己的第一格活到最后一格活，中间最多闲几格。
ZB-H2 只是把闲着的格挪到了两头：大家要等齐了才一起改旋钮，就没有省。
""",
            """
## Two bubbles

ZB-H2 is called "zero bubble", and takes as many slots as ZB-H1. The first number is all slots; the second is the most
that a GPU idles between its own first and last op. ZB-H2 moves the idle slots to both ends: where all wait for each other
before the parameters change, nothing is saved.
""",
        ),
        code(
            """
from pipekit import plan

for build in (plan.zb_h1, plan.zb_h2):
    timeline = plan.simulate(build(4, 8), plan.Costs(forward=1, backward=2))
    print(build.__name__, timeline.makespan, plan.span_bubble(timeline))
""",
            "nbval-check-output",
        ),
        text(
            """
## 书桌只有这么大

草稿最多留 2 份，每格活要多花 0.05 格：每种排法自己挑最好的切法（切成几小份、每块显卡几段、擦不擦草稿）。**先猜：** 谁最快？
""",
            """
## A desk this big

At most 2 sheets of scratch paper, and every op costs 0.05 slots extra: each schedule chooses its own best (pieces, stages a
GPU, what to erase). **Guess first:** which is the fastest?
""",
        ),
        code(
            """
panel.overhead, panel.cap = 0.05, 2.0
panel.schedules = ["gpipe", "1f1b", "interleaved_1f1b", "zb_h1", "zb_v"]
for row in panel.find_best().wait(timeout=60):
    print(row.variant, row.num_micro_batches, round(row.figures.makespan, 2))
""",
            "nbval-check-output",
        ),
        code("panel.picture()"),
    ],
}


def make(name: str, lang: str) -> nbformat.NotebookNode:
    """The notebook as the source says it, not executed."""
    cells = []
    for number, cell in enumerate(NOTEBOOKS[name]):
        if cell["kind"] == "markdown":
            made = new_markdown_cell(cell[lang])
        else:
            made = new_code_cell(cell["source"].replace("LANG", lang))
            if cell["tags"]:
                made.metadata["tags"] = cell["tags"]
        made.id = f"{name}-{number}"  # the default is random, and would change on every build
        cells.append(made)
    return new_notebook(cells=cells, metadata=KERNEL)


def path_of(name: str, lang: str, folder: Path = HERE) -> Path:
    """Where it's committed."""
    return folder / lang / f"{name}.ipynb"


def execute(notebook: nbformat.NotebookNode) -> None:
    """Run all cells in a kernel of this Python; raises at the first that fails.

    Where a notebook ends with the room itself, its still picture is of a run: one more cell makes it, and goes.
    """
    ends_with_room = notebook.cells[-1].source.endswith("\nroom")
    if ends_with_room:
        notebook.cells.append(new_code_cell("room.run().wait(timeout=60)\nroom.settle()\nroom"))
    NotebookClient(notebook, timeout=TIMEOUT, kernel_name="python3").execute()
    if ends_with_room:
        extra = notebook.cells.pop()
        notebook.cells[-1].outputs = [
            nbformat.from_dict({**output, "execution_count": 1}) for output in extra.outputs
        ]


def strip(notebook: nbformat.NotebookNode) -> None:
    """Take out what dies with the kernel, and what changes on every build without meaning anything."""
    notebook.metadata = nbformat.from_dict(KERNEL)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            for kind in (WIDGET_VIEW, "image/jpeg"):  # a still is there as PNG too
                output.get("data", {}).pop(kind, None)


def complaints(name: str, lang: str, folder: Path = HERE) -> Iterator[str]:
    """What is wrong with a committed notebook, in words."""
    path = path_of(name, lang, folder)
    where = f"{lang}/{path.name}"
    if not path.exists():
        yield f"{where} is missing"
        return
    committed, source = nbformat.read(path, as_version=4), make(name, lang)
    if committed.metadata != source.metadata:
        yield f"{where}: metadata differs from the source"
    if [frozen(cell) for cell in committed.cells] != [frozen(cell) for cell in source.cells]:
        yield f"{where}: cells differ from the source; run python notebooks/build.py"
    cells = [cell for cell in committed.cells if cell.cell_type == "code"]
    if [cell.execution_count for cell in cells] != list(range(1, len(cells) + 1)):
        yield f"{where}: not executed once, in order"
    outputs = [output for cell in cells for output in cell.outputs]
    if any(output.output_type == "error" for output in outputs):
        yield f"{where}: a cell failed"
    if any(WIDGET_VIEW in output.get("data", {}) for output in outputs):
        yield f"{where}: a widget view was saved; it opens as 'model not found'"
    if any(output.get("name") == "stderr" for output in outputs):
        yield f"{where}: a cell wrote to stderr"
    for cell in cells:
        if "nbval-check-output" in cell.metadata.get("tags", []) and not cell.outputs:
            yield f"{where}: a cell whose output is checked has none"


def frozen(cell: nbformat.NotebookNode) -> tuple[str, str, str, list[str]]:
    """What the source decides about a cell."""
    return cell.cell_type, cell.id, cell.source, cell.metadata.get("tags", [])


def main(arguments: list[str]) -> int:
    """Build, or check."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only complain")
    check = parser.parse_args(arguments).check
    found = []
    for name in NOTEBOOKS:
        for lang in LANGUAGES:
            if check:
                found += complaints(name, lang)
                continue
            notebook = make(name, lang)
            execute(notebook)
            strip(notebook)
            path_of(name, lang).parent.mkdir(exist_ok=True)
            nbformat.write(notebook, path_of(name, lang))
            print(f"built {lang}/{name}.ipynb")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
