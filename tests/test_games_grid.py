"""The grid puzzle: the board's law and GPipe's order decide, refusals are reasons, cells are counted, stars are fair."""

import random
from itertools import product

import pytest

from pipekit import plan
from pipekit.errors import ScheduleError
from pipekit.learn.designboard.board import TICKS
from pipekit.learn.games import GridPuzzle
from pipekit.learn.games.grid_puzzle import (
    COUNTED,
    GUIDED,
    TASKS,
    Puzzle,
    best,
    halves_of_the_bubble,
    misconception,
    numbers,
    relay_race,
    stars,
)
from pipekit.learn.games.grid_puzzle_said import progress
from pipekit.learn.games.grid_puzzle_scene import ROOM, num_columns, scene
from pipekit.plan import Op
from pipekit.show import say

SIZES = list(product((2, 3, 4), (2, 4, 8)))


def op(text):
    return Op.parse(text)


def refusal(act, *asked):
    with pytest.raises(ScheduleError) as caught:
        act(*asked)
    return str(caught.value)


def finished(puzzle):
    while (found := puzzle.hint()) is not None:
        puzzle = puzzle.put(*found)
    if puzzle.counting:
        for what, number in numbers(puzzle).items():
            puzzle = puzzle.count(what, str(number))
    return puzzle


# -- the lesson's two grids


def test_the_relay_race_has_64_cells_16_busy_and_48_idle():
    puzzle = Puzzle.of("uncut")
    assert numbers(puzzle) == {"cells": 64, "busy": 16, "idle": 48}
    assert relay_race(4, 4).makespan == 16
    assert plan.busy_devices(relay_race(4, 4)) == 1.0, "4 bought, about 1 used"


def test_four_pieces_take_7_slots_with_12_of_28_cells_idle_in_two_halves():
    done = finished(Puzzle.of("forward"))
    assert (
        str(done.timeline)
        == """\
F0 F1 F2 F3 .  .  .
.  F0 F1 F2 F3 .  .
.  .  F0 F1 F2 F3 .
.  .  .  F0 F1 F2 F3"""
    )
    assert numbers(done) == {"cells": 28, "busy": 16, "idle": 12}
    assert halves_of_the_bubble(done.timeline) == (6, 6)
    assert best("uncut", 4, 4) - best("forward", 4, 4) == 9


def test_gpu_k_works_on_piece_m_in_slot_k_plus_m_minus_1():
    done = finished(Puzzle.of("forward"))
    assert all(tick == each.stage + each.micro_batch for each, tick in done.board.starts.items())


