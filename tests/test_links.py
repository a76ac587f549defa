"""Links in notebooks, READMEs and teacher's notes lead to files and headings that are there; no page is a dead end."""

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[1]
COURSE = json.loads((ROOT / "notebooks" / "course.json").read_text(encoding="utf-8"))
LANGUAGES = ("zh", "en")
MINUTES = {
    "zh": "\\*\\*学会什么：\\*\\* .*\\*\\*约 {0} 分钟",
    "en": "\\*\\*You will be able to:\\*\\* .*\\*\\*About {0} minutes",
}
ONE_PANEL = {"control-room", "lesson-45"}  # nothing stands there but the panel
ABROAD = re.compile(r"[a-z][a-z+.-]*:")  # an address elsewhere: https:, data:, mailto:


def words_of(path):
    """What a reader sees: the file, of a notebook its texts and what its cells show."""
    content = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return content
    cells = json.loads(content)["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    shown = [
        "".join(output["data"].get(kind, ""))
        for cell in cells
        for output in cell.get("outputs", [])
        if "data" in output
        for kind in ("text/html", "text/markdown")
    ]
    return "\n".join(texts + shown)


def links(words):
    """Where a text's links lead, in the order in which they stand there; code is not read."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", words, flags=re.DOTALL)
    found = re.findall(r"\]\(\s*<?([^)\s>]+)|(?:href|src)=[\"']([^\"']+)", prose)
    return ["".join(each) for each in found]


def anchors(path):
    """What can stand behind the # of a link to this file: its headings, as GitHub and as JupyterLab name them."""
    headings = re.findall(r"^#+ +(.+?)\s*$", words_of(path), flags=re.MULTILINE)
    on_github = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return on_github | {heading.replace(" ", "-") for heading in headings}


def dead(path):
    """The links of a file that lead nowhere."""
    for link in links(words_of(path)):
        if ABROAD.match(link):
            continue
        target, _, anchor = unquote(link).partition("#")
        there = path.parent / target if target else path
        if not there.exists() or (anchor and anchor not in anchors(there)):
            yield link


FILES = sorted(
    file.relative_to(ROOT).as_posix()
    for file in (
        *ROOT.glob("*.md"),
        ROOT / "pipekit" / "README.md",
        *(ROOT / "notebooks").glob("**/*.md"),
        *(ROOT / "notebooks").glob("*/*.ipynb"),
    )
)


@pytest.mark.parametrize("file", FILES)
def test_every_link_leads_to_a_file_and_a_heading_that_are_there(file):
    assert list(dead(ROOT / file)) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# One more\n[a](page.md#one-more) [b](page.md#two) [c](lost.ipynb) `[d](code)` [e](https://example.org)\n"
        '<a href="gone.md">f</a> [g](#One-more) ![h](lost%20picture.png)',
        encoding="utf-8",
    )
    assert list(dead(page)) == ["page.md#two", "lost.ipynb", "gone.md", "lost%20picture.png"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_who_follows_the_last_line_of_each_page_walks_the_whole_course(lang):
    """And every page's last line leads back to the page that lists them all."""
    walked, name = [], COURSE[0]["name"]
    while name:
        walked.append(name)
        notebook = json.loads((ROOT / "notebooks" / lang / f"{name}.ipynb").read_text(encoding="utf-8"))
        *onward, back = links("".join(notebook["cells"][-1]["source"]))
        assert back == "start.ipynb"
        name = onward[0].removesuffix(".ipynb") if onward else None
    assert walked == [each["name"] for each in COURSE]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("lesson", COURSE, ids=lambda lesson: lesson["name"])
def test_every_page_begins_with_what_is_learnt_and_how_long_it_takes(lesson, lang):
    if lesson["name"] in ONE_PANEL:
        return
    page = ROOT / "notebooks" / lang / f"{lesson['name']}.ipynb"
    first = "".join(json.loads(page.read_text(encoding="utf-8"))["cells"][0]["source"])
    assert re.search(MINUTES[lang].format(lesson["minutes"]), " ".join(first.split()))
