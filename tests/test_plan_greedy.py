"""The automatic scheduler: valid, under the cap, never worse than a named schedule, close to proven optima."""

import pickle
from dataclasses import replace
from importlib import import_module
from itertools import islice

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipekit import plan
from pipekit.errors import CostsError, ScheduleError
from pipekit.plan import Costs, Found, Schedule, greedy, peak_in_flight, simulate, validate
from pipekit.plan.list_scheduling import Placing, Problem, search
from pipekit.plan.ops import B, F, I, W, unpack

SLOW_LINKS = Costs(1, 2, latency=0.5, bandwidth=0.25)  # a message keeps a link for 4, an op takes 1
NAMED = (plan.gpipe, plan.one_f_one_b, plan.zb_h1, plan.zb_h2)
EQUAL = Costs(1, 2)
# Proven by CP-SAT (benchmarks/optimum.py): K, M, cap, costs, the shortest makespan there is, what may be missed
UNEVEN = Costs([4, 3, 8], [10, 12, 7], input_grad=[8, 8, 3], weight_grad=[2, 4, 4], latency=1)
PATIENT = Costs([2, 3, 8, 3], [6, 9, 12, 11], input_grad=[2, 6, 4, 8], weight_grad=[4, 3, 8, 3])
OPTIMA = [
    (2, 2, 1, EQUAL, 10.0, 0),
    (3, 4, 2, EQUAL, 17.0, 0),
    (4, 8, 2, EQUAL, 41.0, 0),
    (4, 8, 3, EQUAL, 31.0, 0),
    (4, 8, 4, EQUAL, 27.0, 0),
    (4, 8, 7, Costs(2, 4, input_grad=3, weight_grad=1), 57.0, 0),
    (3, 6, 3, UNEVEN, 108.0, 2.0),
    (3, 6, 4, Costs(1, 2, latency=0.5), 21.0, 0),  # without "I, then F" 22
    (4, 3, 2, PATIENT, 80.0, 0),  # where no device ever waits for a better op 84
]


def numbers(low, high):
    return st.integers(low, high).map(float)


@st.composite
def problems(draw):
    """(K, M, costs, cap): small, with every kind of cost."""
    k, m = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    per_stage = st.lists(numbers(1, 9), min_size=k, max_size=k)
    costs = Costs(
        forward=draw(per_stage | numbers(1, 9)),
        backward=draw(per_stage | numbers(1, 9)),
        input_grad=draw(per_stage | numbers(0, 9)),
        weight_grad=draw(per_stage | numbers(0, 9)),
        overhead=draw(st.sampled_from([0.0, 0.5])),
        latency=draw(st.sampled_from([0.0, 0.5, 4.0])),
        bandwidth=draw(st.sampled_from([None, 0.25, 2.0])),
    )
    return k, m, costs, draw(st.integers(1, m + 1))


@settings(max_examples=40, deadline=None)
@given(problems())
def test_it_runs_keeps_to_the_cap_and_is_never_worse_than_a_named_schedule_that_fits(problem):
    k, m, costs, cap = problem
    found = greedy(k, m, costs, cap)
    validate(found)
    timeline = simulate(found, costs)
    assert (found.num_devices, found.num_stages, found.num_micro_batches) == (k, k, m)
    assert max(peak_in_flight(timeline)) <= cap
    assert timeline.makespan == found.makespan <= found.search_makespan
    assert (found.origin == "search") == (found.makespan == found.search_makespan)
    named = (simulate(builder(k, m), costs) for builder in NAMED)
    assert all(found.makespan <= t.makespan for t in named if max(peak_in_flight(t)) <= cap)
    assert greedy(k, m, costs, cap) == found  # deterministic


