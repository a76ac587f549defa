"""Build the notebooks: one source, two languages, executed, without what dies with a kernel.

    python notebooks/build.py            write and execute every notebook, the syllabus, the course's list, the teacher's notes
    python notebooks/build.py NAME ...   ... these notebooks only
    python notebooks/build.py --check    complain about what differs from the source, or was not executed

The source is in `pages/`. A saved widget view opens as "model not found" without its kernel, so only the panel's still
picture and its words are kept; the picture in HTML, the only form that JupyterLab shows with its alternative text.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from pages import ORDER, Page, module_of  # noqa: E402 -- its folder has to be on the path first

LANGUAGES = ("zh", "en")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
TIMEOUT = 120  # seconds a cell
START = "start"  # the notebook that lists the others

KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


PAGES: dict[str, Page] = {name: importlib.import_module(f"pages.{module_of(name)}").PAGE for name in ORDER}


def make(name: str, lang: str) -> nbformat.NotebookNode:
    """The notebook as the source says it, not executed."""
    cells = []
    for cell in PAGES[name].cells:
        if cell["kind"] == "markdown":
            made = new_markdown_cell(cell[lang])
        else:
            made = new_code_cell(cell["source"].replace("LANG", lang))
            if cell["tags"]:
                made.metadata["tags"] = cell["tags"]
            if cell["hidden"]:
                made.metadata["jupyter"] = {"outputs_hidden": True}
        cells.append(made)
    if name != START:
        cells.append(new_markdown_cell(foot(name, lang)))
    for number, made in enumerate(cells):
        made.id = f"{name}-{number}"  # the default is random, and would change on every build
    return new_notebook(cells=cells, metadata=KERNEL)


FOOT = {
    "zh": ("下一页：{link}", "这是最后一页。", "回到课程"),
    "en": ("Next page: {link}", "This was the last page.", "Back to the course"),
}


def foot(name: str, lang: str) -> str:
    """Where to go from here: the next page of the course, and the page that lists them all."""
    following, last, back = FOOT[lang]
    rest = ORDER[ORDER.index(name) + 1 :]
    title = PAGES[rest[0]].title[LANGUAGES.index(lang)] if rest else ""
    onward = following.format(link=f"[{title}]({rest[0]}.ipynb)") if rest else last
    return f"---\n\n{onward} · [{back}]({START}.ipynb)"


def path_of(name: str, lang: str, folder: Path = HERE) -> Path:
    """Where it's committed."""
    return folder / lang / f"{name}.ipynb"


