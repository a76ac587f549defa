"""`Costs`: a number for all stages or a list with one a stage, checked when made."""

import numpy as np
import pytest

from pipekit.errors import CostsError
from pipekit.plan import Costs, Schedule, bubble_fraction, gpipe, simulate


def test_defaults_follow_forward_and_backward():
    assert Costs(forward=3, backward=8).table(num_stages=2).tolist() == [
        [3, 3],
        [8, 8],
        [4, 4],
        [4, 4],
        [3, 3],
    ]
    own = Costs(forward=3, backward=8, recompute=2, input_grad=5, weight_grad=1)
    assert own.table(num_stages=1)[:, 0].tolist() == [3, 8, 5, 1, 2]
    assert Costs(backward=[2, 6]).table(num_stages=2)[2:4].tolist() == [[1, 3], [1, 3]]
    assert Costs(recompute=0).table(num_stages=1)[4].tolist() == [0]  # 0 is a number, not "left out"


def test_every_kind_of_op_takes_its_own_time():
    schedule = Schedule.from_text("0F0 0R0 0I0 0W0 0F1 0B1")
    timeline = simulate(schedule, Costs(forward=1, backward=2, recompute=4, input_grad=8, weight_grad=16))
    assert [span.duration for span in timeline.spans] == [1, 4, 8, 16, 1, 2]


def test_a_list_gives_one_number_a_stage():
    listed = simulate(gpipe(3, 2), Costs(forward=[1, 2, 3], backward=(4, 5, 6)))
    array = simulate(gpipe(3, 2), Costs(forward=np.array([1, 2, 3]), backward=np.array([4, 5, 6])))
    assert [span.duration for span in listed.spans] == [1, 1, 4, 4, 2, 2, 5, 5, 3, 3, 6, 6]
    assert array.spans.ends.tolist() == listed.spans.ends.tolist()


@pytest.mark.parametrize(
    "name", ["forward", "backward", "recompute", "input_grad", "weight_grad", "message_bytes"]
)
def test_a_list_of_another_length_is_refused_with_both_numbers(name):
    with pytest.raises(
        CostsError,
        match=f"{name} lists 2 numbers, but the schedule has 3 stages; give one number, or one a stage",
    ):
        simulate(gpipe(3, 2), Costs(**{"bandwidth": 1, "message_bytes": 1, name: [1, 2]}))


@pytest.mark.parametrize(
    "name",
    ["forward", "backward", "recompute", "input_grad", "weight_grad", "overhead", "latency", "message_bytes"],
)
@pytest.mark.parametrize("value", [-1, -0.001, float("nan"), float("inf")])
def test_negative_and_endless_costs_are_refused(name, value):
    with pytest.raises(CostsError, match=f"{name} must be finite and at least 0, not {value}"):
        Costs(**{name: value})


@pytest.mark.parametrize("name", ["forward", "backward", "recompute", "message_bytes"])
def test_one_bad_number_in_a_list_is_refused(name):
    with pytest.raises(CostsError, match=f"{name} must be finite and at least 0"):
        Costs(**{name: [1, -1, 1]})


@pytest.mark.parametrize("name", ["bandwidth", "unit_samples"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_what_one_divides_by_must_be_more_than_0(name, value):
    with pytest.raises(CostsError, match=f"{name} must be finite and more than 0, not {value}"):
        Costs(**{"message_bytes": 1, name: value})


@pytest.mark.parametrize("name", ["overhead", "latency", "bandwidth", "unit_samples"])
def test_what_is_one_number_for_all_stages_takes_no_list(name):
    with pytest.raises(CostsError, match=f"{name} is one number for all stages, not "):
        Costs(**{"message_bytes": 1, name: [1, 2]})


@pytest.mark.parametrize("name", ["forward", "backward", "overhead", "latency", "unit_samples"])
def test_none_is_no_cost(name):
    with pytest.raises(CostsError, match=f"{name} must be .* not None"):
        Costs(**{name: None})


def test_without_the_size_of_a_message_bandwidth_counts_messages():
    half_a_second = simulate(gpipe(2, 1), Costs(1, 1, bandwidth=2))
    assert half_a_second.makespan == 4 + 2 * 0.5


def test_free_forwards_are_allowed():
    assert bubble_fraction(simulate(gpipe(4, 4), Costs(forward=0, backward=1))) == pytest.approx(3 / 7)


# -- links


def test_latency_is_paid_only_between_devices():
    schedule = Schedule(["0F0 1F0 1B0 0B0"])
    assert simulate(schedule, Costs(1, 1, latency=100)).makespan == 4
    assert simulate(gpipe(2, 1), Costs(1, 1, latency=100)).makespan == 204


def test_a_message_on_its_own_device_takes_no_link():
    costs = Costs(1, 1, bandwidth=1, message_bytes=100)
    assert simulate(Schedule(["0F0 1F0 1B0 0B0"]), costs).makespan == 4
    assert simulate(gpipe(2, 1), costs).makespan == 204


def test_messages_of_one_direction_queue_up_and_the_other_direction_is_free():
    # forward 1, message 3: arrivals at 4, 7, 10; one latency each, not added up
    timeline = simulate(gpipe(2, 3), Costs(1, 1, latency=0.5, bandwidth=2, message_bytes=6))
    starts = {str(span.op): span.start for span in timeline.spans}
    assert [starts[f"1F{m}"] for m in range(3)] == [4.5, 7.5, 10.5]
    # backwards end at 12.5, 13.5, 14.5; messages end at 15.5, 18.5, 21.5
    assert [starts[f"0B{m}"] for m in (2, 1, 0)] == [16, 19, 22]


def test_each_cut_has_its_own_message_size_in_both_directions():
    timeline = simulate(gpipe(3, 1), Costs(1, 1, bandwidth=1, message_bytes=[10, 20, 999]))
    starts = {str(span.op): span.start for span in timeline.spans}
    assert (starts["1F0"], starts["2F0"], starts["2B0"], starts["1B0"], starts["0B0"]) == (11, 32, 33, 54, 65)
