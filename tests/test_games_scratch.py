"""The scratch-paper game without a browser: what it counts, what it refuses, what is best, and which way was played."""

import itertools
from contextlib import suppress
from dataclasses import replace
from heapq import heappop, heappush
from math import comb

import pytest
import torch
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

from pipekit.errors import ScheduleError
from pipekit.learn import ScratchPaperGame
from pipekit.learn.games import chain
from pipekit.learn.games.chain import LESSON
from pipekit.learn.games.refused import Refused
from pipekit.learn.games.scratch import Move, new_game, optimum, replay
from pipekit.learn.games.scratch_best import best_game, hint, remaining
from pipekit.learn.games.scratch_played import recognise
from pipekit.learn.games.scratch_scene import computer, played_words

# -- the chain


def test_the_lessons_chain_has_the_lessons_values():
    assert LESSON.values == (2, 6, 18, 10, 20, 25, 5, 20, 9, 27)


@pytest.mark.parametrize(
    "typed", ["2 +4 x3 -8", "2+4*3-8", "２ ＋４ ×３ －８", "2, +4, X3, −8", " 2 + 4 × 3 - 8 "]
)
def test_a_chain_is_read_as_a_class_types_it(typed):
    assert str(chain.read(typed)) == "2 +4 ×3 -8"


def test_values_stay_exact():
    assert [str(value) for value in chain.read("1 /3 x3 /7").values] == ["1", "1/3", "1", "1/7"]


@pytest.mark.parametrize(
    ("typed", "key"),
    [("", "chain_start"), ("x +1 +1", "chain_start"), ("2 +4 ?3", "chain_step"), ("2 +4 3", "chain_step"),
     ("2 +4", "chain_length"), ("1" + " +1" * 13, "chain_length"), ("2 +4 /0", "chain_zero"),
     ("999 x999 x999", "chain_large"), ("1 /999 /999 /999", "chain_large"), ("2 +4 x1.5", "chain_step")],
)  # fmt: skip
def test_what_is_no_chain_is_refused_in_words(typed, key):
    with pytest.raises(Refused) as caught:
        chain.read(typed)
    assert caught.value.key == key
    assert all(caught.value.sentence(lang) for lang in ("zh", "en"))


# -- moves


def forward(game, steps):
    for _ in range(steps):
        game = game.compute()
    return game


def lesson_game(third, num_cells=3):
    """The rule behind the lesson: 3 and 6 kept on the first way, the third cell used on the way back, or not at all."""
    game = forward(forward(forward(new_game(num_cells), 3).keep(0), 3).keep(1), 3)
    for base in (1, 0, None):
        back = (lambda game: game.restart()) if base is None else (lambda game, base=base: game.take(base))
        game = back(game).compute()
        if third:
            game = game.keep(2).compute().take(2)
        else:
            game = back(game.compute()).compute()
        game = game if base is None else game.take(base)
    return game


def test_only_computing_counts():
    game = forward(new_game(3), 2).keep(0).take(0).restart().compute()
    assert game.evaluations == 3 and game.head == 1


def test_who_reaches_the_asked_step_has_answered_and_has_nothing_in_the_head():
    game = forward(new_game(0), 9)
    assert (game.asked, game.head) == (8, None)
    assert not game.won
    assert forward(new_game(0, chain.read("1 +1 +1")), 2).restart().compute().won


@pytest.mark.parametrize(
    ("play", "key"),
    [
        (lambda: forward(new_game(3), 9).compute(), "scratch_no_start"),
        (lambda: forward(new_game(3), 9).keep(0), "scratch_nothing_to_keep"),
        (lambda: new_game(3).keep(0), "scratch_start_is_printed"),
        (lambda: forward(new_game(3), 3).keep(0).keep(1), "scratch_kept"),
        (lambda: forward(new_game(3), 3).keep(0).compute().keep(0), "scratch_full"),
        (lambda: forward(forward(new_game(3), 8).keep(0), 1).take(0).restart().take(0), "scratch_too_late"),
        (lambda: new_game(3).take(0), "scratch_empty"),
        (lambda: new_game(3).wipe(2), "scratch_empty"),
        (lambda: lesson_game(True).compute(), "scratch_over"),
        (lambda: lesson_game(True).restart(), "scratch_over"),
    ],
)
def test_a_move_that_cannot_be_is_refused_in_words(play, key):
    with pytest.raises(Refused) as caught:
        play()
    assert caught.value.key == key
    assert all(caught.value.sentence(lang) for lang in ("zh", "en"))


