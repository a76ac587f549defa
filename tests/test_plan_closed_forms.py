"""What is known by proof or by counting about GPipe and 1F1B, on random cases: `simulate` must agree.

f, b, r: forward, backward, recompute of one micro-batch on one stage; c: latency of a hop; K stages, M micro-batches.
"""

import numpy as np
import pytest

from pipekit.plan import (
    Costs,
    bubble_fraction,
    bubble_overhead,
    formula_bubble,
    gpipe,
    naive,
    one_f_one_b,
    shares,
    simulate,
)

NUM_CASES = 60


def cases(seed):
    """Random (K, M, random generator)."""
    random = np.random.default_rng(seed)
    for _ in range(NUM_CASES):
        yield int(random.integers(1, 9)), int(random.integers(1, 20)), random


def some(random, size=None):
    """Positive numbers of very different sizes; a number or, with a size, a list."""
    drawn = np.exp(random.uniform(-1.5, 1.5, size))
    return float(drawn) if size is None else drawn.tolist()


def makespan(schedule, *args, **kwargs):
    return simulate(schedule, Costs(*args, **kwargs)).makespan


# -- the formula


@pytest.mark.parametrize("builder", [gpipe, one_f_one_b])
@pytest.mark.parametrize("checkpoint", ["never", "always"])
def test_equal_stages_idle_by_the_formula(builder, checkpoint):
    for k, m, random in cases(seed=1):
        f, b, r = some(random), some(random), some(random)
        timeline = simulate(builder(k, m, checkpoint, "late"), Costs(f, b, r))
        slot = f + b + (r if checkpoint == "always" else 0)
        assert timeline.makespan == pytest.approx((m + k - 1) * slot)
        assert bubble_fraction(timeline) == pytest.approx(formula_bubble(k, m), abs=1e-12)
        assert bubble_overhead(timeline) == pytest.approx((k - 1) / m, abs=1e-12)


@pytest.mark.parametrize("builder", [gpipe, one_f_one_b])
def test_an_overhead_per_op_hides_in_the_formula_but_not_in_the_time(builder):
    for k, m, random in cases(seed=2):
        f, b, overhead = some(random), some(random), some(random)
        timeline = simulate(builder(k, m), Costs(f, b, overhead=overhead))
        assert bubble_fraction(timeline) == pytest.approx(formula_bubble(k, m), abs=1e-12)
        assert timeline.makespan == pytest.approx((m + k - 1) * (f + b + 2 * overhead))


def test_naive_takes_every_stage_in_turn():
    for k, _, random in cases(seed=3):
        f, b, c = some(random, k), some(random, k), some(random)
        assert makespan(naive(k), f, b, latency=c) == pytest.approx(sum(f) + sum(b) + 2 * (k - 1) * c)


# -- GPipe, unequal stages


def test_gpipe_is_two_sweeps_each_paced_by_its_slowest_stage():
    for k, m, random in cases(seed=4):
        f, b, c = some(random, k), some(random, k), some(random)
        expected = sum(f) + sum(b) + (m - 1) * (max(f) + max(b)) + 2 * (k - 1) * c
        assert makespan(gpipe(k, m), f, b, latency=c) == pytest.approx(expected)


def test_one_sweep_is_paced_by_its_slowest_stage():
    for k, m, random in cases(seed=5):
        f = some(random, k)
        forward = simulate(gpipe(k, m), Costs(f)).only("F")
        assert forward.makespan == pytest.approx(sum(f) + (m - 1) * max(f))


def test_late_recompute_is_a_longer_backward():
    for k, m, random in cases(seed=6):
        f, b, r, c = some(random, k), some(random, k), some(random, k), some(random)
        longer = [backward + again for backward, again in zip(b, r, strict=True)]
        expected = makespan(gpipe(k, m), f, longer, latency=c)
        assert makespan(gpipe(k, m, "always", "late"), f, b, r, latency=c) == pytest.approx(expected)