@settings(max_examples=40, deadline=None)
@given(problems())
@example((3, 5, SLOW_LINKS, 5))
def test_the_list_scheduler_counts_time_as_the_simulator_does(problem):
    k, m, costs, cap = problem
    placed = search(Problem.of((F, I, W), costs.table(k) + costs.overhead, costs, m, cap))
    lanes = [
        [f"{stage}{'FBIW'[kind]}{piece}" for kind, piece in lane] for stage, lane in enumerate(placed.lanes)
    ]
    timeline = simulate(Schedule(lanes), costs)
    assert timeline.makespan == pytest.approx(placed.makespan)
    ends = {span.op: span.end for span in timeline.spans}
    for kind, rows in zip("FIW", placed.ends, strict=True):
        for stage, row in enumerate(rows):
            assert row == pytest.approx([ends[plan.Op.parse(f"{stage}{kind}{piece}")] for piece in range(m)])


@settings(max_examples=30, deadline=None)
@given(problems())
def test_turned_round_it_is_a_schedule_read_from_its_end(problem):
    """What a turned pass ends first, a schedule would start last: the law holds in mirror image, and so does the cap."""
    k, m, costs, cap = problem
    made = Problem.of((F, I, W), costs.table(k) + costs.overhead, costs, m, cap)
    zero = [[[0.0] * m] * k] * 3
    turned = Placing(made, zero, 0.0, turned=True)
    lanes = [
        [f"{stage}{'FBIW'[kind]}{m - 1 - piece}" for kind, piece in reversed(lane)]
        for stage, lane in enumerate(turned.lanes)
    ]
    schedule = Schedule(lanes)
    validate(schedule)
    timeline = simulate(schedule, costs)
    assert max(peak_in_flight(timeline)) <= cap
    if costs.bandwidth is None:
        assert timeline.makespan <= turned.makespan + 1e-9  # pushed to the left it can only get shorter


@pytest.mark.parametrize("k, m, cap, costs, shortest, missed", OPTIMA)
def test_the_search_alone_reaches_these_proven_optima_or_almost(k, m, cap, costs, shortest, missed):
    assert shortest <= greedy(k, m, costs, cap).search_makespan <= shortest + missed


@pytest.mark.parametrize("k", [2, 4, 8])
def test_with_equal_costs_it_finds_zb_h1s_time_under_zb_h1s_cap(k):
    m = 3 * k
    assert (
        greedy(k, m, EQUAL, k).search_makespan == simulate(plan.zb_h1(k, m), EQUAL).makespan == 3 * m + k - 1
    )


def test_unequal_costs_and_room_leave_no_device_waiting_after_its_first_piece():
    """The bound: the last device can't begin before (K-1) f, and then has M (f + b + w) to do."""
    costs = Costs(10, 19, input_grad=12, weight_grad=7)
    assert greedy(8, 16, costs, 15).search_makespan == 7 * 10 + 16 * 29
    assert simulate(plan.zb_h1(8, 16), costs).makespan > 7 * 10 + 16 * 29


def test_with_room_for_one_pair_pieces_go_forward_and_back_one_at_a_time():
    found = greedy(2, 2, EQUAL, memory_limit=1)
    assert (
        str(simulate(found, EQUAL))
        == """\
F0 .  .  I0 W0 F1 .  .  I1 W1
.  F0 I0 W0 .  .  F1 I1 W1 ."""
    )


def test_without_a_limit_it_may_keep_every_micro_batch():
    assert greedy(4, 6, EQUAL) == greedy(4, 6, EQUAL, 6) == greedy(4, 6, EQUAL, 100)


def test_more_room_never_makes_the_result_longer_here():
    makespans = [greedy(4, 8, EQUAL, cap).makespan for cap in range(1, 9)]
    assert makespans == sorted(makespans, reverse=True)


def test_where_a_full_backward_is_cheaper_it_is_used():
    halves_cost_more = Costs(forward=1, backward=2, input_grad=2, weight_grad=2)
    found = greedy(3, 6, halves_cost_more, 3)
    kinds = np.concatenate([unpack(lane.codes)[0] for lane in found.lanes])
    assert (kinds == B).any()
    assert found.search_makespan <= simulate(plan.one_f_one_b(3, 6), halves_cost_more).makespan