@pytest.mark.parametrize("size", SIZES)
def test_the_two_halves_of_the_bubble_are_triangles(size):
    k, _ = size
    assert halves_of_the_bubble(finished(Puzzle.of("forward", *size)).timeline) == (k * (k - 1) // 2,) * 2


def test_the_first_cell_is_given():
    assert Puzzle.of("forward").board.starts == Puzzle.of("gpipe").board.starts == {op("0F0"): 0}
    assert Puzzle.of("free").board.starts == {}


# -- every cell is checked, with the reason


@pytest.mark.parametrize(
    ("asked", "tick", "reason"),
    [
        ("1F0", 0, "1F0 needs 0F0, which ends at tick 1"),
        ("2F0", 2, "2F0 needs 1F0, which is not on the board"),
        ("1F0", 2, "1F0 would start too late: device 1 is idle in tick 1"),
        (
            "0F2",
            1,
            "0F2 is too soon: micro-batches go forward in the order of their numbers; on device 0 0F1 is next",
        ),
        ("0F1", 0, "0F1 finds tick 0 taken by 0F0"),
        ("0F0", 3, "0F0 is there already"),
        ("0B0", 5, "0B0 is not in this puzzle; it has: F"),
    ],
)
def test_a_wrong_cell_of_the_lessons_grid_is_refused_with_the_reason(asked, tick, reason):
    assert refusal(Puzzle.of("forward").put, op(asked), tick).startswith(reason)


def test_a_piece_in_another_gpus_row_is_refused():
    assert "stage 0 lives on device 0" in refusal(Puzzle.of("forward").put, op("0F1"), 1, 1)


def test_gpipe_goes_back_when_all_went_forward_and_on_the_last_piece_first():
    puzzle = Puzzle.of("gpipe", 2, 2).put(op("1F0"))
    assert refusal(puzzle.put, op("1B0")).startswith(
        "1B0 goes back, but device 1 has still to go forward on some; GPipe goes forward on all first"
    )
    puzzle = puzzle.put(op("0F1")).put(op("1F1"))
    assert "GPipe goes back on the last micro-batch first; on device 1 1B1 is next" in refusal(
        puzzle.put, op("1B0")
    )
    puzzle = puzzle.put(op("1B1"))
    assert "device 1 is idle in tick 5" in refusal(puzzle.put, op("1B0"), 6)


@pytest.mark.parametrize(("task", "size"), list(product(GUIDED, [(2, 8), (3, 2), (4, 4)])))
def test_exactly_gpipes_cells_are_right_in_whatever_order_they_are_filled(task, size):
    """Every other cell of every op is refused on the way; what is filled in the end is what `plan` simulates."""
    rng = random.Random(str(size))
    puzzle, columns = Puzzle.of(task, *size), num_columns(Puzzle.of(task, *size))
    while puzzle.missing:
        right = {}
        for each in rng.sample(puzzle.missing, min(6, len(puzzle.missing))):
            for tick in rng.sample(range(columns), 8):
                try:
                    right[each] = puzzle.put(each, tick)
                except ScheduleError:
                    continue
        found = puzzle.hint()
        puzzle = rng.choice(list(right.values())) if right else puzzle.put(*found)
    expected = plan.simulate(plan.gpipe(*size), TICKS) if task == "gpipe" else None
    if task == "forward":
        expected = plan.simulate(plan.gpipe(*size), plan.Costs(forward=1, backward=0)).only("F")
    assert str(puzzle.board.timeline()) == str(expected)


# -- free ones: the law is all, the score is the end


def test_1f1b_and_gpipe_are_both_right_and_named_where_all_is_allowed():
    for schedule in (plan.gpipe(4, 4), plan.one_f_one_b(4, 4)):
        puzzle = Puzzle.of("free")
        for span in sorted(plan.simulate(schedule, TICKS).spans, key=lambda each: each.start):
            puzzle = puzzle.put(span.op, round(span.start))
        assert stars(puzzle) == 3
        assert say(schedule.name, "en", "engineer") in progress(puzzle, "en")["text"]


def test_stars_fall_as_it_ends_later():
    ends = {0: 3, 1: 2, 3: 2, 4: 1}
    for late, expected in ends.items():
        puzzle = finished(Puzzle.of("free", 2, 2))
        last = max(puzzle.board.starts, key=puzzle.board.starts.get)
        moved = puzzle.put(last, puzzle.board.starts[last] + late) if late else puzzle
        assert stars(moved) == expected, late


def test_with_split_backwards_it_can_end_sooner_and_the_best_is_plans():
    assert best("split", 4, 4) == plan.greedy(4, 4, TICKS).makespan < best("free", 4, 4)
    puzzle = Puzzle.of("split", 2, 2)
    for span in sorted(plan.simulate(plan.greedy(2, 2, TICKS), TICKS).spans, key=lambda each: each.start):
        puzzle = puzzle.put(span.op, round(span.start))
    assert stars(puzzle) == 3


@pytest.mark.parametrize("size", SIZES)
def test_nothing_with_whole_backwards_ends_before_the_best_that_is_said(size):
    """The last device waits K-1 slots, works 3 M, and the way back to the first takes 2 (K-1) more."""
    k, m = size
    assert best("free", k, m) == best("gpipe", k, m) == (k - 1) + 3 * m + 2 * (k - 1)
    assert best("split", k, m) <= best("free", k, m)


# -- counting


@pytest.mark.parametrize(
    ("what", "value", "key"),
    [
        ("cells", 16, "puzzle_one_row"), ("busy", 4, "puzzle_one_row"), ("idle", 12, "puzzle_one_row"),
        ("cells", 48, "puzzle_counted_idle"), ("idle", 16, "puzzle_counted_busy"), ("busy", 48, "puzzle_counted_idle"),
        ("cells", 63, "puzzle_miscounted"), ("idle", 0, "puzzle_miscounted"),
    ],
)  # fmt: skip
def test_a_wrong_count_is_told_what_it_is_a_count_of(what, value, key):
    assert misconception(Puzzle.of("uncut"), what, value) == key


def test_a_wrong_count_is_a_mistake_and_what_is_no_number_is_none():
    puzzle = Puzzle.of("uncut").count("cells", "16").count("cells", "６４").count("busy", "16")
    assert (puzzle.mistakes, puzzle.counted, puzzle.solved) == (1, ("cells", "busy"), False)
    assert "not a whole number" in refusal(puzzle.count, "idle", "lots")
    assert "not a whole number" in refusal(puzzle.count, "idle", "4.5")
    assert stars(puzzle.count("idle", "48")) == 2
    assert stars(finished(Puzzle.of("uncut"))) == 3


def test_the_end_says_what_it_came_to():
    assert (
        "买了 4 块显卡，大约用了 1 块，75% 的时间闲着" in progress(finished(Puzzle.of("uncut")), "zh")["text"]
    )
    said = progress(finished(Puzzle.of("forward")), "en")["text"]
    assert "16 of 28 cells are busy, 12 are idle: 6 at the start" in said and "6 at the end" in said


# -- the scene


@pytest.mark.parametrize(("task", "size"), list(product(TASKS, [(2, 2), (2, 8), (3, 4), (4, 4)])))
def test_every_puzzle_fits_the_screen_before_and_after(task, size):
    begun = Puzzle.of(task, *size)
    for puzzle in (begun, finished(begun)):
        drawn = scene(puzzle, "en")
        assert sum(drawn["columns"]) + 2 * len(drawn["columns"]) <= ROOM + 2
        assert drawn["rows"] * (drawn["row_height"] + 2) <= 400
        keys = [item["key"] for item in drawn["items"]]
        assert len(keys) == len(set(keys))
        for item in drawn["items"]:
            assert item["column"] + item.get("colspan", 1) <= len(drawn["columns"]), item
            assert item["row"] < drawn["rows"]


@pytest.mark.parametrize(("task", "size"), list(product(TASKS, SIZES)))
def test_what_a_finger_takes_is_44_pixels_wide(task, size):
    drawn = scene(Puzzle.of(task, *size), "zh")
    column = drawn["columns"][1] + 2
    chips = [item for item in drawn["items"] if item.get("drag")]
    assert all(item["colspan"] * column >= 44 for item in chips)
    rows = [item for item in drawn["items"] if item["key"].startswith("row:") and item.get("drop")]
    assert column >= 46 or not chips or rows, "where cells are narrower the row's head does the same"


def test_the_page_is_not_told_the_answers():
    for item in scene(Puzzle.of("forward"), "zh")["items"]:
        assert item["kind"] != "cell" or item["key"] == "cell:0:0" or not item.get("text")
    drawn = {item["key"]: item for item in scene(Puzzle.of("uncut"), "zh")["items"]}
    assert [drawn[f"count:{what}"]["text"] for what in COUNTED] == ["", "", ""]


# -- the panel


def hand(game, **content):
    game.tables[0]._handle_custom_msg(content, [])
    return game.tables[0].scene["said"]


def test_a_hand_plays_the_lessons_grid_to_its_end():
    game = GridPuzzle("en")
    assert hand(game, do="press", key="cell:1:0")["text"].startswith("First choose a piece")
    said = hand(game, do="drop", key="chip:F0", on="cell:1:0")
    assert said["tone"] == "warn" and "slot 2" in said["text"] and game.state.mistakes == 1
    marks = {item["key"]: item["mark"] for item in game.tables[0].scene["items"] if item.get("mark")}
    assert marks == {"cell:1:0": "wrong", "cell:0:0": "hint"}
    while (found := game.state.hint()) is not None:
        each, tick = found
        hand(game, do="drop", key=f"chip:F{each.micro_batch}", on=f"cell:{each.stage}:{tick}")
    assert hand(game, do="type", key="count:cells", text="7")["text"].startswith("7 is one row's")
    for what, number in (("cells", "28"), ("busy", "16"), ("idle", "12")):
        said = hand(game, do="type", key=f"count:{what}", text=number)
    assert said["tone"] == "good" and said["text"].startswith("★★☆")


def test_a_new_game_has_nothing_to_undo():
    assert not any(game.history.can_undo for game in (GridPuzzle("zh"), GridPuzzle("en", "free", 3, 5)))


@pytest.mark.parametrize(("lang", "right"), [("zh", "对。"), ("en", "Right. ")])
def test_only_what_was_put_or_counted_rightly_is_called_right(lang, right):
    free = GridPuzzle(lang, "free", 2, 2)
    for chip in ("chip:F0", "chip:F1"):
        assert hand(free, do="drop", key=chip, on="row:0")["text"].startswith(right)
    for act in ({"do": "undo"}, {"do": "redo"}, {"do": "drop", "key": "cell:0:1", "on": "off"}):
        said = hand(free, **act)
        assert right not in said["text"] and str(len(free.state.missing)) in said["text"], act
    race = GridPuzzle(lang, "uncut")
    assert hand(race, do="type", key="count:cells", text="64")["text"].startswith(right)
    hand(race, do="type", key="count:busy", text="17")
    said = hand(race, do="undo")
    assert said["text"] and right not in said["text"] and said["tone"] == "plain"


def test_undo_takes_a_cell_back_but_no_mistake():
    game = GridPuzzle("zh")
    hand(game, do="drop", key="chip:F1", on="cell:0:1")
    hand(game, do="drop", key="chip:F0", on="cell:1:0")
    hand(game, do="undo")
    assert (len(game.state.board.starts), game.state.mistakes) == (1, 0), (
        "the mistake was made after that move"
    )
    hand(game, do="redo")
    assert (len(game.state.board.starts), game.state.mistakes) == (2, 1)


def test_where_all_is_allowed_an_op_moves_and_is_taken_off():
    game = GridPuzzle("en", "free", 2, 2)
    hand(game, do="drop", key="chip:F0", on="row:0")
    hand(game, do="drop", key="cell:0:0", on="cell:0:3")
    assert game.state.board.starts == {op("0F0"): 3}
    hand(game, do="drop", key="cell:0:3", on="off")
    assert game.state.board.starts == {} and game.state.mistakes == 0


def test_another_puzzle_and_another_size_begin_afresh():
    game = GridPuzzle("zh")
    game.task.value = "gpipe"
    game.pieces.value = 3
    assert (game.state.task, game.state.num_stages, game.state.num_micro_batches) == ("gpipe", 4, 3)
    game.put("1F0")
    game.restart()
    assert len(game.state.board.starts) == 1 and game.task.value == "gpipe"
    with pytest.raises(ScheduleError):
        GridPuzzle("zh", "free", 5)


@pytest.mark.parametrize(("lang", "task"), list(product(("zh", "en"), TASKS)))
def test_a_page_without_a_kernel_sees_the_puzzle(lang, task):
    game = GridPuzzle(lang, task)
    bundle = game._repr_mimebundle_()
    assert bundle["image/png"] and say("puzzle_title", lang) in bundle["text/plain"]
    assert (
        game.hint() is None or say("game_refused", lang, why="") not in game.tables[0].scene["said"]["text"]
    )


def marks(game):
    return {item["key"]: item["mark"] for item in game.tables[0].scene["items"] if item.get("mark")}


@pytest.mark.parametrize("away", ["restart", "undo", "redo"])
def test_what_was_marked_wrong_is_gone_with_its_grid(away):
    game = GridPuzzle("en")
    hand(game, do="drop", key="chip:F1", on="cell:0:1")
    hand(game, do="drop", key="chip:F2", on="cell:0:2")
    game.undo()
    hand(game, do="drop", key="chip:F3", on="cell:1:0")
    assert "wrong" in marks(game).values()
    getattr(game, away)()
    assert marks(game) == {}


def test_beginning_again_begins_the_puzzle_that_is_there():
    game = GridPuzzle("en")
    game.begin("gpipe", 3, 3)
    game.undo()
    hand(game, do="drop", key="chip:F1", on="cell:0:1")
    game.restart()
    assert game.state == Puzzle.of("forward")
