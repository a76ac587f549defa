"""The laundry: its numbers, its law, and an answer that nobody sees before the class has guessed."""

import json
import re
from dataclasses import replace
from itertools import product

import ipywidgets
import pytest

from pipekit import plan
from pipekit.errors import ScheduleError
from pipekit.learn.games import LaundryGame, laundry_panel
from pipekit.learn.games.laundry import (
    BASKETS,
    MACHINES,
    TIMES,
    Laundry,
    Play,
    busy_slots,
    done,
    in_slot,
    minutes,
    num_slots,
    schedule,
    timetable,
    waiting,
    washer_waits,
)
from pipekit.learn.games.laundry_scene import NAMES, ROOM, floor, grid, remark
from pipekit.show import say

ALL = [
    Laundry(n, k) for n, k in product(range(BASKETS[0], BASKETS[1] + 1), range(MACHINES[0], MACHINES[1] + 1))
]
SLOW = [
    replace(each, slow_machine=m, times=t)
    for each in ALL
    for m in range(each.num_machines)
    for t in TIMES[1:]
]


# -- the lesson's numbers


def test_one_basket_takes_90_minutes_four_one_after_another_360_and_on_the_line_180():
    assert minutes(Laundry(num_baskets=1), "one_by_one") == minutes(Laundry(num_baskets=1), "line") == 90
    assert minutes(Laundry(), "one_by_one") == 360
    assert minutes(Laundry(), "line") == (4 + 3 - 1) * 30 == 180


def test_one_basket_after_another_the_washer_waits_60_minutes_for_each():
    assert washer_waits(Laundry()) == 60
    timeline = timetable(Laundry(), "one_by_one")
    idle = num_slots(Laundry(), "one_by_one") - busy_slots(timeline, 0, 12)
    assert idle * 30 == 4 * 60


def test_the_two_ways_are_a_relay_race_and_a_production_line():
    assert (
        str(timetable(Laundry(), "line"))
        == """\
F0 F1 F2 F3 .  .
.  F0 F1 F2 F3 .
.  .  F0 F1 F2 F3"""
    )
    assert (
        str(timetable(Laundry(num_baskets=3), "one_by_one"))
        == """\
F0 .  .  F1 .  .  F2 .  .
.  F0 .  .  F1 .  .  F2 .
.  .  F0 .  .  F1 .  .  F2"""
    )


def test_the_line_is_gpipe_and_one_after_another_keeps_one_basket_in_flight():
    assert plan.recognise(schedule(Laundry(), "line")) == "gpipe"
    assert plan.peak_in_flight(plan.simulate(schedule(Laundry(), "one_by_one"), plan.Costs())) == [1, 1, 1]


def test_the_slowest_machine_sets_the_pace_of_the_line():
    for laundry in ALL + SLOW:
        slots = laundry.slots
        assert num_slots(laundry, "line") == sum(slots) + (laundry.num_baskets - 1) * max(slots), laundry
        assert num_slots(laundry, "one_by_one") == laundry.num_baskets * sum(slots), laundry


def test_a_dryer_twice_as_slow():
    slow = Laundry(slow_machine=1, times=2)
    assert (minutes(slow, "line"), minutes(slow, "one_by_one")) == (300, 480)
    assert waiting(timetable(slow, "line"), 1, 3) == [2], (
        "basket 3 stands before the dryer in the fourth slot"
    )


def test_what_cannot_be_set_up_is_refused():
    for asked in (
        {"num_baskets": 0},
        {"num_baskets": 9},
        {"num_machines": 6},
        {"slow_machine": 3},
        {"times": 4},
    ):
        with pytest.raises(ScheduleError):
            Laundry(**asked)


# -- the clock


def test_the_clock_goes_on_and_back_and_stops_at_both_ends():
    play = Play(way="line", declined=True)
    assert play.stepped(-1) == play
    assert play.stepped(2).stepped(-1) == play.stepped(1)
    assert play.stepped(99).slot == play.last == 6 and play.stepped(99).finished


