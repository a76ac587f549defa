"""The card game without a browser: its times are the plan's, its grid knows why, and stopwatch times tell speeds."""

import io
import itertools
import time
from dataclasses import replace
from pathlib import Path
from typing import get_args

import ipywidgets
import numpy as np
import pytest
from PIL import Image

from pipekit import plan
from pipekit.errors import ScheduleError
from pipekit.learn import CardsGame
from pipekit.learn.games import cards, cards_groups, cards_ways_scene
from pipekit.learn.games.cards import EQUAL, WAYS, best_pieces, finish, timetable
from pipekit.learn.games.cards_grid import IDLE, CardsGrid
from pipekit.learn.games.cards_groups import CLOCKS, fit, seconds
from pipekit.learn.games.cards_state import TABS, Cards
from pipekit.learn.games.refused import Refused
from pipekit.learn.games.scratch_played import Name
from pipekit.plan import Kind, Op
from pipekit.show import card_words, scratch_words

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
     ("1:60", "times_number"), ("1:99", "times_number"), ("1_0", "times_number"), ("1e3", "times_number"),
     ("-3", "times_range"), ("nan", "times_number"), ("inf", "times_number"), ("99999", "times_range")],
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


# -- the panel


def told(game):
    """All that a page gets to know."""
    items = [item for table in game.tables for item in table.scene["items"]]
    words = [item.get("text", "") + " " + item.get("name", "") for item in items]
    return "\n".join([*words, game.picture_text()])


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_nothing_is_given_away_before_the_guess(lang):
    game = CardsGame(lang)
    for answer in ("36", "20", "14", "24", "66.7"):
        assert answer not in told(game)
    game.attempt(game.show_best)
    assert game.tables[0].scene["said"]["tone"] == "plain" or "14" not in told(game)
    game.guess("36", "", "12")
    assert all(answer in told(game) for answer in ("36", "20", "14", "24", "66.7"))
    assert {"zh": "你们猜 12", "en": "guess: 12"}[lang] in told(game)


def test_a_guess_is_for_the_settings_that_it_was_made_for():
    game = CardsGame("en")
    game.guess("36", "20", "14")
    game.speeds[2].value = 4
    assert "guess:" not in told(game) and "all done at 72 s" in told(game)
    game.undo()
    assert "all done at 36 s (guess: 36)" in told(game)
    fresh = CardsGame("en")
    fresh.handover.value = 1
    assert fresh.state.guesses is None


def test_a_guess_that_is_no_time_is_refused_and_reveals_nothing():
    game = CardsGame("en")
    for field, text in zip(game.guess_fields, ("soon", "", ""), strict=True):
        field.value = text
    game.guess_done.click()
    assert game.state.guesses is None
    assert game.tables[0].scene["said"] == {
        "text": "Can't read soon: write seconds, such as 84, or 1:24.",
        "tone": "warn",
    }
    with pytest.raises(Refused):
        game.guess("", "", "")
    game.guess_none.click()
    assert game.state.guesses == (None, None, None)


def test_the_timetable_on_the_table_is_the_timetable():
    game = CardsGame("en", seconds=(2, 1, 4))
    game.decline()
    scene = game.tables[0].scene
    texts = {item["key"]: item.get("text") for item in scene["items"]}
    assert texts["result:0:0"] == "C gets its first at 36 s" and texts["result:2:1"] == "all done at 51 s"
    names = [item["name"] for item in scene["items"] if item["key"].startswith("span:1:2:")]
    assert names == [
        "C: idle, 0 to 12 s", "C: piece 1, 12 to 28 s", "C: piece 2, 28 to 44 s", "C: piece 3, 44 to 60 s",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("speeds", "handover"), [((1, 1, 1), 0), ((0.5, 20, 3), 0.5), ((1, 2), 20), ((20, 1, 7, 3, 0.5), 7.5)]
)
def test_equal_times_are_equally_wide_and_all_fits(speeds, handover):
    game = CardsGame("zh", seconds=speeds, handover=handover)
    game.decline()
    scene = game.tables[0].scene
    widths = [width + cards_ways_scene.GAP for width in scene["columns"]]
    assert min(widths) > cards_ways_scene.GAP and sum(widths) <= 1160
    assert scene["rows"] * (scene["row_height"] + 2) <= 330
    whole = max(timetable(speeds, pieces, handover).end for pieces in WAYS)
    for item in scene["items"]:
        if item["key"].startswith("span:"):
            start, end = (float(each) for each in item["name"].split("，")[-1].split(" ")[1:4:2])
            wide = sum(widths[item["column"] : item["column"] + item["colspan"]])
            assert wide == pytest.approx((end - start) * cards_ways_scene.AXIS / whole, abs=6)


