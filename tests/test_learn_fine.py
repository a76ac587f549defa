"""Too fine: real steps over M, a fitted cost, and the chart that says whether it was a measurement."""

from dataclasses import replace

import pytest

from pipekit import plan, run, show
from pipekit.learn import Experiment, Settings
from pipekit.learn.fine import real_steps
from pipekit.run import devices
from pipekit.show import lesson_charts
from pipekit.show.charts import VERMILLION

COST = plan.PieceCost(alpha=0.010, beta=0.240)


def predicted(num_devices=4, source="measured"):
    """Steps that last as the cost says."""
    timelines = {}
    for pieces in (1, 2, 4, 8, 16, 32):
        piece = COST.piece(pieces)
        costs = plan.Costs(forward=piece / 3, backward=2 * piece / 3)
        timeline = plan.simulate(plan.gpipe(num_devices, pieces), costs)
        timelines[pieces] = replace(
            timeline, source=source, devices="4 stand-ins, 80 ms a mini-batch forward"
        )
    return timelines


def test_stand_ins_with_an_overhead_have_a_u_curve_with_its_bottom_at_eight():
    """What the notebook measures, as the same devices predict it: alpha is two ops' overhead, beta three forwards."""
    lab, settings = Experiment(batch_time=0.08), Settings(overhead_ms=5)
    steps = {m: lab.predict(settings.with_pieces(m)).timeline for m in (1, 2, 4, 8, 16, 32)}
    cost = plan.fit_piece_cost({m: plan.busy_time(step)[0] / m for m, step in steps.items()})
    assert (cost.alpha, cost.beta) == pytest.approx((0.010, 0.240))
    assert cost.best(4) == pytest.approx(8.485, abs=0.001)
    assert min(steps, key=lambda m: steps[m].makespan) == 8
    assert replace(cost, alpha=4 * cost.alpha).best(4) == pytest.approx(cost.best(4) / 2)


@pytest.mark.parametrize(("num_devices", "ratio"), [(2, 64), (4, 85.3), (8, 146.3)])
def test_four_k_pieces_pay_only_from_a_certain_ratio_on(num_devices, ratio):
    """beta / alpha of 16 K^2 / (K-1)."""
    assert plan.PieceCost(1.0, ratio).best(num_devices) == pytest.approx(4 * num_devices, rel=0.001)


@pytest.mark.alone
def test_real_steps_are_real_and_change_nothing():
    lab = Experiment(batch_size=16)
    before = [parameter.detach().clone() for parameter in lab.model.parameters()]
    steps = real_steps(lab, run.partition(lab.model, 2), (1, 4))
    assert list(steps) == [1, 4]
    assert all(
        step.source in ("measured", "shared") and "real time" in step.devices for step in steps.values()
    )
    assert len(steps[4].spans) == 2 * 2 * 4
    assert all((a == b).all() for a, b in zip(before, lab.model.parameters(), strict=True))
    assert all(parameter.grad is None for parameter in lab.model.parameters())


@pytest.mark.parametrize(
    ("before", "after", "source"), [(1.0, 1.0, "measured"), (1.0, 2.0, "shared"), (2.0, 1.0, "shared")]
)
def test_steps_are_measured_only_if_the_cores_were_free_before_and_after(monkeypatch, before, after, source):
    together = iter([before, after])
    monkeypatch.setattr(devices, "slowdown_together", lambda num_workers: (1.0, next(together)))
    monkeypatch.setattr(devices, "usable_cores", lambda: 2)
    lab = Experiment(batch_size=16)
    (step,) = real_steps(lab, run.partition(lab.model, 2), (2,)).values()
    assert step.source == source and ("shared cores" in step.devices) == (source == "shared")


def test_the_chart_says_the_fastest_the_best_and_what_it_ran_on():
    words = show.step_chart(predicted(), COST, "en").words
    assert "M=8 is the fastest (440.0 ms); predicted best: M=8.5." in words
    assert "4 stand-ins" in words and words.count("\n") == 1


def test_the_chart_does_not_call_shared_cores_a_measurement(monkeypatch):
    figures = []
    monkeypatch.setattr(lesson_charts, "as_png", lambda figure, *_: figures.append(figure) or b"")
    words = [show.step_chart(predicted(source=source), COST, "zh").words for source in ("measured", "shared")]
    assert "测到的" in words[0] and "气泡不算数" in words[1]
    marks = [figure.axes[0].lines[1] for figure in figures]
    assert [mark.get_markerfacecolor() for mark in marks] == [VERMILLION, "white"]
    assert ["测到" in mark.get_label() for mark in marks] == [True, False]


def test_free_pieces_have_no_line_at_their_best_and_no_endless_m_in_words():
    still = show.step_chart(predicted(), plan.PieceCost(0.0, 0.24), "en")
    assert still.png and "inf" not in still.words and "the finer the better" in still.words
