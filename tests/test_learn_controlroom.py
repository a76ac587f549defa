"""The control room without a browser: knobs move pictures, the class guesses first, runs measure, errors teach."""

import base64
import functools
import html
import io
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import ipywidgets
import pytest
import torch
from PIL import Image
from torch import nn

from pipekit import plan, run, show
from pipekit.errors import Cancelled, DeviceError, PartitionError, StageError
from pipekit.learn import ControlRoom, Experiment, Settings, experiment, mlp
from pipekit.learn.controlroom import pictures
from pipekit.learn.controlroom.guess import Guess
from pipekit.learn.controlroom.presets import LESSON, PRESETS
from pipekit.learn.controlroom.screen import DRAWERS
from pipekit.run import cores
from pipekit.show import fonts, panel, say

ROOT = Path(__file__).resolve().parents[1]
QUICK = 0.04  # batch_time in seconds: a micro-batch of 16 takes 10 ms
LONGEST = 60  # seconds a run may take on a busy machine before a test gives up


@pytest.fixture(scope="module")
def quick():
    """The lesson's experiment, four times as fast; most tests share its model."""
    return Experiment(batch_time=QUICK)


@pytest.fixture
def make(quick):
    """Makes rooms that leave nothing behind."""
    made = []

    def room(lang="en", experiment=None, view="class", wide=False):
        made.append(ControlRoom(lang, experiment or quick, view, wide))
        made[-1]._charts._quiet = 0.0
        return made[-1]

    yield room
    for each in made:
        each.stop()
        each.settle()


@pytest.fixture
def room(make):
    return make()


@pytest.fixture(scope="module")
def lesson():
    """A room as it opens, after its first run: (room, outcome, seconds from the click to the end). To be read only."""
    for attempt in range(2):
        room = ControlRoom("en")
        began = time.monotonic()
        room.screen.train.click()
        outcome = room.wait(LONGEST)
        seconds = time.monotonic() - began
        room.settle()
        if seconds < 8 and not outcome.result.overruns and not outcome.uncut.overruns:
            break
        print(
            f"attempt {attempt + 1} took {seconds:.1f} s, {outcome.result.overruns} overruns: a busy machine"
        )
    yield room, outcome, seconds
    room.settle()


@pytest.fixture
def as_it_is():
    """Asked for by tests that look at charts, or at what three timed steps cost."""


@pytest.fixture(autouse=True)
def soon(request, monkeypatch):
    """What most tests don't look at is left out: charts, their delay, and two of the three timed steps."""
    if "as_it_is" not in request.fixturenames:
        monkeypatch.setattr(experiment, "STEPS", 1)
        monkeypatch.setattr(panel, "DRAW_EVERY", 0.02)
        monkeypatch.setattr(pictures, "memory", lambda *asked: show.Still(b"", ""))
        monkeypatch.setattr(pictures, "curve", lambda *asked: show.Still(b"", ""))


class Bomb(nn.Module):
    """Goes off while it's armed."""

    armed = True

    def forward(self, x):
        if self.armed:
            raise RuntimeError("bang")
        return x


class OnlyWhole(nn.Module):
    """Refuses pieces of a mini-batch of 64."""

    def forward(self, x):
        if x.shape[0] < 64:
            raise RuntimeError("only whole")
        return x


class Dawdle(nn.Module):
    """Takes its time: longer than a stand-in of 10 ms an op declares."""

    def forward(self, x):
        time.sleep(0.015)
        return x


