"""Committed notebooks: as their source says, executed, alike in both languages, alive without a kernel."""

import importlib.util
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]


def load_build():
    spec = importlib.util.spec_from_file_location("notebooks_build", ROOT / "notebooks" / "build.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


build = load_build()
EVERY = [(name, lang) for name in build.NOTEBOOKS for lang in build.LANGUAGES]


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


@pytest.mark.parametrize("name", build.NOTEBOOKS)
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


@pytest.mark.parametrize(("name", "lang"), EVERY)
def test_a_panel_left_a_picture_and_words(name, lang):
    panel = committed(name, lang).cells[1].outputs[0]["data"]
    assert panel["image/png"]
    assert "F0 F1 F2 F3" in panel["text/plain"]


@pytest.mark.parametrize(("name", "lang"), EVERY)
def test_cells_are_short(name, lang):
    lengths = sorted(
        len(cell.source.splitlines()) for cell in committed(name, lang).cells if cell.cell_type == "code"
    )
    assert lengths[-1] <= 6 and lengths[len(lengths) // 2] <= 3


@pytest.mark.parametrize(("name", "lang"), EVERY)
def test_no_notebook_names_the_machine_it_was_built_on(name, lang):
    words = build.path_of(name, lang).read_text(encoding="utf-8")
    for place in (str(ROOT), str(Path.home()) + "/", "/tmp/"):
        assert place not in words


def test_a_cell_that_was_never_executed_is_found(copy):
    def spoil(notebook):
        notebook.cells[1].execution_count = None

    assert copy(spoil) == ["en/control-room.ipynb: not executed once, in order"]


def test_a_saved_widget_view_is_found(copy):
    def spoil(notebook):
        notebook.cells[1].outputs[0]["data"][build.WIDGET_VIEW] = {"model_id": "0"}

    assert len(copy(spoil)) == 1


def test_an_error_is_found(copy):
    def spoil(notebook):
        notebook.cells[1].outputs.append(nbformat.v4.new_output("error", ename="E", evalue="", traceback=[]))

    assert copy(spoil) == ["en/control-room.ipynb: a cell failed"]


def test_a_changed_cell_is_found(copy):
    def spoil(notebook):
        notebook.cells[1].source += "\n1 + 1"

    assert "cells differ" in copy(spoil)[0]


def test_a_checked_cell_without_output_is_found(copy):
    def spoil(notebook):
        for cell in notebook.cells:
            if "nbval-check-output" in cell.metadata.get("tags", []):
                cell.outputs = []

    assert "has none" in copy(spoil)[0]
