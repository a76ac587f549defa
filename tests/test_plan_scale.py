"""Planning at the size of a real cluster: exact numbers, and what it costs in counts: rounds, bytes, searches.

How long it takes is measured by `python -m benchmarks.plan`; a test on a busy machine can only count.
"""

import tracemalloc

import numpy as np
import pytest

from pipekit.errors import ScheduleError
from pipekit.plan import (
    Costs,
    Lane,
    Schedule,
    Spans,
    Timeline,
    bubble_fraction,
    formula_bubble,
    gpipe,
    needs,
    one_f_one_b,
    peak_in_flight,
    simulate,
    span_bubble,
    validate,
    waits,
    zb_h1,
)

K, M = 64, 512
UNIT = Costs(forward=1, backward=2)  # I and W: 1 each
BUILDERS = pytest.mark.parametrize("builder", [gpipe, one_f_one_b, zb_h1])


@pytest.mark.parametrize(
    ("builder", "makespan", "span", "peaks"),
    [
        (gpipe, 3 * (M + K - 1), 3 * (K - 1), [M] * K),
        (one_f_one_b, 3 * (M + K - 1), 3 * (K - 1), [K - stage for stage in range(K)]),
        (zb_h1, 3 * M + K - 1, K - 1, [K] * K),  # W goes K - 1 micro-batches after F on every device
    ],
)
def test_64_devices_and_512_micro_batches_give_the_numbers_of_theory(builder, makespan, span, peaks):
    timeline = simulate(builder(K, M), UNIT)
    assert timeline.makespan == makespan
    assert span_bubble(timeline) == span
    assert bubble_fraction(timeline) == pytest.approx(1 - 3 * M / makespan, abs=1e-12)
    assert peak_in_flight(timeline) == peaks
    if builder is not zb_h1:
        assert bubble_fraction(timeline) == pytest.approx(formula_bubble(K, M), abs=1e-12)


@BUILDERS
def test_all_lanes_go_forward_together(builder):
    schedule = builder(K, M)
    ops_of_a_device = len(schedule.lanes[0])
    assert len(schedule.waits.rounds) <= ops_of_a_device + 2 * (K - 1)  # not one round an op


@BUILDERS
def test_a_round_holds_one_op_a_lane_and_nothing_that_waits_for_the_same_round(builder):
    schedule = builder(5, 7)
    op_at = {
        position: (device, op)
        for device, (lane, here) in enumerate(zip(schedule.lanes, schedule.waits.lanes, strict=True))
        for position, op in zip(range(here.start, here.stop), lane, strict=True)
    }
    done = set()
    for going, _ in schedule.waits.rounds:
        devices, ops = zip(*(op_at[position] for position in going.tolist()), strict=True)
        assert len(set(devices)) == len(devices)
        assert all(done.issuperset(needs(op, schedule)) for op in ops)
        done.update(ops)
    assert len(done) == schedule.num_ops


@BUILDERS
def test_a_prediction_costs_at_most_90_bytes_an_op(builder):
    simulate(builder(2, 2), UNIT)  # what the first call imports is not counted
    tracemalloc.start()
    try:
        schedule = builder(K, M)
        validate(schedule)
        timeline = simulate(schedule, UNIT)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(timeline.spans) == schedule.num_ops
    assert peak <= 90 * schedule.num_ops  # 12.6 million ops in 1.1 GB; the limit is 2 GiB


def test_an_order_is_searched_once_whatever_is_asked_afterwards(monkeypatch):
    searched = []
    find = waits.find_waits
    monkeypatch.setattr(waits, "find_waits", lambda schedule: searched.append(schedule) or find(schedule))
    schedule = one_f_one_b(4, 8)
    validate(schedule)
    spans = [simulate(schedule, Costs(backward=backward)).makespan for backward in (1, 2, 3)]
    validate(schedule)
    assert spans == [2 * 11, 3 * 11, 4 * 11]
    assert searched == [schedule]


def with_lanes(schedule, lanes):
    """The schedule with some lanes replaced: {device: ops}."""
    return Schedule(
        [lanes.get(device, lane) for device, lane in enumerate(schedule.lanes)], schedule.placement
    )


def test_a_deadlock_among_65536_ops_is_still_explained():
    schedule = one_f_one_b(K, M)
    last, before = schedule.lanes[K - 1].codes, schedule.lanes[K - 2].codes
    wrong = with_lanes(schedule, {K - 1: last[[1, 0, *range(2, 2 * M)]]})
    with pytest.raises(ScheduleError) as caught:
        validate(wrong)
    assert str(caught.value) == "deadlock: 63B0 waits for 63F0, which stands behind 63B0 on device 63"
    crossed = {K - 1: last[[2, 3, 0, 1, *range(4, 2 * M)]], K - 2: before[[0, 2, 1, *range(3, 2 * M)]]}
    with pytest.raises(ScheduleError) as caught:
        validate(with_lanes(schedule, crossed))
    assert str(caught.value) == (
        "deadlock: 62B0 waits for 63B0, which stands behind 63F1 on device 63; "
        "63F1 waits for 62F1, which stands behind 62B0 on device 62"
    )


def test_one_wrong_op_among_65536_is_named():
    schedule = gpipe(K, M)
    codes = schedule.lanes[31].codes
    for place, missing in ((0, "31F0"), (1, "31F1"), (2 * M - 1, "31B0")):
        with pytest.raises(ScheduleError) as caught:
            validate(with_lanes(schedule, {31: np.delete(codes, place)}))
        assert str(caught.value) == f"{missing} is missing: no lane runs it"
    again = np.append(codes, Lane.of("31B7").codes)
    with pytest.raises(ScheduleError, match=r"31B7 stands 2 times in the lanes"):
        validate(with_lanes(schedule, {31: again}))


def test_spans_in_any_order_of_devices_are_counted_alike():
    timeline = simulate(one_f_one_b(4, 8), UNIT)
    spans = timeline.spans
    by_time = np.argsort(spans.starts, kind="stable")
    mixed = Timeline(
        Spans(spans.codes[by_time], spans.devices[by_time], spans.starts[by_time], spans.ends[by_time]), 4
    )
    assert np.any(np.diff(mixed.spans.devices) < 0)
    assert peak_in_flight(mixed) == peak_in_flight(timeline) == [4, 3, 2, 1]
