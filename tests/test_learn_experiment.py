"""The experiment behind the control room, without a widget: what it predicts, runs, compares, and leaves alone."""

import threading

import pytest
import torch
from torch import nn

from pipekit import plan, run
from pipekit.errors import BatchError, Cancelled, PartitionError, PlacementError
from pipekit.learn import Experiment, Settings, experiment, mlp
from pipekit.learn.data import digits
from pipekit.learn.experiment import Watch

pytestmark = pytest.mark.alone

QUICK = 0.04  # batch_time in seconds: a micro-batch of 16 takes 10 ms
PAIR = Settings(num_stages=2, num_micro_batches=2)


@pytest.fixture
def made():
    return Experiment(batch_time=QUICK)


@pytest.fixture(scope="module")
def quick():
    """For tests that train nothing."""
    return Experiment(batch_time=QUICK)


def parameters(made):
    return [parameter.detach().clone() for parameter in made.model.parameters()]


def unchanged(made, before):
    return all(torch.equal(a, b) for a, b in zip(before, parameters(made), strict=True))


# -- settings


def test_a_relay_race_is_gpipe_with_one_piece():
    relay = Settings(num_micro_batches=16, schedule="naive")
    assert relay.key() == Settings(num_micro_batches=1)
    assert relay.build().num_micro_batches == 1
    assert relay.with_pieces(8) == Settings(num_micro_batches=8)


def test_a_family_differs_in_m_only():
    assert Settings(num_micro_batches=4).family() == Settings(num_micro_batches=8).family()
    assert Settings(checkpoint="always").family() != Settings().family()


def test_what_a_class_compares_with_is_uncut_and_keeps_all_on_the_same_devices():
    asked = Settings(3, 8, "always", "1f1b", slow_device=1, latency_ms=2.0, pace=2.0)
    assert asked.uncut() == Settings(3, 1, "never", "gpipe", slow_device=1, latency_ms=2.0, pace=2.0)
    assert asked.kept() == Settings(3, 8, "never", "1f1b", slow_device=1, latency_ms=2.0, pace=2.0)


# -- predictions


def test_the_prediction_is_the_engines_own(quick):
    settings = Settings(3, 5, "always", "1f1b")
    with run.Pipeline(run.partition(quick.model, 3), quick.devices(settings)) as pipeline:
        engine = pipeline.predict(settings.build(), quick.batch)
    mine = quick.predict(settings).timeline
    assert str(mine) == str(engine) and mine.makespan == pytest.approx(engine.makespan)


def test_the_lessons_numbers_are_predicted(quick):
    timeline = quick.predict(Settings()).timeline
    assert timeline.makespan / quick.slot == pytest.approx(21)
    assert timeline.only("F").makespan / quick.slot == pytest.approx(7)
    assert plan.bubble_fraction(timeline) == pytest.approx(quick.predict(Settings()).formula) == 3 / 7


@pytest.mark.parametrize(
    ("changed", "longer"),
    [({"pace": 4.0}, 4.0), ({"slow_device": 2, "slow_factor": 3.0}, None), ({"overhead_ms": 5.0}, None)],
)
def test_each_declared_time_makes_a_step_longer(quick, changed, longer):
    lesson, other = (quick.predict(Settings(**each)).timeline.makespan for each in ({}, changed))
    assert other > lesson
    if longer:
        assert other / lesson == pytest.approx(longer)
    settings = Settings(**changed)
    assert quick.slot_of(settings) == quick.slot * settings.pace


def test_a_slow_device_that_is_not_there_slows_nothing(quick):
    lesson, other = Settings(num_stages=2), Settings(num_stages=2, slow_device=5)
    assert quick.predict(other).timeline.makespan == quick.predict(lesson).timeline.makespan


def test_a_curve_is_the_formula_for_every_m(quick):
    family = quick.family(Settings(num_stages=3))
    assert list(family) == list(range(1, 33))
    for pieces, timeline in family.items():
        assert plan.bubble_fraction(timeline) == pytest.approx(2 / (pieces + 2))


def test_erasing_is_predicted_to_keep_less(quick):
    kept, erased = (
        max(device.activations for device in quick.predict(Settings(checkpoint=policy)).memory)
        for policy in ("never", "always")
    )
    assert erased < kept


