"""The builders: their orders, and what they answer to numbers that make no schedule."""

from collections import Counter

import numpy as np
import pytest

from pipekit.errors import ScheduleError
from pipekit.plan import (
    SCHEDULES,
    by_name,
    chimera,
    dualpipe,
    dualpipe_v,
    gpipe,
    interleaved_1f1b,
    looped_bfs,
    naive,
    one_f_one_b,
    zb_h1,
    zb_h2,
    zb_v,
)

BUILDERS = [gpipe, one_f_one_b]
CHUNKED = [interleaved_1f1b, looped_bfs]
SPLIT = [zb_h1, zb_h2, zb_v, dualpipe, dualpipe_v, chimera]


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
    assert by_name("looped_bfs", 3, 4, "always", num_chunks=3) == looped_bfs(3, 4, 3, "always")
    assert by_name("interleaved_1f1b", 2, 4) == interleaved_1f1b(2, 4, num_chunks=2)
    assert by_name("zb_h2", 2, 4) == zb_h2(2, 4)
    for name in SCHEDULES:
        assert by_name(name, 2, 4).name == name
    with pytest.raises(
        ScheduleError, match="unknown schedule 'hanayo'; choose one of: naive, gpipe, 1f1b, inter"
    ):
        by_name("hanayo", 3, 4)
    with pytest.raises(ScheduleError, match="at least 1 micro-batch, not 0"):
        by_name("naive", 3, 0)


def test_a_schedule_without_recompute_says_so_when_a_policy_is_asked_for():
    with pytest.raises(
        ScheduleError, match=r"the schedule zb_v has no recompute \(asked: checkpoint='always'\); leave it at"
    ):
        by_name("zb_v", 2, 4, "always")
    with pytest.raises(ScheduleError, match="unknown checkpoint policy 'sometimes'"):
        by_name("zb_v", 2, 4, "sometimes")


@pytest.mark.parametrize("builder", CHUNKED)
@pytest.mark.parametrize(("checkpoint", "spared"), [("never", 4), ("except_last", 1), ("always", 0)])
def test_each_chunk_recomputes_as_the_policy_says(builder, checkpoint, spared):
    schedule = builder(2, 4, 3, checkpoint, "early")
    assert schedule.recompute == "early"
    for lane in schedule.lanes:
        again = [op for op in lane if op.kind == "R"]
        assert Counter(op.stage for op in again) == Counter(
            {op.stage: 4 - spared for op in lane if spared < 4}
        )
        assert all(str(lane[lane.index(op) + 1]) == str(op).replace("R", "B") for op in again)
        assert 3 not in {op.micro_batch for op in again} or checkpoint == "always"


# -- what can't be served


def test_interleaved_1f1b_names_the_nearest_numbers_that_divide_into_rounds():
    with pytest.raises(
        ScheduleError,
        match="takes the 7 micro-batches in 2 equal rounds of at least K = 3, which 7 does not divide into; "
        "choose M = 6 or 9",
    ):
        interleaved_1f1b(3, 7, 2)
    for m in (6, 9, 1, 2, 8):  # fewer than K in one round; 2 rounds of 4
        interleaved_1f1b(3, m, 2)


@pytest.mark.parametrize(("builder", "name"), [(dualpipe, "DualPipe"), (chimera, "Chimera")])
@pytest.mark.parametrize("odd", [1, 3, 7])
def test_both_ends_need_an_even_number_of_devices(builder, name, odd):
    with pytest.raises(
        ScheduleError, match=rf"{name} feeds .* must be even, not {odd}; choose K = {odd + 1}"
    ):
        builder(odd, 4 * odd + 4)
    builder(odd + 1, 4 * odd + 4)


def test_dualpipe_needs_enough_micro_batches_for_both_ends():
    for builder, name in [(dualpipe, "DualPipe"), (dualpipe_v, "DualPipeV")]:
        with pytest.raises(ScheduleError, match=rf"{name} needs at least 2 K = 8 .* not 7; choose M >= 8"):
            builder(4, 7)
        builder(4, 8)
    with pytest.raises(ScheduleError, match="M must be even, not 9; choose M = 10"):
        dualpipe(4, 9)
    dualpipe_v(4, 9)


def test_chimera_needs_whole_units():
    with pytest.raises(
        ScheduleError,
        match="units of K = 4 micro-batches, which 6 is not a multiple of; choose M = 4 or 8, or",
    ):
        chimera(4, 6)
    for m in (1, 2, 3, 4, 8):
        assert chimera(4, m).num_micro_batches == m


# -- bad numbers


@pytest.mark.parametrize("builder", [*CHUNKED, *SPLIT])
@pytest.mark.parametrize("asked", [0, -3, 2.0, "2", None, True])
def test_every_builder_checks_its_numbers(builder, asked):
    chunks = {"num_chunks": 2} if builder in CHUNKED else {}
    with pytest.raises(
        ScheduleError, match=r"at least 1 device, not|num_devices must be a whole number, not"
    ):
        builder(asked, 8, **chunks)
    with pytest.raises(ScheduleError, match=r"at least 1 micro-batch, not|num_micro_batches must be a whole"):
        builder(4, asked, **chunks)
    if chunks:
        with pytest.raises(ScheduleError, match=r"at least 1 model chunk, not|num_chunks must be a whole"):
            builder(4, 8, asked)


def test_more_stages_than_can_be_packed_are_refused_with_both_numbers():
    for builder in CHUNKED:
        with pytest.raises(
            ScheduleError, match="num_devices x num_chunks can be at most 1048576, not 1048578"
        ):
            builder(2, 1, 2**19 + 1)
    for builder in (zb_v, dualpipe_v):
        with pytest.raises(ScheduleError, match="num_devices x 2 can be at most 1048576, not 1200000"):
            builder(600_000, 2**20)


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