def test_no_rule_of_the_search_is_there_for_nothing():
    """One case in a hundred needs the longest path, and one the B that an I and its W make: these do."""
    long_way = Costs([3, 4, 6, 1], input_grad=[1, 3, 4, 5], weight_grad=[1, 5, 4, 5], overhead=2)
    assert greedy(4, 5, long_way, 4).search_makespan <= 79
    joined = Costs([1, 2], input_grad=[2, 1], weight_grad=[1, 1], overhead=1)
    assert greedy(2, 8, joined, 2).search_makespan <= 52


def test_a_named_schedule_that_beats_the_search_is_returned_under_its_name(monkeypatch):
    module = import_module("pipekit.plan.greedy")  # pipekit.plan.greedy itself is the function
    monkeypatch.setattr(module, "search", lambda problem: search(replace(problem, limit=1)))
    found = greedy(4, 8, EQUAL, 4)
    assert found.origin == "zb_h1"
    assert found.lanes == plan.zb_h1(4, 8).lanes
    assert (found.makespan, found.search_makespan) == (27.0, 8 * 9.0)


def test_what_is_found_is_a_schedule_and_survives_pickling():
    found = greedy(2, 4, EQUAL, 2)
    again = pickle.loads(pickle.dumps(found))
    assert isinstance(found, Schedule) and isinstance(again, Found)
    assert (again, again.origin, again.makespan, again.name) == (found, "search", 13.0, "greedy")


# -- bad input


@pytest.mark.parametrize("limit", [0, -3])
def test_below_the_least_possible_cap_is_an_error_that_names_it(limit):
    with pytest.raises(ScheduleError, match=rf"memory limit of {limit} .* at least 1 .* memory_limit >= 1"):
        greedy(4, 8, EQUAL, limit)


@pytest.mark.parametrize("limit", [1.5, "4", True])
def test_a_cap_is_a_whole_number(limit):
    with pytest.raises(ScheduleError, match="memory_limit must be a whole number"):
        greedy(4, 8, EQUAL, limit)


def test_k_and_m_are_at_least_one():
    with pytest.raises(ScheduleError, match="at least 1 device, not 0"):
        greedy(0, 8, EQUAL, 4)
    with pytest.raises(ScheduleError, match="at least 1 micro-batch, not 0"):
        greedy(4, 0, EQUAL, 4)


def test_costs_must_fit_and_not_be_all_zero():
    with pytest.raises(CostsError, match="forward lists 3 numbers, but the schedule has 4 stages"):
        greedy(4, 8, Costs(forward=[1, 2, 3]), 4)
    with pytest.raises(CostsError, match="every op takes 0 time"):
        greedy(4, 8, Costs(0, 0), 4)


# -- against proven optima


def test_the_search_is_within_four_percent_of_optima_that_cp_sat_proves():
    pytest.importorskip("ortools", reason="OR-Tools is not installed: pip install 'pipekit-lab[optimal]'")
    from benchmarks.greedy import small_cases
    from benchmarks.optimum import optimum

    gaps = []
    for _, k, m, costs, cap in islice(small_cases(quick=True), 0, None, 3):
        best = optimum(k, m, costs, cap)
        assert best.proven
        gaps.append(greedy(k, m, costs, cap).search_makespan / best.makespan - 1)
    assert min(gaps) > -1e-9
    assert max(gaps) < 0.04
    assert np.mean(gaps) < 0.002


# -- it really runs


def test_what_is_found_trains_with_the_uncut_models_gradients():
    torch = pytest.importorskip("torch")
    from pipekit import run

    model = torch.nn.Sequential(*(torch.nn.Linear(6, 6) for _ in range(3))).double()
    batch, target = torch.randn(2, 12, 6, dtype=torch.float64)
    torch.nn.functional.mse_loss(model(batch), target).backward()
    uncut = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    with run.Pipeline(run.partition(model, 3), run.stand_ins(3, tick=0.005)) as pipeline:
        pipeline.step(greedy(3, 4, EQUAL, 2), batch, target, torch.nn.functional.mse_loss)
    for parameter, grad in zip(model.parameters(), uncut, strict=True):
        torch.testing.assert_close(parameter.grad, grad, rtol=1e-10, atol=1e-14)
