"""The card game without a browser: its times are the plan's, its grid knows why, and stopwatch times tell speeds."""

import itertools
import time

import numpy as np
import pytest

from pipekit import plan
from pipekit.learn.games import cards, cards_groups
from pipekit.learn.games.cards import EQUAL, WAYS, best_pieces, finish, timetable
from pipekit.learn.games.cards_grid import IDLE, CardsGrid
from pipekit.learn.games.cards_groups import CLOCKS, fit, seconds
from pipekit.learn.games.refused import Refused
from pipekit.plan import Kind, Op

# -- the three ways


def test_the_three_ways_take_36_20_and_14_card_times():
    ways = [finish(EQUAL, num_pieces) for num_pieces in WAYS]
    assert [way.first for way in ways] == [24, 8, 2]
    assert [way.done for way in ways] == [36, 20, 14]
    assert [round(100 * way.idle, 1) for way in ways] == [66.7, 40.0, 14.3]


def test_one_slow_person_makes_all_wait():
    ways = [finish((2, 1, 4), num_pieces) for num_pieces in WAYS]
    assert [way.first for way in ways] == [36, 12, 3]
    assert [way.done for way in ways] == [84, 60, 51]


def test_first_is_when_the_last_person_can_begin_not_when_the_first_piece_is_through():
    begin, through = finish((2, 1, 4), 3).first, timetable((2, 1, 4), 3).only("F").spans
    assert begin == 12
    assert through.ends[through.devices == 2].min() == 28


def test_with_a_hand_over_too_many_pieces_lose():
    done = {pieces: finish(EQUAL, pieces, handover=1).done for pieces in (1, 2, 3, 4, 6, 12)}
    assert done == {1: 39, 2: 28, 3: 25, 4: 24, 6: 24, 12: 28}
    assert done == {pieces: (pieces + 2) * (12 / pieces + 1) for pieces in done}
    assert best_pieces(EQUAL, handover=1) == [4, 6]
    assert best_pieces(EQUAL) == [12]


@pytest.mark.parametrize("speeds", [(1, 1), (2, 1, 4), (3, 1, 1), (1, 2, 3, 1), (2, 2, 1, 5, 1)])
def test_the_last_card_is_done_when_the_closed_form_says(speeds):
    for pieces, handover in itertools.product((1, 2, 3, 4, 6, 12), (0, 0.5, 2)):
        slots = [12 / pieces * each + handover for each in speeds]
        expected = sum(slots) + (pieces - 1) * max(slots)
        assert finish(speeds, pieces, handover).done == pytest.approx(expected)


def test_pieces_that_do_not_divide_the_cards_differ_by_one_card():
    spans = timetable(EQUAL, 5).spans
    assert spans.durations[spans.devices == 0].tolist() == [3, 3, 2, 2, 2]
    assert finish(EQUAL, 5).done == 18


def test_the_timetable_is_the_forward_sweep_that_plan_predicts():
    predicted = plan.simulate(plan.gpipe(3, 4), plan.Costs(forward=(6, 3, 12))).only("F")
    assert timetable((2, 1, 4), 4).spans.starts.tolist() == predicted.spans.starts.tolist()


# -- the grid


def test_the_grid_of_way_2_has_9_busy_and_6_idle_cells():
    grid = CardsGrid()
    rows = [[grid.right((person, slot)) for slot in range(grid.num_slots)] for person in range(3)]
    assert rows == [[0, 1, 2, IDLE, IDLE], [IDLE, 0, 1, 2, IDLE], [IDLE, IDLE, 0, 1, 2]]
    assert grid.counts() == (9, 6)
    assert grid.entries == {(0, 0): 0}, "its first cell is given"


def test_a_piece_that_is_not_there_yet_is_refused_with_who_has_it_and_until_when():
    verdict = CardsGrid().put((1, 0), 0).check((1, 0))
    assert not verdict.right and verdict.key == "grid_not_there"
    assert verdict.numbers == {"person": 1, "piece": 0, "slot": 1, "before": 0, "end": 0}


@pytest.mark.parametrize(
    ("cell", "entry", "key"),
    [
        ((0, 0), 0, "grid_right_first"),
        ((2, 3), 1, "grid_right"),
        ((2, 1), IDLE, "grid_right_waits"),
        ((0, 4), IDLE, "grid_right_over"),
        ((0, 1), IDLE, "grid_never_waits"),
        ((1, 2), IDLE, "grid_is_there"),
        ((0, 0), 2, "grid_in_turn"),
        ((1, 3), 0, "grid_done_before"),
        ((2, 2), 1, "grid_not_there"),
    ],
)
def test_every_cell_has_its_reason(cell, entry, key):
    assert CardsGrid().put(cell, entry).check(cell).key == key


@pytest.mark.parametrize(("num_people", "num_pieces"), [(2, 3), (3, 3), (3, 4), (4, 4), (5, 2)])
def test_a_cell_is_right_exactly_where_the_timetable_has_it(num_people, num_pieces):
    busy = {
        (span.device, round(span.start)): span.op.micro_batch
        for span in timetable((1,) * num_people, num_pieces, num_cards=num_pieces).spans
    }
    grid = CardsGrid(num_people, num_pieces)
    assert grid.num_slots == num_people + num_pieces - 1
    for cell in itertools.product(range(num_people), range(grid.num_slots)):
        for entry in range(IDLE, num_pieces):
            assert grid.put(cell, entry).check(cell).right == (busy.get(cell, IDLE) == entry)


