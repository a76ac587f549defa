"""The laundry and the grid puzzle in a real lab, each played to its end by mouse, by keyboard and by finger."""

import pytest
from hands import HANDS, SIZES, Table, open_games

from pipekit.learn.games.grid_puzzle import Puzzle

CELL = """import ipywidgets
from pipekit.learn.games import GridPuzzle, LaundryGame

games = [*(LaundryGame("{lang}") for _ in range(3)), GridPuzzle("{lang}")]
for game in games:
    game.wide = True
ipywidgets.VBox(games)"""
GAMES = (*HANDS, "puzzle")  # a laundry for each hand: what was guessed stays guessed
AT_FIRST = {"zh": "0 到 30", "en": "0 to 30 min"}
# Only one game is the panel that the eyes look at, and only it fills the window.
ONLY = """which => document.querySelectorAll('.pipekit-game').forEach((game, index) => {
    game.style.display = index === which ? '' : 'none';
    game.classList.toggle('pipekit-room', index === which); })"""


class Tables(Table):
    """Both games on one page, of which one is in view."""

    def show(self, game):
        self.page.evaluate(ONLY, GAMES.index(game))
        self.page.wait_for_timeout(200)


def play_laundry(game, hand):
    """Guess, then the line to its end; before the guess 180 is nowhere."""
    game.said(AT_FIRST[game.lang])
    assert "180" not in game.text()
    hand.press(game.button("laundry_line"))
    game.said(game.say("laundry_locked"))
    hand.type(game.panel.locator("input[type=text]").first, "200")
    hand.press(game.button("guess_done"))
    for slot in range(6):
        minutes = 30 * slot
        game.said(f"{minutes} 到 {minutes + 30}" if game.lang == "zh" else f"{minutes} to {minutes + 30} min")
        hand.press(game.button("laundry_forward"))
    game.said(game.say("laundry_line_done", total=180, other=360, saved=180))
    game.said("200")


def play_puzzle(game, hand):
    """The lesson's grid: one mistake, then every cell, then count."""
    game.said(game.say("puzzle_begin_forward", pieces=4))
    hand.put(game.at("chip:F0"), game.at("cell:1:0"))
    game.said({"zh": "不行：", "en": "No: "}[game.lang])
    puzzle = Puzzle.of("forward")
    while (found := puzzle.hint()) is not None:
        op, tick = found
        hand.put(game.at(f"chip:F{op.micro_batch}"), game.at(f"cell:{op.stage}:{tick}"))
        puzzle = puzzle.put(op, tick)
        if puzzle.missing:
            game.said(game.say("puzzle_left", count=len(puzzle.missing)))
    game.said(game.say("puzzle_now_count"))
    hand.type(game.at("count:cells"), "7")
    game.said(game.say("puzzle_one_row", count=7, rows=4))
    for what, number in (("cells", 28), ("busy", 16), ("idle", 12)):
        hand.type(game.at(f"count:{what}"), str(number))
    game.said(game.say("puzzle_stars", stars="★★☆"))


PLAYS = {"laundry": play_laundry, "puzzle": play_puzzle}


@pytest.mark.parametrize(("lang", "size"), SIZES)
def test_both_games_are_played_to_their_end_by_mouse_by_keyboard_and_by_finger(
    opening, starter, pages, screenshot, lang, size
):
    table = Tables(open_games(starter, pages, lang, size, CELL.format(lang=lang)), lang)
    for name, hand in HANDS.items():
        for game in ("laundry", "puzzle"):
            table.show(name if game == "laundry" else game)
            if name == "mouse":
                screenshot(table, f"{game}-{size['width']}-begin")
                table.fits()
            PLAYS[game](table, hand(table))
            if name == "mouse":
                screenshot(table, f"{game}-{size['width']}-end")
                table.fits()
            hand(table).press(table.button("game_restart"))
            if game == "laundry":
                table.said(AT_FIRST[lang])
                assert not table.button("guess_done").is_visible(), "what was seen can't be guessed any more"
