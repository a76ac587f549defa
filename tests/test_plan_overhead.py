"""What limits M: the fitted cost of a piece, and the best M that follows."""

import math

import numpy as np
import pytest

from pipekit import plan
from pipekit.errors import CostsError

COST = plan.PieceCost(alpha=0.003, beta=0.4)
COUNTS = (1, 2, 4, 8, 16, 32, 64)


@pytest.mark.parametrize("num_devices", [2, 4, 8])
def test_the_best_m_is_the_one_that_trying_all_finds(num_devices):
    tried = min(range(1, 400), key=lambda m: COST.step(num_devices, m))
    assert abs(tried - COST.best(num_devices)) <= 1


def test_four_devices_want_twenty_pieces():
    assert COST.best(4) == pytest.approx(20.0)
    assert COST.step(4, 20) == pytest.approx(0.529)


def test_a_step_is_what_the_simulator_says():
    for pieces in COUNTS:
        piece = COST.piece(pieces)
        costs = plan.Costs(forward=piece / 3, backward=2 * piece / 3)
        assert plan.simulate(plan.gpipe(4, pieces), costs).makespan == pytest.approx(COST.step(4, pieces))


def test_free_pieces_can_be_cut_for_ever_and_one_device_wants_one_piece():
    assert plan.PieceCost(0.0, 1.0).best(4) == plan.PieceCost(-1e-9, 1.0).best(4) == math.inf
    assert COST.best(1) == 0.0


def test_a_noisy_fit_that_finds_no_work_wants_no_pieces_and_is_no_crash():
    fitted = plan.fit_piece_cost({1: 1.0, 2: 2.0, 4: 2.5})
    assert fitted.alpha > 0 > fitted.beta and fitted.best(4) == 0.0


def test_the_fit_finds_what_made_the_times():
    fitted = plan.fit_piece_cost({m: COST.piece(m) for m in COUNTS})
    assert (fitted.alpha, fitted.beta) == pytest.approx((COST.alpha, COST.beta))


def test_noise_of_two_percent_moves_the_fitted_alpha_by_ten_and_not_by_sixty():
    """Without weights the 5 to 95 % range of 200 trials is .0011 to .0051."""
    random = np.random.default_rng(0)
    alphas = [
        plan.fit_piece_cost({m: COST.piece(m) * (1 + 0.02 * random.standard_normal()) for m in COUNTS}).alpha
        for _ in range(200)
    ]
    low, high = np.quantile(alphas, [0.05, 0.95])
    assert 0.0026 < low < high < 0.0034


@pytest.mark.parametrize("times", [{}, {4: 1.0}, {1: 1.0, 2: 0.0}, {1: 1.0, 2: math.nan}, {1: -1.0, 2: 1.0}])
def test_too_few_times_and_impossible_ones_are_refused(times):
    with pytest.raises(CostsError):
        plan.fit_piece_cost(times)


def test_four_k_pieces_idle_a_fifth_at_most_and_less_with_early_recompute():
    """(K-1)/(5K-1) and, with r = f and bw = 2f, 3(K-1)/(19K-3): never nothing."""
    for recompute, limit, shares in (
        ("late", 1 / 5, (0.111, 0.158, 0.179)),
        ("early", 3 / 19, (0.086, 0.123, 0.141)),
    ):
        checkpoint = "never" if recompute == "late" else "always"
        idle = [
            plan.bubble_fraction(
                plan.simulate(plan.gpipe(k, 4 * k, checkpoint, recompute), plan.Costs(forward=1, backward=2))
            )
            for k in (2, 4, 8, 64)
        ]
        assert idle[:3] == pytest.approx(shares, abs=0.0006)
        assert limit - 0.004 < idle[3] < limit