def execute(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Run all cells in a kernel of this Python that works in the notebook's folder; raises at the first that fails.

    Where a notebook ends with the room itself, its still picture is of a run: one more cell makes it, and goes.
    """
    shown = [cell for cell in notebook.cells if cell.cell_type == "code"][-1]
    ends_with_room = shown.source.endswith("\nroom")
    if ends_with_room:
        notebook.cells.append(new_code_cell("room.run().wait(timeout=60)\nroom.settle()\nroom"))
    where = {"metadata": {"path": str(folder)}}
    paths = [str(HERE.parent), os.environ.get("PYTHONPATH", "")]  # this pipekit, wherever the kernel works
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    NotebookClient(notebook, timeout=TIMEOUT, kernel_name="python3", resources=where).execute()
    if ends_with_room:
        extra = notebook.cells.pop()
        shown.outputs = [nbformat.from_dict({**output, "execution_count": 1}) for output in extra.outputs]


def strip(notebook: nbformat.NotebookNode) -> None:
    """Take out what dies with the kernel, and what changes on every build without meaning anything."""
    notebook.metadata = nbformat.from_dict(KERNEL)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for kind in (WIDGET_VIEW, "image/jpeg"):  # a still is there as PNG too
                data.pop(kind, None)
            if "<img " in data.get("text/html", ""):  # the same bytes with their words: once is enough
                data.pop("image/png", None)
                output.metadata.pop("image/png", None)


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


def frozen(cell: nbformat.NotebookNode) -> tuple[str, str, str, list[str], bool]:
    """What the source decides about a cell."""
    hidden = cell.metadata.get("jupyter", {}).get("outputs_hidden", False)
    return cell.cell_type, cell.id, cell.source, cell.metadata.get("tags", []), hidden


def documents(folder: Path = HERE) -> dict[Path, str]:
    """What is written from the pages besides notebooks: the syllabus, the start page's list, the teacher's notes."""
    made = {folder / "README.md": syllabus(), folder / "course.json": course()}
    for name, page in PAGES.items():
        for lang, notes in zip(LANGUAGES, page.teacher or (), strict=False):
            made[folder / "teacher" / lang / f"{name}.md"] = notes.strip() + "\n"
    return made


TOPICS = (  # of the lesson, by number, in our own words
    ("洗衣服", "laundry"),
    ("书桌满了：内存装不下", "the desk is full: memory"),
    ("按层切开", "cut by layers"),
    ("一大批不切：接力赛", "uncut: a relay race"),
    ("切成小份：流水线和气泡", "in pieces: a production line, and its bubble"),
    ("小份越多，气泡越小", "more pieces, smaller bubble"),
    ("论文的话：份数至少是显卡数的 4 倍", "the paper's word: at least 4 pieces a GPU"),
    ("切得太细也不好", "too fine isn't good either"),
    ("最后一起改，结果一样", "change once, at the end: the same result"),
    ("每段一样重", "stages of equal weight"),
    ("擦掉重算", "erase and redo"),
    ("两个大模型：认图和翻译", "two giants: pictures and languages"),
    ("几种分工一起用", "several ways of sharing work together"),
    ("更新的排法", "newer schedules"),
    ("卡片游戏", "the card game"),
    ("草稿纸游戏", "the scratch-paper game"),
    ("给大人的话：简化了什么", "for adults: what is simplified"),
)
SYLLABUS = {
    "zh": (
        "# 课程表\n\n按顺序做，或者只挑一页。每一页先提问，再真的训练，再解释。",
        "| 笔记本 | 问题 | 分钟 | 主题 | 真的跑了什么 |",
        "主题的号码：",
    ),
    "en": (
        "# Syllabus\n\nIn this order, or one page alone. Each asks first, then really trains, then explains.",
        "| notebook | question | minutes | topics | what runs |",
        "Topics: ",
    ),
}


def syllabus() -> str:
    """`notebooks/README.md`: every notebook with its question, minutes, topics and what really runs."""
    parts = []
    for number, lang in enumerate(LANGUAGES):
        intro, head, legend = SYLLABUS[lang]
        rows = [head, "|---|---|---|---|---|"]
        for name, page in PAGES.items():
            topics = ", ".join(map(str, page.rows))
            link = f"[{page.title[number]}]({lang}/{name}.ipynb)"
            rows.append(
                f"| {link} | {page.question[number]} | {page.minutes} | {topics} | {page.runs[number]} |"
            )
        legend += " · ".join(f"{index} {words[number]}" for index, words in enumerate(TOPICS, 1))
        parts.append(intro + "\n\n" + "\n".join(rows) + "\n\n" + legend)
    return "\n\n".join(parts) + "\n"


def course() -> str:
    """`notebooks/course.json`: what the start page lists, that is every notebook but itself; a line each."""
    entries = [
        {"name": name, "title": page.title, "question": page.question, "minutes": page.minutes}
        for name, page in PAGES.items()
        if name != START
    ]
    return "[\n" + ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n]\n"


def build(name: str) -> None:
    """Write and execute a notebook in both languages."""
    for lang in LANGUAGES:
        notebook = make(name, lang)
        path_of(name, lang).parent.mkdir(exist_ok=True)
        execute(notebook, path_of(name, lang).parent)
        strip(notebook)
        nbformat.write(notebook, path_of(name, lang))
        print(f"built {lang}/{name}.ipynb")


def main(arguments: list[str]) -> int:
    """Build, or check."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="build these notebooks only")
    parser.add_argument("--check", action="store_true", help="only complain")
    asked = parser.parse_args(arguments)
    if asked.check:
        found = [each for name in PAGES for lang in LANGUAGES for each in complaints(name, lang)]
        for path, words in documents().items():
            if not path.exists() or path.read_text(encoding="utf-8") != words:
                found.append(
                    f"{path.relative_to(HERE)} differs from the source; run python notebooks/build.py"
                )
        print("\n".join(found), end="\n" if found else "")
        return 1 if found else 0
    for name in asked.names or PAGES:
        build(name)
    for path, words in documents().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(words, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
