"""Ops, lanes and schedules: frozen, printable, packed."""

import copy
import json
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipekit.errors import ScheduleError
from pipekit.plan import Kind, Lane, Op, Schedule, by_name, gpipe, needs, one_f_one_b

LAST = (1 << 20) - 1
CASES = settings(max_examples=100, deadline=None, derandomize=True, database=None)
OPS = st.builds(Op, st.sampled_from(Kind), st.integers(0, LAST), st.integers(0, LAST))


# -- ops


def test_an_op_prints_as_it_is_written():
    assert str(Op(Kind.FORWARD, stage=2, micro_batch=0)) == repr(Op.parse("2F0")) == "2F0"
    assert Op.parse(" 12W345 ") == Op(Kind.WEIGHT_GRAD, 12, 345)


@CASES
@given(OPS)
def test_an_op_survives_text_and_packing(op):
    assert Op.parse(str(op)) == op == Op.from_code(op.code)
    assert list(Lane.of([op])) == [op]


@pytest.mark.parametrize(
    "text", ["", "F0", "2F", "2X0", "2f0", "2F0.5", "-1F0", "2F0B1", "٣F٠", "9" * 5000 + "F0"]
)
def test_what_is_no_op_is_refused_with_how_to_write_one(text):
    with pytest.raises(ScheduleError, match="write stage, kind and micro-batch like 2F0"):
        Op.parse(text)


@pytest.mark.parametrize("op", [f"0F{LAST + 1}", f"{LAST + 1}F0", "999999999999B0"])
def test_an_op_that_cannot_be_packed_is_refused_and_not_mistaken_for_another(op):
    with pytest.raises(
        ScheduleError, match=f"{op} is out of range: stages and micro-batches go from 0 to {LAST}"
    ):
        Lane.of(op)


def test_a_negative_op_is_refused():
    with pytest.raises(ScheduleError, match="-1F0 is out of range"):
        Lane.of([Op(Kind.FORWARD, -1, 0)])
    with pytest.raises(ScheduleError, match="0F-1 is out of range"):
        Lane.of([Op(Kind.FORWARD, 0, -1)])


# -- lanes


def test_a_lane_behaves_as_a_sequence_of_ops():
    lane = Lane.of("0F0 0F1 0B1 0B0")
    assert (len(lane), lane[0], lane[-1]) == (4, Op.parse("0F0"), Op.parse("0B0"))
    assert [str(op) for op in lane] == ["0F0", "0F1", "0B1", "0B0"]
    assert [str(op) for op in reversed(lane)] == ["0B0", "0B1", "0F1", "0F0"]
    assert Op.parse("0F1") in lane
    assert Op.parse("1F1") not in lane
    assert lane.index(Op.parse("0B1")) == 2
    assert lane[1:3] == Lane.of("0F1 0B1")
    assert lane[::-1] == Lane.of("0B0 0B1 0F1 0F0")
    with pytest.raises(IndexError):
        lane[4]


def test_a_lane_is_made_of_text_ops_texts_codes_or_a_lane():
    lane = Lane.of("0F0 0B0")
    assert Lane.of([Op.parse("0F0"), Op.parse("0B0")]) == lane
    assert Lane.of(text for text in ["0F0", "0B0"]) == lane
    assert Lane.of(lane.codes) == lane
    assert Lane.of(lane) is lane
    assert len(Lane.of("")) == 0


def test_a_lane_prints_and_compares():
    lane = Lane.of("0F0 0B0")
    assert (str(lane), repr(lane)) == ("0F0 0B0", "Lane('0F0 0B0')")
    assert eval(repr(lane).replace("Lane", "Lane.of")) == lane
    assert lane != Lane.of("0B0 0F0")
    assert lane != "0F0 0B0"
    assert len({lane, Lane.of("0F0 0B0"), Lane.of("0F0")}) == 2


