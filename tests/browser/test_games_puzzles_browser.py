"""The grid puzzle's other four tasks in a real lab, each to its end by mouse, by keyboard and by finger."""

import pytest
from hands import HANDS, LARGE, PROJECTOR, Table, open_games

from pipekit import plan
from pipekit.errors import ScheduleError
from pipekit.learn.designboard.board import TICKS
from pipekit.learn.games.grid_puzzle import Puzzle
from pipekit.plan import Op
from pipekit.show import sentence

CELL = """from pipekit.learn.games import GridPuzzle

puzzle = GridPuzzle("{lang}", "forward", {grid[0]}, {grid[1]})
puzzle.wide = True
puzzle"""
SCHEDULES = {"gpipe": plan.gpipe, "free": plan.one_f_one_b, "split": plan.zb_h1}
NAMES = {"free": "1F1B", "split": "ZB-H1"}  # what the game calls them where it doesn't ask for them
SMALL, WHOLE = (2, 2), (4, 4)  # K, M: a small grid to be quick every day, and the lesson's
COUNTS = {  # of the relay race: cells, busy, idle, busy GPUs, idle in percent, slots
    SMALL: (8, 4, 4, 1, 50, 4),
    WHOLE: (64, 16, 48, 1, 75, 16),
}
ENDS = {  # slots, which nobody does better, and pieces kept
    SMALL: {"gpipe": (9, "2 / 2"), "free": (9, "2 / 1"), "split": (7, "2 / 2")},
    WHOLE: {"gpipe": (21, "4 / 4 / 4 / 4"), "free": (21, "4 / 3 / 2 / 1"), "split": (15, "4 / 4 / 4 / 4")},
}
REFUSED = {  # a move that nobody may begin with, and why not
    "gpipe": ("0F1", 2, "puzzle_late"),
    "free": ("1F0", 0, "board_needs_missing"),
    "split": ("1W0", 6, "board_needs_missing"),
}


class Game:
    """One grid on a page and a hand that plays it."""

    def __init__(self, table, hand, grid):
        self.table, self.hand, self.grid = table, hand(table), grid

    def said(self, key, **numbers):
        self.table.said(self.table.say(key, **numbers))

    def begin(self, task):
        """Choose it in the menu."""
        menu = self.table.panel.locator("select:visible").first
        self.hand.choose(menu, self.table.say(f"puzzle_{task}"))
        best = ENDS[self.grid][task][0] if task in NAMES else ""
        self.said(f"puzzle_begin_{task}", pieces=self.grid[1], whole=COUNTS[self.grid][-1], best=best)

    def put(self, op, tick):
        """The cell that it was put into."""
        cell = self.table.at(f"cell:{op.stage}:{tick}")
        self.hand.put(self.table.at(f"chip:{op.kind}{op.micro_batch}"), cell)
        return cell

    def count(self, what, text):
        self.hand.type(self.table.at(f"count:{what}"), str(text))

    def play(self, task):
        if task == "uncut":
            self.count_cells()
        else:
            self.be_refused(task)
            self.fill(task)

    def count_cells(self):
        """One row counted instead of all, words instead of a number, then all three numbers."""
        cells, busy, idle, busy_gpus, percent, whole = COUNTS[self.grid]
        self.count("cells", whole)
        self.said("puzzle_one_row", count=whole, rows=self.grid[0])
        self.count("busy", "x")
        self.table.said({"zh": "不行：“x”不是整数", "en": "No: 'x' is not a whole number"}[self.table.lang])
        for what, number in (("cells", cells), ("busy", busy), ("idle", idle)):
            self.count(what, number)
        self.said("puzzle_stars", stars="★★☆")
        self.said(
            "puzzle_end_uncut", cells=cells, busy_cells=busy, idle=idle, total=self.grid[0],
            busy_gpus=busy_gpus, percent=percent,
        )  # fmt: skip

    def be_refused(self, task):
        """The game gives its reason, and the cell stays empty."""
        words, tick, key = REFUSED[task]
        with pytest.raises(ScheduleError) as caught:
            Puzzle.of(task, *self.grid).put(Op.parse(words), tick)
        assert caught.value.key == key
        cell = self.put(Op.parse(words), tick)
        self.said("game_refused", why=sentence(caught.value, self.table.lang))
        assert cell.inner_text() == ""

    def fill(self, task):
        """Each op at the time that a known schedule gives it."""
        puzzle = Puzzle.of(task, *self.grid)
        for op, tick in moves(task, self.grid):
            if op not in puzzle.board.starts:  # the first one may be given
                puzzle = puzzle.put(op, tick)
                self.put(op, tick)
                if puzzle.missing:
                    self.said("puzzle_left", count=len(puzzle.missing))
        slots, kept = ENDS[self.grid][task]
        self.said(
            "puzzle_stars", stars="★★☆" if task == "gpipe" else "★★★"
        )  # only there a refusal is a mistake
        self.said("puzzle_end", slots=slots, best=slots, kept=kept)
        if task in NAMES:
            self.said("design_found", name=NAMES[task])


def moves(task, grid):
    """A schedule's ops with their times, kind after kind and piece after piece: a chip is taken up once."""
    timeline = plan.simulate(SCHEDULES[task](*grid), TICKS)

    def order(span):
        kind, piece = str(span.op.kind), span.op.micro_batch
        last_piece_first = task == "gpipe" and kind == "B"
        upwards = kind in "BI"
        return (
            "FBIW".index(kind),
            -piece if last_piece_first else piece,
            -span.op.stage if upwards else span.op.stage,
        )

    return [(span.op, round(span.start)) for span in sorted(timeline.spans, key=order)]


@pytest.mark.parametrize(
    ("lang", "size", "grid"),
    [
        pytest.param("zh", PROJECTOR, SMALL),
        *(
            pytest.param(lang, size, WHOLE, marks=pytest.mark.slow)
            for lang in ("zh", "en")
            for size in (PROJECTOR, LARGE)
        ),
    ],
)
def test_every_puzzle_is_played_to_its_end_by_mouse_by_keyboard_and_by_finger(
    opening, starter, pages, screenshot, lang, size, grid
):
    cell = CELL.format(lang=lang, grid=grid)
    table = Table(open_games(starter, pages, lang, size, cell, f"puzzles-{grid[0]}"), lang)
    for name, hand in HANDS.items():
        game = Game(table, hand, grid)
        for task in ("uncut", *SCHEDULES):
            game.begin(task)
            if name == "mouse":
                screenshot(table, f"puzzle-{task}-{grid[0]}-{size['width']}-begin")
                table.fits()
            game.play(task)
            if name == "mouse":
                screenshot(table, f"puzzle-{task}-{grid[0]}-{size['width']}-end")
                table.fits()
