"""What is wrong with a schedule, in words."""

import pytest

from pipekit.errors import CostsError, ScheduleError
from pipekit.plan import Costs, Schedule, gpipe, naive, one_f_one_b, simulate, validate


def refusal(*args, **kwargs):
    with pytest.raises(ScheduleError) as caught:
        validate(Schedule(*args, **kwargs))
    return str(caught.value)


@pytest.mark.parametrize("recompute", ["late", "early"])
@pytest.mark.parametrize("checkpoint", ["never", "except_last", "always"])
@pytest.mark.parametrize("builder", [gpipe, one_f_one_b])
def test_what_the_builders_make_can_run(builder, checkpoint, recompute):
    for k in range(1, 7):
        for m in range(1, 9):
            assert validate(builder(k, m, checkpoint, recompute)) is None
        assert validate(naive(k)) is None


# -- incomplete


def test_a_missing_forward_is_named():
    assert refusal(["0F0 0B0", "1F0 1B0", "2B0"]) == "2F0 is missing: no lane runs it"


def test_a_missing_backward_is_named():
    assert refusal(["0F0 0F1 0B1 0B0", "1F0 1F1 1B1"]) == "1B0 is missing: no lane runs it"


def test_a_missing_half_of_a_backward_is_named():
    assert refusal(["0F0 0I0"]) == "0W0 is missing: no lane runs it"
    assert refusal(["0F0 0F1 0B0 0R1 0W1"]) == "0I1 is missing: no lane runs it"


def test_a_missing_stage_is_named():
    assert refusal(["0F0 0B0", "2F0 2B0"]) == "1F0 is missing: no lane runs it"
    assert refusal(["0F0 0B0"], placement=[0, 0]) == "1F0 is missing: no lane runs it"


def test_a_missing_micro_batch_is_named():
    assert refusal(["0F0 0F2 0B2 0B0"]) == "0F1 is missing: no lane runs it"


def test_a_repeated_op_is_counted():
    assert refusal(["0F0 0F0 0B0 0F0"]) == "0F0 stands 3 times in the lanes; every op runs once"
    assert refusal(["0F0 0R0 0B0 0R0"]) == "0R0 stands 2 times in the lanes; every op runs once"
    assert refusal(["0F0 0I0 0W0 0W0"]) == "0W0 stands 2 times in the lanes; every op runs once"


def test_of_several_repeated_ops_the_first_is_named_by_kind_then_stage_then_micro_batch():
    assert refusal(["1F0 1F0 1B0 0F1 0F1 0F0 0B0 0B0 0B1 1F1 1B1"]) == (
        "0F1 stands 2 times in the lanes; every op runs once"
    )


@pytest.mark.parametrize("lane", ["0F0 0B0 0I0 0W0", "0F0 0B0 0W0", "0F0 0I0 0B0"])
def test_a_full_backward_and_a_split_one_exclude_each_other(lane):
    assert refusal([lane]) == (
        "stage 0, micro-batch 0 has a full backward B and a split one (I, W); keep one of them"
    )


# -- misplaced


def test_an_op_in_another_devices_lane_is_named_with_its_home():
    assert refusal(["0F0 1F0 1B0 0B0", "1F1 0F1 0B1 1B1"], placement=[0, 1]) == (
        "1F0 stands in the lane of device 0, but stage 1 lives on device 1"
    )


def test_a_stage_that_is_there_twice_may_run_on_either_device():
    both = ["0F0 1F1 0B0 1B1", "1F0 0F1 1B0 0B1"]
    validate(Schedule(both, placement=[(0, 1), (1, 0)]))
    validate(Schedule(both))  # read off the lanes
    assert refusal([*both, "0F2 0B2 1F2 1B2"], placement=[(0, 1), (1, 0)]) == (
        "0F2 stands in the lane of device 2, but stage 0 lives on devices 0 and 1"
    )
    assert refusal(both, placement=[(0, 1), 1]) == (
        "1F1 stands in the lane of device 0, but stage 1 lives on device 1"
    )


@pytest.mark.parametrize("kind", ["B", "I", "R", "W"])
def test_a_stages_ops_on_one_micro_batch_are_refused_on_two_devices(kind):
    ops = ["0F0", "0R0", "0I0", "0W0"] if kind != "B" else ["0F0", "0R0", "0B0"]
    moved = f"0{kind}0"
    lanes = [" ".join(op for op in ops if op != moved), f"{moved} 0F1 0B1"]
    assert refusal(lanes) == (
        f"0F0 runs on device 0, but {moved} on device 1; one stage's ops on one micro-batch run on one device, "
        "which keeps what they need"
    )


def test_a_third_copy_of_a_stage_is_refused():
    three = ["0F0 0B0", "0F1 0B1", "0F2 0B2"]
    assert refusal(three) == "0F2 stands in the lane of device 2, but stage 0 lives on devices 0 and 1"