def test_a_lane_is_a_packed_array_that_nobody_can_change():
    lane = Lane.of("0F0 0B0")
    assert lane.codes.dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        lane.codes[0] = 1
    mine = lane.codes.copy()
    Lane.of(mine)
    mine[0] = 1  # the lane took a copy


# -- schedules


def test_a_schedule_counts_devices_stages_and_micro_batches():
    schedule = Schedule(["0F0 2F0 2B0 0B0", "1F0 3F0 3B0 1B0", ""])
    assert (schedule.num_devices, schedule.num_stages, schedule.num_micro_batches) == (3, 4, 1)
    assert (schedule.placement, schedule.stages_per_device, schedule.num_ops) == ((0, 1, 0, 1), 2, 8)
    assert repr(schedule) == "<schedule: 4 stages on 3 devices, 1 micro-batches, 8 ops>"


BIDIRECTIONAL = "0F0 1F1 1B1 0B0 | 1F0 1B0 0F1 0B1"


def test_a_bidirectional_schedule_says_both_homes_of_a_stage():
    schedule = Schedule.from_text(BIDIRECTIONAL)
    assert schedule.placement == schedule.homes == ((0, 1), (1, 0))  # the lowest micro-batch's device first
    assert schedule.stages_per_device == 1  # S = v K: half the micro-batches of two stages
    assert Schedule.from_text("0F0 1F0 1B0 0B0 | 2F0 2B0").homes == ((0,), (0,), (1,))
    mixed = Schedule.from_text("0F0 1F0 1B0 0B0 0F1 0B1 | 1F1 1B1")
    assert (mixed.placement, mixed.homes) == ((0, (0, 1)), ((0,), (0, 1)))
    assert mixed.stages_per_device == 2


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s)),
                                   lambda s: Schedule.from_text(str(s)),
                                   lambda s: Schedule(s.lanes, s.homes),
                                   lambda s: Schedule(s.lanes, json.loads(json.dumps(s.placement))),
                                   lambda s: Schedule(s.lanes, np.array(s.placement))])  # fmt: skip
def test_two_homes_survive_a_copy(again):
    schedule = Schedule.from_text(BIDIRECTIONAL)
    assert again(schedule) == schedule
    assert hash(again(schedule)) == hash(schedule)
    assert again(schedule).placement == schedule.placement
    assert all(type(device) is int for home in again(schedule).placement for device in home)


def test_a_home_is_one_device_or_two():
    assert (
        Schedule(["0F0 0B0", ""], [(1,)]).placement == Schedule(["0F0 0B0", ""], [(1, 1)]).placement == (1,)
    )
    assert Schedule(["0F0 0B0", ""], [[1, 0]]).placement == ((1, 0),)
    assert Schedule(["0F0 0B0", ""], [(1, 0)]) != Schedule(["0F0 0B0", ""], [(0, 1)])
    with pytest.raises(ScheduleError, match="names 3 devices for stage 1; name one, or two for a stage that"):
        Schedule(["0F0 0B0"], [0, (0, 1, 2)])
    with pytest.raises(ScheduleError, match="names 0 devices for stage 0; name one"):
        Schedule(["0F0 0B0"], [()])
    for wrong in ("0", 0.5, None, ("0", "1"), {}):
        with pytest.raises(ScheduleError, match="placement must be a whole number, not"):
            Schedule(["0F0 0B0"], [wrong])


def test_a_schedule_is_frozen():
    schedule = gpipe(2, 2)
    for name in ("lanes", "placement", "recompute", "name"):
        with pytest.raises(FrozenInstanceError):
            setattr(schedule, name, None)


def test_equal_schedules_are_equal_and_hash_alike():
    assert gpipe(3, 4) == gpipe(num_stages=3, num_micro_batches=4)
    assert hash(gpipe(3, 4)) == hash(gpipe(3, 4))
    assert gpipe(3, 4) != one_f_one_b(3, 4)
    assert gpipe(3, 4) != gpipe(3, 5)
    assert gpipe(3, 4, "always", "late") != gpipe(3, 4, "always", "early")
    assert Schedule(["0F0 0B0", ""], [0]) != Schedule(["0F0 0B0"], [0])


