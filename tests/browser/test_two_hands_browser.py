"""The games' table alone, without a lab: two hands on one board, as in front of a class."""

from conftest import new_pages

from pipekit.learn.games.table import HERE

CHIP = {"kind": "button", "row": 0, "text": "1", "drag": True}
CELL = {"kind": "cell", "row": 1, "text": "", "drop": True}
SCENE = {
    "name": "a game", "columns": [96, 96], "rows": 2, "row_height": 48, "said": {"text": "", "tone": "plain"},
    "items": [{**each, "key": f"{name}{column}", "column": column} for name, each in (("chip", CHIP), ("cell", CELL)) for column in range(2)],
}  # fmt: skip
BEGIN = """scene => {
    window.sent = [];
    render({ model: { get: () => scene, on() {}, off() {}, send: message => sent.push(message) }, el: document.body });
    window.hand = (type, pointerId, key, x, y) => document.querySelector(`[data-key=${key}]`).dispatchEvent(
        new PointerEvent(type, { pointerId, clientX: x, clientY: y, bubbles: true, button: 0 }));
}"""
GHOSTS = "() => document.querySelectorAll('.pk-ghost').length"


def test_a_second_hand_leaves_nothing_of_the_first_hands_drag_behind(chromium):
    with new_pages(chromium) as new:
        page = new()
        script = (HERE / "table.js").read_text(encoding="utf-8").replace("export default", "window.table =")
        page.set_content("<!doctype html><link rel=icon href=data:,>")
        page.add_script_tag(content=f"{script}\nElement.prototype.setPointerCapture = () => {{}};")
        page.evaluate(BEGIN, SCENE)
        for pointer, key in ((1, "chip0"), (2, "chip1")):
            page.evaluate(
                f"() => {{ hand('pointerdown', {pointer}, '{key}', 10, 10); hand('pointermove', {pointer}, '{key}', 60, 60); }}"
            )
        assert page.evaluate(GHOSTS) == 1
        for pointer, key in ((1, "chip0"), (2, "chip1")):
            page.evaluate(f"() => hand('pointerup', {pointer}, '{key}', 60, 60)")
        assert page.evaluate(GHOSTS) == 0
