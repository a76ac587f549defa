"""Which op follows which: a picture of each builder, PyTorch's order where it has the schedule, any K, M and v."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributed.pipelining import schedules as torch_schedules

from pipekit.plan import (
    Costs,
    Schedule,
    chimera,
    dualpipe,
    dualpipe_v,
    gpipe,
    interleaved_1f1b,
    looped_bfs,
    messages,
    one_f_one_b,
    peak_in_flight,
    simulate,
    validate,
    zb_h1,
    zb_h2,
    zb_v,
)
from pipekit.plan.ops import F, unpack
from pipekit.plan.schedule import lane_of

THIRDS = Costs(forward=1, backward=2)  # F, I and W take as long
EQUAL = Costs(forward=1, backward=1)


# -- pictures


def test_interleaved_1f1b_takes_the_chunks_in_turn():
    assert (
        str(simulate(interleaved_1f1b(num_devices=2, num_micro_batches=4, num_chunks=2), EQUAL))
        == """\
0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 .   2B2 .   2B3 0B2 0B3
.   1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3 ."""
    )


def test_looped_bfs_sends_all_micro_batches_through_one_chunk_after_the_other():
    assert (
        str(simulate(looped_bfs(num_devices=2, num_micro_batches=3, num_chunks=2), EQUAL))
        == """\
0F0 0F1 0F2 2F0 2F1 2F2 .   .   2B2 2B1 2B0 0B2 0B1 0B0
.   1F0 1F1 1F2 3F0 3F1 3F2 3B2 3B1 3B0 1B2 1B1 1B0 ."""
    )


def test_zb_h1_puts_its_weight_gradients_off_into_the_drain():
    assert (
        str(simulate(zb_h1(num_devices=3, num_micro_batches=4), THIRDS))
        == """\
F0 F1 F2 .  .  I0 W0 F3 I1 W1 I2 W2 I3 W3
.  F0 F1 .  I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
.  .  F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3"""
    )


def test_zb_h2_is_a_parallelogram_without_a_gap():
    assert (
        str(simulate(zb_h2(num_devices=3, num_micro_batches=5), THIRDS))
        == """\
F0 F1 F2 F3 F4 I0 W0 I1 W1 I2 W2 I3 W3 I4 W4 .  .
.  F0 F1 F2 I0 F3 I1 F4 I2 W0 I3 W1 I4 W2 W3 W4 .
.  .  F0 I0 F1 I1 F2 I2 F3 I3 F4 I4 W0 W1 W2 W3 W4"""
    )


def test_zb_v_comes_back_to_where_it_began_and_leaves_no_gap():
    assert (
        str(simulate(zb_v(num_devices=2, num_micro_batches=4), THIRDS))
        == """\
0F0 0F1 0F2 3F0 3I0 3W0 3F1 3I1 3W1 0F3 0I0 0W0 3F2 3I2 3W2 0I1 0W1 3F3 3I3 3W3 0I2 0W2 0I3 0W3 .
.   1F0 2F0 1F1 2F1 2I0 2W0 1F2 1I0 1W0 2F2 2I1 2W1 1F3 1I1 1W1 2F3 2I2 2W2 1I2 2I3 1I3 1W2 2W3 1W3"""
    )


def test_dualpipe_feeds_both_ends_and_is_its_own_mirror():
    assert (
        str(simulate(dualpipe(num_devices=4, num_micro_batches=8), THIRDS))
        == """\
0F0 0F1 0F2 3F4 3I4 3W4 3F5 0F3 3B5 3B5 3F6 0B0 0B0 3B6 3B6 3F7 .   0B1 0B1 3B7 3B7 0I2 0W2 0I3 0W3
.   1F0 2F4 1F1 2F5 1F2 2B4 2B4 2F6 1B0 1B0 1F3 2B5 2B5 2F7 1B1 1B1 2B6 2B6 1B2 1B2 2I7 1I3 2W7 1W3
.   1F4 2F0 1F5 2F1 1F6 2B0 2B0 2F2 1B4 1B4 1F7 2B1 2B1 2F3 1B5 1B5 2B2 2B2 1B6 1B6 2I3 1I7 2W3 1W7
0F4 0F5 0F6 3F0 3I0 3W0 3F1 0F7 3B1 3B1 3F2 0B4 0B4 3B2 3B2 3F3 .   0B5 0B5 3B3 3B3 0I6 0W6 0I7 0W7"""
    )


def test_dualpipe_v_is_one_half_of_dualpipe():
    assert (
        str(simulate(dualpipe_v(num_devices=2, num_micro_batches=4), THIRDS))
        == """\
