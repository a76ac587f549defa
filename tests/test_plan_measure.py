"""Numbers read off a timeline, predicted or measured."""

import numpy as np
import pytest

from pipekit.errors import CostsError
from pipekit.plan import (
    Costs,
    Op,
    Schedule,
    Span,
    Timeline,
    bubble_fraction,
    bubble_overhead,
    busy_devices,
    busy_time,
    formula_bubble,
    gpipe,
    messages,
    naive,
    one_f_one_b,
    peak_in_flight,
    shares,
    simulate,
    span_bubble,
)


def span(op, device, start, end):
    return Span(Op.parse(op), device, start, end)


MEASURED = Timeline(  # as a run hands it over: late by 100 s, in the order things ended
    [span("0F0", 0, 100, 101), span("1F0", 1, 102, 104), span("1B0", 1, 104, 107), span("0R0", 0, 107.5, 108),
     span("0B0", 0, 108, 110)],
    num_devices=2,
    source="measured",
)  # fmt: skip


def test_the_bubble_has_two_denominators():
    timeline = simulate(gpipe(4, 8), Costs())
    assert bubble_fraction(timeline) == pytest.approx(3 / 11)  # of the time of all devices
    assert bubble_overhead(timeline) == pytest.approx(3 / 8)  # of the ideal time
    assert formula_bubble(4, 8) == pytest.approx(3 / 11)


def test_makespan_runs_from_the_first_start_to_the_last_end():
    assert (MEASURED.start, MEASURED.end, MEASURED.makespan) == (100, 110, 10)


def test_measures_hold_for_measured_timelines():
    assert busy_time(MEASURED).tolist() == [3.5, 5]
    assert bubble_fraction(MEASURED) == pytest.approx(1 - 8.5 / 20)
    assert bubble_overhead(MEASURED) == pytest.approx(11.5 / 8.5)
    assert busy_devices(MEASURED) == pytest.approx(0.85)
    assert shares(MEASURED).recompute == pytest.approx(0.5 / 20)
    assert peak_in_flight(MEASURED) == [1, 1]


@pytest.mark.parametrize("recompute", ["late", "early"])
@pytest.mark.parametrize("checkpoint", ["never", "except_last", "always"])
def test_shares_add_up_to_one(checkpoint, recompute):
    random = np.random.default_rng(0)
    for k, m in [(1, 1), (2, 5), (4, 4), (5, 3)]:
        costs = Costs(random.uniform(0.1, 2, k), random.uniform(0.1, 2, k), random.uniform(0.1, 2, k))
        for builder in (gpipe, one_f_one_b):
            schedule = builder(k, m, checkpoint, recompute)
            timeline = simulate(schedule, costs)
            part = shares(timeline)
            assert part.idle + part.recompute + part.useful == pytest.approx(1)
            assert part.idle == pytest.approx(bubble_fraction(timeline))
            again = sum(span.duration for span in timeline.spans if span.op.kind == "R")
            assert part.recompute == pytest.approx(again / (k * timeline.makespan))


def test_recompute_is_busy_but_not_useful():
    part = shares(simulate(gpipe(4, 4, checkpoint="always"), Costs(1, 2, 1)))
    assert (part.idle, part.recompute, part.useful) == pytest.approx((3 / 7, 1 / 7, 3 / 7))


def test_a_device_without_a_span_is_idle():
    half = simulate(Schedule(["0F0 0B0", ""]), Costs())
    assert busy_time(half).tolist() == [3, 0]
    assert bubble_fraction(half) == pytest.approx(0.5)
    assert peak_in_flight(half) == [1, 0]


def test_the_span_bubble_is_the_longest_idle_time_between_a_devices_first_start_and_last_end():
    assert span_bubble(MEASURED) == pytest.approx(
        6.5
    )  # device 0 has 10 s and works 3.5; device 1 never idles
    skewed = Timeline([span("0F0", 0, 5, 6), span("0B0", 0, 6, 8), span("1F0", 1, 0, 9)], num_devices=3)
    assert span_bubble(skewed) == 0  # who starts late or ends early, or never works, idles outside its span
    assert bubble_fraction(skewed) == pytest.approx(1 - 12 / 27)