def test_a_schedule_can_be_copied_and_pickled():
    schedule = one_f_one_b(3, 4, "except_last")
    assert copy.deepcopy(schedule) == schedule
    assert pickle.loads(pickle.dumps(schedule)) == schedule


@pytest.mark.parametrize("recompute", ["late", "early"])
@pytest.mark.parametrize("checkpoint", ["never", "except_last", "always"])
@pytest.mark.parametrize("name", ["naive", "gpipe", "1f1b", "interleaved_1f1b", "looped_bfs"])
def test_a_schedule_survives_its_text(name, checkpoint, recompute):
    for k, m in [(1, 1), (3, 4), (4, 2), (5, 12)]:
        schedule = by_name(name, k, m, checkpoint, recompute)
        read = Schedule.from_text(str(schedule), name=name)
        assert read == schedule
        assert read.recompute == recompute


def test_text_keeps_empty_lanes_and_a_given_placement():
    assert Schedule.from_text("0F0 0B0 |  | 1F0 1B0").placement == (0, 2)
    schedule = Schedule.from_text(" early\n0F0 0R0 0B0 |", placement=[0])
    assert (schedule.recompute, schedule.num_devices, str(schedule)) == ("early", 2, "early 0F0 0R0 0B0 | ")


@pytest.mark.parametrize("text", ["", "  ", "early", " | | "])
def test_a_text_without_an_op_is_refused(text):
    with pytest.raises(ScheduleError, match="a schedule needs at least one op"):
        Schedule.from_text(text)


def test_a_misspelt_text_is_refused():
    with pytest.raises(ScheduleError, match="cannot read 'late' as an op"):
        Schedule.from_text("late 0F0 0B0")
    with pytest.raises(ScheduleError, match="unknown recompute time 'soon'; choose one of: late, early"):
        Schedule(["0F0 0B0"], recompute="soon")


# -- early and late


@pytest.mark.parametrize("builder", [gpipe, one_f_one_b])
def test_early_and_late_have_the_same_lanes_and_differ_in_a_field(builder):
    late, early = (builder(4, 8, "always", recompute) for recompute in ("late", "early"))
    assert late.lanes == early.lanes
    assert (late.recompute, early.recompute) == ("late", "early")
    again = Op.parse("2R3")
    assert needs(again, late) == (Op.parse("2F3"), Op.parse("3B3"))
    assert needs(again, early) == (Op.parse("2F3"),)
    assert needs(Op.parse("2B3"), late) == needs(Op.parse("2B3"), early) == (Op.parse("2R3"), Op.parse("3B3"))


def test_the_policy_is_nothing_but_which_pairs_have_an_r():
    for recompute in ("late", "early"):
        schedule = gpipe(2, 3, "except_last", recompute)
        assert str(schedule.lanes[0]) == "0F0 0F1 0F2 0B2 0R1 0B1 0R0 0B0"
        assert [schedule.has(4, 0, m) for m in range(3)] == [True, True, False]
    assert needs(Op.parse("0B2"), schedule) == (Op.parse("0F2"), Op.parse("1B2"))


def test_the_law_in_full():
    split = Schedule.from_text("0F0 0I0 0W0 | 1F0 1R0 1I0 1W0")
    assert needs(Op.parse("0F0"), split) == ()
    assert needs(Op.parse("1F0"), split) == (Op.parse("0F0"),)
    assert needs(Op.parse("1R0"), split) == (Op.parse("1F0"),)  # the last stage waits for no gradient
    assert needs(Op.parse("1I0"), split) == (Op.parse("1R0"),)
    assert needs(Op.parse("0I0"), split) == (Op.parse("0F0"), Op.parse("1I0"))
    assert needs(Op.parse("0W0"), split) == (Op.parse("0I0"),)