def test_knobs_change_the_game_and_undo_changes_the_knobs():
    game = CardsGame("zh")
    game.decline()
    game.handover.value, game.speeds[2].value = 1.0, 4.0
    assert (game.state.handover, game.state.seconds) == (1, (1, 1, 4))
    game.people.value = 5
    assert game.state.seconds == (1, 1, 4, 4, 4)
    game.undo()
    assert game.people.value == 3 and game.speeds[4].layout.display == "none"
    game.undo()
    assert game.speeds[2].value == 1
    game.restart()
    assert game.state.guesses is None and game.handover.value == 0


def test_the_best_number_of_pieces_is_shown_beside_the_others():
    game = CardsGame("en", handover=1)
    game.decline()
    game.best_button.click()
    said = game.tables[0].scene["said"]["text"]
    assert game.state.pieces == 4
    assert "4 or 6 pieces are best: 24 s" in said
    assert "1: 39 s, 2: 28 s, 3: 25 s, 4: 24 s, 6: 24 s, 12: 28 s" in said


def test_the_slowest_is_named():
    game = CardsGame("zh", seconds=(2, 1, 4))
    game.decline()
    assert game.remark()["text"].startswith("C 最慢，大家都要等 C")
    game.lang = "en"
    assert game.remark()["text"] == (
        "C is the slowest and all wait for C: however finely you cut, it can't be quicker than C doing all 12 cards alone."
    )
    assert all(finish(game.state.seconds, pieces).done > 4 * 12 for pieces in range(1, 13))


def test_a_grid_is_filled_by_hand_with_a_reason_for_each_cell():
    game = CardsGame("zh", tab="grid")
    game._heard({"do": "drop", "key": "chip:0", "on": "cell:1:0"})
    assert game.tables[0].scene["said"]["text"] == (
        "不对：第 1 份要到第 1 格，A 才做完；B 最早第 2 格能拿到。"
    )
    wrong = next(item for item in game.tables[0].scene["items"] if item["key"] == "cell:1:0")
    assert wrong["mark"] == "wrong"
    game._heard({"do": "press", "key": "cell:1:1"})
    assert game.tables[0].scene["said"]["tone"] == "warn"
    game._heard({"do": "drop", "key": "chip:0", "on": "cell:0:0"})
    assert game.state.grid.entries[(0, 0)] == 0 and game.tables[0].scene["said"]["tone"] == "warn"
    while not game.state.grid.finished:
        game.fill_button.click()
    assert "9 格在干活，6 格闲着（40%）" in game.tables[0].scene["said"]["text"]


def test_starting_again_is_only_for_the_part_that_is_open():
    game = CardsGame("zh", handover=1)
    game.decline()
    game.note(0, "done", 3, "31")
    game.go("grid")
    game.pieces.value = 4
    game.put(1, 0, IDLE)
    game.restart()
    assert game.state.tab == "grid" and game.state.grid == CardsGrid(3, 4)
    assert game.state.guesses is not None and game.state.times[0]
    game.go("ways")
    game.handover.value = 3
    game.restart()
    assert game.state.guesses is None and game.state.handover == 1 and game.state.times[0]
    game.go("groups")
    game.restart()
    assert not any(game.state.times) and game.state.grid == CardsGrid(3, 4)


def test_the_grid_has_a_size_of_its_own():
    game = CardsGame("zh", tab="grid")
    game.people.value, game.pieces.value = 4, 4
    assert game.state.grid.num_slots == 7 and game.state.grid.counts() == (16, 12)
    game.go("ways")
    assert (game.people.value, game.pieces.value, game.state.num_people) == (3, 3, 3)
    game.tab.value = "grid"
    assert (game.people.value, game.pieces.value) == (4, 4)


def test_groups_times_are_typed_fitted_and_said():
    game = CardsGame("en", tab="groups")
    for place, text in enumerate(("49", "1:37.5", "17", "75.5", "5", "59")):
        game._heard({"do": "type", "key": f"time:2:{place}", "text": text})
    assert game.tables[0].scene["said"]["text"] == (
        "Group 3's own speeds: A and B 2 s a card on average, C 4 s, a hand-over 0.5 s. "
        "Way 2, when all was done, took 9 s longer than these speeds say."
    )
    off = [item["key"] for item in game.tables[0].scene["items"] if item.get("mark") == "hint"]
    assert off == ["time:2:3"]
    game._heard({"do": "type", "key": "time:2:3", "text": ""})
    assert "All times fit these" in game.tables[0].scene["said"]["text"]


