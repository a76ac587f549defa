"""The control room without a browser: sliders move pictures, runs measure, what goes wrong is a sentence."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import nn

from pipekit import plan
from pipekit.errors import Cancelled, PartitionError, StageError
from pipekit.learn import ControlRoom, Experiment, Settings, mlp
from pipekit.learn.controlroom import pictures
from pipekit.show import fonts, say

ROOT = Path(__file__).resolve().parents[1]
QUICK = 0.04  # batch_time in seconds: a micro-batch of 16 takes 10 ms


@pytest.fixture
def room():
    made = ControlRoom("en", Experiment(batch_time=QUICK))
    yield made
    made.stop()
    made.settle()


class Bomb(nn.Module):
    """Goes off while it's armed."""

    armed = True

    def forward(self, x):
        if self.armed:
            raise RuntimeError("bang")
        return x


def test_the_room_opens_on_the_lesson():
    room = ControlRoom()
    assert room.lang == "zh"
    assert room.settings == Settings(num_stages=4, num_micro_batches=4, checkpoint="never", schedule="gpipe")
    assert len(room.experiment.model) == 8
    assert len(room.experiment.batch) == 64
    assert room.experiment.slot == pytest.approx(0.04)
    assert room.train_button.description == "训练一次（约 5 秒）"
    room.settle()


@pytest.mark.parametrize(
    ("widget", "value", "trait"),
    [
        ("stages_slider", 6, "num_stages"),
        ("pieces_slider", 9, "num_micro_batches"),
        ("schedule_menu", "1f1b", "schedule"),
        ("checkpoint_menu", "always", "checkpoint"),
    ],
)
def test_moving_a_knob_moves_the_trait_and_the_picture(room, widget, value, trait):
    grid, memory = room.grid.value, room.memory.value
    getattr(room, widget).value = value
    assert getattr(room, trait) == value
    assert room.grid.value != grid
    room.settle()
    assert room.memory.value != memory


def test_setting_a_trait_moves_the_knob(room):
    room.num_micro_batches = 8
    assert room.pieces_slider.value == 8
    assert "27.3%" in room.figures.value


def test_switching_language_keeps_every_choice(room):
    room.schedule, room.checkpoint = "1f1b", "always"
    room.language.value = "zh"
    assert (room.lang, room.schedule, room.checkpoint) == ("zh", "1f1b", "always")
    assert (room.schedule_menu.value, room.checkpoint_menu.value) == ("1f1b", "always")
    assert room.stages_slider.description == say("num_stages", "zh")
    assert "显卡" in room.evidence.value


def test_a_run_measures_and_changes_the_parameters_once(room):
    before = [parameter.detach().clone() for parameter in room.experiment.model.parameters()]
    outcome = room.run().wait(timeout=60)
    assert outcome.timeline.source == "measured"
    assert outcome.same and outcome.difference < 1e-5
    assert outcome.loss_after < outcome.loss_before
    assert outcome.bubble == pytest.approx(3 / 7, abs=0.1)
    after = list(room.experiment.model.parameters())
    assert any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert all(parameter.grad is None for parameter in after)


def test_batch_norm_is_not_the_same_in_pieces_and_is_counted_once_a_step():
    blocks = [nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU()) for _ in range(3)]
    model = nn.Sequential(nn.Flatten(), *blocks, nn.Linear(64, 10))
    room = ControlRoom("en", Experiment(model=model, batch_time=QUICK))
    outcome = room.run().wait(timeout=60)
    assert not outcome.same
    assert "Not the same result" in room.figures.value
    assert int(blocks[0][1].num_batches_tracked) == 4  # 4 micro-batches of the one step that trained
    room.settle()


def test_what_was_measured_is_shown_and_found_again(room):
    waiting = room.grid.value
    outcome = room.run().wait(timeout=60)
    assert room.outcome is outcome
    assert room.grid.value != waiting
    assert "Same result √" in room.figures.value
    assert "Really trained" in room.evidence.value
    room.num_micro_batches = 8
    assert room.outcome is None and "Not trained yet" in room.evidence.value
    room.num_micro_batches = 4
    assert room.outcome is outcome and "Really trained" in room.evidence.value


def test_buttons_say_the_cost_and_take_turns(room):
    run = room.run()
    assert room.train_button.disabled and room.sweep_button.disabled and not room.cancel_button.disabled
    assert room.bar.layout.display is None
    run.wait(timeout=60)
    assert not room.train_button.disabled and room.cancel_button.disabled
    assert room.bar.layout.display == "none"
    assert room.bar.value > 0.9
    assert "Measured" in room.status.value


def test_cells_fill_while_it_runs():
    room = ControlRoom("en", Experiment(batch_time=0.16))
    pictures_seen = set()
    room.grid.observe(lambda change: pictures_seen.add(change["new"]), "value")
    run = room.run()
    time.sleep(1.5)
    room.cancel()
    with pytest.raises(Cancelled):
        run.wait(timeout=10)
    assert len(pictures_seen) >= 3


