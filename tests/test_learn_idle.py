"""Why is a device idle? The op that is named is the one it waits for, whatever the schedule."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipekit.learn.controlroom.idle import Reason, at_slot, rows, why, words
from pipekit.plan import Costs, Op, Schedule, Span, Timeline, gpipe, needs, one_f_one_b, simulate

EQUAL = Costs(forward=1, backward=2)


def reasons(schedule, device, costs=EQUAL, sizes=None, **how):
    """Of each slot of a device's row: its reason's kind, and whom it waits for."""
    timeline = simulate(schedule, costs, sizes)
    said = []
    for slot in range(round(timeline.makespan)):
        reason = at_slot(schedule, timeline, device, slot, 1.0, **how)
        said.append("" if reason is None else f"{reason.kind} {reason.op or ''}".strip())
    return said


def test_gpipe_waits_for_the_first_piece_then_for_the_first_way_back():
    schedule = gpipe(3, 2)  # 0F0 0F1 . . . . . . 0B1 0B1 0B0 0B0 in slots of 1
    assert reasons(schedule, 2) == ["fill 1F0"] * 2 + [""] * 2 + [""] * 4 + ["done"] * 4
    assert reasons(schedule, 0) == [""] * 2 + ["waits 1B1"] * 6 + [""] * 4
    assert reasons(schedule, 1) == ["fill 0F0"] + [""] * 2 + ["waits 2B1"] * 3 + [""] * 4 + ["done"] * 2


def test_1f1b_waits_in_between_for_each_way_back():
    """Device 0 has three forwards out (0 to 3), and waits for device 1's first way back, begun at 5."""
    schedule = one_f_one_b(3, 4)
    said = reasons(schedule, 0)
    assert said[:8] == ["", "", "", "waits 1B0", "waits 1B0", "waits 1B0", "waits 1B0", ""]
    assert {each for each in reasons(schedule, 2) if each} == {"fill 1F0", "done"}


def test_recomputing_late_waits_for_the_gradient_and_early_for_nothing():
    late, early = (gpipe(2, 2, checkpoint="always", recompute=when) for when in ("late", "early"))
    assert "waits 1B1" in reasons(late, 0)
    timeline = simulate(early, EQUAL)
    first_redo = next(span for span in timeline.spans if str(span.op) == "0R1")
    assert first_redo.start == 2.0  # at once: there is no idle moment before it
    assert why(early, timeline, 0, 3.5).op == Op.parse("1B1")


def test_uneven_pieces_wait_for_the_larger_one():
    schedule = gpipe(2, 2)
    timeline = simulate(schedule, EQUAL, sizes=[2, 1])
    assert why(schedule, timeline, 1, 1.5) == Reason("fill", Op.parse("0F0"), 0, True, 2)
    timeline = simulate(
        schedule, EQUAL, sizes=[1, 2]
    )  # device 1 is done with piece 0 before piece 1 has come
    assert why(schedule, timeline, 1, 2.5) == Reason("waits", Op.parse("0F1"), 0, True, 2)


def test_a_message_under_way_is_named_as_such():
    schedule = gpipe(2, 1)
    timeline = simulate(schedule, Costs(1, 2, latency=0.5))
    assert why(schedule, timeline, 1, 0.9) == Reason("fill", Op.parse("0F0"), 0, True, 1)
    assert why(schedule, timeline, 1, 1.2) == Reason("link", Op.parse("0F0"), 0, True, 1)
    measured = replace(timeline, source="measured")
    assert why(schedule, measured, 1, 1.2, latency=0.5).kind == "link"
    assert why(schedule, measured, 1, 1.2) == Reason("late", Op.parse("1F0"), 1, False, 1)


def test_a_queue_in_front_of_what_is_waited_for_is_told():
    schedule = gpipe(3, 2)
    timeline = simulate(schedule, EQUAL)
    assert not why(schedule, timeline, 0, 2.5).begun  # 1B1 waits itself
    assert why(schedule, timeline, 0, 6.5).begun  # 1B1 runs from 6 to 8
    assert words(why(schedule, timeline, 0, 2.5), "zh") == "等显卡 2 把第 2 小份往回改完，现在还没轮到它"
    assert words(why(schedule, timeline, 0, 6.5), "zh") == "等显卡 2 把第 2 小份往回改完"


def test_outside_the_step_nothing_is_waited_for():
    schedule = gpipe(2, 2)
    timeline = simulate(schedule, EQUAL)
    assert why(schedule, timeline, 0, -0.1) == Reason("before")
    assert why(schedule, timeline, 0, timeline.end) == Reason("after")


def test_with_only_forwards_in_view_a_device_is_done_with_its_forwards():
    schedule = gpipe(3, 2)
    forwards = simulate(schedule, EQUAL).only("F")
    reason = why(schedule, forwards, 0, 3.5)
    assert reason == Reason("done", forward_only=True)
    assert words(reason, "zh") == "往前算的活都干完了"
    assert why(schedule, forwards, 2, 0.5).op == Op.parse("1F0")