def test_early_recompute_waits_only_for_its_own_forward():
    for k, m, random in cases(seed=7):
        f, b, r, c = some(random, k), some(random, k), some(random, k), some(random)
        expected = max(
            sum(f[: i + 1]) + (m - 1) * max(f[: i + 1]) + i * c + r[i]
            + sum(b[: i + 1]) + i * c + (m - 1) * max(np.add(b, r)[: i + 1])
            for i in range(k)
        )  # fmt: skip
        assert makespan(gpipe(k, m, "always", "early"), f, b, r, latency=c) == pytest.approx(expected)


# -- recompute, equal stages


def test_early_recompute_saves_k_minus_1_forwards():
    for k, m, random in cases(seed=8):
        f, b, r, c = some(random), some(random), some(random), some(random)
        late = makespan(gpipe(k, m, "always", "late"), f, b, r, latency=c)
        early = makespan(gpipe(k, m, "always", "early"), f, b, r, latency=c)
        assert early == pytest.approx((m + k - 1) * (f + b) + m * r + 2 * (k - 1) * c)
        assert late - early == pytest.approx((k - 1) * r)


def test_early_recompute_has_its_own_idle_fraction():
    for k, m, random in cases(seed=9):
        f, b, r = some(random), some(random), some(random)
        timeline = simulate(gpipe(k, m, "always", "early"), Costs(f, b, r))
        idle = (k - 1) * (f + b) / ((m + k - 1) * (f + b) + m * r)
        assert bubble_fraction(timeline) == pytest.approx(idle, abs=1e-12)


def test_early_recompute_of_4_pieces_on_4_stages_idles_36_percent():
    assert bubble_fraction(simulate(gpipe(4, 4, "always", "early"), Costs(1, 2, 1))) == pytest.approx(0.36)
    assert bubble_fraction(simulate(gpipe(4, 4, "always", "late"), Costs(1, 2, 1))) == pytest.approx(3 / 7)


def test_except_last_saves_one_recompute_and_idles_a_little_more():
    for k, m, random in cases(seed=10):
        m += 1  # with one micro-batch there is nothing left to recompute
        f, b, r = some(random), some(random), some(random)
        late = simulate(gpipe(k, m, "except_last", "late"), Costs(f, b, r))
        early = simulate(gpipe(k, m, "except_last", "early"), Costs(f, b, r))
        assert late.makespan == pytest.approx((m + k - 1) * (f + b) + (m + k - 2) * r)
        assert early.makespan == pytest.approx((m + k - 1) * (f + b) + (m - 1) * r)
        always = simulate(gpipe(k, m, "always", "late"), Costs(f, b, r))
        assert late.makespan < always.makespan
        assert bubble_fraction(late) >= bubble_fraction(always) - 1e-12
        assert shares(late).useful >= shares(always).useful - 1e-12


# -- links


def test_serial_links_pace_gpipe_when_they_are_slower_than_the_stages():
    for k, m, random in cases(seed=11):
        if k == 1:
            continue
        f, b, c = some(random), some(random), some(random)
        expected = k * (f + b) + 2 * (k - 1) * c + (m - 1) * (max(f, c) + max(b, c))
        assert makespan(gpipe(k, m), f, b, bandwidth=2.0, message_bytes=2 * c) == pytest.approx(expected)


