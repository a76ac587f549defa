"""The builders: their orders, and what they answer to numbers that make no schedule."""

from collections import Counter

import numpy as np
import pytest

from pipekit.errors import ScheduleError
from pipekit.plan import by_name, gpipe, naive, one_f_one_b

BUILDERS = [gpipe, one_f_one_b]


def test_gpipe_goes_forward_on_all_and_back_in_the_opposite_order():
    assert str(gpipe(2, 3)) == "0F0 0F1 0F2 0B2 0B1 0B0 | 1F0 1F1 1F2 1B2 1B1 1B0"


def test_1f1b_warms_up_by_the_stages_behind():
    assert str(one_f_one_b(3, 4)) == (
        "0F0 0F1 0F2 0B0 0F3 0B1 0B2 0B3 | 1F0 1F1 1B0 1F2 1B1 1F3 1B2 1B3 | 2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3"
    )
    assert str(one_f_one_b(4, 1)) == "0F0 0B0 | 1F0 1B0 | 2F0 2B0 | 3F0 3B0"


def test_a_recompute_stands_right_before_its_backward():
    assert str(gpipe(1, 3, "always")) == "0F0 0F1 0F2 0R2 0B2 0R1 0B1 0R0 0B0"
    assert str(one_f_one_b(1, 2, "except_last")) == "0F0 0R0 0B0 0F1 0B1"
    assert str(gpipe(1, 1, "except_last")) == "0F0 0B0"  # its only micro-batch is the last


def test_naive_is_gpipe_with_one_micro_batch():
    assert naive(5).lanes == gpipe(5, 1).lanes
    assert naive(5).name == "naive"


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize(("checkpoint", "spared"), [("never", 7), ("except_last", 1), ("always", 0)])
def test_every_stage_works_on_every_micro_batch_once_each_way(builder, checkpoint, spared):
    schedule = builder(4, 7, checkpoint)
    for stage, lane in enumerate(schedule.lanes):
        assert {op.stage for op in lane} == {stage}
        kinds = Counter(op.kind.value for op in lane)
        assert kinds == Counter(F=7, B=7, R=7 - spared)
        assert len(set(lane)) == len(lane)


def test_schedules_are_found_by_name():
    assert by_name("gpipe", 3, 4, "always", "early") == gpipe(3, 4, "always", "early")
    assert by_name("1f1b", 3, 4) == one_f_one_b(3, 4)
    assert by_name("naive", 3, 4) == naive(3)
    with pytest.raises(ScheduleError, match="unknown schedule 'dualpipe'; choose one of: naive, gpipe, 1f1b"):
        by_name("dualpipe", 3, 4)
    with pytest.raises(ScheduleError, match="at least 1 micro-batch, not 0"):
        by_name("naive", 3, 0)


# -- bad numbers


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("asked", [0, -1, -(10**9)])
def test_too_few_stages_or_micro_batches_are_refused_with_the_way_out(builder, asked):
    with pytest.raises(ScheduleError, match=f"a schedule needs at least 1 stage, not {asked}; choose K >= 1"):
        builder(asked, 4)
    with pytest.raises(ScheduleError, match=f"at least 1 micro-batch, not {asked}; choose M >= 1"):
        builder(4, asked)


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("asked", [2.0, 2.5, "2", None, True, np.True_, np.float64(2), [2], np.array([2])])
def test_what_is_no_whole_number_is_refused(builder, asked):
    with pytest.raises(ScheduleError, match="num_stages must be a whole number, not "):
        builder(asked, 4)
    with pytest.raises(ScheduleError, match="num_micro_batches must be a whole number, not "):
        builder(4, asked)


@pytest.mark.parametrize("two", [np.int64(2), np.int8(2), np.uint16(2), np.array(2)])
def test_a_numpy_integer_is_a_whole_number(two):
    assert gpipe(two, two) == gpipe(2, 2)
    assert one_f_one_b(two, two) == one_f_one_b(2, 2)


def test_more_than_can_be_packed_is_refused_with_both_numbers():
    with pytest.raises(
        ScheduleError, match="num_micro_batches can be at most 1048576, not 1048577; choose less"
    ):
        gpipe(1, 2**20 + 1)
    with pytest.raises(ScheduleError, match="num_stages can be at most 1048576, not 1000000000; choose less"):
        one_f_one_b(10**9, 1)


@pytest.mark.parametrize("builder", BUILDERS)
def test_unknown_policies_are_refused_with_the_known_ones(builder):
    with pytest.raises(
        ScheduleError,
        match="unknown checkpoint policy 'sometimes'; choose one of: never, except_last, always",
    ):
        builder(2, 2, checkpoint="sometimes")
    with pytest.raises(ScheduleError, match="unknown checkpoint policy None"):
        builder(2, 2, checkpoint=None)
    with pytest.raises(ScheduleError, match="unknown recompute time 'never'; choose one of: late, early"):
        builder(2, 2, recompute="never")