def test_a_cell_whose_step_was_asked_already_is_free_again():
    game = forward(forward(new_game(1), 8).keep(0), 1).take(0).restart()
    assert forward(game, 3).keep(0).cells == (3,)


def test_wiping_makes_room():
    assert forward(forward(new_game(1), 3).keep(0).wipe(0), 1).keep(0).cells == (4,)


def test_a_game_is_its_moves():
    game = lesson_game(True)
    assert replay(game.log, 3) == game
    assert game.log[:4] == (Move("compute", 1), Move("compute", 2), Move("compute", 3), Move("keep", 3, 0))


# -- the best


def test_the_optimum_for_0_to_9_cells():
    assert [optimum(9, num_cells) for num_cells in range(10)] == [45, 20, 15, 14, 13, 12, 11, 10, 9, 9]


def closed_form(num_steps, num_cells):
    """Griewank and Walther (2000)."""
    r = next(r for r in itertools.count(1) if comb(num_cells + 1 + r, num_cells + 1) >= num_steps + 1)
    return r * (num_steps + 1) - comb(num_cells + 1 + r, r - 1)


def test_the_dynamic_programme_is_the_closed_form():
    for num_steps, num_cells in itertools.product(range(1, 40, 3), range(12)):
        assert optimum(num_steps, num_cells) == closed_form(num_steps, num_cells)
    assert optimum(1000, 9) == closed_form(1000, 9)


def searched(num_steps, num_cells):
    """The fewest computed steps of all ways to play: Dijkstra over every head, every content of cells, every question."""
    start = (num_steps, 0, frozenset())
    best, queue, tie = {start: 0}, [(0, 0, start)], itertools.count(1)
    while queue:
        cost, _, state = heappop(queue)
        asked, head, kept = state
        if asked == 0:
            return cost
        if cost > best[state]:
            continue
        heads = {*kept, 0} if head is None else {*kept, 0, head}
        for at in heads:
            rooms = [kept] if len(kept) < num_cells else [kept - {old} for old in kept]
            keeps = [kept, *(room | {at} for room in rooms if at and num_cells)]
            for cells, (step, price) in itertools.product(keeps, [(at, 0), (at + 1, 1)]):
                if step == asked:
                    after = (asked - 1, None, frozenset(each for each in cells if each < asked))
                elif step < asked and at != asked:
                    after = (asked, step, cells)
                else:
                    continue
                if cost + price < best.get(after, 10**9):
                    best[after] = cost + price
                    heappush(queue, (cost + price, next(tie), after))
    raise AssertionError("a chain can always be asked back")


@pytest.mark.parametrize("num_steps", range(1, 10))
def test_no_way_to_play_is_better_than_the_optimum(num_steps):
    for num_cells in range(num_steps):
        assert searched(num_steps, num_cells) == optimum(num_steps, num_cells)


@pytest.mark.parametrize("num_cells", range(10))
def test_the_best_game_and_a_game_of_hints_take_the_optimum(num_cells):
    assert best_game(new_game(num_cells)).won
    assert best_game(new_game(num_cells)).evaluations == optimum(9, num_cells)
    game = new_game(num_cells)
    assert remaining(game) == optimum(9, num_cells)
    while not game.won:
        game = game.play(hint(game))
    assert game.evaluations == optimum(9, num_cells)


def test_a_hint_makes_the_best_of_a_bad_start():
    game = forward(
        forward(forward(new_game(2), 1).keep(0), 1).keep(1), 7
    )  # the cells keep 1 and 2, of all steps
    expected = game.evaluations + remaining(game)
    assert expected > optimum(9, 2)
    while not game.won:
        game = game.play(hint(game))
    assert game.evaluations == expected


def goes_on(game):
    """(game, price) after each move that is allowed."""
    cells = range(len(game.cells))
    moves = [
        Move("compute", 1),
        Move("restart"),
        *(Move(kind, 1, c) for kind in ("keep", "take", "wipe") for c in cells),
    ]
    for move in moves:
        with suppress(Refused):
            yield replace(game.play(move), log=()), int(move.kind == "compute")


