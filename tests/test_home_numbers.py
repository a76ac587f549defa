"""The numbers that the home notebooks ask for, exactly: what they measure is held to these with a tolerance."""

from fractions import Fraction

import pytest
import torch
from torch import nn

from pipekit import plan, run
from pipekit.learn import Experiment, accuracy, digits, mlp, train
from pipekit.learn.controlroom.sentences import idle_times
from pipekit.learn.experiment import seeded

COUNTS = (1, 4, 8, 16)
BOTH_WAYS = plan.Costs(forward=1, backward=2)


def cells(timeline):
    """Slots, cells, busy and idle ones."""
    busy = plan.busy_time(timeline).sum()
    every = timeline.num_devices * timeline.makespan
    return timeline.makespan, every, busy, every - busy


# -- 02: relay race or production line


def test_the_relay_race_has_64_cells_of_which_48_are_idle():
    uncut = plan.simulate(plan.naive(4), plan.Costs(forward=4, backward=8)).only("F")
    assert cells(uncut) == (16, 64, 16, 48)
    assert plan.bubble_fraction(uncut) == 0.75 and plan.busy_devices(uncut) == 1.0


def test_the_production_line_takes_7_slots_and_idles_6_at_each_end():
    line = plan.simulate(plan.gpipe(4, 4), BOTH_WAYS).only("F")
    assert cells(line) == (7, 28, 16, 12) and 16 - line.makespan == 9
    assert idle_times(line) == (6, 0, 6)


@pytest.mark.parametrize("num_devices", [2, 3, 4, 7])
def test_each_end_idles_half_of_k_times_k_less_one(num_devices):
    line = plan.simulate(plan.gpipe(num_devices, 5), BOTH_WAYS).only("F")
    half = num_devices * (num_devices - 1) / 2
    assert idle_times(line) == (half, 0, half)


def test_gpu_k_works_on_piece_m_in_slot_k_plus_m_less_one():
    for span in plan.simulate(plan.gpipe(4, 4), BOTH_WAYS).only("F").spans:
        device, piece, slot = span.device + 1, span.op.micro_batch + 1, span.start + 1
        assert slot == device + piece - 1


def test_three_gpus_take_6_slots_and_idle_6_of_18():
    assert cells(plan.simulate(plan.gpipe(3, 4), BOTH_WAYS).only("F")) == (6, 18, 12, 6)


# -- 03: how many pieces


def test_the_bubble_is_a_fraction_with_the_way_back_drawn_or_not():
    found = [Fraction(3, pieces + 3) for pieces in COUNTS]
    assert [str(share) for share in found] == ["3/4", "3/7", "3/11", "3/19"]
    assert [f"{float(share):.0%}" for share in found] == ["75%", "43%", "27%", "16%"]
    for pieces, share in zip(COUNTS, found, strict=True):
        both = plan.simulate(plan.gpipe(4, pieces), BOTH_WAYS)
        assert plan.bubble_fraction(both) == pytest.approx(float(share))
        assert plan.bubble_fraction(both.only("F")) == pytest.approx(float(share))
        even = plan.simulate(plan.gpipe(4, pieces), plan.Costs(forward=1, backward=1))
        assert even.makespan == 2 * (pieces + 3)


def test_busy_gpus_are_1_and_229_and_291_and_337():
    busy = [plan.busy_devices(plan.simulate(plan.gpipe(4, pieces), BOTH_WAYS)) for pieces in COUNTS]
    assert [f"{number:.2f}" for number in busy] == ["1.00", "2.29", "2.91", "3.37"]


def test_eight_gpus_need_64_pieces_to_idle_less_than_a_tenth():
    assert plan.formula_bubble(8, 63) >= 0.10 > plan.formula_bubble(8, 64)


# -- 05: the same result


def summed(model, images, labels, num_pieces, weigh):
    """Gradients added up piece by piece."""
    model.zero_grad()
    for piece, answers in zip(images.tensor_split(num_pieces), labels.tensor_split(num_pieces), strict=True):
        (nn.functional.cross_entropy(model(piece), answers) * weigh(piece)).backward()
    return run.gradients([model])


def test_pieces_weighed_by_their_samples_add_up_to_the_whole_and_fifths_do_not():
    lab, model = Experiment(), seeded(mlp)
    whole = summed(model, lab.batch, lab.target, 1, lambda piece: 1.0)

    def apart(num_pieces, weigh):
        return run.relative_difference(summed(model, lab.batch, lab.target, num_pieces, weigh), whole)

    assert apart(4, lambda piece: len(piece) / 64) < 1e-5
    assert apart(5, lambda piece: len(piece) / 64) < 1e-5
    assert apart(5, lambda piece: 1 / 5) > 1e-3
    assert apart(4, lambda piece: 1.0) == pytest.approx(3.0, rel=0.01)  # four times too large


def test_trained_cut_and_uncut_gives_the_same_knobs_and_the_same_score():
    data = digits()
    exact = data._replace(
        train_images=data.train_images[:256].double(),
        train_labels=data.train_labels[:256],
        test_images=data.test_images.double(),
    )
    models = [seeded(mlp).double() for _ in range(2)]
    for model, num_stages in zip(models, (1, 4), strict=True):
        train(model, exact, num_stages=num_stages, epochs=4)
    uncut, cut = (list(model.parameters()) for model in models)
    assert run.relative_difference(cut, uncut) < 1e-9
    scores = [accuracy(model, exact.test_images, exact.test_labels) for model in models]
    assert scores[0] == scores[1] > 0.2


def test_deferring_mends_the_first_layers_running_statistics_and_not_the_gradients():
    lab = Experiment()

    def stepped(num_stages, num_pieces, defer=False):
        model = seeded(lambda: mlp(normalise=nn.BatchNorm1d))
        if defer:
            run.defer_batch_norm(model)
        with run.Pipeline(run.partition(model, num_stages), run.cpu(num_stages)) as pipeline:
            pipeline.step(plan.gpipe(num_stages, num_pieces), lab.batch, lab.target, lab.loss)
        return model, [layer for layer in model.modules() if isinstance(layer, nn.BatchNorm1d)]

    (_, plain), (cut, cut_layers), (deferred, layers) = (
        stepped(1, 1),
        stepped(4, 4),
        stepped(4, 4, defer=True),
    )
    assert [int(each[0].num_batches_tracked) for each in (plain, cut_layers, layers)] == [1, 4, 1]
    for name in ("running_mean", "running_var"):
        first, last = (
            [
                run.relative_difference([getattr(each[place], name)], [getattr(plain[place], name)])
                for each in (cut_layers, layers)
            ]
            for place in (0, -1)
        )
        assert first[1] < 1e-5 < 0.1 < first[0]
        assert 1e-4 < last[1] < 0.2 * last[0]
    assert run.relative_difference(run.gradients([deferred]), run.gradients([cut])) < 1e-4
    with torch.no_grad():
        assert not torch.equal(deferred.eval()(lab.batch), cut.eval()(lab.batch))
