"""The games' table and the board alone, without a lab: two hands on one board, as in front of a class, one that gives up, and
one that writes with an input method."""

import pytest
from conftest import new_pages

from pipekit.learn.designboard.board import Board
from pipekit.learn.designboard.canvas import Canvas
from pipekit.learn.designboard.scene import scene
from pipekit.learn.games.table import Table

CHIP = {"kind": "button", "row": 0, "text": "1", "drag": True}
CELL = {"kind": "cell", "row": 1, "text": "", "drop": True}
SCENE = {
    "name": "a game", "columns": [96, 96], "rows": 2, "row_height": 48, "said": {"text": "", "tone": "plain"},
    "items": [{**each, "key": f"{name}{column}", "column": column} for name, each in (("chip", CHIP), ("cell", CELL)) for column in range(2)],
}  # fmt: skip
BEGIN = """scene => {
    window.sent = [];
    render({ model: { get: (name) => (name === 'scene' ? scene : {}), on() {}, off() {}, send: message => sent.push(message) }, el: document.body });
    window.hand = (type, pointerId, key, x, y) => document.querySelector(`[data-key=${key}]`).dispatchEvent(
        new PointerEvent(type, { pointerId, clientX: x, clientY: y, bubbles: true, button: 0 }));
}"""
PRESSED = """(each, key) => each.dispatchEvent(
    new KeyboardEvent('keydown', { ...key, bubbles: true, cancelable: true }))"""
GHOSTS = "() => document.querySelectorAll('.pk-ghost').length"


BOARD = scene(Board(2, 2), "en", "class")


@pytest.fixture
def alone(chromium):
    """A function that opens a page with a script's table and nothing else."""
    with new_pages(chromium) as new:

        def opened(widget, shown):
            page = new()
            script = widget._esm.replace("export default", "window.table =")
            page.set_content("<!doctype html><link rel=icon href=data:,>")
            page.add_script_tag(content=script)
            page.evaluate(BEGIN, shown)
            return page

        yield opened


def test_a_second_hand_leaves_nothing_of_the_first_hands_drag_behind(alone):
    table = alone(Table, SCENE)
    table.evaluate("() => { Element.prototype.setPointerCapture = () => {}; }")
    for pointer, key in ((1, "chip0"), (2, "chip1")):
        table.evaluate(
            f"() => {{ hand('pointerdown', {pointer}, '{key}', 10, 10); hand('pointermove', {pointer}, '{key}', 60, 60); }}"
        )
    assert table.evaluate(GHOSTS) == 1
    for pointer, key in ((1, "chip0"), (2, "chip1")):
        table.evaluate(f"() => hand('pointerup', {pointer}, '{key}', 60, 60)")
    assert table.evaluate(GHOSTS) == 0


BOTH = pytest.mark.parametrize(
    ("widget", "shown", "chip", "cell", "told"),
    [
        (Table, SCENE, "[data-key=chip0]", "[data-key=cell1]", {"do": "drop", "key": "chip0", "on": "cell1"}),
        (Canvas, BOARD, ".pk-chip", "[data-device='0'][data-tick='1']", {"do": "put", "chip": "F0", "device": 0, "tick": 1}),
    ],
    ids=["table", "board"],
)  # fmt: skip


@BOTH
def test_what_is_dragged_lands_once_where_it_is_let_go(alone, widget, shown, chip, cell, told):
    table = alone(widget, shown)
    table.locator(chip).first.drag_to(table.locator(cell))
    assert table.evaluate("() => sent") == [told]
    assert table.evaluate(GHOSTS) == 0 and table.locator(".pk-over").count() == 0


@BOTH
def test_who_gives_a_drag_up_by_escape_puts_nothing_down(alone, widget, shown, chip, cell, told):
    table = alone(widget, shown)
    table.locator(chip).first.hover()
    table.mouse.down()
    table.locator(cell).hover()
    assert table.evaluate(GHOSTS) == 1
    table.keyboard.press("Escape")
    assert table.evaluate(GHOSTS) == 0 and table.locator("[aria-pressed=true]").count() == 0
    table.mouse.up()
    assert table.evaluate("() => sent") == []


def test_an_enter_that_ends_a_word_of_an_input_method_sends_no_half_typed_number(alone):
    field = {"kind": "input", "key": "count", "row": 1, "column": 0, "name": "how many"}
    table = alone(Table, {**SCENE, "items": [SCENE["items"][0], field]})
    typed = table.get_by_role("textbox", name="how many")
    typed.fill("1")
    for composing in ({"isComposing": True}, {"keyCode": 229}):
        assert typed.evaluate(PRESSED, {"key": "Enter", **composing})  # the input method still has the key
        assert table.evaluate("() => sent") == []
    typed.evaluate(PRESSED, {"key": "Enter"})
    assert table.evaluate("() => sent") == [{"do": "type", "key": "count", "text": "1"}]