@pytest.mark.parametrize(("num_steps", "num_cells"), [(5, 1), (4, 2), (5, 3)])
def test_wherever_a_game_stands_hints_lead_to_its_end_with_the_fewest_steps(num_steps, num_cells):
    begin = new_game(num_cells, chain.read("1" + " +1" * num_steps))
    after, open_games = {}, [begin]
    while open_games:
        if (game := open_games.pop()) not in after:
            after[game] = [] if game.won else list(goes_on(game))
            open_games += [each for each, _ in after[game]]
    fewest = {game: 0 if game.won else 10**9 for game in after}
    shorter = True
    while shorter:
        found = {
            game: min([fewest[game], *(fewest[g] + price for g, price in after[game])]) for game in after
        }
        shorter, fewest = found != fewest, found
    for begun in after:
        game = begun
        while not game.won:
            assert remaining(game) == fewest[replace(game, log=())]
            game = game.play(hint(game))
        assert game.evaluations == fewest[begun]


def test_hints_are_there_at_once_even_for_the_longest_chain():
    longest = chain.read("1" + " +1" * chain.STEPS[1])
    for num_cells in (4, 6):
        assert remaining(new_game(num_cells, longest)) == optimum(12, num_cells)


# -- which way was played


def test_the_lessons_rule_takes_15_and_is_recognised():
    played = recognise(lesson_game(third=True))
    assert (played.name, played.evaluations, played.optimum) == ("lesson", 15, 14)
    assert (played.first, played.later, played.segments) == ((3, 6), (7, 4, 1), 3)


def test_without_the_third_cell_it_takes_18():
    for num_cells in (2, 3):
        played = recognise(lesson_game(third=False, num_cells=num_cells))
        assert (played.name, played.evaluations) == ("no_third", 18)


def test_step_7_in_the_third_cell_on_the_first_way_takes_14_which_is_best():
    game = forward(forward(forward(forward(new_game(3), 3).keep(0), 3).keep(1), 1).keep(2), 2)
    game = game.take(2).compute().take(2).take(1)
    for base in (0, None):
        game = (game.restart() if base is None else game.take(base)).compute().keep(2).compute().take(2)
        game = game if base is None else game.take(base)
    played = recognise(game)
    assert (played.name, played.evaluations, played.first) == ("best", 14, (3, 6, 7))


def test_no_cell_takes_45_and_all_cells_take_9():
    nothing = recognise(best_game(new_game(0)))
    assert (nothing.name, nothing.evaluations) == ("nothing", 45)
    everything = recognise(best_game(new_game(9)))
    assert (everything.name, everything.evaluations) == ("all", 9)


def test_15_with_two_of_three_cells_is_the_best_of_two_not_the_lessons_rule():
    game = replay(best_game(new_game(2)).log, 3)
    played = recognise(game)
    assert (played.name, played.evaluations, played.most_cells) == ("best_of_used", 15, 2)


def test_a_step_that_was_asked_already_fills_no_cell():
    game, cell_of = new_game(3), {6: 0, 3: 1, 1: 2}  # one useful value at a time, each in another cell
    for move in best_game(new_game(1)).log:
        game = game.play(move if move.cell is None else Move(move.kind, move.step, cell_of[move.step]))
    played = recognise(game)
    assert (played.name, played.evaluations, played.most_cells) == ("best_of_used", 20, 1)


def test_a_way_of_ones_own_has_no_name():
    game = forward(forward(new_game(3), 1).keep(0), 8)
    for asked in range(8, 1, -1):
        game = forward(game.take(0), asked - 1)
    played = recognise(game.take(0))
    assert (played.name, played.evaluations) == ("own", 9 + sum(range(1, 8)))


def test_a_step_too_many_without_a_cell_is_not_the_sum_from_1_to_9():
    game = new_game(0).compute().compute().restart()
    for move in best_game(new_game(0)).log:
        game = game.play(move)
    assert (recognise(game).name, recognise(game).evaluations) == ("own", 47)