def test_cancel_undoes_and_leaves_the_room_usable():
    room = ControlRoom("zh", Experiment(batch_time=0.16))
    before = [parameter.detach().clone() for parameter in room.experiment.model.parameters()]
    run = room.run()
    time.sleep(0.5)
    began = time.monotonic()
    room.cancel_button.click()
    with pytest.raises(Cancelled):
        room.wait(timeout=10)
    assert time.monotonic() - began < 2
    assert run.done and "停下了" in room.status.value
    assert all(parameter.grad is None for parameter in room.experiment.model.parameters())
    assert all(torch.equal(a, b) for a, b in zip(before, room.experiment.model.parameters(), strict=True))
    assert not room.train_button.disabled
    room.settle()


def test_leaving_python_in_the_middle_of_a_run_is_quick_and_quiet():
    code = "from pipekit.learn import ControlRoom; import time; room = ControlRoom(); room.run(); time.sleep(0.7)"
    began = time.monotonic()
    left = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (left.returncode, left.stderr) == (0, "")
    print(f"left after {time.monotonic() - began:.1f} s")


def test_a_sweep_fills_the_curve():
    room = ControlRoom("en")  # at the lesson's own pace: with 16 pieces an op takes 10 ms
    curve = room.curve.value
    outcomes = room.sweep().wait(timeout=60)
    assert [outcome.key.num_micro_batches for outcome in outcomes] == [1, 4, 8, 16]
    assert all(outcome.same for outcome in outcomes)
    bubbles = [outcome.bubble for outcome in outcomes]
    assert bubbles == sorted(bubbles, reverse=True)
    assert room.curve.value != curve
    assert room.outcomes.keys() == {Settings(num_micro_batches=count) for count in (1, 4, 8, 16)}
    room.settle()


def test_a_relay_race_is_one_piece_whatever_the_slider_says(room):
    room.schedule = "naive"
    assert "75.0%" in room.figures.value
    grid = room.grid.value
    room.num_micro_batches = 16
    assert room.grid.value == grid


def test_a_failing_model_is_a_sentence_and_an_error_in_the_cell():
    bomb = Bomb()
    room = ControlRoom("zh", Experiment(model=nn.Sequential(*mlp(4), bomb), batch_time=QUICK))
    assert (
        room.experiment.predict(room.settings).memory is None
    )  # it can't be looked into, but it has a schedule
    with pytest.raises(StageError, match="bang"):
        room.run().wait(timeout=60)
    room.settle()
    assert "没成" in room.status.value and "bang" in room.status.value and "没做成" in room.status.value
    bomb.armed = False
    assert room.run().wait(timeout=60).same
    room.settle()


def test_more_stages_than_layers_is_a_sentence_with_both_numbers():
    room = ControlRoom("zh", Experiment(model=mlp(3), batch_time=QUICK))
    assert "3 层切不成 4 段" in room.figures.value
    assert room.grid.layout.display == "none"
    with pytest.raises(PartitionError):
        room.run().wait(timeout=60)
    room.num_stages = 3
    assert room.grid.layout.display is None
    room.settle()


def test_more_pieces_than_samples_is_a_sentence_with_both_numbers():
    room = ControlRoom("en", Experiment(batch_size=8, batch_time=QUICK))
    room.num_micro_batches = 9
    assert "cannot cut 8 samples into 9 micro-batches" in room.figures.value
    room.settle()


def test_uneven_pieces_are_explained(room):
    assert say("formula_gap", "en") not in room.figures.value
    room.num_micro_batches = 7  # 64 = 9 + 9 + ... : the first piece is larger
    uneven = abs(
        plan.bubble_fraction(room.experiment.predict(room.settings).timeline) - plan.formula_bubble(4, 7)
    )
    assert (say("formula_gap", "en") in room.figures.value) == (uneven > pictures.FORMULA_GAP)


def test_a_machine_without_a_chinese_font_gets_a_hint_and_no_empty_boxes(monkeypatch):
    monkeypatch.setattr(fonts, "chinese", lambda: None)
    room = ControlRoom("zh", Experiment(batch_time=QUICK))
    assert say("font_hint", "zh") in room.evidence.value
    room.settle()


def test_a_still_picture_and_words_stand_in_for_the_panel(room):
    bundle = room._repr_mimebundle_()
    assert len(bundle["image/png"]) > 1000
    assert "F0 F1 F2 F3" in bundle["text/plain"]
    assert "42.9%" in bundle["text/plain"]


def test_the_prediction_is_the_engines_own(room):
    from pipekit import run

    settings = Settings(num_stages=3, num_micro_batches=5, checkpoint="always", schedule="1f1b")
    stages, devices = run.partition(room.experiment.model, 3), room.experiment.devices(3)
    with run.Pipeline(stages, devices) as pipeline:
        engine = pipeline.predict(settings.build(), room.experiment.batch)
    assert str(room.experiment.predict(settings).timeline) == str(engine)
    assert room.experiment.predict(settings).timeline.makespan == pytest.approx(engine.makespan)