def test_a_bad_time_is_refused_and_the_others_stay():
    game = CardsGame("zh", tab="groups")
    game.note(0, "first", 3, "20")
    game._heard({"do": "type", "key": "time:0:3", "text": "8"})
    assert game.tables[0].scene["said"]["text"] == (
        "方法 2：8 秒全部做完，可是 20 秒 C 才拿到第一张；先后反了。"
    )
    assert game.state.times[0] == {("first", 3): 20}


def test_fifteen_groups_stand_on_three_pages():
    game, seen = CardsGame("zh", tab="groups"), set()
    for _ in range(3):
        items = game.tables[0].scene["items"]
        seen |= {item["key"] for item in items if item["key"].startswith("group:")}
        pages = [item for item in items if item["key"].startswith("page:") and not item["disabled"]]
        game._heard({"do": "press", "key": pages[-1]["key"]})
    assert len(seen) == 15


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_groups_chart_and_each_part_have_a_picture(lang):
    game = CardsGame(lang, tab="groups")
    game.note(0, "done", 3, "31")
    assert Image.open(io.BytesIO(game.chart.value)).size == (630, 350)
    for tab in ("ways", "grid", "groups"):
        game.go(tab)
        assert Image.open(io.BytesIO(game.picture_png())).width == 1180
        assert len(game.picture_text()) > 100


def test_every_part_of_the_page_is_in_one_language():
    game = CardsGame("zh", tab="grid")
    game.lang = "en"
    for tab in ("ways", "grid", "groups"):
        game.go(tab)
        texts = game.picture_text() + "".join(
            str(getattr(widget, "description", "")) for widget in _widgets(game)
        )
        assert not any("\u4e00" <= letter <= "\u9fff" for letter in texts.replace("中", ""))


def _widgets(box):
    for child in getattr(box, "children", ()):
        yield child
        yield from _widgets(child)


def test_what_can_be_pressed_has_a_name():
    game = CardsGame("zh")
    for widget in _widgets(game):
        if isinstance(widget, ipywidgets.Button):
            assert widget.tooltip
    state = replace(game.state, guesses=(None,) * 3)
    assert all(
        item.get("name") or item.get("text") is not None
        for item in cards_ways_scene.scene(state, "zh")["items"]
    )


def test_every_word_of_cards_and_scratch_paper_is_used():
    folder = Path(cards.__file__).parents[2]
    code = "".join(f.read_text(encoding="utf-8") for f in folder.rglob("*.py") if "_words" not in f.name)
    built = {f"cards_tab_{tab}" for tab in TABS} | {f"fit_chart_{what}" for what in ("first", "done")}
    built |= {f"times_{what}{long}" for what in ("first", "done") for long in ("", "_long")}
    built |= {f"scratch_hint_{kind}" for kind in ("compute", "keep", "take", "restart", "wipe")}
    built |= {f"scratch_played_{name}" for name in get_args(Name)} | {"scratch_played_no_third_other"}
    words = [*card_words.WORDS, *scratch_words.WORDS]
    assert [key for key in words if f'"{key}"' not in code and key not in built] == []


# -- what cannot be


@pytest.mark.parametrize("wrong", [
    {"seconds": (1,) * 6}, {"seconds": (1,)}, {"seconds": ()}, {"seconds": (0, 0, 0)}, {"seconds": (-1, 1, 1)},
    {"seconds": (float("nan"), 1, 1)}, {"seconds": (1, 1, 1e300)}, {"handover": -1}, {"handover": float("inf")},
    {"pieces": 0}, {"pieces": 13},
])  # fmt: skip
def test_numbers_that_cannot_be_are_refused_and_the_game_goes_on(wrong):
    game = CardsGame("en")
    with pytest.raises(ScheduleError):
        game.set(**wrong)
    assert game.state == Cards() and not game.history.can_undo
    game.speeds[0].value = 2
    assert game.state.seconds == (2, 1, 1)


def test_a_state_that_cannot_be_drawn_is_not_taken():
    game = CardsGame("en")
    game.set(handover=1)
    game.undo()
    with pytest.raises(KeyError):
        game.go("nowhere")
    assert game.state.tab == "ways" and game.history.can_redo
    game.redo()
    assert game.state.handover == game.handover.value == 1


@pytest.mark.parametrize("late", ["cell:2:4", "cell:9:0", "cell:0:99"])
def test_a_piece_put_down_where_a_smaller_grid_has_no_cell_any_more_is_refused(late):
    """Two quick presses: the second was made on the larger grid."""
    game = CardsGame("en", tab="grid")
    game.people.value, game.pieces.value = 2, 2
    game.tables[0]._handle_custom_msg({"do": "drop", "key": "chip:0", "on": late}, [])
    assert game.tables[0].scene["said"]["tone"] == "warn"
    assert game.state.grid.entries == {(0, 0): 0}
