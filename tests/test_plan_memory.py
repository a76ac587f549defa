"""What each device keeps, op by op: arithmetic on a schedule and a model's shape."""

import numpy as np
import pytest

from pipekit.errors import CostsError
from pipekit.plan import (
    ModelShape,
    Schedule,
    StageShape,
    activation_curves,
    gpipe,
    micro_batch_sizes,
    one_f_one_b,
    peak_activations,
    predict_memory,
)


def unit(num_stages, stash=1.0, internals=10.0, **more):
    return ModelShape((StageShape(0, 0, stash, internals, **more),) * num_stages)


def test_1f1b_except_last_keeps_the_last_piece_across_others():
    for checkpoint, peaks in [("always", [13, 12, 11, 10]), ("except_last", [22, 21, 20, 10])]:
        for recompute in ("late", "early"):
            schedule = one_f_one_b(4, 8, checkpoint, recompute)
            assert peak_activations(schedule, unit(4), [1] * 8) == peaks
    assert peak_activations(one_f_one_b(4, 8, "never"), unit(4), [1] * 8) == [40, 30, 20, 10]


def test_gpipe_peaks_follow_the_papers_formula():
    random = np.random.default_rng(0)
    for _ in range(50):
        k, m, n = int(random.integers(1, 5)), int(random.integers(1, 9)), int(random.integers(1, 5))
        a = float(random.uniform(0.1, 2))
        i = a + float(random.uniform(0, 5))
        samples = m * n
        expected = {
            "never": samples * i,
            "except_last": (samples - n) * a + n * i,
            "always": samples * a + n * (i - a),
        }
        for checkpoint, peak in expected.items():
            peaks = peak_activations(gpipe(k, m, checkpoint), unit(k, a, i), [n] * m)
            assert peaks == pytest.approx([peak] * k)


def test_the_curve_of_a_recomputed_lane_op_by_op():
    (curve,) = activation_curves(gpipe(1, 2, "always"), unit(1, stash=1, internals=10), sizes=[1, 1])
    assert curve.tolist() == [1, 2, 11, 1, 10, 0]  # F0 F1 R1 B1 R0 B0


def test_uneven_pieces_weigh_by_their_samples():
    (curve,) = activation_curves(gpipe(1, 2), unit(1), sizes=[3, 2])
    assert curve.tolist() == [30, 50, 30, 0]


def test_what_does_not_grow_with_the_piece_is_counted_once_a_piece():
    (curve,) = activation_curves(gpipe(1, 2), unit(1, internals_fixed=7), sizes=[3, 2])
    assert curve.tolist() == [37, 64, 37, 0]


def test_a_split_backward_frees_at_its_weight_gradient():
    (curve,) = activation_curves(Schedule.from_text("0F0 0I0 0F1 0W0 0I1 0W1"), unit(1), sizes=[1, 1])
    assert curve.tolist() == [10, 10, 20, 10, 10, 0]


def test_a_device_adds_up_its_stages():
    shape = ModelShape((StageShape(100, 1, 1, 10), StageShape(20, 2, 2, 30)))
    (memory,) = predict_memory(Schedule(["0F0 1F0 1B0 0B0"]), shape, sizes=[1])
    assert (memory.parameters, memory.gradients, memory.activations, memory.total) == (120, 120, 40, 280)


@pytest.mark.parametrize("builder", [gpipe, one_f_one_b])
@pytest.mark.parametrize("checkpoint", ["never", "except_last", "always"])
def test_nothing_is_left_at_the_end_of_a_step(builder, checkpoint):
    for curve in activation_curves(builder(4, 6, checkpoint), unit(4, internals_fixed=3), [1, 2, 1, 2, 1, 2]):
        assert curve[-1] == 0
        assert curve.min() == 0


def test_micro_batches_differ_by_at_most_one_sample_larger_first():
    assert micro_batch_sizes(9, 4) == [3, 2, 2, 2]
    assert micro_batch_sizes(8, 4) == [2, 2, 2, 2]
    for num_samples in range(1, 30):
        for num_micro_batches in range(1, num_samples + 1):
            sizes = micro_batch_sizes(num_samples, num_micro_batches)
            assert sum(sizes) == num_samples
            assert sizes == [len(part) for part in np.array_split(np.arange(num_samples), num_micro_batches)]


def test_sizes_and_shape_must_fit_the_schedule():
    with pytest.raises(CostsError, match="sizes lists 2 micro-batches, but the schedule has 3"):
        peak_activations(gpipe(2, 3), unit(2), [1, 1])
    with pytest.raises(CostsError, match="the model's shape has 3 stages, but the schedule has 2"):
        peak_activations(gpipe(2, 3), unit(3), [1, 1, 1])
    with pytest.raises(CostsError, match="the model's shape has 1 stages, but the schedule has 2"):
        predict_memory(gpipe(2, 3), unit(1), [1, 1, 1])


def test_a_stage_that_is_there_twice_has_its_parameters_on_both_devices():
    both = Schedule.from_text("0F0 1F1 1B1 0B0 | 1F0 1B0 0F1 0B1")
    shape = ModelShape((StageShape(100, 0, stash=1, internals=3), StageShape(7, 0, stash=1, internals=5)))
    memory = predict_memory(both, shape, [2, 1])
    assert [device.parameters for device in memory] == [device.gradients for device in memory] == [107, 107]
    assert [device.activations for device in memory] == [2 * 3 + 1 * 5, 2 * 5]
