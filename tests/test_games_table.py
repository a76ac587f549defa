"""The games' table: a scene goes to the page, what a hand did comes back, and the page knows no game."""

import re
from math import ceil
from pathlib import Path

from pipekit.learn.designboard.canvas import DRAG, Canvas
from pipekit.learn.designboard.canvas import HERE as BOARDS
from pipekit.learn.games.table import HERE, Table
from pipekit.learn.games.table_picture import wrapped
from pipekit.learn.picture import MENUS
from pipekit.show.fonts import font_for, sized

ROOT = Path(__file__).parents[1]


def test_a_scene_goes_to_the_page_and_what_a_hand_did_comes_back():
    heard = []
    table = Table(scene={"name": "a game", "items": []})
    table.on_msg(lambda table, content, buffers: heard.append(content))
    table._handle_custom_msg({"do": "press", "key": "cell:0:2"}, [])
    assert table.get_state("scene")["scene"]["name"] == "a game"
    assert heard == [{"do": "press", "key": "cell:0:2"}]


def test_the_page_knows_no_game():
    page = (HERE / "table.js").read_text(encoding="utf-8").split("\n", 2)[2]
    assert not re.search(r"basket|machine|washer|stage|piece|card\b|forward|slot|minute|\bscore", page)


def test_the_table_drags_as_the_board_does():
    for widget, own in ((Table, HERE / "table.js"), (Canvas, BOARDS / "canvas.js")):
        assert widget._esm == MENUS + DRAG + own.read_text(encoding="utf-8")
        assert widget._esm.count("pointermove") == 1


def test_an_installed_copy_has_the_table_too():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert {file.suffix for file in HERE.glob("table.*")} == {".py", ".js", ".css"}
    assert '"pipekit.learn.games" = ["*.js", "*.css"]' in project


def test_a_still_pictures_sentence_breaks_between_words_and_between_chinese_letters():
    face = sized(font_for("en"), 18)
    wide = ceil(face.getlength("Computed 15: 9+3×2 "))
    assert wrapped("Computed 15: 9+3×2 steps √", face, wide) == ["Computed 15: 9+3×2 ", "steps √"]
    assert "".join(wrapped("一共算了 15 次：steps √", face, 40)) == "一共算了 15 次：steps √"
    assert wrapped("Sätze können 草稿", face, ceil(face.getlength("Sätze können "))) == [
        "Sätze können ",
        "草稿",
    ]
