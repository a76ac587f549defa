"""Committed notebooks: as their source says, executed, alike in both languages, alive without a kernel."""

import importlib.util
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

from pipekit.show import say

ROOT = Path(__file__).resolve().parents[1]


def load_build():
    spec = importlib.util.spec_from_file_location("notebooks_build", ROOT / "notebooks" / "build.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


build = load_build()
EVERY = [(name, lang) for name in build.PAGES for lang in build.LANGUAGES]


def committed(name, lang):
    return nbformat.read(build.path_of(name, lang), as_version=4)


@pytest.fixture
def copy(tmp_path):
    """A folder with a copy of one notebook, to spoil."""

    def spoil(change, name="control-room", lang="en"):
        notebook = committed(name, lang)
        change(notebook)
        path = build.path_of(name, lang, tmp_path)
        path.parent.mkdir(exist_ok=True)
        nbformat.write(notebook, path)
        return list(build.complaints(name, lang, tmp_path))

    return spoil


@pytest.mark.parametrize(("name", "lang"), EVERY)
def test_nothing_has_drifted_from_the_source(name, lang):
    assert list(build.complaints(name, lang)) == []


def test_check_says_so_with_its_exit_status(capsys):
    assert build.main(["--check"]) == 0
    assert capsys.readouterr().out == ""


def test_the_syllabus_explains_the_numbers_of_its_topics():
    zh, en = build.syllabus().split("\n\n# Syllabus")
    assert "17 给大人的话" in zh and "17 for adults" in en
    assert all(1 <= topic <= len(build.TOPICS) for page in build.PAGES.values() for topic in page.rows)


@pytest.mark.parametrize("name", build.PAGES)
def test_code_is_the_same_in_both_languages(name):
    zh, en = (
        [
            cell.source.replace(f'lang="{lang}"', 'lang="LANG"')
            for cell in committed(name, lang).cells
            if cell.cell_type == "code"
        ]
        for lang in build.LANGUAGES
    )
    assert zh == en


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def spoiled(notebook):
    """The cell that the tests below spoil: the one whose output is the panel's."""
    return code_cells(notebook)[0]


WITHOUT_PANEL = {
    "13-side-by-side",
    "start",
    "08-giant-pictures",
    "09-giant-languages",
    "12-engineers-page",
    "exercises",
    "exercises-code",
}
WITHOUT_PICTURE = {"start", "exercises", "exercises-code"}


@pytest.mark.parametrize(("name", "lang"), EVERY)
def test_a_panel_left_a_picture_and_the_line_that_says_how_to_bring_it_alive(name, lang):
    outputs = [output for cell in code_cells(committed(name, lang)) for output in cell.outputs]
    still = say("still_line", lang)
    panels = [
        output["data"] for output in outputs if output.get("data", {}).get("text/plain", "").endswith(still)
    ]
    assert all("data:image/png;base64,iVBOR" in panel["text/html"] for panel in panels)
    assert bool(panels) == (name not in WITHOUT_PANEL)


class Pictures(HTMLParser):
    """The attributes of every img."""

    def __init__(self, source):
        super().__init__()
        self.found = []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.found.append(dict(attrs))


def alternative_texts(notebook):
    """Of each picture in a notebook, those of cells' own words too; "" where one has none."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            shown = Pictures(data.get("text/html", "")).found
            found += [each.get("alt") or "" for each in shown]
            # JupyterLab shows these, and no words, where there is no HTML.
            found += [""] * sum(kind.startswith("image/") for kind in data if not shown)
        if cell.cell_type == "markdown":
            found += [each.get("alt") or "" for each in Pictures(cell.source).found]
            found += re.findall(r"!\[(.*?)\]", cell.source)
    return found


@pytest.mark.parametrize(("name", "lang"), EVERY)
def test_every_picture_says_what_it_shows_in_the_notebooks_language(name, lang):
    texts = alternative_texts(committed(name, lang))
    assert bool(texts) == (name not in WITHOUT_PICTURE)
    for words in texts:
        assert len(words) > 20
        assert bool(re.search("[\u4e00-\u9fff]", words)) == (lang == "zh"), words


@pytest.mark.parametrize("source", ["![](a.png)", '<img src="a.png">', '<img alt="" src="a.png">'])
def test_a_picture_without_words_is_found(source):
    cell = nbformat.v4.new_markdown_cell(source)
    assert alternative_texts(nbformat.v4.new_notebook(cells=[cell])) == [""]
    bare = nbformat.v4.new_output("display_data", {"image/png": "iVBOR", "text/plain": "words"})
    cell = nbformat.v4.new_code_cell(outputs=[bare])
    assert alternative_texts(nbformat.v4.new_notebook(cells=[cell])) == [""]


@pytest.mark.parametrize("lang", build.LANGUAGES)
def test_relay_or_line_left_a_picture_of_a_run_that_was_measured(lang):
    cells = code_cells(committed("02-relay-or-line", lang))
    (drawn,) = [cell for cell in cells if cell.source == "room.picture()"]
    assert "data:image/png;base64,iVBOR" in drawn.outputs[0]["data"]["text/html"]
    (ran,) = [cell for cell in cells if cell.source.startswith("outcome = room.run()")]
    assert "<gpipe K=4 M=4: bubble 4" in ran.outputs[0]["data"]["text/plain"]


@pytest.mark.parametrize("lang", build.LANGUAGES)
def test_the_control_room_is_one_cell_and_the_way_on(lang):
    cell, foot = committed("control-room", lang).cells
    assert f'ControlRoom(lang="{lang}", wide=True)' in cell.source
    assert foot.cell_type == "markdown" and foot.source == build.foot("control-room", lang)


@pytest.mark.parametrize(("name", "lang"), EVERY)
def test_cells_are_short(name, lang):
    lengths = sorted(
        len([line for line in cell.source.splitlines() if line]) for cell in code_cells(committed(name, lang))
    )
    assert lengths[-1] <= 6 and lengths[len(lengths) // 2] <= 3


@pytest.mark.parametrize(("name", "lang"), EVERY)
def test_no_notebook_names_the_machine_it_was_built_on(name, lang):
    words = build.path_of(name, lang).read_text(encoding="utf-8")
    for place in (str(ROOT), str(Path.home()) + "/", "/tmp/"):
        assert place not in words


def test_a_cell_that_was_never_executed_is_found(copy):
    def spoil(notebook):
        spoiled(notebook).execution_count = None

    assert copy(spoil) == ["en/control-room.ipynb: not executed once, in order"]


def test_a_saved_widget_view_is_found(copy):
    def spoil(notebook):
        spoiled(notebook).outputs[0]["data"][build.WIDGET_VIEW] = {"model_id": "0"}

    assert len(copy(spoil)) == 1


def test_an_error_is_found(copy):
    def spoil(notebook):
        spoiled(notebook).outputs.append(nbformat.v4.new_output("error", ename="E", evalue="", traceback=[]))

    assert copy(spoil) == ["en/control-room.ipynb: a cell failed"]


def test_a_changed_cell_is_found(copy):
    def spoil(notebook):
        spoiled(notebook).source += "\n1 + 1"

    assert "cells differ" in copy(spoil)[0]


def test_a_checked_cell_without_output_is_found(copy):
    def spoil(notebook):
        for cell in code_cells(notebook):
            if "nbval-check-output" in cell.metadata.get("tags", []):
                cell.outputs = []

    assert set(copy(spoil, "02-relay-or-line")) == {
        "en/02-relay-or-line.ipynb: a cell whose output is checked has none"
    }