@pytest.mark.parametrize("way", ["one_by_one", "line"])
def test_at_every_moment_a_basket_waits_is_in_a_machine_or_is_done(way):
    laundry = Laundry(5, 4, 2, 3)
    timeline = timetable(laundry, way)
    for slot in range(num_slots(laundry, way) + 1):
        places = [in_slot(timeline, machine, slot) for machine in range(4)]
        there = [basket for basket in places if basket is not None]
        queues = [basket for machine in range(4) for basket in waiting(timeline, machine, slot)]
        assert sorted(there + queues + done(timeline, slot)) == list(range(5))


def test_another_way_and_another_laundry_begin_at_the_beginning():
    play = Play().stepped(3)
    assert play.going("line").slot == 0 and play.going("one_by_one").slot == 3
    assert play.with_laundry(Laundry(5)).slot == 0


# -- guess first


def page(game):
    """All that the page is sent: every trait of every widget."""
    return json.dumps([each.get_state() for each in family(game)], default=str, ensure_ascii=False)


def gives_away(text):
    """Whether the answer stands in a text, as a number of its own."""
    without_ids = re.sub(r"[0-9a-f]{32}", "", text)  # a model's name is random
    return re.search(r"(?<![\d.])180(?![\d.])", without_ids) is not None


def family(widget):
    yield widget
    for child in [*getattr(widget, "children", ()), *([widget.layout] if hasattr(widget, "layout") else [])]:
        yield from family(child)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_before_a_guess_the_answer_is_nowhere_on_the_page(lang):
    game = LaundryGame(lang)
    game.step(12)
    assert "360" in page(game)
    game.go("line")
    game.step(3)
    assert game.state.slot == 0
    for where in (page(game), game.picture_text()):
        assert not gives_away(where)
    assert [
        item["text"] for item in game.tables[1].scene["items"] if item["kind"] == "cell" and item.get("text")
    ] == []
    game.guess("200")
    game.step(6)
    assert gives_away(page(game)) and "200" in page(game)


def test_a_class_that_does_not_want_to_guess_may_look():
    game = LaundryGame("en")
    game.go("line")
    game.decline()
    game.step(6)
    assert "All done: 180 minutes" in game.tables[1].scene["said"]["text"]
    game.set(num_baskets=8)
    game.step(1)
    assert game.state.slot == 1, "having declined once it is not asked again"


def test_a_guess_is_for_one_laundry():
    game = LaundryGame("en")
    game.go("line")
    game.guess(180)
    game.step(6)
    assert "You guessed right!" in game.tables[1].scene["said"]["text"]
    game.set(num_baskets=5)
    game.step(1)
    assert game.state.slot == 0 and game.ask_line.layout.display is None


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_lesson_keeps_the_answer_back_whatever_is_guessed(lang):
    game = LaundryGame(lang, answers="kept")
    game.guess(240)
    game.go("line")
    game.step(6)
    game.decline()
    game.step(6)
    assert not gives_away(page(game)) and "240" in game.tables[1].scene["said"]["text"]
    game.answers = "after_guess"
    game.step(6)
    assert "180" in game.tables[1].scene["said"]["text"] and "240" in game.tables[1].scene["said"]["text"]


@pytest.mark.parametrize(
    ("text", "minutes"), [("240", 240), ("１８０分钟", 180), (" 200 min", 200), ("约240", 240)]
)
def test_a_guess_is_read_however_it_is_written(text, minutes):
    assert Play().guessed(text).guess == minutes


@pytest.mark.parametrize("text", ["", "lots", "-30", "0", "nan", "99999999"])
def test_what_is_no_number_of_minutes_is_refused_in_words(text):
    with pytest.raises(ScheduleError):
        Play().guessed(text)
    game = LaundryGame("zh")
    game.guess_field.value = text
    game.guess_done.click()
    assert game.tables[1].scene["said"]["text"].startswith("不行：")


# -- the panel


def test_the_knobs_move_the_game_and_the_game_moves_the_knobs():
    game = LaundryGame("zh")
    game.baskets.value = 6
    game.machines.value = 5
    game.slow.value = 3
    assert game.state.laundry == Laundry(6, 5, 1, 2)
    game.baskets.value = 7
    assert game.state.laundry == Laundry(7, 5, 1, 2)
    game.machines.value = 2
    assert game.state.laundry == Laundry(7, 2) and game.slow.value == 0
    game.set(slow_machine=1, times=3)
    assert (
        dict(zip(game.slow.values, [w for w, _ in game.slow.field.options], strict=True))[game.slow.value]
        == "烘干机（3 格）"
    )
    game.restart()
    assert (game.baskets.value, game.machines.value, game.slow.value) == (4, 3, 0)