def test_messages_are_what_crosses_to_another_device():
    assert messages(gpipe(4, 8)) == messages(gpipe(4, 8, "always")) == 2 * 8 * 3
    assert messages(naive(3)) == 2 * 2
    assert messages(Schedule(["0F0 1F0 1I0 0I0 1W0 0W0"])) == 0  # nothing leaves the device
    both = Schedule(["0F0 1F1 1B1 0B0", "1F0 0F1 0B1 1B0"])
    assert messages(both) == 4
    assert messages(Schedule(["0F0 1F0 1B0 0B0 0F1 0B1", "1F1 1B1"])) == 2  # one of the two stays at home


def test_gpipe_keeps_8_8_8_8_in_flight_and_1f1b_4_3_2_1():
    assert peak_in_flight(simulate(gpipe(4, 8), Costs())) == [8, 8, 8, 8]
    assert peak_in_flight(simulate(one_f_one_b(4, 8), Costs())) == [4, 3, 2, 1]


def test_1f1b_keeps_no_more_than_there_are_stages_behind():
    for k in range(1, 7):
        for m in range(1, 9):
            timeline = simulate(one_f_one_b(k, m), Costs())
            assert peak_in_flight(timeline) == [min(m, k - stage) for stage in range(k)]
            assert peak_in_flight(simulate(gpipe(k, m), Costs())) == [m] * k
        assert peak_in_flight(simulate(naive(k), Costs())) == [1] * k


def test_a_split_backward_keeps_until_its_weight_gradient():
    kept = Schedule.from_text("0F0 0I0 0F1 0I1 0W0 0W1")
    assert peak_in_flight(simulate(kept, Costs())) == [2]
    freed = Schedule.from_text("0F0 0I0 0W0 0F1 0I1 0W1")
    assert peak_in_flight(simulate(freed, Costs())) == [1]


def test_several_stages_on_one_device_are_counted_together():
    schedule = Schedule(["0F0 0F1 1F0 1F1 1B1 1B0 0B1 0B0"])
    assert peak_in_flight(simulate(schedule, Costs())) == [4]


def test_nothing_can_be_measured_on_an_empty_timeline():
    empty = Timeline([], num_devices=2)
    for measure in (bubble_fraction, bubble_overhead, busy_devices, span_bubble, shares, str):
        with pytest.raises(CostsError, match="no span, so there is nothing to measure"):
            measure(empty)
    assert (empty.makespan, empty.num_stages, empty.num_micro_batches) == (0, 0, 0)
    assert peak_in_flight(empty) == [0, 0]


# -- timelines


def test_a_timeline_of_spans_is_packed_and_hands_out_spans():
    assert len(MEASURED.spans) == 5
    assert [str(each.op) for each in MEASURED.spans] == [
        "0F0",
        "0R0",
        "0B0",
        "1F0",
        "1B0",
    ]  # by device, then start
    assert MEASURED.spans[1] == span("0R0", 0, 107.5, 108)
    assert MEASURED.spans[-1].duration == 3
    assert list(MEASURED.spans[3:]) == list(MEASURED.spans)[3:]
    assert str(MEASURED.spans[0]) == "0F0 on device 0: 100 to 101"
    assert (MEASURED.num_stages, MEASURED.num_micro_batches) == (2, 1)


def test_only_keeps_the_kinds_asked_for():
    forward = MEASURED.only("F")
    assert [str(each.op) for each in forward.spans] == ["0F0", "1F0"]
    assert (forward.makespan, forward.num_devices, forward.source) == (4, 2, "measured")
    assert len(MEASURED.only("F", "R").spans) == 3
    with pytest.raises(ValueError, match="X"):
        MEASURED.only("X")


def test_a_predicted_timeline_says_so():
    timeline = simulate(gpipe(2, 2), Costs())
    assert (timeline.source, timeline.devices) == ("predicted", "2 predicted devices")
    assert simulate(gpipe(1, 2), Costs()).devices == "1 predicted device"
    with pytest.raises(AttributeError):
        timeline.source = "measured"