def test_a_refusal_of_a_piece_that_is_not_there_is_the_law():
    schedule = plan.gpipe(3, 3)
    grid = CardsGrid()
    for person, slot, piece in itertools.product(range(3), range(5), range(3)):
        verdict = grid.put((person, slot), piece).check((person, slot))
        needs = plan.needs(Op(Kind.FORWARD, person, piece), schedule)
        missing = [op for op in needs if op.stage + op.micro_batch >= slot]
        assert (verdict.key == "grid_not_there") == bool(missing)


def test_a_grid_is_finished_when_every_cell_is_right():
    grid = CardsGrid()
    for cell in itertools.product(range(3), range(5)):
        assert not grid.finished
        grid = grid.put(cell, grid.right(cell))
    assert grid.finished and grid.wrong() == []
    assert not grid.put((0, 1), 0).finished and grid.put((0, 1), 0).wrong() == [(0, 1)]
    assert not grid.clear((0, 0)).finished


# -- the groups


def stopwatch(speeds, handover=0.0, noise=0.0, seed=0):
    thumb = np.random.default_rng(seed).normal(0, noise, len(CLOCKS)) if noise else np.zeros(len(CLOCKS))
    return {
        (what, pieces): getattr(finish(speeds, pieces, handover), what) + off
        for (what, pieces), off in zip(CLOCKS, thumb.tolist(), strict=True)
    }


@pytest.mark.parametrize("typed", ["84", " 84.0 ", "８４", "84,0", "1:24", "1：24", "84秒", "84 s"])
def test_a_time_is_read_as_a_class_types_it(typed):
    assert seconds(typed) == 84


@pytest.mark.parametrize(
    ("typed", "key"),
    [("", "times_number"), ("soon", "times_number"), ("1:2:3", "times_number"), ("0", "times_range"),
     ("-3", "times_range"), ("nan", "times_range"), ("inf", "times_range"), ("99999", "times_range")],
)  # fmt: skip
def test_what_is_no_time_is_refused_in_words(typed, key):
    with pytest.raises(Refused) as caught:
        seconds(typed)
    assert caught.value.key == key
    assert all(caught.value.sentence(lang) for lang in ("zh", "en"))


def test_times_the_wrong_way_round_are_refused():
    with pytest.raises(Refused, match="Way 2: all done after 8 s, but C got the first card after 20 s"):
        cards_groups.check({("first", 3): 20.0, ("done", 3): 8.0})


@pytest.mark.parametrize(
    ("speeds", "handover"), [((3, 3, 3), 1.0), ((2, 2, 4), 0.5), ((3, 2, 4), 1.0), ((2, 1, 4), 0.0)]
)
def test_the_fit_recovers_noisy_speeds_within_2_percent(speeds, handover):
    mean = sum(speeds[:-1]) / 2  # of the first two these times tell no more
    close = 0
    for seed in range(50):
        found = fit(stopwatch(speeds, handover, noise=0.15, seed=seed))
        off = max(abs(found.speeds[0] / mean - 1), abs(found.speeds[-1] / speeds[-1] - 1))
        close += off <= 0.02
    assert close >= 49  # noise has no largest value


def test_without_noise_the_fit_is_exact():
    for speeds, handover in (((3, 3, 2), 0.5), ((1, 1, 1), 0), ((2, 2, 7), 3)):
        found = fit(stopwatch(speeds, handover))
        assert found.speeds == pytest.approx(speeds) and found.handover == pytest.approx(handover)
        assert max(map(abs, found.residuals.values())) < 1e-9


@pytest.mark.parametrize("mistaken", [("first", 3), ("done", 3), ("first", 12)])
def test_a_mistaken_time_that_carries_no_speed_stays_whole_in_its_own_deviation(mistaken):
    times = stopwatch((2, 2, 4), 0.5)
    times[mistaken] += 9
    found = fit(times)
    assert found.worst == mistaken and not found.apart
    assert found.residuals[mistaken] == pytest.approx(9)


def test_a_slow_first_or_second_person_is_noticed_where_it_explains_all():
    for speeds in ((4, 1, 2), (1, 4, 2)):
        found = fit(stopwatch(speeds, noise=0.1))
        assert found.apart
        assert found.speeds == pytest.approx((4, 1, 2), rel=0.1)


def test_a_fit_takes_times_of_two_ways_but_not_of_one():
    times = stopwatch((3, 3, 3), 1.0)
    assert fit({clock: times[clock] for clock in CLOCKS[:4]}).speeds == pytest.approx((3, 3, 3))
    with pytest.raises(Refused, match="at least 3"):
        fit({clock: times[clock] for clock in CLOCKS[:2]})
    with pytest.raises(Refused, match="another way"):
        fit({clock: times[clock] for clock in (("first", 1), ("first", 3), ("first", 12))})


def test_other_numbers_of_people_are_fitted_too():
    for speeds in ((2, 3), (2, 2, 2, 5), (3, 3, 3, 3, 1)):
        times = stopwatch(speeds, 0.5)
        assert fit(times, len(speeds)).speeds == pytest.approx(speeds)


def test_fifteen_groups_are_fitted_while_a_class_watches():
    began = time.process_time()
    for seed in range(cards_groups.GROUPS):
        fit(stopwatch((3, 3, 4), 1.0, noise=0.3, seed=seed))
    assert time.process_time() - began < 2


def test_people_are_two_to_five():
    assert cards.PEOPLE == (2, 5)
