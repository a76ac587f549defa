"""`balance` cuts a row of layers as evenly as can be: against every possible cut."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from pipekit.errors import CostsError, PartitionError, ScheduleError
from pipekit.plan import balance


def every_cut(num_layers, num_stages):
    for ends in combinations(range(1, num_layers), num_stages - 1):
        yield np.diff([0, *ends, num_layers]).tolist()


def loads(costs, cut):
    ends = np.cumsum([0, *cut]).tolist()
    return [sum(costs[begin:end]) for begin, end in pairwise(ends)]


def best_by_trying_all(costs, num_stages):
    """Lightest heaviest stage; then the least sum of squares; then the longer stages in front."""

    def worth(cut):
        weights = loads(costs, cut)
        return max(weights), sum(weight * weight for weight in weights), cut[::-1]

    return min(every_cut(len(costs), num_stages), key=worth)


def test_balance_is_the_best_of_all_cuts():
    random = np.random.default_rng(0)
    for _ in range(200):
        num_layers = int(random.integers(1, 9))
        costs = random.integers(0, 6, num_layers).tolist()  # whole numbers: many ties, exact sums
        for num_stages in range(1, num_layers + 1):
            assert balance(costs, num_stages) == best_by_trying_all(costs, num_stages), costs


def test_balance_of_measured_times_is_optimal():
    random = np.random.default_rng(1)
    for _ in range(100):
        num_layers = int(random.integers(1, 10))
        num_stages = int(random.integers(1, num_layers + 1))
        costs = np.exp(random.normal(0, 2, num_layers)).tolist()
        heaviest = min(max(loads(costs, cut)) for cut in every_cut(num_layers, num_stages))
        cut = balance(costs, num_stages)
        assert sum(cut) == num_layers
        assert min(cut) >= 1
        assert max(loads(costs, cut)) == pytest.approx(heaviest)


def test_40_equal_layers_over_4_devices_are_10_each():
    assert balance([1] * 40, num_stages=4) == [10, 10, 10, 10]


def test_equal_layers_that_do_not_divide_put_the_longer_stages_in_front():
    assert balance([1] * 9, num_stages=4) == [3, 2, 2, 2]
    assert balance([1] * 11, num_stages=4) == [3, 3, 3, 2]


@pytest.mark.parametrize("unit", [0.1, 1e-3, 1 / 3, 1e-200, 1e200])
def test_the_unit_of_the_costs_does_not_matter(unit):
    for num_layers in range(1, 14):
        for num_stages in range(1, num_layers + 1):
            assert balance([unit] * num_layers, num_stages) == balance([1] * num_layers, num_stages)


def test_one_heavy_layer_gets_a_stage_of_its_own():
    assert balance([1, 1, 9, 1, 1], num_stages=3) == [2, 1, 2]
    assert balance([0, 0, 5, 0, 0], num_stages=2) == [4, 1]
    assert balance([0, 0, 0], num_stages=2) == [2, 1]


def test_costs_may_be_any_row_of_numbers():
    assert balance((3, 1, 4, 1, 5), 2) == balance(np.array([3, 1, 4, 1, 5]), np.int64(2)) == [3, 2]


def test_balance_of_many_layers_is_quick_enough_to_move_a_slider():
    costs = np.random.default_rng(2).uniform(1, 2, 400)
    cut = balance(costs, num_stages=64)
    assert (len(cut), sum(cut)) == (64, 400)


def test_more_stages_than_layers_are_refused_with_both_numbers():
    with pytest.raises(PartitionError, match="cannot balance 3 costs over 4 stages; choose K <= 3"):
        balance([1, 2, 3], num_stages=4)
    with pytest.raises(PartitionError, match="cannot balance 0 costs over 1 stages"):
        balance([], num_stages=1)


@pytest.mark.parametrize("num_stages", [0, -2])
def test_fewer_than_one_stage_is_refused(num_stages):
    with pytest.raises(ScheduleError, match=f"at least 1 stage, not {num_stages}"):
        balance([1, 2], num_stages)


@pytest.mark.parametrize("cost", [-1, float("nan"), float("inf")])
def test_costs_that_are_no_costs_are_refused(cost):
    with pytest.raises(CostsError, match="costs must be finite and at least 0, not "):
        balance([1, cost, 2], num_stages=2)