def test_a_stage_beyond_the_placement_is_named():
    assert (
        refusal(["0F0 0B0", "1F0 1B0"], placement=[0])
        == "1F0 names stage 1, but the placement has only 1 stages"
    )
    assert refusal(["0F0 0B0"], placement=[]) == "0F0 names stage 0, but the placement has only 0 stages"


@pytest.mark.parametrize("device", [-1, 2, 10**9])
def test_a_placement_on_a_device_without_a_lane_is_named(device):
    assert refusal(["0F0 0B0", "1F0 1B0"], placement=[0, device]) == (
        f"the placement puts stage 1 on device {device}, but there are only 2 lanes"
    )


# -- deadlocks


def test_a_deadlock_within_one_lane_is_explained():
    assert (
        refusal(["0F0 0B0", "1B0 1F0"]) == "deadlock: 1B0 waits for 1F0, which stands behind 1B0 on device 1"
    )


def test_a_deadlock_names_its_whole_cycle():
    assert refusal(["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1", "2F1 2B1 2F0 2B0"]) == (
        "deadlock: 1B0 waits for 2B0, which stands behind 2F1 on device 2; "
        "2F1 waits for 1F1, which stands behind 1B0 on device 1"
    )


def test_lanes_outside_the_cycle_are_left_out_of_the_sentence():
    # device 0 is stuck too, but only because devices 1 and 2 are
    message = refusal(["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1", "2F1 2B1 2F0 2B0"])
    assert "0B0" not in message


def test_a_recompute_after_its_backward_is_a_deadlock():
    assert refusal(["0F0 0B0 0R0"]) == "deadlock: 0B0 waits for 0R0, which stands behind 0B0 on device 0"


def test_a_recompute_before_its_forward_is_a_deadlock():
    assert refusal(["0R0 0F0 0B0"]) == "deadlock: 0R0 waits for 0F0, which stands behind 0R0 on device 0"


def test_weight_gradients_before_input_gradients_are_a_deadlock():
    assert refusal(["0F0 0W0 0I0"]) == "deadlock: 0W0 waits for 0I0, which stands behind 0W0 on device 0"


def test_what_is_early_enough_for_early_recompute_can_be_too_early_for_late():
    # R0 stands before F1; device 1 goes back only after F1
    lanes = ["0F0 0R0 0F1 0B1 0B0", "1F0 1F1 1B1 1B0"]
    assert validate(Schedule(lanes, recompute="early")) is None
    assert refusal(lanes, recompute="late") == (
        "deadlock: 0R0 waits for 1B0, which stands behind 1F1 on device 1; "
        "1F1 waits for 0F1, which stands behind 0R0 on device 0"
    )


def test_simulate_refuses_what_validate_refuses():
    with pytest.raises(ScheduleError, match="deadlock: 1B0 waits for 1F0"):
        simulate(Schedule(["0F0 0B0", "1B0 1F0"]), Costs())
    with pytest.raises(ScheduleError, match="0B0 is missing"):
        simulate(Schedule(["0F0"]), Costs())


# -- hostile


@pytest.mark.parametrize(
    ("lanes", "message"),
    [
        (["0F999999 0B0"], "0F0 is missing: no lane runs it"),
        (["0F0 0B0 0F999999"], "0F1 is missing: no lane runs it"),
        (["1000000F0 1000000B0"], "0F0 is missing: no lane runs it"),
        (["0F0 0B0 1000000F999999"], "1F0 is missing: no lane runs it"),
    ],
)
def test_huge_numbers_get_a_plain_answer_without_huge_tables(lanes, message):
    assert refusal(lanes) == message


def test_huge_numbers_with_a_huge_placement_get_a_plain_answer():
    assert (
        refusal(["0F0 0B0 0F999999 0B999999"], placement=[0] * 100_000) == "0F1 is missing: no lane runs it"
    )


def test_a_lane_may_be_empty_but_not_all_of_them():
    assert validate(Schedule(["", "0F0 0B0", ""])) is None
    with pytest.raises(ScheduleError, match="it has 2 lanes and none holds an op"):
        Schedule(["", ""])
    with pytest.raises(ScheduleError, match="it has 0 lanes"):
        Schedule([])


# -- what simulate adds


def test_sizes_must_fit_the_micro_batches():
    with pytest.raises(CostsError, match="sizes lists 2 micro-batches, but the schedule has 3"):
        simulate(gpipe(2, 3), Costs(), sizes=[1, 2])


@pytest.mark.parametrize("size", [0, -1, float("nan"), float("inf")])
def test_every_size_must_be_positive(size):
    with pytest.raises(CostsError, match="every micro-batch needs at least one sample"):
        simulate(gpipe(2, 2), Costs(), sizes=[1, size])


def test_nothing_but_zeros_is_refused():
    with pytest.raises(CostsError, match="every op takes 0 time"):
        simulate(gpipe(2, 2), Costs(forward=0, backward=0))
    with pytest.raises(CostsError, match="every op takes 0 time"):
        simulate(gpipe(2, 2), Costs(forward=0, backward=0, recompute=1))  # no R in this schedule
    assert simulate(gpipe(2, 2), Costs(forward=0, backward=0, overhead=1)).makespan == 6
