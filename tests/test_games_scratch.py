"""The scratch-paper game without a browser: what it counts, what it refuses, what is best, and which way was played."""

import itertools
from heapq import heappop, heappush
from math import comb

import pytest
import torch
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

from pipekit.learn.games import chain
from pipekit.learn.games.chain import LESSON
from pipekit.learn.games.refused import Refused
from pipekit.learn.games.scratch import Move, new_game, optimum, replay
from pipekit.learn.games.scratch_best import best_game, hint, remaining
from pipekit.learn.games.scratch_played import recognise

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


def test_a_way_of_ones_own_has_no_name():
    game = forward(forward(new_game(3), 1).keep(0), 8)
    for asked in range(8, 1, -1):
        game = forward(game.take(0), asked - 1)
    played = recognise(game.take(0))
    assert (played.name, played.evaluations) == ("own", 9 + sum(range(1, 8)))


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