0F0 0F1 0F2 3F0 3I0 3W0 3F1 0F3 3B1 3B1 3F2 0B0 0B0 3B2 3B2 3F3 .   0B1 0B1 3B3 3B3 0I2 0W2 0I3 0W3
.   1F0 2F0 1F1 2F1 1F2 2B0 2B0 2F2 1B0 1B0 1F3 2B1 2B1 2F3 1B1 1B1 2B2 2B2 1B2 1B2 2I3 1I3 2W3 1W3"""
    )
    for k, m in [(1, 2), (2, 4), (3, 9), (4, 8)]:
        for whole, half in zip(dualpipe(2 * k, 2 * m).lanes[:k], dualpipe_v(k, m).lanes, strict=True):
            kinds, stages, micro_batches = unpack(whole.codes)
            from_behind = stages >= k  # where DualPipeV's own micro-batches have turned round
            assert lane_of(kinds, stages, micro_batches - m * from_behind) == half


def test_chimera_merges_two_pipelines_so_that_each_fills_the_others_bubble():
    assert (
        str(simulate(chimera(num_devices=4, num_micro_batches=4), EQUAL))
        == """\
0F0 0F1 .   3F2 3B2 3F3 3B3 0B0 .   0B1
.   1F0 2F2 1F1 2F3 2B2 1B0 2B3 1B1 .
.   1F2 2F0 1F3 2F1 2B0 1B2 2B1 1B3 .
0F2 0F3 .   3F0 3B0 3F1 3B1 0B2 .   0B3"""
    )


# -- PyTorch's orders

CASES = [(k, n * k) for k in (1, 2, 3, 4, 6) for n in (2, 3, 4)]


LETTERS = {
    torch_schedules.FORWARD: "F",
    torch_schedules.FULL_BACKWARD: "B",
    torch_schedules.BACKWARD_INPUT: "I",
    torch_schedules.BACKWARD_WEIGHT: "W",
}


def torch_order(name, k, m, v):
    """The lanes that a schedule class of torch.distributed.pipelining makes, fused pairs as F, then B."""
    made = object.__new__(getattr(torch_schedules, name))
    made.pp_group_size, made._n_microbatches = k, m
    made._num_stages = made.num_stages = v * k
    made._stages, made.n_local_stages = [None] * v, v
    made.number_of_rounds = max(1, m // k)
    made.microbatches_per_round = m // made.number_of_rounds
    lanes = []
    for rank in range(k):
        actions = [action for action in made._calculate_single_rank_operations(rank) if action is not None]
        single = [part for action in actions for part in (action.sub_actions or [action])]
        lanes.append(
            " ".join(f"{a.stage_index}{LETTERS[a.computation_type]}{a.microbatch_index}" for a in single)
        )
    return lanes


def check(schedule, torch_name, v=1):
    theirs = torch_order(torch_name, schedule.num_devices, schedule.num_micro_batches, v)
    assert [str(lane) for lane in schedule.lanes] == theirs


@pytest.mark.parametrize("v", [1, 2, 3])
def test_chunked_schedules_are_op_for_op_pytorchs(v):
    for k, m in [*CASES, (4, 2), (4, 3), (4, 6), (3, 7 * 2), (5, 8)]:
        if m % max(1, m // k) == 0:
            check(interleaved_1f1b(k, m, v), "ScheduleInterleaved1F1B", v)
        check(looped_bfs(k, m, v), "ScheduleLoopedBFS", v)


@pytest.mark.parametrize(
    ("builder", "torch_name", "v"),
    [
        (zb_h1, "ScheduleInterleavedZeroBubble", 1),
        (zb_v, "ScheduleZBVZeroBubble", 2),
        (dualpipe_v, "ScheduleDualPipeV", 2),
    ],
)
def test_split_schedules_are_op_for_op_pytorchs(builder, torch_name, v):
    few = [(4, 1), (4, 3), (3, 4), (6, 10)] if builder is not dualpipe_v else [(3, 7), (4, 9)]
    for k, m in CASES + few:
        check(builder(k, m), torch_name, v)


# -- any K, M and v

PROPERTY = settings(max_examples=25, deadline=None, derandomize=True, database=None)
NUMBERS = {"k": st.integers(1, 5), "m": st.integers(1, 11), "v": st.integers(1, 4)}


@PROPERTY
@given(
    **NUMBERS,
    checkpoint=st.sampled_from(["never", "except_last", "always"]),
    recompute=st.sampled_from(["late", "early"]),
)
def test_every_builder_makes_schedules_that_run_whatever_the_numbers(k, m, v, checkpoint, recompute):
    policy = (checkpoint, recompute)
    for schedule in (
        gpipe(k, m, *policy),
        one_f_one_b(k, m, *policy),
        interleaved_1f1b(k, m - m % max(1, m // k), v, *policy),
        looped_bfs(k, m, v, *policy),
        zb_h1(k, m),
        zb_h2(k, m),
        zb_v(k, m),
        dualpipe_v(k, 2 * k + m - 1),
        dualpipe(2 * k, 4 * k + 2 * m - 2),
        chimera(2 * k, m if m <= 2 * k else 2 * k * (1 + m // 5)),
    ):
        validate(schedule)
        if schedule.num_micro_batches > 1:  # one micro-batch sees one of a stage's two homes
            assert Schedule.from_text(str(schedule), name=schedule.name) == schedule


@PROPERTY
@given(**NUMBERS)
def test_memory_and_messages_are_as_counted_by_hand(k, m, v):
    def peaks(schedule):
        return peak_in_flight(simulate(schedule, THIRDS))

    h1, h2 = zb_h1(k, m), zb_h2(k, m)
    assert peaks(h1) == [min(m, k)] * k
    assert peaks(h2) == [min(m, 2 * k - 1)] * k
    assert messages(h1) == messages(h2) == messages(one_f_one_b(k, m)) == 2 * m * (k - 1)

    whole = interleaved_1f1b(k, k * m, v)
    assert peaks(whole) == [min(v * k * m, 2 * (k - 1 - d) + (v - 1) * k + 1) for d in range(k)]
    assert messages(whole) == (2 * k * m * (v * k - 1) if k > 1 else 0)
    assert peaks(looped_bfs(k, m, v)) == [v * m] * k
    assert messages(looped_bfs(k, m, v)) == (2 * m * (v * k - 1) if k > 1 else 0)

    enough = 2 * k + m - 1
    assert peaks(zb_v(k, enough)) == [2 * k] * k
    assert messages(zb_v(k, m)) == 2 * m * (2 * k - 2)  # the turn at device K-1 crosses nothing
    assert peaks(dualpipe_v(k, enough + 1)) == [2 * k + 1] * k
    assert messages(dualpipe_v(k, enough)) == 2 * enough * (2 * k - 2)

    double = dualpipe(2 * k, 4 * k + 2 * m)
    assert peaks(double) == [2 * k + 1] * (2 * k)
    assert messages(double) == 2 * double.num_micro_batches * (2 * k - 1)
    both = chimera(2 * k, 2 * k * m)
    assert peaks(both) == [k + 1 + min(d, 2 * k - 1 - d) for d in range(2 * k)]
    assert messages(both) == 2 * both.num_micro_batches * (2 * k - 1)


def test_a_bidirectional_schedule_has_each_stage_at_both_ends():
    for schedule in (dualpipe(4, 8), chimera(4, 4)):
        assert schedule.placement == ((0, 3), (1, 2), (2, 1), (3, 0))
        half = schedule.num_micro_batches // 2
        for stage in range(4):
            homes = schedule.device_of[F, stage]
            assert np.array_equal(homes, np.repeat([stage, 3 - stage], half))