def test_the_lessons_rule_on_a_longer_chain_is_told_with_its_own_numbers():
    game = forward(forward(forward(new_game(4, chain.read("1" + " +1" * 12)), 4).keep(0), 4).keep(1), 4)
    for base in (1, 0, None):
        game = game.restart() if base is None else game.take(base)
        game = game.compute().keep(2).compute().keep(3).compute().take(3).take(2)
        game = game if base is None else game.take(base)
    played = recognise(game)
    assert (played.name, played.evaluations, played.segments) == ("lesson", 21, 3)
    assert "3 steps redone in each part: 12+3×3" in played_words(played, game, "en")


def test_only_a_finished_game_is_recognised():
    with pytest.raises(ValueError, match="step 9 is still asked for"):
        recognise(new_game(3))


@pytest.mark.parametrize(("early_stop", "calls"), [(True, 15), (False, 18)])
def test_pytorch_completes_as_many_layer_calls_as_the_game_counts(early_stop, calls):
    """9 layers in 3 checkpointed segments: 15 with early stop, which is the lesson's rule; 18 without, as with no third cell.

    The last layer of a segment need not be done again: nobody asks for what it gave.
    """
    layers = [torch.nn.Linear(4, 4) for _ in range(9)]
    completed = []
    for layer in layers:
        layer.register_forward_hook(lambda *_: completed.append(1))
    value = torch.ones(2, 4, requires_grad=True)
    with set_checkpoint_early_stop(early_stop):
        for first in (0, 3, 6):
            segment = torch.nn.Sequential(*layers[first : first + 3])
            value = checkpoint(segment, value, use_reentrant=False)
        value.sum().backward()
    assert len(completed) == calls


# -- the panel


def press(game, *keys):
    for key in keys:
        game._heard({"do": "press", "key": key})


def said(game):
    return game.tables[-1].scene["said"]["text"]


def item(game, key):
    return next(each for table in game.tables for each in table.scene["items"] if each["key"] == key)


def test_the_lessons_game_is_played_by_presses_and_told_at_its_end():
    game = ScratchPaperGame("zh")
    press(game, *["compute"] * 3, "cell:0", *["compute"] * 3, "cell:1", *["compute"] * 3)
    assert said(game) == "答对了：第 9 步是 27。B 又问：第 8 步是多少？从起点或者一格草稿开始。"
    for base in ("cell:1", "cell:0", "restart"):
        press(game, base, "compute", "cell:2", "compute", "cell:2", *([base] if base != "restart" else []))
    assert game.state.game.won and item(game, "tally")["text"] == "一共算了 15 次"
    assert "是课上讲的走法" in said(game) and "9+3×2" in said(game) and "最少是 14 次" in said(game)
    assert "PyTorch 前后一共算 15 层" in said(game)


def test_only_what_is_known_is_written():
    game = ScratchPaperGame("en", num_cells=1)
    press(game, *["compute"] * 3, "cell:0", *["compute"] * 6)
    row = [item(game, f"value:{step}")["text"] for step in range(10)]
    assert row == ["2", "·", "·", "cell 1", "·", "·", "·", "·", "?", "·"]
    assert [item(game, f"count:{step}")["text"] for step in range(1, 10)] == ["1"] * 9


def test_a_press_writes_into_a_free_cell_and_takes_from_a_full_one():
    game = ScratchPaperGame("en", num_cells=1)
    press(game, "compute", "cell:0", "compute", "cell:0")
    assert game.state.game.head == 1, "it was taken from"
    press(game, *["compute"] * 8, "restart", *["compute"] * 8)
    assert game.state.game.asked == 7
    press(game, "cell:0", "wipe:0", "restart", "compute", "compute", "cell:0")
    assert game.state.game.cells == (2,)


def test_a_refusal_is_said_and_changes_nothing():
    game = ScratchPaperGame("en")
    press(game, "cell:0")
    assert said(game) == "The start is printed: it needs no cell."
    assert game.state.game.log == ()


def test_the_fewest_is_not_told_before_the_end():
    game = ScratchPaperGame("zh", num_cells=1)
    assert "20" not in game.picture_text()
    game.guess("25次".removesuffix("次"))
    game.show_best()
    assert "一共算了 20 次" in game.picture_text() and "你猜的是 25 次" in game.picture_text()


