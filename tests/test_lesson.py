"""The lesson's page: five stops that keep what was done in them, a stopwatch that Python decides, one run at a time."""

import base64
import html
import io
import re

import pytest
from PIL import Image

from pipekit import plan
from pipekit.errors import Cancelled, PlacementError
from pipekit.learn import ControlRoom, Experiment, Lesson, Settings
from pipekit.learn.controlroom.room import STARTED
from pipekit.learn.designboard.live import Live
from pipekit.learn.experiment import Outcome
from pipekit.learn.games import CardsGame, LaundryGame, ScratchPaperGame
from pipekit.learn.lesson.bar import scene
from pipekit.learn.lesson.erase import EraseAndRedo, change
from pipekit.learn.lesson.pieces import COUNTS, MorePieces, formula_words, laundry_answer
from pipekit.learn.lesson.real_run import TRIES
from pipekit.learn.lesson.stops import ENDING, STOPS, outline
from pipekit.learn.lesson.stopwatch import MOST_LAPS, Stopwatch, in_words
from pipekit.learn.lesson.two_parts import TwoParts
from pipekit.show import LANGUAGES, say, sentence

pytestmark = pytest.mark.alone

QUICK = 0.04  # batch_time in seconds: a micro-batch of 16 takes 10 ms
KINDS = [LaundryGame, CardsGame, ControlRoom, MorePieces, TwoParts]


