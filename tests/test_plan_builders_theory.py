"""What the papers print about interleaved, zero-bubble and bidirectional schedules, and what is known by counting.

f, b, w: forward, input gradient and weight gradient of a device's whole share of the model (one of v chunks takes 1/v);
c: latency of a hop; K devices, M micro-batches. T: makespan. `paper-tables.json` names its sources.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from plan_fused import spans_of_blocks

from pipekit.plan import (
    Costs,
    bubble_fraction,
    busy_time,
    by_name,
    chimera,
    dualpipe,
    dualpipe_v,
    interleaved_1f1b,
    looped_bfs,
    messages,
    one_f_one_b,
    peak_in_flight,
    predict_memory,
    simulate,
    span_bubble,
    zb_h1,
    zb_h2,
    zb_v,
)
from pipekit.plan.memory import ModelShape, StageShape

PAPERS = json.loads(Path(__file__).with_name("paper-tables.json").read_text(encoding="utf-8"))


def costs(f, b, w, v=1, latency=0.0):
    return Costs(f / v, (b + w) / v, input_grad=b / v, weight_grad=w / v, latency=latency)


def unequal(seed, equal=False, num=25):
    """Random K, M and w <= f <= b; with `equal`, f = b."""
    random = np.random.default_rng(seed)
    for _ in range(num):
        w, f, b = np.sort(random.uniform(0.5, 3, 3)).tolist()
        yield int(random.integers(2, 7)), int(random.integers(1, 20)), f, f if equal else b, w


def most_idle(timeline):
    return float((timeline.makespan - busy_time(timeline)).max())


# -- Zero Bubble Pipeline Parallelism (Qi et al., ICLR 2024): Table 5 from the profile of its Table 9


@pytest.mark.parametrize("builder", [one_f_one_b, zb_h1, zb_h2])
def test_table_5_of_the_zero_bubble_paper_follows_from_its_table_9_to_the_printed_digits(builder):
    column = {one_f_one_b: "rate_1f1b", zb_h1: "rate_zb_h1", zb_h2: "rate_zb_h2"}[builder]
    for row in PAPERS["zero_bubble_table_5_and_9"]["rows"]:
        timeline = simulate(
            builder(row["p"], row["m"]), costs(row["f"], row["b"], row["w"], latency=row["c"])
        )
        work = row["m"] * (row["f"] + row["b"] + row["w"])
        rate = span_bubble(timeline) / (span_bubble(timeline) + work)
        assert round(rate, 4) == row[column], row


def test_table_2_of_the_zero_bubble_paper_holds_for_bubble_and_memory():
    for k, more, f, b, w in unequal(seed=1):
        m = 2 * k - 1 + more
        for builder, bubble, memory in [
            (one_f_one_b, (k - 1) * (f + b + w), k),
            (zb_h1, (k - 1) * (f + b - w), k),
            (zb_h2, (k - 1) * (f + b - 2 * w), 2 * k - 1),
        ]:
            timeline = simulate(builder(k, m), costs(f, b, w))
            assert span_bubble(timeline) == pytest.approx(bubble)
            assert max(peak_in_flight(timeline)) == memory


# -- closed forms


@pytest.mark.parametrize("v", [1, 2, 3, 4])
def test_v_chunks_make_the_bubble_v_times_smaller(v):
    for k, rounds, f, b, w in unequal(seed=2):
        m = k * rounds
        timeline = simulate(interleaved_1f1b(k, m, v), costs(f, b, w, v))
        assert timeline.makespan == pytest.approx((m + (k - 1) / v) * (f + b + w))
        assert bubble_fraction(timeline) == pytest.approx((k - 1) / (v * m + k - 1))
        assert timeline.makespan - busy_time(timeline)[0] == pytest.approx((k - 1) / v * (f + b + w))


def test_interleaving_fewer_micro_batches_than_devices_leaves_a_larger_bubble():
    idle = [most_idle(simulate(interleaved_1f1b(4, m, 2), Costs(1, 2))) for m in (2, 3, 4, 8)]
    assert idle == [15, 12, 9, 9]


@pytest.mark.parametrize("v", [1, 2, 4])
def test_breadth_first_takes_as_long_as_its_longest_chunk_rounds(v):
    for k, m, f, b, w in unequal(seed=3):
        chunk = (f + b + w) / v
        timeline = simulate(looped_bfs(k, m, v), costs(f, b, w, v))
        assert timeline.makespan == pytest.approx(((v - 1) * max(m, k) + m + k - 1) * chunk)


@pytest.mark.parametrize("v", [2, 4])
def test_chunked_schedules_pay_latency_once(v):
    c = 0.05
    for k in (4, 8):
        for rounds in (1, 2, 3):
            m = k * rounds

            def extra(builder, k=k, m=m):
                schedule = builder(k, m, v)
                late = simulate(schedule, costs(1, 1, 1, v, latency=c)).makespan
                return late - simulate(schedule, costs(1, 1, 1, v)).makespan

            assert extra(interleaved_1f1b) == pytest.approx(2 * (v * k - 1) * c)
            assert extra(looped_bfs) == pytest.approx(2 * ((v * k if rounds == 1 else k) - 1) * c)


def test_zb_h1_idles_by_f_plus_b_minus_w_a_hop():
    for k, more, f, b, w in unequal(seed=4):
        m = k - 1 + more
        timeline = simulate(zb_h1(k, m), costs(f, b, w))
        assert timeline.makespan == pytest.approx(m * (f + b + w) + (k - 1) * (f + b - w))
        assert span_bubble(timeline) == pytest.approx((k - 1) * (f + b - w))


@pytest.mark.parametrize(("k", "m"), [(2, 3), (4, 8), (5, 20), (8, 32)])
def test_zb_h2_has_no_gap_in_a_span_and_gains_nothing_before_a_barrier(k, m):
    h1, h2 = (simulate(builder(k, m), costs(1, 1, 1)) for builder in (zb_h1, zb_h2))
    assert h1.makespan == h2.makespan == 3 * m + k - 1
    assert (span_bubble(h1), span_bubble(h2)) == (k - 1, 0)


def test_zb_v_has_no_gap_in_a_span_if_f_b_and_w_take_as_long():
    for k in range(1, 7):
        for m in (2 * k - 1, 2 * k, 5 * k):
            timeline = simulate(zb_v(k, m), costs(1, 1, 1, v=2))
            assert span_bubble(timeline) == 0
            assert timeline.makespan == 3 * m + (k - 1) / 2
            assert peak_in_flight(timeline) == [2 * k] * k
        for m in range(1, 2 * k - 1):  # fewer than it is made for
            assert span_bubble(simulate(zb_v(k, m), costs(1, 1, 1, v=2))) == 2 * (2 * k - 1 - m) / 2
    for k, more, f, b, w in unequal(seed=5):
        timeline = simulate(zb_v(k, 2 * k - 2 + more), costs(f, b, w, v=2))
        assert span_bubble(timeline) == pytest.approx((k - 1) * (b - w))


def both_dualpipes(seed):
    """Random DualPipe schedules on PP ranks or, cut in half, on PP/2 devices; times are of one of PP chunks."""
    for half, more, f, b, w in unequal(seed, equal=True, num=5):
        for schedule in (dualpipe(2 * half, 4 * half + 2 * more), dualpipe_v(half, 2 * half + more)):
            yield schedule, half, f, b, w


def test_dualpipes_published_bubble_holds_for_blocks_of_any_length():
    random = np.random.default_rng(6)
    for schedule, half, f, b, w in both_dualpipes(seed=6):
        for together in (b + w, float(random.uniform(b + w, f + b + w))):
            _, last, busy = spans_of_blocks(schedule, costs(f, b, w), together)
            published = (half - 1) * (together + (b + w) - 3 * w)  # (PP/2-1)(F&B + B - 3W)
            assert (last.max() - busy).max() == pytest.approx(published)


def test_dualpipe_of_separate_ops_idles_less_than_its_blocks():
    for schedule, half, f, b, w in both_dualpipes(seed=7):
        timeline = simulate(schedule, costs(f, b, w))
        assert most_idle(timeline) == pytest.approx((half - 1) * (f + (b + w) - 2 * w))


def test_chimera_idles_by_k_minus_2_if_backwards_take_as_long_as_forwards():
    for k in (2, 4, 6, 8):
        for m in (k, 2 * k, 5 * k):
            timeline = simulate(chimera(k, m), Costs(1, 1))
            assert timeline.makespan == 2 * m + k - 2
            assert bubble_fraction(timeline) == pytest.approx((k - 2) / (2 * m + k - 2), abs=1e-12)
        one_unit = simulate(chimera(k, k), Costs(1, 2))
        assert bubble_fraction(one_unit) == pytest.approx((k - 2) / (1.5 * k + k - 2), abs=1e-12)
    assert bubble_fraction(simulate(chimera(4, 16), Costs(1, 2))) == pytest.approx(0.172, abs=5e-4)


# -- all of them, beside each other


@pytest.mark.parametrize(
    ("name", "v", "time", "span", "peak", "sent", "copies"),
    [
        ("gpipe", 1, 117, 21, 32, 448, 1),
        ("1f1b", 1, 117, 21, 8, 448, 1),
        ("interleaved_1f1b", 2, 106.5, 10.5, 11.5, 960, 1),
        ("interleaved_1f1b", 4, 101.25, 5.25, 9.75, 1984, 1),
        ("looped_bfs", 2, 106.5, 10.5, 32, 960, 1),
        ("zb_h1", 1, 103, 7, 8, 448, 1),
        ("zb_h2", 1, 103, 0, 15, 448, 1),
        ("zb_v", 2, 99.5, 0, 8, 896, 1),
        ("dualpipe", 1, 99, 3, 9, 448, 2),
        ("dualpipe_v", 2, 99.5, 3.5, 8.5, 896, 1),
        ("chimera", 1, 126, 30, 8, 448, 2),
    ],
)
def test_eight_devices_and_32_micro_batches_compared(name, v, time, span, peak, sent, copies):
    schedule = by_name(name, 8, 32, num_chunks=v)
    timeline = simulate(schedule, costs(1, 1, 1, v))
    assert (schedule.stages_per_device, timeline.makespan, span_bubble(timeline)) == (v, time, span)
    assert (max(peak_in_flight(timeline)) / v, messages(schedule)) == (peak, sent)
    shape = ModelShape((StageShape(parameters=1, buffers=0, stash=0, internals=0),) * (8 * v))
    assert {memory.parameters for memory in predict_memory(schedule, shape, [1] * 32)} == {v * copies}