def test_too_many_pieces_and_too_many_stages_are_refused_with_both_numbers(quick):
    with pytest.raises(BatchError, match=r"64 samples.* 65"):
        quick.predict(Settings(num_micro_batches=65))
    with pytest.raises(PartitionError, match="3 layers"):
        Experiment(model=mlp(3)).predict(Settings())


def test_a_model_that_fails_being_looked_at_has_a_schedule_and_no_memory():
    class Odd(nn.Module):
        def forward(self, x):
            raise RuntimeError("bang")

    prediction = Experiment(model=nn.Sequential(*mlp(4), Odd())).predict(Settings())
    assert prediction.memory is None and len(prediction.timeline.spans) == 32


def test_two_threads_may_look_at_a_model_at_once_and_it_stays_whole():
    made, found = Experiment(batch_time=QUICK), {}
    before = parameters(made)

    def look(stages):
        found[stages] = made.predict(Settings(num_stages=stages)).memory

    threads = [threading.Thread(target=look, args=(stages,)) for stages in (1, 2, 3, 4, 5, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[stages] is not None and len(found[stages]) == stages for stages in found)
    assert len(found) == 6 and unchanged(made, before)


# -- one run


def test_a_run_trains_once_and_measures_the_uncut_batch_beside_it(made):
    before = parameters(made)
    outcome = made.train_once(Settings())
    assert outcome.trained and outcome.same and outcome.difference < 1e-5
    assert outcome.loss_after < outcome.loss_before
    assert outcome.timeline.source == outcome.uncut.timeline.source == "measured"
    assert len(outcome.uncut.timeline.spans) == 8 and outcome.kept is None
    assert outcome.bubble == pytest.approx(3 / 7, abs=0.15)
    assert not unchanged(made, before)
    assert all(parameter.grad is None for parameter in made.model.parameters())


def test_the_change_is_the_one_that_the_uncut_model_would_make(made):
    whole = Experiment(batch_time=QUICK)
    made.train_once(PAIR)
    whole.loss(whole.model(whole.batch), whole.target).backward()
    torch.optim.SGD(whole.model.parameters(), lr=experiment.LEARNING_RATE).step()
    for mine, theirs in zip(made.model.parameters(), whole.model.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-6)


def test_where_something_is_erased_the_same_is_measured_with_all_kept(made):
    outcome = made.train_once(Settings(2, 2, "always"))
    assert outcome.kept is not None
    assert max(outcome.kept.memory.peak_activation_bytes) > max(outcome.result.memory.peak_activation_bytes)


def test_an_uncut_run_is_its_own_comparison(made):
    outcome = made.train_once(Settings(num_stages=2, num_micro_batches=1))
    assert outcome.uncut is outcome.result


@pytest.mark.parametrize(
    "settings",
    [PAIR, Settings(2, 2, "always"), Settings(2, 1), Settings(2, 2, real_time=True)],
    ids=["cut", "erased", "uncut", "real time"],
)
def test_as_many_ops_run_as_were_announced(made, settings, monkeypatch):
    monkeypatch.setattr(experiment, "LATE", float("inf"))  # no step is repeated on a busy machine
    ended = []
    made.train_once(settings, Watch(span=ended.append))
    assert len(ended) == made.num_ops(settings)


def test_a_run_takes_about_as_long_as_was_said(made):
    said = made.seconds(Settings())
    took = made.train_once(Settings()).seconds
    print(f"said {said:.2f} s, took {took:.2f} s")
    assert said < took < said + 3  # nothing can be quicker than declared; this machine may be busy


def test_a_watcher_hears_what_the_run_is_at(made):
    phases = []
    made.train_once(Settings(2, 2, "always"), Watch(phase=lambda key, **numbers: phases.append(key)))
    assert list(dict.fromkeys(phases)) == ["checking", "uncut", "kept", "measuring"]


def test_an_exception_out_of_a_watcher_ends_the_run_and_nothing_has_changed(made):
    before = parameters(made)

    def phase(key, **numbers):
        if key == "measuring":
            raise Cancelled("cancelled")

    pipelines = []
    with pytest.raises(Cancelled):
        made.train_once(PAIR, Watch(phase=phase, pipeline=pipelines.append))
    assert unchanged(made, before)
    assert all(parameter.grad is None for parameter in made.model.parameters())
    assert pipelines[-1] is None
    assert made.train_once(PAIR).same  # it can be used again


def test_a_second_run_at_the_same_time_is_refused(made):
    refused = []

    def phase(key, **numbers):
        if key == "uncut" and not refused:
            with pytest.raises(PlacementError) as error:
                made.train_once(PAIR)
            refused.append(error.value.key)

    assert made.train_once(PAIR, Watch(phase=phase)).same
    assert refused == ["busy_model"]


def test_batch_norm_has_a_model_of_its_own_and_differs_in_pieces(made):
    before = parameters(made)
    normed = Settings(2, 2, batch_norm=True)
    outcome = made.train_once(normed)
    assert not outcome.same and outcome.difference > 1e-3
    assert unchanged(made, before)
    assert any(isinstance(layer, nn.BatchNorm1d) for layer in made.model_of(normed).modules())
    assert made.train_once(Settings(2, 1, batch_norm=True)).same


def test_in_real_time_nothing_is_declared_and_comparisons_are_medians(made, monkeypatch):
    phases = []
    outcome = made.train_once(
        Settings(num_stages=1, num_micro_batches=2, real_time=True),
        Watch(phase=lambda key, step=0, **numbers: phases.append((key, step))),
    )
    assert outcome.timeline.source in ("measured", "shared")
    assert "real time" in outcome.timeline.devices
    assert [step for key, step in phases if key == "uncut"][-1] == experiment.STEPS


def test_the_first_parameters_are_the_same_every_time_and_cost_no_random_number():
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    one = Experiment()
    assert torch.equal(torch.rand(1), expected)
    assert unchanged(Experiment(), parameters(one))


# -- a sweep


def test_a_sweep_measures_each_m_and_changes_no_parameter(made):
    before, kept = parameters(made), []
    outcomes = made.sweep(PAIR, (1, 2, 4), keep=kept.extend)
    assert [each.key.num_micro_batches for each in outcomes] == [1, 2, 4]
    assert kept == outcomes
    assert all(each.same and not each.trained for each in outcomes)
    assert unchanged(made, before)


def test_a_sweep_warms_up_first_and_says_how_many_ops_that_makes(made):
    ended = []
    made.sweep(PAIR, (1, 2), Watch(span=ended.append))
    least = made.sweep_num_ops(PAIR, (1, 2))
    assert least == 8 + 4 + 8
    assert len(ended) >= least  # a step that overran is run again


def test_what_overran_is_measured_once_more():
    class Once(nn.Module):
        """Dawdles in the first step only."""

        seen = 0

        def forward(self, x):
            self.seen += 1
            if x.shape[0] < 64 and self.seen < 4:
                threading.Event().wait(0.12)
            return x

    made = Experiment(model=nn.Sequential(*mlp(4), Once()), batch_time=0.16)
    with made.bench(PAIR) as measure:
        outcome = measure(PAIR)
    assert outcome.result.overruns == 0


# -- a learner's own


@pytest.mark.parametrize("asked", [0, -1, len(digits().train_labels) + 1])
def test_a_batch_is_as_large_as_there_are_digits_to_fill_it(asked):
    found = len(digits().train_labels)
    with pytest.raises(BatchError, match=f"{asked} of {found}"):
        Experiment(batch_size=asked)


def test_a_frozen_layer_trains_with_the_rest():
    own = Experiment(mlp(), batch_time=QUICK)
    own.model[0].requires_grad_(False)
    before = [parameter.detach().clone() for parameter in own.model[0].parameters()]
    assert own.train_once(PAIR).same
    assert all(map(torch.equal, before, own.model[0].parameters()))


NORMED = Settings(2, 2, batch_norm=True)


def statistics(experiment):
    return {name: buffer.clone() for name, buffer in experiment.model_of(NORMED).named_buffers()}


def test_a_sweep_leaves_a_batch_norms_statistics_alone():
    own = Experiment(batch_time=QUICK)
    before = statistics(own)
    own.sweep(NORMED, (1, 2))
    assert all(torch.equal(before[name], now) for name, now in statistics(own).items())


def test_a_cancelled_run_leaves_a_batch_norms_statistics_alone():
    own = Experiment(batch_time=QUICK)
    before = statistics(own)

    def phase(key, **numbers):
        if key == "measuring":
            raise Cancelled("cancelled")

    with pytest.raises(Cancelled):
        own.train_once(NORMED, Watch(phase=phase))
    assert all(torch.equal(before[name], now) for name, now in statistics(own).items())