class Clock:
    """A clock that stands until it's moved."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture(scope="module")
def experiment():
    return Experiment(batch_time=QUICK)


@pytest.fixture
def lesson(experiment):
    made = Lesson("en", experiment, Clock())
    yield made
    for panel in made.panels.values():
        if isinstance(panel, ControlRoom):
            panel.stop()
            panel.settle()


def press(lesson, do, **more):
    lesson.bar._handle_custom_msg({"do": do, **more}, [])


# -- the stopwatch


def test_a_stopwatch_counts_from_start_to_stop_and_on():
    watch = Stopwatch().start(10).stop(13)
    assert watch.elapsed(99) == 3
    again = watch.start(20)
    assert again.running and again.elapsed(22) == 5
    assert again.stop(24).elapsed(99) == 7


def test_starting_twice_is_starting_once():
    assert Stopwatch().start(10).start(12) == Stopwatch().start(10)


def test_a_lap_is_written_down_while_it_counts_on_and_the_oldest_make_room():
    watch = Stopwatch().start(0)
    for second in range(1, MOST_LAPS + 3):
        watch = watch.lap(second)
    assert watch.laps == tuple(range(3, MOST_LAPS + 3)) and watch.elapsed(20) == 20


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0:00.0"), (9.99, "0:09.9"), (60, "1:00.0"), (2705.25, "45:05.2")]
)
def test_a_time_in_words_is_never_rounded_up(seconds, said):
    assert in_words(seconds) == said


def test_pythons_clock_decides_what_the_page_shows(lesson):
    press(lesson, "start")
    lesson._clock.now += 62.5
    press(lesson, "look")  # a page that was opened again asks
    assert lesson.bar.scene["watch"]["elapsed"] == 62.5 and lesson.bar.scene["watch"]["running"]
    press(lesson, "lap")
    lesson._clock.now += 1
    press(lesson, "stop")
    lesson._clock.now += 100
    press(lesson, "look")
    assert lesson.bar.scene["watch"]["elapsed"] == 63.5 and not lesson.bar.scene["watch"]["running"]
    assert lesson.bar.scene["watch"]["laps"] == ["1: 1:02.5"]
    press(lesson, "reset")
    assert lesson.bar.scene["watch"]["elapsed"] == 0 and lesson.bar.scene["watch"]["laps"] == []


def test_the_stopwatch_runs_on_from_stop_to_stop(lesson):
    press(lesson, "start")
    lesson._clock.now += 30
    press(lesson, "go", stop=4)
    assert lesson.bar.scene["watch"]["elapsed"] == 30 and lesson.bar.scene["watch"]["running"]


def test_large_it_takes_the_stops_place_and_a_stop_takes_it_back(lesson):
    press(lesson, "large")
    assert lesson.bar.scene["large"] and lesson.body.layout.display == "none"
    press(lesson, "go", stop=0)
    assert not lesson.bar.scene["large"] and lesson.body.layout.display is None


# -- the stops


def test_the_five_stops_and_the_exit_questions_fill_45_minutes():
    assert sum(stop.minutes for stop in STOPS) + ENDING == 45


def test_a_stop_is_made_when_the_class_comes_to_it(lesson):
    assert list(lesson.panels) == ["laundry"]
    press(lesson, "go", stop=4)
    assert list(lesson.panels) == ["laundry", "erase"]
    assert isinstance(lesson.panel.made[0], ScratchPaperGame) and list(lesson.panel.made) == [0]


def test_each_stop_is_its_own_kind(lesson):
    for index, kind in enumerate(KINDS):
        lesson.go(index)
        assert isinstance(lesson.panel, kind)
        shown = [panel for panel in lesson.body.children if panel.layout.display != "none"]
        assert shown == [lesson.panel]


def test_nothing_is_lost_on_the_way_there_and_back(lesson):
    lesson.panel.guess(200)
    lesson.panel.go("one_by_one")
    lesson.panel.step(2)
    was, state = lesson.panel, lesson.panel.state
    lesson.go(3)
    lesson.panel.guess("75", "40", "30", "20")
    lesson.go(0)
    assert lesson.panel is was and lesson.panel.state == state
    lesson.go(3)
    assert lesson.panel.guesses == (75, 40, 30, 20)


def test_a_step_that_ran_late_and_ran_again_moves_the_bar_once(monkeypatch, experiment):
    shares, tell = [], Live.tell

    def told(live, phase, **numbers):
        if phase == "lesson_running":
            shares.append(live.share)
        tell(live, phase, **numbers)

    monkeypatch.setattr(Live, "tell", told)
    monkeypatch.setattr(Outcome, "late", property(lambda outcome: 1.0))
    MorePieces("en", experiment).run().wait(30)
    done = [0, 16, 16 + 1, 16 + 1 + 4, 16 + 1 + 4 + 8]  # pieces; the finest cut once more to warm up
    assert shares[::TRIES] == pytest.approx([pieces / (16 + 1 + 4 + 8 + 16) for pieces in done])


def test_a_control_room_fills_the_window_only_where_nothing_else_is_to_be_read(monkeypatch, experiment):
    monkeypatch.setenv(STARTED, "1")
    assert not ControlRoom("zh", experiment).wide
    assert ControlRoom("zh", experiment, wide=True).wide
    monkeypatch.delenv(STARTED)
    assert not ControlRoom("zh", experiment, wide=True).wide


def test_a_lesson_that_start_py_opened_fills_the_window_and_its_stops_dont(monkeypatch, experiment):
    monkeypatch.setenv(STARTED, "1")
    lesson = Lesson("zh", experiment)
    assert lesson.wide and "pipekit-wide" in lesson._dom_classes
    lesson.go(2)
    assert not lesson.panel.wide
    press(lesson, "wide")
    assert not lesson.wide and "pipekit-wide" not in lesson._dom_classes
    lesson.panel.settle()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_bar_names_every_stop_its_minutes_and_what_it_asks(lang):
    shown = scene(1, Stopwatch(), 0, lang)
    assert [stop["label"][0] for stop in shown["stops"]] == list("12345") and shown["current"] == 1
    assert say("lesson_cards_question", lang) == shown["stops"][1]["question"]
    assert all(shown["words"].values())


def test_on_a_page_that_hears_no_threads_every_stop_works_in_the_foreground(lesson):
    lesson.go(3)
    before = lesson.panel
    lesson._found_deaf()
    lesson.go(4)
    lesson.panel.choice.value = 1
    assert before.foreground and all(part.foreground for part in lesson.panel.made.values())


# -- the laundry's answer waits


def words_of(lesson):
    """All that the page has been told so far."""
    scenes = [str(table.scene) for panel in lesson.panels.values() if isinstance(panel, LaundryGame)
              for table in panel.tables]  # fmt: skip
    return "\n".join([lesson.picture_text(), str(lesson.bar.scene), *scenes])


def test_the_laundrys_answer_is_nowhere_before_the_fourth_stop_gives_it(lesson):
    lesson.panel.guess(200)
    assert "180" not in words_of(lesson)
    lesson.go(3)
    assert "180" not in lesson.panel.laundry_words.value and lesson.panels["laundry"].answers == "kept"
    assert lesson.panel.laundry.disabled
    lesson.panel.no_guess()
    lesson.panel.laundry.click()
    assert "180" in lesson.panel.laundry_words.value and "360" in lesson.panel.laundry_words.value
    assert lesson.panels["laundry"].answers == "after_guess"


def test_a_laundry_that_is_made_after_the_answer_keeps_nothing_back(lesson):
    lesson.panels.clear()
    lesson.go(3)
    lesson.panel.give_answer()
    lesson.go(0)
    assert lesson.panel.answers == "after_guess"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_laundrys_answer_is_what_the_plan_says(lang):
    line = plan.simulate(plan.gpipe(3, 4), plan.Costs(forward=30)).only("F").makespan
    in_turn = 4 * plan.simulate(plan.gpipe(3, 1), plan.Costs(forward=30)).only("F").makespan
    assert re.findall(r"\d+", laundry_answer(lang))[0] == f"{in_turn:.0f}"
    assert f"= {line:.0f}" in laundry_answer(lang)


# -- what really trains


def test_the_formulas_shares_are_the_lessons():
    assert [formula_words(count) for count in COUNTS] == [
        "75% = 3/4",
        "43% = 3/7",
        "27% = 3/11",
        "16% = 3/19",
    ]


def test_before_a_guess_nothing_of_the_prediction_is_on_the_page(experiment):
    panel = MorePieces("en", experiment)
    assert panel.figures.value == "" and panel.picture.value == b""
    panel.guess("75", "4o", "", "")
    assert not panel.decided and "4o" in panel.answer.value
    panel.guess("75", "40", "", "")
    assert "40%" in panel.figures.value and "43% = 3/7" in panel.figures.value
    assert bytes(panel.picture.value).startswith(b"\x89PNG")


def test_more_pieces_are_really_run_and_come_near_the_formula(experiment):
    panel = MorePieces("en", experiment)
    outcomes = panel.run().wait(60)
    for count, outcome in zip(COUNTS, outcomes, strict=True):
        assert outcome.key.num_micro_batches == count and outcome.timeline.source == "measured"
        assert abs(outcome.bubble - plan.formula_bubble(4, count)) < 0.12  # 10 ms an op: quick, and coarse
        assert outcome.same
    assert say("measured_short", "en") in panel.figures.value


def test_erasing_saves_scratch_paper_and_costs_a_third_more_time(experiment):
    panel = EraseAndRedo("zh", experiment)
    panel.guess("50", "30")
    never, except_last, always = panel.run().wait(60)
    kept = [max(each.result.memory.peak_activation_bytes) for each in (never, except_last, always)]
    assert kept[2] < 0.5 * kept[0] and always.same and except_last.same
    slots = [
        plan.simulate(plan.gpipe(4, 4, policy), plan.Costs(1, 2, 1)).makespan for policy in plan.CHECKPOINTS
    ]
    assert slots == [21, 27, 28]
    assert abs(always.timeline.makespan / never.timeline.makespan - 4 / 3) < 0.15
    assert "<td>50%</td>" in panel.figures.value and bytes(panel.picture.value).startswith(b"\x89PNG")


@pytest.mark.parametrize(("now", "before", "said"), [(28, 21, "+33%"), (33, 84, "-61%"), (5, 5, "0%")])
def test_a_change_says_more_or_less(now, before, said):
    assert change(now, before) == said


def test_while_one_stop_trains_another_is_refused_in_words(lesson):
    lesson.go(3)
    with lesson.experiment.bench(Settings()), pytest.raises(PlacementError) as refused:
        lesson.panel.run().wait(20)
    assert sentence(refused.value, "en") in html.unescape(lesson.panel.status.value)
    assert not lesson.panel.train.disabled and lesson.panel.outcomes == {}


def test_a_run_can_be_stopped_and_begun_again(experiment):
    panel = EraseAndRedo("en", experiment)
    run = panel.run()
    panel.cancel()
    with pytest.raises(Cancelled):
        run.wait(20)
    assert panel.outcomes == {} and panel.halt.disabled and not panel.train.disabled
    assert len(panel.run().wait(60)) == 3


# -- where no kernel is


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_still_picture_lists_the_stops_and_gives_no_answer(lang, experiment):
    lesson = Lesson(lang, experiment)
    bundle = lesson._repr_mimebundle_()
    assert bundle["text/plain"].splitlines() == [*outline(lang), say("still_line", lang)]
    assert bundle["image/png"]
    picture = Image.open(io.BytesIO(base64.b64decode(bundle["image/png"]))).convert("L")
    right = picture.crop((picture.width - 6, 0, *picture.size))
    assert right.getextrema() == (255, 255)  # nothing is cut off
    assert not re.search(r"\b(180|360|20|14|7|43|42)\b(?! ?(min|分钟))", " ".join(outline(lang)))