def test_1f1b_pays_latency_in_every_round_of_k_pieces():
    for k, m, random in cases(seed=12):
        if k == 1:
            continue
        f, b, c = some(random), some(random), some(random)
        expected = (m + k - 1) * (f + b) + 2 * c * (k + m - 3 - (m - 2) // k)
        assert makespan(one_f_one_b(k, m), f, b, latency=c) == pytest.approx(expected)


def test_1f1b_with_unequal_stages_lies_between_its_busiest_stage_and_gpipe():
    for k, m, random in cases(seed=13):
        f, b = some(random, k), some(random, k)
        both = np.add(f, b)
        least = max(max(both[:i].sum() + m * both[i] for i in range(k)), both.sum())
        between = makespan(one_f_one_b(k, m), f, b)
        assert least <= between * (1 + 1e-12)
        assert between <= makespan(gpipe(k, m), f, b) * (1 + 1e-12)


# -- K=4, M=8, one thing changed at a time


@pytest.mark.parametrize(
    ("schedule", "costs", "makespan", "idle"),
    [
        (gpipe(4, 8), Costs(1, 2), 33, 27.27),
        (one_f_one_b(4, 8), Costs(1, 2), 33, 27.27),
        (gpipe(4, 8), Costs([1, 1, 1, 2], [2, 2, 2, 4]), 57, 47.37),
        (gpipe(4, 8), Costs(1.25, 2.5), 41.25, 27.27),
        (gpipe(4, 8), Costs(1, 2, latency=0.5), 36, 33.3),
        (one_f_one_b(4, 8), Costs(1, 2, latency=0.5), 41, 41.5),
        (gpipe(4, 8, "always", "late"), Costs(1, 2, 1), 44, 27.27),
        (gpipe(4, 8, "except_last", "late"), Costs(1, 2, 1), 43, 27.91),
        (gpipe(4, 8, "always", "early"), Costs(1, 2, 1), 41, 21.95),
        (gpipe(4, 8, "except_last", "early"), Costs(1, 2, 1), 40, 22.50),
        (gpipe(4, 8), Costs([1, 3, 1, 1], [3, 1, 3, 3]), 58, 44.8),
        (one_f_one_b(4, 8), Costs([1, 3, 1, 1], [3, 1, 3, 3]), 44, 27.3),
    ],
)
def test_what_changes_the_formula_at_4_stages_and_8_pieces(schedule, costs, makespan, idle):
    timeline = simulate(schedule, costs)
    assert timeline.makespan == pytest.approx(makespan)
    assert 100 * bubble_fraction(timeline) == pytest.approx(idle, abs=0.05)


# -- sizes


def test_naive_and_gpipe_compare_as_16_to_7_only_through_sizes():
    costs = Costs(forward=1, backward=1)
    naive_time = simulate(naive(4), costs, sizes=[4]).only("F").makespan
    gpipe_time = simulate(gpipe(4, 4), costs, sizes=[1, 1, 1, 1]).only("F").makespan
    assert (naive_time, gpipe_time) == (16, 7)
    # The trap: equal numbers per op let "naive" win, because its op is then a quarter of the work.
    assert makespan(naive(4), 1, 2) == 12
    assert makespan(gpipe(4, 4), 1, 2) == 21


def test_uneven_pieces_idle_more_than_the_formula():
    timeline = simulate(gpipe(4, 4), Costs(), sizes=[2, 2, 2, 1])
    assert 100 * bubble_fraction(timeline) == pytest.approx(46.2, abs=0.05)
    assert 100 * formula_bubble(4, 4) == pytest.approx(42.9, abs=0.05)


def test_an_op_takes_overhead_and_its_share_of_the_cost():
    costs = Costs(forward=6, backward=12, recompute=3, overhead=0.5, unit_samples=4)
    timeline = simulate(gpipe(1, 2, "always"), costs, sizes=[2, 1])
    assert [(str(span.op), span.duration) for span in timeline.spans] == [
        ("0F0", 3.5), ("0F1", 2.0), ("0R1", 1.25), ("0B1", 3.5), ("0R0", 2.0), ("0B0", 6.5),
    ]  # fmt: skip


def test_the_best_number_of_pieces_is_the_root_of_work_times_k_minus_1_over_overhead():
    # beta = .4 s of work a stage, alpha = .003 s of overhead a micro-batch: M* = sqrt(.4 x 3 / .003) = 20
    costs = Costs(forward=0.1, backward=0.3, overhead=0.0015)
    times = {m: simulate(gpipe(4, m), costs, sizes=[1 / m] * m).makespan for m in range(1, 41)}
    assert min(times, key=times.get) == 20
    assert times[20] == pytest.approx(0.529, abs=5e-4)


def test_a_message_of_a_larger_piece_takes_longer():
    costs = Costs(forward=1, backward=1, bandwidth=10, message_bytes=[20, 999], unit_samples=2)
    timeline = simulate(gpipe(2, 1), costs, sizes=[4])
    # forward 2, message 40 / 10 = 4, forward 2, backward 2, message 4, backward 2
    assert [span.start for span in timeline.spans] == [0, 14, 6, 8]