def plain(markup):
    """HTML as it is read."""
    without_style = re.sub(r"<style>.*?</style>", "", markup, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", without_style))


def every(widget):
    """A widget and all that is in it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from every(child)


def words_of(room):
    """Every text in the page, pictures left out: what widgets show, are called and say when pointed at."""
    for widget in every(room):
        for name in ("value", "description", "tooltip", "placeholder"):
            text = getattr(widget, name, None)
            if isinstance(text, str):
                yield plain(text) + " " + " ".join(re.findall(r'(?:aria-label|data-why)="([^"]*)"', text))


def numbers_in(texts):
    """Every number in these texts, as it is written."""
    return {found for text in texts for found in re.findall(r"\d+(?:\.\d+)?", text)}


def shown(widget):
    return widget.layout.display != "none"


def slots(timeline, slot):
    return timeline.makespan / slot


# -- as it opens


def test_the_room_opens_on_the_lesson(make, as_it_is):
    room = make("zh", Experiment())
    assert (room.lang, room.view) == ("zh", "class")
    assert room.settings == Settings(num_stages=4, num_micro_batches=4, checkpoint="never", schedule="gpipe")
    assert room.settings == LESSON
    assert len(room.experiment.model) == 8
    assert len(room.experiment.batch) == 64
    assert room.slot == pytest.approx(0.04)
    assert room.screen.train.description == "训练一次（约 5 秒）"
    assert not room.screen.train.disabled and room.screen.stop.disabled


def test_class_view_opens_with_four_knobs_and_every_drawer_closed(room):
    assert not any(shown(drawer) for drawer in room.screen.drawers.values())
    assert room.screen.drawers.keys() == set(DRAWERS)
    assert shown(room.screen.guess_box) and not shown(room.screen.progress_box)
    assert not shown(room.screen.slower)


def test_a_drawer_opens_alone_and_closes_again(room):
    toggles, drawers = room.screen.toggles, room.screen.drawers
    toggles["more"].value = True
    toggles["memory"].value = True
    assert [key for key in drawers if shown(drawers[key])] == ["memory"]
    assert not toggles["more"].value
    toggles["memory"].value = False
    assert not any(shown(drawer) for drawer in drawers.values())


# -- knobs


KNOBS = [
    ("stages", 6, "num_stages"),
    ("pieces", 9, "num_micro_batches"),
    ("schedule", "1f1b", "schedule"),
    ("checkpoint", "always", "checkpoint"),
    ("slow_device", 2, "slow_device"),
    ("overhead", 5.0, "overhead_ms"),
    ("latency", 10.0, "latency_ms"),
    ("clock", 4.0, "pace"),
    ("batch_norm", True, "batch_norm"),
    ("real_time", True, "real_time"),
]


@pytest.mark.parametrize(("widget", "value", "trait"), KNOBS)
def test_a_knob_moves_its_trait_and_the_trait_its_knob(room, widget, value, trait):
    before = getattr(room, trait)
    getattr(room.screen, widget).value = value
    assert getattr(room, trait) == value
    setattr(room, trait, before)
    assert getattr(room.screen, widget).value == before


# For an engineer predictions are drawn at once. (BatchNorm and the clock's pace change no picture.)
@pytest.mark.parametrize(("widget", "value"), [(knob, value) for knob, value, _ in KNOBS[:7]])
def test_a_knob_moves_the_picture_and_back(make, widget, value):
    room = make(view="engineer")
    picture, knob = room.screen.grid.value, getattr(room.screen, widget)
    before = knob.value
    knob.value = value
    assert room.screen.grid.value != picture
    knob.value = before
    assert room.screen.grid.value == picture


def test_charts_follow_the_knobs(make, as_it_is):
    room = make(view="engineer")
    room.settle()
    memory, curve = room.screen.memory.value, room.screen.curve.value
    room.checkpoint, room.num_stages = "always", 3
    room.settle()
    assert room.screen.memory.value != memory
    assert room.screen.curve.value != curve
    room.checkpoint, room.num_stages = "never", 4
    room.settle()
    assert (room.screen.memory.value, room.screen.curve.value) == (memory, curve)


def test_arrows_step_a_number_as_far_as_it_goes(room):
    stages = room.screen.stages
    stages.more.click()
    assert room.num_stages == 5
    for _ in range(6):
        stages.less.click()
    assert room.num_stages == 1
    for _ in range(9):
        stages.more.click()
    assert room.num_stages == 8


def test_all_of_some_settings_can_be_set_at_once(room):
    pictures_drawn = []
    room.screen.grid.observe(lambda change: pictures_drawn.append(1), "value")
    wanted = Settings(3, 6, "always", "1f1b", slow_device=1, slow_factor=3.0, latency_ms=2.0, pace=2.0)
    room.settings = wanted
    assert room.settings == wanted
    assert len(pictures_drawn) <= 1


def test_a_relay_race_is_one_piece_whatever_the_knob_says(make):
    room = make(view="engineer")
    room.schedule = "naive"
    assert "75.0%" in room.screen.figures.value
    assert all(part.disabled for part in room.screen.pieces.parts)
    grid = room.screen.grid.value
    room.num_micro_batches = 16
    assert room.screen.grid.value == grid
    room.schedule = "gpipe"
    assert not any(part.disabled for part in room.screen.pieces.parts)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_a_preset_sets_every_knob_with_one_click(room, preset):
    room.settings = Settings(
        2, 3, "except_last", "1f1b", 0, 3.0, overhead_ms=2.0, latency_ms=2.0, batch_norm=True, pace=2.0
    )
    room.screen.presets[preset.key].click()
    assert room.settings == preset.settings
    assert room.forward_only is not preset.both_ways
    assert room.screen.direction.value is room.forward_only


def test_reset_leads_back_to_the_lesson(room):
    room.settings = Settings(2, 3, "always", "1f1b", slow_device=1, batch_norm=True, pace=8.0)
    room.forward_only = False
    room.screen.reset.click()
    assert room.settings == LESSON and room.forward_only


# -- language, view, size


def test_switching_language_keeps_every_choice(room):
    wanted = Settings(3, 6, "always", "1f1b", slow_device=2, overhead_ms=5.0, latency_ms=2.0, batch_norm=True)
    room.settings = wanted
    for lang in ("zh", "en", "zh"):
        room.screen.language.value = lang
        assert (room.lang, room.settings) == (lang, wanted)
        assert room.screen.schedule.value == room.screen.schedule.field.value == "1f1b"
        assert room.screen.checkpoint.value == room.screen.checkpoint.field.value == "always"
        assert room.screen.slow_device.field.value == 2
        assert room.screen.stages.label.value == say("stages_label", lang)
        assert room.screen.train.description.startswith(say("train", lang, seconds=0)[:4])
    assert "替身显卡" in room.screen.evidence.value


def test_switching_language_keeps_the_direction_and_the_open_drawer(room):
    room.forward_only = False
    room.screen.toggles["memory"].value = True
    room.screen.language.value = "zh"
    assert not room.forward_only and room.screen.direction.value is False
    assert room.screen.toggles["memory"].value and shown(room.screen.drawers["memory"])


def test_switching_language_keeps_what_was_measured_and_says_it_in_the_other(make, lesson):
    measured, outcome, _ = lesson
    room = make("en", Experiment())
    room.logbook.keep(outcome)
    room.refresh()
    assert plain(room.screen.sentences.value) == plain(measured.screen.sentences.value)
    room.screen.language.value = "zh"
    assert room.outcome is outcome
    assert "不切用了16格，切成4小份用了7格，少用9格。" in plain(room.screen.sentences.value)
    assert "K=4, M=4" in room.screen.go_back.field.options[1][0]


def test_every_text_speaks_the_rooms_language(make):
    room = make("en", view="engineer")
    for toggle in room.screen.toggles.values():
        toggle.value = True
    chinese = [text for text in words_of(room) if re.search("[一-鿿]", text)]
    assert chinese == []


def test_switching_the_view_keeps_every_choice(room):
    wanted = Settings(3, 6, "always", "gpipe", slow_device=2, latency_ms=2.0)
    room.settings = wanted
    room.screen.view.value = "engineer"
    assert (room.view, room.settings) == ("engineer", wanted)
    room.screen.view.value = "class"
    assert (room.view, room.settings) == ("class", wanted)


def test_a_class_counts_from_1_and_an_engineer_from_0(room):
    names = [words for words, _ in room.screen.slow_device.field.options]
    assert names[1] == "GPU 1"
    room.view = "engineer"
    names = [words for words, _ in room.screen.slow_device.field.options]
    assert names[1].endswith(" 0")


def test_engineers_see_everything_predicted_at_once(make):
    room = make(view="engineer")
    assert shown(room.screen.drawers["more"]) and not shown(room.screen.guess_box)
    assert "42.9%" in room.screen.figures.value
    assert not room.forward_only
    room.num_micro_batches = 8
    assert "27.3%" in room.screen.figures.value


def test_text_can_be_smaller_and_the_panel_fill_the_window(room):
    room.screen.size.value = "normal"
    room.screen.wide.value = True
    assert {"pipekit-normal", "pipekit-wide"} <= set(room._dom_classes)
    room.size, room.wide = "big", False
    assert not {"pipekit-normal", "pipekit-wide"} & set(room._dom_classes)
    assert room.screen.size.value == "big" and not room.screen.wide.value


def test_asked_to_the_panel_fills_the_window_in_a_lab_that_the_launcher_started(make, monkeypatch):
    assert not make(wide=True).wide
    monkeypatch.setenv("PIPEKIT_STARTED", "1")
    assert make(wide=True).wide
    assert not make().wide


# -- guess first


GUESSED = [
    Settings(),
    Settings(num_stages=3, num_micro_batches=8),
    Settings(num_stages=6, num_micro_batches=12, checkpoint="always"),
    Settings(num_micro_batches=8, schedule="1f1b"),
    Settings(slow_device=2),
    Settings(num_micro_batches=6, overhead_ms=5.0, latency_ms=2.0),
]


def spoilers(room):
    """Every number about the next run that would give the answer away, as it could be written."""
    timeline = room.experiment.predict(room.settings).timeline
    uncut = room.experiment.predict(room.settings.uncut()).timeline
    shares = [room.experiment.predict(room.settings).formula]
    times = []
    for each, whole in ((timeline, uncut), (timeline.only("F"), uncut.only("F"))):
        shares += [plan.bubble_fraction(each)]
        times += [slots(each, room.slot), slots(whole, room.slot) - slots(each, room.slot)]
        yield from (f"{plan.busy_devices(each):.{digits}f}" for digits in (1, 2))
    for share in shares:
        yield from (f"{100 * share:.{digits}f}" for digits in (0, 1))
    for time_ in times:
        yield from (f"{time_:.1f}", *([f"{time_:.0f}"] if abs(time_ - round(time_)) < 0.2 else []))


@pytest.mark.parametrize("settings", GUESSED, ids=["lesson", "finer", "erased", "1f1b", "slow", "costly"])
def test_before_a_guess_no_predicted_number_is_anywhere_in_the_page(room, settings):
    room.settings = settings
    room.settle()
    told = numbers_in([*map(str, (settings.num_stages, settings.num_micro_batches))])
    given = numbers_in(say("preset_" + preset.key, "en") for preset in PRESETS) | {"64"}
    uncut = {f"{room._least():g}"}
    cost = numbers_in([room.screen.train.description, room.screen.sweep.description])  # said before, always
    found = numbers_in(words_of(room)) & set(spoilers(room))
    assert found <= told | given | uncut | cost
    for words in (room.screen.figures, room.screen.sentences, room.screen.idle, room.screen.saved):
        assert plain(words.value).strip() == ""


@pytest.mark.parametrize("settings", GUESSED, ids=["lesson", "finer", "erased", "1f1b", "slow", "costly"])
def test_before_a_guess_no_picture_shows_what_is_predicted(room, as_it_is, settings):
    room.settings = settings
    room.settle()
    assert all(len(timeline.spans) == 0 for timeline in room.timelines())
    assert room.screen.grid.value == show.png(room._grid())
    most = room.experiment.predict(settings.kept())
    assert room.screen.memory.value == pictures.memory(None, most, None, "en", "class").png
    assert room.screen.curve.value == pictures.curve(settings, {}, [], "en", "class").png
    assert not numbers_in([room.picture_text()]) & {"42.9", "43"}


def test_the_question_tells_what_the_uncut_batch_takes(room):
    words = room.screen.guess_slots_words
    assert words.value == "Guess: uncut takes 16 slots (1 slot: 16 digits on a GPU). With 4 pieces?"
    room.num_stages = 6
    assert "24 slots" in words.value
    room.screen.language.value = "zh"
    assert words.value == "先猜：不切要24格（1格：一块显卡算16张）。切成4小份要几格？"


def type_guess(room, slots="", percent=""):
    room.screen.guess_slots.value, room.screen.guess_percent.value = slots, percent
    room.screen.guess_done.click()


def test_after_a_guess_prediction_and_guess_stand_together(room):
    type_guess(room, "8格", "５０％")
    assert room.logbook.guess(room.settings) == Guess(8.0, 50.0)
    figures = plain(room.screen.figures.value)
    assert "formula 3/7 = 42.9%" in figures and "guessed 50%" in figures and "measured" not in figures
    assert not shown(room.screen.guess_box)
    assert [round(slots(each, room.slot)) for each in room.timelines()] == [16, 7]
    assert {each.source for each in room.timelines()} == {"predicted"}


def test_prediction_guess_and_measurement_stand_together_and_go_into_history(room):
    type_guess(room, "8", "50")
    outcome = room.run().wait(LONGEST)
    room.settle()
    bubble = plan.bubble_fraction(outcome.timeline.only("F"))
    figures = plain(room.screen.figures.value)
    for words in (f"measured  {bubble:.1%}", "formula 3/7 = 42.9%", "guessed 50%"):
        assert words in figures
    assert re.search(r"slots: .* off, idle: .* off", figures)  # how near the guess came
    assert room.logbook.entries[-1].guess == Guess(8.0, 50.0)
    taken = f"{outcome.timeline.only('F').makespan / room.slot:.1f} slots"
    for words in ("1: K=4, M=4", "50%", "42.9%", f"{bubble:.1%}", taken):
        assert words in plain(room.screen.table.value)


def test_no_guess_shows_the_prediction_and_asks_no_more(room):
    room.screen.guess_none.click()
    assert room.may_see and not shown(room.screen.guess_box)
    assert "formula 3/7 = 42.9%" in plain(room.screen.figures.value)
    assert "guessed" not in plain(room.screen.figures.value)


def test_pressing_run_counts_as_no_guess(room):
    room.screen.train.click()
    assert room.may_see  # from now on, and not only when something has been measured
    room.wait(LONGEST)
    room.guess("7", "43")  # too late
    assert room.logbook.guess(room.settings) is None
    assert room.logbook.entries[-1].guess is None


@pytest.mark.parametrize(
    ("slots_typed", "percent_typed"), [("lots", ""), ("", "143%"), ("-3", "43"), ("7", "很多"), ("0", "")]
)
def test_a_nonsense_guess_is_answered_and_nothing_is_lost(room, slots_typed, percent_typed):
    type_guess(room, slots_typed, percent_typed)
    assert plain(room.screen.guess_answer.value).strip()
    assert (room.screen.guess_slots.value, room.screen.guess_percent.value) == (slots_typed, percent_typed)
    assert not room.may_see and shown(room.screen.guess_box)
    assert plain(room.screen.figures.value) == ""
    type_guess(room, "7", "43")
    assert plain(room.screen.guess_answer.value).strip() == ""
    assert room.logbook.guess(room.settings) == Guess(7.0, 43.0)


def test_a_moved_knob_asks_for_a_new_guess_and_back_remembers_the_old_one(room):
    type_guess(room, "7", "43")
    room.num_micro_batches = 8
    assert not room.may_see and shown(room.screen.guess_box)
    assert (room.screen.guess_slots.value, room.screen.guess_percent.value) == ("", "")
    assert "8 pieces" in room.screen.guess_slots_words.value
    assert plain(room.screen.figures.value) == ""
    room.num_micro_batches = 4
    assert room.may_see and "guessed 43%" in plain(room.screen.figures.value)


def test_what_an_engineer_saw_is_hidden_from_the_class_again(room, as_it_is):
    room.view = "engineer"
    assert "42.9%" in room.screen.figures.value
    room.view = "class"
    room.settle()
    assert plain(room.screen.figures.value) == ""
    assert room.screen.curve.value == pictures.curve(room.settings, {}, [], "en", "class").png


# -- the first run, at the lesson's own pace


def test_the_first_run_ends_in_time_and_is_a_measurement(lesson):
    _, outcome, seconds = lesson
    assert seconds < 30  # the promise is 8 on a machine that does nothing else
    assert outcome.timeline.source == outcome.uncut.timeline.source == "measured"
    assert outcome.same and outcome.trained and outcome.loss_after < outcome.loss_before


def test_two_measured_grids_stand_on_one_axis_of_16_columns(lesson):
    room, _, _ = lesson
    uncut, cut = room.timelines()
    assert {uncut.source, cut.source} == {"measured"}
    assert round(slots(uncut, room.slot)) == 16 and round(slots(cut, room.slot)) == 7
    assert room.screen.position.max == 16
    parts = room._parts()
    assert [part.caption.split("  ")[0] for part in parts] == ["Whole batch (uncut)", "Cut into 4 pieces"]
    assert parts[1].annotation == "9 slots fewer"
    look = pictures.look(parts, room.slot, "en", "class", room._least())
    upper, lower = show.scene(room.timelines(), **look).places
    # Column 7 ends at the same place in both, and column 16 in both or nowhere.
    for column in (1, 7):
        assert upper.box(0, 0, column * room.slot)[2] == lower.box(0, 0, column * room.slot)[2]


def idle_columns(timeline, columns, slot):
    """Cells of devices x columns in whose middle a device has nothing to do."""
    busy = 0
    for column in range(columns):
        middle = timeline.start + (column + 0.5) * slot
        busy += sum(span.start <= middle < span.end for span in timeline.spans)
    return timeline.num_devices * columns - busy


def test_48_of_64_and_12_of_28_cells_are_idle(lesson):
    room, _, _ = lesson
    uncut, cut = room.timelines()
    assert idle_columns(uncut, 16, room.slot) == 48
    assert idle_columns(cut, 7, room.slot) == 12


def test_gpu_k_works_on_piece_m_in_slot_k_plus_m_minus_1(lesson):
    room, _, _ = lesson
    cut = room.timelines()[1]
    for device in range(4):
        for piece in range(4):
            middle = cut.start + (device + piece + 0.5) * room.slot
            ops = [each.op for each in cut.spans if each.device == device and each.start <= middle < each.end]
            assert ops == [plan.Op(plan.Kind.FORWARD, device, piece)]


def test_the_sentences_say_the_same_numbers_as_the_picture(lesson):
    room, outcome, _ = lesson
    first, second, third = (plain(text).strip() for text in room.screen.sentences.value.split("</div>")[:3])
    assert first == "The same 64 digits took 16 slots uncut, 7 slots in 4 pieces: 9 slots fewer."
    bubble = plan.bubble_fraction(room.timelines()[1])
    assert second.startswith(f"4 GPUs sat idle {bubble:.1%} of the time")
    assert "42.9%" in second
    assert third.startswith("Same result") and outcome.difference < 1e-5
    figures = plain(room.screen.figures.value)
    assert f"{bubble:.1%}" in figures and f"{plan.busy_devices(room.timelines()[1]):.1f} busy GPUs" in figures


def test_the_last_line_says_that_it_was_real_and_on_what(lesson):
    evidence = plain(lesson[0].screen.evidence.value).strip()
    assert evidence.startswith("Really trained · 4 stand-in GPUs")
    assert "1 slot = 40 ms" in evidence and "overrun" in evidence


def test_every_idle_stretch_says_why_to_mouse_keyboard_and_screen_reader(lesson):
    markup = lesson[0].screen.idle.value
    cells = re.findall(r"<span ([^>]*)></span>", markup)
    assert len(cells) >= 10  # 6 uncut and at least 6 cut, give or take what is thinner than a quarter slot
    for cell in cells:
        assert 'tabindex="0"' in cell and 'role="note"' in cell
        why, label = re.search('data-why="([^"]+)"', cell)[1], re.search('aria-label="([^"]+)"', cell)[1]
        assert why == label and why.startswith("GPU ")
        assert not set("<>'") & set(why)  # escaped
    said = html.unescape(markup)
    assert "GPU 4 · " in said and "piece 1" in said


# -- replay


@pytest.fixture
def replay(lesson):
    room = lesson[0]
    yield room
    room.screen.position.value = 0


def test_column_3_finds_gpu_2_on_piece_2(replay):
    whole = replay.screen.grid.value
    replay.screen.position.value = 3
    words = plain(replay.screen.saved.value)
    assert "Slot 3:" in words and "GPU 2: forward of piece 2" in words and "GPU 4: idle" in words
    assert replay.screen.grid.value != whole
    replay.screen.position.value = 0
    assert replay.screen.grid.value == whole and plain(replay.screen.saved.value) == ""


def test_a_replay_steps_forward_and_back_within_its_bounds(replay):
    position, forward, back = replay.screen.position, replay.screen.forward, replay.screen.back
    back.click()
    assert position.value == 0
    for _ in range(20):
        forward.click()
    assert position.value == position.max == replay.screen.play.max == 16
    back.click()
    assert position.value == 15


def test_play_moves_the_cursor_and_a_step_halts_it(replay):
    replay.screen.play.playing = True
    replay.screen.play.value = 5
    assert replay.screen.position.value == 5
    replay.screen.forward.click()
    assert replay.screen.position.value == 6 and not replay.screen.play.playing


@pytest.mark.parametrize(("seconds", "milliseconds"), [(0.25, 250), (2.0, 2000)])
def test_a_replay_goes_as_fast_as_is_wished(room, seconds, milliseconds):
    room.screen.pace.value = seconds
    assert room.screen.play.interval == milliseconds


def replay_widgets(room):
    screen = room.screen
    return screen.position, screen.play, screen.back, screen.forward, screen.save


def test_there_is_no_replay_before_a_run_nor_during_one(room):
    assert all(widget.disabled for widget in replay_widgets(room))
    room.run().wait(LONGEST)
    assert not any(widget.disabled for widget in replay_widgets(room))
    room.screen.position.value = 3
    current = room.run()
    time.sleep(0.3)
    assert all(widget.disabled for widget in replay_widgets(room))
    assert room.screen.position.value == 0 and room.screen.idle.value == ""
    current.wait(LONGEST)
    room.num_micro_batches = 5
    assert all(widget.disabled for widget in replay_widgets(room))


# -- files


def test_pictures_can_be_saved_from_the_page_with_the_line_that_says_on_what(replay):
    replay.screen.save.click()
    links = dict(
        re.findall(
            r'download="pipekit[^"]*\.(\w+)" href="data:[^;]+;base64,([^"]+)"', replay.screen.saved.value
        )
    )
    assert links.keys() == {"png", "gif", "svg"}
    files = {kind: base64.b64decode(data) for kind, data in links.items()}
    assert Image.open(io.BytesIO(files["png"])).width > 1000
    film = Image.open(io.BytesIO(files["gif"]))
    assert film.n_frames >= 16 and len(files["gif"]) < 1_000_000
    drawing = files["svg"].decode("utf-8")
    assert "Measured" in drawing and "4 stand-ins" in drawing


# -- running


def test_a_run_measures_and_changes_the_parameters_once(make):
    room = make(experiment=Experiment(batch_time=QUICK))
    before = [parameter.detach().clone() for parameter in room.experiment.model.parameters()]
    outcome = room.run().wait(LONGEST)
    after = list(room.experiment.model.parameters())
    assert any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert all(parameter.grad is None for parameter in after)
    assert outcome.bubble == pytest.approx(3 / 7, abs=0.15)


def test_what_was_measured_is_shown_at_once_when_its_settings_return(room):
    outcome = room.run().wait(LONGEST)
    words, picture = room.screen.sentences.value, room.screen.grid.value
    room.num_micro_batches = 8
    assert room.outcome is None and room.screen.sentences.value == ""
    assert "Not trained yet" in room.screen.evidence.value
    room.num_micro_batches = 4
    assert room.outcome is outcome and room.may_see
    assert (room.screen.sentences.value, room.screen.grid.value) == (words, picture)


def test_history_leads_back_to_a_run(room):
    room.run().wait(LONGEST)
    room.num_stages, room.checkpoint = 2, "always"
    room.run().wait(LONGEST)
    names = [words for words, _ in room.screen.go_back.field.options]
    assert names == ["–", "1: K=4, M=4", "2: K=2, M=4, erase all"]
    room.screen.go_back.field.value = 0
    assert room.settings == LESSON and room.outcome is not None
    room.screen.go_back.field.value = 1
    assert (room.num_stages, room.checkpoint) == (2, "always")


def test_a_run_leaves_the_go_back_menu_able_to_lead_to_the_same_run_again(room):
    room.run().wait(LONGEST)
    room.screen.go_back.field.value = 0
    room.num_micro_batches = 2
    room.screen.go_back.field.value = -1
    room.screen.go_back.field.value = 0
    assert room.settings == LESSON


def test_buttons_take_turns(room):
    screen = room.screen
    run_ = room.run()
    assert screen.train.disabled and screen.sweep.disabled and screen.reset.disabled
    assert all(part.disabled for knob in screen.knobs for part in knob.parts)
    assert all(button.disabled for button in screen.presets.values())
    assert not screen.stop.disabled and shown(screen.bar) and shown(screen.progress_box)
    assert not shown(screen.guess_box)
    run_.wait(LONGEST)
    assert not screen.train.disabled and not screen.sweep.disabled and screen.stop.disabled
    assert not any(part.disabled for knob in screen.knobs for part in knob.parts)
    assert not shown(screen.bar) and not shown(screen.progress_box)
    assert screen.bar.value > 0.9


def test_words_changed_at_the_very_end_of_a_run_leave_the_buttons_usable(room, monkeypatch):
    end = room._end

    def end_and_switch(*status, **numbers):  # what another thread does that has waited for the lock
        end(*status, **numbers)
        room.lang = "zh"

    monkeypatch.setattr(room, "_end", end_and_switch)
    room.run().wait(LONGEST)
    assert not room.screen.train.disabled and room.screen.stop.disabled


def test_presets_and_history_rest_during_a_run(room):
    current = room.run()
    room.apply("16_pieces")
    assert room.settings == LESSON
    current.wait(LONGEST)
    room.apply("16_pieces")
    assert room.num_micro_batches == 16


def test_cells_fill_from_left_to_right_while_it_runs(make):
    room = make(experiment=Experiment(batch_time=0.08))
    room.num_stages, room.forward_only = 2, False
    filled = []

    def look(change):
        filled.append(sum(len(timeline.spans) for timeline in room.timelines()))

    room.screen.grid.observe(look, "value")
    room.run().wait(LONGEST)
    assert len(set(filled)) >= 4
    assert filled[-1] == 4 + 16  # all ops of the uncut and the cut step


@pytest.mark.parametrize("begin", [ControlRoom.run, ControlRoom.sweep])
def test_while_it_runs_a_grid_never_shows_a_step_of_other_settings(make, begin):
    room = make(experiment=Experiment(batch_time=0.08))
    room.settings = Settings(2, 2, "always")
    strangers = []

    def look(change):
        if room._live.settings is not None:
            allowed = {op for lane in room.settings.build().lanes for op in lane}
            spans = [span.op for span in room._parts()[-1].timeline.spans]
            strangers.extend([op for op in spans if op not in allowed])
            if room._live.phase == "kept":  # the same ops, with nothing redone
                strangers.extend(allowed - set(spans))

    room.screen.grid.observe(look, "value")
    begin(room).wait(LONGEST)
    assert strangers == []


def test_after_a_run_the_class_sees_the_way_back_when_it_wishes(room):
    room.run().wait(LONGEST)
    room.screen.direction.value = False
    uncut, cut = room.timelines()
    assert len(uncut.spans) == 8 and len(cut.spans) == 32
    assert slots(cut, room.slot) == pytest.approx(21, rel=0.2)
    room.screen.direction.value = True
    assert len(room.timelines()[1].spans) == 16


def test_1f1b_is_shown_both_ways_whatever_the_menu_says(room):
    room.schedule = "1f1b"
    assert room.screen.direction.field.disabled
    room.no_guess()
    for forward_only in (True, False):
        room.forward_only = forward_only
        kinds = {str(span.op.kind) for span in room.timelines()[1].spans}
        assert kinds == {"F", "B"}
    room.schedule = "gpipe"
    assert not room.screen.direction.field.disabled


def test_a_sweep_fills_the_curve_and_changes_no_parameter(make, as_it_is):
    room = make(experiment=Experiment(batch_time=0.08))
    room.num_stages = 2
    before = [parameter.detach().clone() for parameter in room.experiment.model.parameters()]
    curve = room.screen.curve.value
    room.screen.sweep.click()
    outcomes = room.wait(LONGEST)
    room.settle()
    assert [outcome.key.num_micro_batches for outcome in outcomes] == [1, 4, 8, 16]
    assert all(outcome.same and not outcome.trained for outcome in outcomes)
    assert room.screen.curve.value != curve
    assert room.logbook.outcomes.keys() == {Settings(2, count) for count in (1, 4, 8, 16)}
    assert room.logbook.entries == []
    assert all(torch.equal(a, b) for a, b in zip(before, room.experiment.model.parameters(), strict=True))
    assert outcomes[0].bubble > outcomes[1].bubble > outcomes[2].bubble


# -- what takes long asks first


LONG = Settings(num_stages=4, num_micro_batches=4, pace=8.0)


def test_a_run_of_over_30_seconds_asks_first_and_a_second_press_is_a_yes(make, monkeypatch, as_it_is):
    room = make(experiment=Experiment())
    started = []
    monkeypatch.setattr(room, "run", lambda: started.append(room.settings))
    room.settings = LONG
    seconds = round(room.experiment.seconds(LONG))
    assert seconds > 30
    room.screen.train.click()
    assert started == []
    assert room.screen.train.description == f"This takes about {seconds} s. Really run it?"
    assert room.screen.train.tooltip == room.screen.train.description
    room.screen.train.click()
    assert started == [LONG]


def test_moving_a_knob_forgets_the_question(make, monkeypatch, as_it_is):
    room = make(experiment=Experiment())
    started = []
    monkeypatch.setattr(room, "run", lambda: started.append(room.settings))
    room.settings = LONG
    room.screen.train.click()
    room.num_stages = 5
    assert room.screen.train.description.startswith("Train once")
    room.num_stages = 4
    room.screen.train.click()
    assert started == []
    room.pace = 1.0
    room.screen.train.click()
    assert started == [LESSON]


# -- what a run can turn up


def test_overruns_turn_the_last_line_amber_and_offer_a_slower_clock(make):
    room = make(experiment=Experiment(model=nn.Sequential(*mlp(4), Dawdle()), batch_time=QUICK))
    room.num_stages = 2
    outcome = room.run().wait(LONGEST)
    assert outcome.result.overruns > 0
    assert "pipekit-warn" in room.screen.evidence.value and "overruns" in room.screen.evidence.value
    assert "batch_time=0.08 (now 0.04)" in room.screen.evidence.value
    assert shown(room.screen.slower)
    room.screen.slower.click()
    assert room.pace == 2.0
    calm = room.wait(LONGEST)
    assert calm.settings.pace == 2.0
    assert room.slot == pytest.approx(2 * QUICK / 4)
    assert f"1 slot = {1000 * room.slot:g} ms" in room.screen.evidence.value
    room.pace = 1.0
    assert shown(room.screen.slower)
    room.pace = 8.0
    assert not shown(room.screen.slower)


def test_a_slower_clock_keeps_what_was_guessed(room, monkeypatch):
    monkeypatch.setattr(room, "_ask_or_run", lambda: None)
    room.guess("7", "40%")
    room.screen.slower.click()
    assert room.logbook.guess(room.settings) == Guess(7, 40)


def test_the_slower_button_stops_at_the_slowest_clock(room, monkeypatch):
    monkeypatch.setattr(room, "_ask_or_run", lambda: None)
    paces = []
    for _ in range(4):
        room.screen.slower.click()
        paces.append(room.pace)
    assert paces == [2.0, 4.0, 8.0, 8.0]


def test_erasing_is_measured_against_keeping(room):
    room.checkpoint = "always"
    outcome = room.run().wait(LONGEST)
    assert outcome.kept is not None and outcome.kept.timeline.source == "measured"
    saved = 1 - max(outcome.result.memory.peak_activation_bytes) / max(
        outcome.kept.memory.peak_activation_bytes
    )
    sentence = plain(room.screen.sentences.value)
    assert 0 < saved < 1 and f"{saved:.0%}" in sentence
    room.forward_only = False
    kinds = {str(span.op.kind) for span in room.timelines()[1].spans}
    assert kinds == {"F", "R", "B"}


@pytest.mark.parametrize(("lang", "words"), [("zh", "不一样"), ("en", "Not the same result")])
def test_batch_norm_is_not_the_same_in_pieces_and_the_room_says_why(make, lang, words):
    room = make(lang)
    room.screen.batch_norm.value = True
    outcome = room.run().wait(LONGEST)
    assert not outcome.same
    said = room.screen.sentences.value
    assert "BatchNorm" in said
    assert words in plain(room.screen.figures.value)


def test_batch_norm_counts_each_micro_batch_of_the_one_step_that_trained_once():
    blocks = [nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU()) for _ in range(3)]
    model = nn.Sequential(nn.Flatten(), *blocks, nn.Linear(64, 10))
    room = ControlRoom("en", Experiment(model=model, batch_time=QUICK))
    room.run().wait(LONGEST)
    room.settle()
    assert int(blocks[0][1].num_batches_tracked) == 4


def test_a_slow_gpu_is_named_with_what_it_costs(room):
    room.apply("slow_stage")
    outcome = room.run().wait(LONGEST)
    assert "above the formula" in plain(room.screen.sentences.value)
    assert "GPU 3" in plain(room.screen.sentences.value) and "GPU 3" in plain(room.screen.evidence.value)
    assert plan.bubble_fraction(outcome.timeline) > 0.5


def test_uneven_pieces_are_drawn_and_named_like_any_other(room):
    room.num_micro_batches = 7
    outcome = room.run().wait(LONGEST)
    assert outcome.same
    assert "in 7 pieces" in plain(room.screen.sentences.value)


# -- real time


@pytest.fixture
def one_core(tmp_path, monkeypatch):
    """A container that may use one core: what `/sys/fs/cgroup` would say."""
    (tmp_path / "cpu.max").write_text("100000 100000\n", encoding="ascii")
    for look in (cores.core_limits, cores.usable_cores):
        monkeypatch.setattr(look, "__defaults__", (tmp_path,))
    assert run.usable_cores() == 1.0


@pytest.mark.parametrize("view", ["class", "engineer"])
def test_real_time_on_shared_cores_is_refused_as_a_measurement(make, one_core, view):
    room = make(view=view)
    room.real_time = True
    outcome = room.run().wait(LONGEST)
    room.settle()
    assert outcome.timeline.source == "shared" and outcome.same
    assert "pipekit-warn" in room.screen.sentences.value and "pipekit-warn" in room.screen.evidence.value
    assert "can't be measured" in plain(room.screen.sentences.value)
    assert "not a bubble measurement" in plain(room.screen.evidence.value)
    assert "not a bubble measurement" in room._parts()[-1].caption
    measured = {
        f"{plan.bubble_fraction(each):.1%}" for each in (outcome.timeline, outcome.timeline.only("F"))
    }
    busy = {f"{plan.busy_devices(each):.2f} of" for each in (outcome.timeline, outcome.timeline.only("F"))}
    for widget in (room.screen.sentences, room.screen.figures, room.screen.table, room.screen.evidence):
        assert not any(number in widget.value for number in measured | busy)


def test_one_gpu_needs_one_core_and_is_measured(make, one_core):
    room = make()
    room.real_time, room.num_stages = True, 1
    assert room.run().wait(LONGEST).timeline.source == "measured"


# -- a clock too coarse


def coarse(grain):
    """A clock and a sleep that only know multiples of `grain` seconds, as on an old Windows."""

    def clock():
        return time.perf_counter() // grain * grain

    def sleep(seconds):
        end = time.perf_counter() + seconds
        time.sleep(max(0.0, -(-end // grain) * grain - time.perf_counter()))

    return {"clock": clock, "sleep": sleep}


@pytest.fixture
def windows_clock(monkeypatch):
    monkeypatch.setattr(run, "stand_ins", functools.partial(run.stand_ins, **coarse(0.0156)))


@pytest.mark.parametrize("lang", show.LANGUAGES)
def test_a_coarse_clock_is_a_sentence_and_a_slower_clock_is_offered(make, windows_clock, lang):
    room = make(lang, Experiment(batch_time=0.06))
    room.num_stages = 2  # ops of 15 ms, and twice a grain of 15 ms is asked for
    with pytest.raises(DeviceError) as refused:
        room.run().wait(LONGEST)
    said = plain(room.screen.status.value)
    assert show.sentence(refused.value, lang) in said and "Traceback" not in said
    assert shown(room.screen.progress_box) and not room.screen.train.disabled
    assert shown(room.screen.slower)
    if lang == "zh":
        assert "longer" not in said
    room.screen.slower.click()
    assert room.pace == 2.0
    for _ in range(2):  # a grain is measured: it may come out as a little more than 15 ms
        try:
            outcome = room.wait(LONGEST)
            break
        except DeviceError:
            room.screen.slower.click()
    assert outcome.same and outcome.timeline.source == "measured"
    assert not shown(room.screen.progress_box)


def test_the_lesson_itself_can_be_shown_by_a_coarse_clock(make, windows_clock):
    room = make(experiment=Experiment())
    room.num_stages = 2
    outcome = room.run().wait(LONGEST)
    assert outcome.timeline.source == "measured"
    assert outcome.bubble == pytest.approx(1 / 5, abs=0.1)


# -- what goes wrong is a sentence


def test_a_failing_model_is_a_sentence_and_an_error_in_the_cell(make):
    bomb = Bomb()
    room = make("zh", Experiment(model=nn.Sequential(*mlp(4), bomb), batch_time=QUICK))
    # It can't be looked into, but it has a schedule.
    assert room.experiment.predict(room.settings).memory is None
    with pytest.raises(StageError, match="bang"):
        room.run().wait(LONGEST)
    said = plain(room.screen.status.value)
    assert "没成功" in said and "bang" in said and "没做成" in said
    assert shown(room.screen.progress_box) and room.logbook.entries == []
    assert not room.screen.train.disabled and room.screen.stop.disabled
    room.screen.language.value = "en"
    assert "That did not work" in plain(room.screen.status.value)
    bomb.armed = False
    assert room.run().wait(LONGEST).same
    assert plain(room.screen.status.value).strip() == ""


def test_a_model_that_fails_in_pieces_only_is_a_sentence_that_says_where(make):
    room = make("en", Experiment(model=nn.Sequential(*mlp(4), OnlyWhole()), batch_time=QUICK))
    with pytest.raises(StageError, match="only whole") as failed:
        room.run().wait(LONGEST)
    said = plain(room.screen.status.value)
    assert show.sentence(failed.value, "en") in said and "stage 4" in said  # counted as a class does
    room.num_micro_batches = 1
    assert plain(room.screen.status.value).strip() == ""
    assert room.run().wait(LONGEST).same


def test_cancel_undoes_soon_and_keeps_the_history(make):
    room = make("zh", Experiment())
    kept = [parameter.detach().clone() for parameter in room.experiment.model.parameters()]
    current = room.run()
    time.sleep(0.8)
    began = time.monotonic()
    room.screen.stop.click()
    with pytest.raises(Cancelled):
        room.wait(timeout=10)
    took = time.monotonic() - began
    print(f"cancelled after {took:.2f} s")
    assert took < 2
    assert current.done and "停下了" in room.screen.status.value
    assert all(parameter.grad is None for parameter in room.experiment.model.parameters())
    assert all(torch.equal(a, b) for a, b in zip(kept, room.experiment.model.parameters(), strict=True))
    assert not room.screen.train.disabled and room.screen.stop.disabled
    assert room.outcome is None


def test_a_cancelled_run_leaves_earlier_ones_in_the_history(room):
    outcome = room.run().wait(LONGEST)
    current = room.run()
    time.sleep(0.2)
    room.cancel()
    with pytest.raises(Cancelled):
        current.wait(LONGEST)
    assert len(room.logbook.entries) == 1 and room.outcome is outcome
    assert "Same result" in plain(room.screen.figures.value)


def test_stop_with_nothing_running_does_nothing(room):
    room.cancel()
    assert plain(room.screen.status.value).strip() == ""


def test_leaving_python_in_the_middle_of_a_run_is_quick_and_quiet():
    code = "from pipekit.learn import ControlRoom; import time; room = ControlRoom(); room.run(); time.sleep(0.7)"
    began = time.monotonic()
    left = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=LONGEST
    )
    assert (left.returncode, left.stderr) == (0, "")
    print(f"left after {time.monotonic() - began:.1f} s")


@pytest.mark.parametrize(
    ("lang", "words"), [("zh", "3 层切不成 4 段"), ("en", "cannot cut 3 layers into 4 stages")]
)
def test_more_stages_than_layers_is_a_sentence_with_both_numbers(make, lang, words):
    room = make(lang, Experiment(model=mlp(3), batch_time=QUICK))
    assert words in plain(room.screen.figures.value)
    assert not shown(room.screen.stage)
    with pytest.raises(PartitionError):
        room.run().wait(LONGEST)
    room.num_stages = 3
    assert shown(room.screen.stage)
    assert words not in plain(room.screen.figures.value)
    assert room.run().wait(LONGEST).same


@pytest.mark.parametrize("model", [mlp(3), nn.Linear(64, 10)], ids=["three layers", "no Sequential"])
def test_a_model_that_cannot_be_cut_so_still_displays_and_says_why(make, model):
    room = make(experiment=Experiment(model=model, batch_time=QUICK))
    bundle = room._repr_mimebundle_()
    assert bundle["text/plain"].startswith("That did not work: cannot cut")
    assert Image.open(io.BytesIO(base64.b64decode(bundle["image/png"]))).height > 20


def test_more_pieces_than_samples_is_a_sentence_with_both_numbers(make):
    room = make(experiment=Experiment(batch_size=8, batch_time=QUICK))
    room.num_micro_batches = 9
    assert "cannot cut 8 samples into 9 micro-batches" in room.screen.figures.value
    room.num_micro_batches = 8
    assert shown(room.screen.stage) and "cannot cut" not in room.screen.figures.value


def test_a_machine_without_a_chinese_font_gets_a_hint_and_no_empty_boxes(make, monkeypatch):
    monkeypatch.setattr(fonts, "chinese", lambda: None)
    room = make("zh")
    assert say("font_hint", "zh") in plain(room.screen.evidence.value)
    assert room._parts()[0].caption.startswith("Whole batch")


# -- where threads aren't heard


@pytest.fixture
def heard(monkeypatch):
    """What a page that is deaf to threads has got: {model: {trait: its newest value}}."""
    page = {}

    def send(widget, message, buffers=None):
        if widget.comm is None:
            return  # no page knows it yet; ipywidgets sends nothing then
        if threading.current_thread() is threading.main_thread() and message.get("method") == "update":
            page.setdefault(widget.model_id, {}).update(message["state"])
            for path, data in zip(message["buffer_paths"], buffers or (), strict=True):
                page[widget.model_id][path[0]] = bytes(data)

    monkeypatch.setattr(ipywidgets.Widget, "_send", send)
    return page


def test_in_the_foreground_the_page_gets_the_whole_result_from_the_main_thread(room, as_it_is, heard):
    room._found_deaf()
    room.screen.train.click()
    assert room.current.done
    screen = room.screen

    def got(widget, trait="value"):
        return heard[widget.model_id][trait]

    assert got(screen.grid) == bytes(screen.grid.value)
    assert got(screen.figures) == screen.figures.value and "measured" in got(screen.figures)
    assert got(screen.sentences) == screen.sentences.value != ""
    assert got(screen.evidence) == screen.evidence.value and "Really trained" in got(screen.evidence)
    assert got(screen.idle) == screen.idle.value != ""
    assert got(screen.table) == screen.table.value and "K=4, M=4" in got(screen.table)
    assert got(screen.memory) == bytes(screen.memory.value)
    assert got(screen.curve) == bytes(screen.curve.value)
    assert got(screen.train, "disabled") is False and got(screen.stop, "disabled") is True
    assert not any(got(widget, "disabled") for widget in replay_widgets(room))
    assert not any(got(part, "disabled") for knob in screen.knobs for part in knob.parts)
    assert got(screen.bar.layout, "display") == "none"
    assert got(screen.go_back.field, "_options_labels")[-1] == "1: K=4, M=4"


def test_in_the_foreground_every_widget_ends_as_the_kernel_has_it(room, heard):
    room._found_deaf()
    room.screen.train.click()
    room.settle()
    for widget in [part for each in every(room) for part in (each, each.layout)]:
        page = heard.get(widget.model_id, {})
        state = widget.get_state(list(page)) if page else {}
        for trait, value in page.items():
            kernel = bytes(state[trait]) if isinstance(value, bytes) else state[trait]
            assert kernel == value, (widget, trait)


def test_in_the_foreground_the_picture_moves_on_the_way(make, heard, monkeypatch):
    room = make(experiment=Experiment(batch_time=0.08))
    room.num_stages = 2
    room._found_deaf()
    seen = []
    sent = room.send_moving
    monkeypatch.setattr(
        room, "send_moving", lambda: (sent(), seen.append(heard[room.screen.grid.model_id]["value"]))
    )
    room.screen.train.click()
    assert len(set(seen)) >= 3
    assert "only while the cell is running" in plain(room.screen.evidence.value)


def test_in_the_foreground_knobs_draw_their_charts_at_once(make, as_it_is, heard):
    room = make(view="engineer")
    room._found_deaf()
    room.checkpoint = "always"
    assert heard[room.screen.memory.model_id]["value"] == bytes(room.screen.memory.value)
    drawn = pictures.memory(
        room.experiment.predict(room.settings), room.experiment.predict(LESSON), None, "en", "engineer"
    )
    assert room.screen.memory.value == drawn.png


def test_interrupting_the_kernel_cancels_a_run_in_the_foreground(make, heard, monkeypatch):
    room = make(experiment=Experiment())
    room._found_deaf()
    sent, times = room.send_moving, iter(range(1000))

    def interrupted():
        if next(times) == 2:
            raise KeyboardInterrupt
        sent()

    monkeypatch.setattr(room, "send_moving", interrupted)
    began = time.monotonic()
    current = room.run()
    assert current.done and time.monotonic() - began < 4
    with pytest.raises(Cancelled):
        current.wait()
    assert "Stopped" in heard[room.screen.status.model_id]["value"]
    assert heard[room.screen.train.model_id]["disabled"] is False


# -- where no kernel is


def test_a_still_picture_and_words_stand_in_for_the_panel(lesson, as_it_is):
    bundle = lesson[0]._repr_mimebundle_()
    assert len(base64.b64decode(bundle["image/png"])) > 10_000
    words = bundle["text/plain"]
    assert "F0 F1 F2 F3" in words and "7 slots in 4 pieces" in words and "Measured" in words
    assert words.endswith(say("still_line", "en"))
    assert "python3 start.py" in words


@pytest.mark.parametrize("lang", show.LANGUAGES)
def test_before_a_run_the_still_picture_says_how_to_bring_it_alive(make, lang):
    words = make(lang).picture_text()
    assert words.endswith(say("still_line", lang)) and len(words.splitlines()) == 2


def test_ipywidgets_7_makes_shows_and_plays_the_room(tmp_path):
    """Installed beside the other packages, for a child process alone."""
    asked = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path)]
    got = subprocess.run(
        [*asked, "ipywidgets==7.7.5", "ipython_genutils"],
        capture_output=True,
        encoding="utf-8",
        timeout=LONGEST,
    )
    if got.returncode:
        pytest.skip("ipywidgets 7.7.5 can't be had here")
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]\n"
        "import ipywidgets\n"
        "from IPython.core.formatters import DisplayFormatter\n"
        "from pipekit.learn import ControlRoom, Experiment\n"
        "room = ControlRoom('en', Experiment(batch_time=0.04))\n"
        "room.run().wait(60)\n"
        "room.screen.play._playing = True\n"
        "room.screen.forward.click()\n"
        "room.view = 'engineer'\n"
        "room.settle()\n"
        "print(ipywidgets.__version__, sorted(DisplayFormatter().format(room)[0]), room.screen.play._playing)\n"
    )
    shown_ = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=LONGEST
    )
    assert shown_.stderr == ""
    kinds = ["application/vnd.jupyter.widget-view+json", "image/png", "text/html", "text/plain"]
    assert shown_.stdout == f"7.7.5 {kinds} False\n"


def test_the_prediction_is_the_engines_own(room):
    settings = Settings(num_stages=3, num_micro_batches=5, checkpoint="always", schedule="1f1b")
    stages, devices = run.partition(room.experiment.model, 3), room.experiment.devices(settings)
    with run.Pipeline(stages, devices) as pipeline:
        engine = pipeline.predict(settings.build(), room.experiment.batch)
    assert str(room.experiment.predict(settings).timeline) == str(engine)
    assert room.experiment.predict(settings).timeline.makespan == pytest.approx(engine.makespan)