def test_a_slot_is_asked_in_its_middle_from_the_timelines_start():
    schedule = gpipe(2, 1)
    spans = [
        replace(span, start=span.start + 7, end=span.end + 7) for span in simulate(schedule, EQUAL).spans
    ]
    timeline = Timeline(spans, 2, "measured")
    assert at_slot(schedule, timeline, 1, 0, 1.0).kind == "fill"
    assert at_slot(schedule, timeline, 1, 1, 1.0) is None
    assert at_slot(schedule, timeline, 1, 0, 1.0, origin=1.0) is None


@pytest.mark.parametrize(
    ("reason", "chinese", "english", "engineer"),
    [
        (
            Reason("waits", Op.parse("2B1"), 2, True, 4),
            "等显卡 3 把第 2 小份往回改完",
            "waits for GPU 3's backward of piece 2",
            "waits for 2B1 from device 2",
        ),
        (
            Reason("fill", Op.parse("0F0"), 0, True, 1),
            "活还没传到：等显卡 1 把一大批往前算完",
            "nothing has come yet: waits for GPU 1's forward of the whole batch",
            "fill: waits for 0F0 from device 0",
        ),
        (
            Reason("link", Op.parse("0F0"), 0, True, 4),
            "显卡 1 的第 1 小份往前算做完了，正在传过来",
            "GPU 1's forward of piece 1 is done and on its way",
            "0F0 from device 0 is done and on its way",
        ),
        (
            Reason("late", Op.parse("1F0"), 1, False, 4),
            "活已经到了，是电脑慢了一点",
            "its work is there; the computer was a little late",
            "inputs are there; the worker woke up late",
        ),
        (Reason("done"), "活都干完了", "all its work is done", "drain: no op left"),
        (Reason("before"), "还没开始", "not begun yet", "not begun yet"),
        (Reason("after"), "都结束了", "all over", "all over"),
    ],
    ids=lambda value: value.kind if isinstance(value, Reason) else "",
)
def test_reasons_in_words(reason, chinese, english, engineer):
    assert words(reason, "zh") == chinese
    assert words(reason, "en") == english
    assert words(reason, "en", "engineer") == engineer


def test_a_whole_picture_is_asked_at_once():
    schedule = one_f_one_b(4, 8)
    timeline = simulate(schedule, Costs(forward=0.7, backward=1.4))
    one_by_one = [[at_slot(schedule, timeline, k, slot, 1.0) for slot in range(24)] for k in range(4)]
    assert rows(schedule, timeline, 24, 1.0) == one_by_one
    assert any(each is not None for each in one_by_one[0])


@st.composite
def runs(draw):
    """A schedule, and its timeline with unequal stages and pieces, perhaps with latency."""
    stages, pieces = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    build = draw(st.sampled_from([gpipe, one_f_one_b]))
    schedule = build(
        stages,
        pieces,
        draw(st.sampled_from(["never", "except_last", "always"])),
        draw(st.sampled_from(["late", "early"])),
    )
    forward = draw(st.lists(st.integers(1, 4), min_size=stages, max_size=stages))
    costs = Costs(forward, [2 * each for each in forward], latency=draw(st.sampled_from([0.0, 0.5, 3.0])))
    sizes = draw(st.lists(st.integers(1, 3), min_size=pieces, max_size=pieces))
    return schedule, simulate(schedule, costs, sizes), costs.latency


def next_op(schedule: Schedule, spans: dict[Op, Span], device: int, time: float) -> Op | None:
    """The first op of the lane that has not begun by then."""
    return next((op for op in schedule.lanes[device] if spans[op].start > time), None)


@settings(max_examples=60, deadline=None)
@given(runs())
def test_at_every_idle_moment_the_op_named_is_what_the_next_op_needs_and_lacks(run):
    schedule, timeline, latency = run
    spans = {span.op: span for span in timeline.spans}
    moments = sorted({moment for span in spans.values() for moment in (span.start, span.end)})
    for before, after in itertools.pairwise(moments):
        time = (before + after) / 2
        for device in range(schedule.num_devices):
            busy = any(span.device == device and span.start <= time < span.end for span in spans.values())
            reason = why(schedule, timeline, device, time, latency)
            assert (reason is None) == busy
            if reason is None:
                continue
            following = next_op(schedule, spans, device, time)
            assert (reason.kind == "done") == (following is None)
            if following is None:
                continue
            assert reason.kind in ("fill", "waits", "link")  # a prediction is never late
            assert reason.op in needs(following, schedule)
            assert reason.device == spans[reason.op].device != device
            done = spans[reason.op].end <= time
            assert (reason.kind == "link") == done
            assert not done or time < spans[reason.op].end + latency
            assert reason.begun == (spans[reason.op].start <= time)
            assert (reason.kind == "fill") <= all(
                span.start > time for span in spans.values() if span.device == device
            )
            for view in ("class", "engineer"):
                assert all(words(reason, lang, view) for lang in ("zh", "en"))