def test_starting_again_keeps_the_way_and_what_was_guessed_and_puts_the_clock_back():
    game = LaundryGame("en")
    game.guess(200)
    game.set(num_baskets=6)
    game.go("line")
    game.step(3)
    game.restart()
    assert (game.state.laundry, game.state.way, game.state.slot) == (Laundry(), "line", 0)
    assert game.state.guess == 200 and game.state.may_look and not game.forward.disabled
    assert game.ask_line.layout.display == "none", "nobody guesses what has been seen"


def test_starting_again_gives_nothing_away_to_a_class_that_has_not_guessed():
    game = LaundryGame("en")
    game.go("line")
    game.restart()
    assert (game.state.way, game.state.may_look, game.forward.disabled) == ("line", False, True)
    kept = LaundryGame("en", answers="kept")
    kept.guess(200)
    kept.go("line")
    kept.restart()
    assert not kept.shown.may_look and kept.forward.disabled


def test_the_clock_runs_by_itself_and_can_be_stopped(monkeypatch):
    monkeypatch.setattr(laundry_panel, "SECONDS", 0.001)
    game = LaundryGame("en")
    game.play().wait(10)
    assert game.state.finished and game.run_button.description == "Play"
    monkeypatch.setattr(laundry_panel, "SECONDS", 5.0)
    run = game.play()
    assert game.state.slot == 0 and not run.done
    game.stop()
    assert run.done and game.state.slot == 0


def test_buttons_that_would_do_nothing_rest():
    game = LaundryGame("en")
    assert (game.back.disabled, game.forward.disabled) == (True, False)
    game.step(99)
    assert (game.back.disabled, game.forward.disabled) == (False, True)
    game.go("line")
    assert game.forward.disabled and game.run_button.disabled


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_what_is_said_names_every_machine(lang):
    for laundry in (Laundry(3, k) for k in NAMES):
        said = remark(Play(laundry), False, lang)["text"]
        assert said.count("," if lang == "en" else "，") == laundry.num_machines - 1


@pytest.mark.parametrize("laundry", [Laundry(), Laundry(8, 5, 2, 3)], ids=str)
def test_the_timetable_fits_the_screen(laundry):
    scene = grid(Play(laundry).stepped(5), "en")
    assert sum(scene["columns"]) + 2 * len(scene["columns"]) <= ROOM + 2
    heights = [scene["rows"] * (scene["row_height"] + 2), 3 * 32]
    assert sum(heights) < 330
    keys = [item["key"] for item in [*scene["items"], *floor(Play(laundry), "en")["items"]]]
    assert len(keys) == len(set(keys))


def test_a_page_without_a_kernel_sees_a_picture_and_words():
    game = LaundryGame("en")
    bundle = game._repr_mimebundle_()
    assert bundle["image/png"] and "basket 1" in bundle["text/plain"]
    assert isinstance(game, ipywidgets.VBox)
    game.lang = "zh"
    assert "洗衣机做 1 号篮" in game.picture_text()


def test_a_clock_that_fails_does_not_say_that_it_runs(monkeypatch):
    game = LaundryGame("en")
    monkeypatch.setattr(laundry_panel, "SECONDS", 0.01)
    monkeypatch.setattr(game, "step", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        game.play().wait(5)
    assert game.run_button.description == say("laundry_play", "en")


@pytest.mark.parametrize(("machines", "choice", "fewer"), [(3, 6, 2), (3, 5, 2), (5, 8, 4), (5, 10, 2)])
def test_the_slow_machine_may_be_taken_away(machines, choice, fewer):
    game = LaundryGame("en", num_machines=machines)
    game.slow.field.value = choice
    game.machines.field.value = fewer
    assert game.state.laundry == Laundry(4, fewer) and game.machines.value == fewer
    game.undo()
    assert game.slow.value == choice
    game.set(num_machines=2, slow_machine=1, times=2)
    game.undo()
    assert game.slow.value == choice and game.machines.value == machines
    game.redo()
    assert game.slow.value == 3 and game.state.laundry == Laundry(4, 2, 1, 2)