@pytest.mark.parametrize("typed", ["", "many", "-3", "2.5", "1000"])
def test_a_guess_that_is_no_number_of_steps_is_refused(typed):
    game = ScratchPaperGame("zh")
    game.guess_field.value = typed
    game.guess_done.click()
    assert game.state.asking and "请写一个整数" in said(game)


def test_undo_goes_back_through_the_best_game():
    game = ScratchPaperGame("zh")
    game.best_button.click()
    assert game.state.game.evaluations == 14
    for _ in range(3):
        game.undo_button.click()
    assert not game.state.game.won
    game.redo_button.click()
    game.restart_button.click()
    assert game.state.game == new_game(3)


def test_a_hint_marks_what_it_means_until_something_else_is_done():
    game = ScratchPaperGame("zh")
    press(game, *["compute"] * 3)
    while game.hint().kind != "keep":
        press(game, "compute")
    assert item(game, "cell:0")["mark"] == "hint" and said(game).startswith("提示：把第")
    press(game, "cell:0")
    assert item(game, "cell:0").get("mark", "") == ""


def test_the_computer_is_at_the_same_question():
    game = ScratchPaperGame("zh")
    game.race.value = True
    press(game, *["compute"] * 3)
    assert item(game, "tally")["text"] == "你算了 3 次，电脑 3 次"
    press(game, "restart", *["compute"] * 8)
    assert item(game, "tally")["text"] == "你算了 11 次，电脑 8 次", "not ahead of the player's questions"
    press(game, "compute", "restart", *["compute"] * 8)
    at = computer(game.state.game)
    assert at.asked == 7 and at.evaluations == 9, "it had kept step 8"
    assert item(game, "tally")["text"] == "你算了 20 次，电脑 9 次"
    assert item(game, "computer:3")["text"] == "3" and item(game, "computer:4")["text"] == ""
    game.show_best()
    assert item(game, "tally")["text"] == "你算了 14 次，电脑 14 次"


def test_ones_own_chain_is_played_in_exact_fractions():
    game = ScratchPaperGame("en", num_cells=2)
    game.chain_field.value = "1 /3 x3 /7"
    game.chain_button.click()
    press(game, "compute")
    assert item(game, "value:1")["text"] == "1/3" and len(game.state.game.cells) == 2
    game.chain_field.value = "1 /0 +2"
    game.chain_button.click()
    assert said(game) == "Step 1 divides by 0; take another number."
    assert str(game.state.game.chain) == "1 ÷3 ×3 ÷7"


def test_another_number_of_cells_begins_again():
    game = ScratchPaperGame("en")
    press(game, "compute")
    game.cells.value = 5
    assert game.state.game == new_game(5)
    game.undo()
    assert game.cells.value == 3 and game.state.game.evaluations == 1


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_way_of_playing_is_told_with_its_count(lang):
    for game, count in (
        (best_game(new_game(0)), 45), (best_game(new_game(1)), 20), (best_game(new_game(9)), 9),
        (lesson_game(True), 15), (lesson_game(False), 18), (replay(best_game(new_game(2)).log, 3), 15),
        (replay(best_game(new_game(1)).log, 3), 20),
    ):  # fmt: skip
        assert str(count) in played_words(recognise(game), game, lang)


@pytest.mark.parametrize("num_cells", [0, 3, 9])
def test_all_of_it_fits_and_has_a_picture(num_cells):
    longest = "1" + " +1" * chain.STEPS[1]
    for lang in ("zh", "en"):
        game = ScratchPaperGame(lang, num_cells, longest)
        game.set(race=True)
        for table in game.tables:
            assert sum(table.scene["columns"]) + 2 * len(table.scene["columns"]) <= 1162
        assert len(game.picture_png()) > 1000 and len(game.picture_text()) > 100


@pytest.mark.parametrize("num_cells", [-1, 10, 50])
def test_more_cells_than_the_paper_has_are_refused(num_cells):
    game = ScratchPaperGame("en", num_cells=2)
    for make in (lambda: ScratchPaperGame("en", num_cells), lambda: game.set(num_cells=num_cells)):
        with pytest.raises(ScheduleError, match="from 0 to 9"):
            make()
    assert game.cells.value == len(game.state.game.cells) == 2
