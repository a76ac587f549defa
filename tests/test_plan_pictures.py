"""The lesson's grids and the schedules' shapes, as text pictures."""

import numpy as np
import pytest

from pipekit.errors import CostsError
from pipekit.plan import (
    Costs,
    Op,
    Schedule,
    Span,
    Timeline,
    bubble_fraction,
    busy_devices,
    cells,
    gpipe,
    naive,
    one_f_one_b,
    picture,
    simulate,
)
from pipekit.plan.picture import column_time

EQUAL = Costs(forward=1, backward=1)


def idle_cells(rows):
    return sum(cell == "." for row in rows for cell in row)


# -- schedules


def test_gpipe_fills_then_drains():
    assert (
        str(simulate(gpipe(num_stages=3, num_micro_batches=3), EQUAL))
        == """\
F0 F1 F2 .  .  .  .  B2 B1 B0
.  F0 F1 F2 .  .  B2 B1 B0 .
.  .  F0 F1 F2 B2 B1 B0 .  ."""
    )


def test_a_backward_of_two_columns_repeats_its_label():
    assert (
        str(simulate(gpipe(num_stages=2, num_micro_batches=2), Costs(forward=1, backward=2)))
        == """\
F0 F1 .  .  .  B1 B1 B0 B0
.  F0 F1 B1 B1 B0 B0 .  ."""
    )


def test_naive_is_a_relay_race():
    assert (
        str(simulate(naive(num_stages=3), EQUAL))
        == """\
F0 .  .  .  .  B0
.  F0 .  .  B0 .
.  .  F0 B0 .  ."""
    )


def test_1f1b_goes_back_on_a_piece_as_soon_as_it_can():
    assert (
        str(simulate(one_f_one_b(num_stages=4, num_micro_batches=4), EQUAL))
        == """\
F0 F1 F2 F3 .  .  .  B0 .  B1 .  B2 .  B3
.  F0 F1 F2 .  .  B0 F3 B1 .  B2 .  B3 .
.  .  F0 F1 .  B0 F2 B1 F3 B2 .  B3 .  .
.  .  .  F0 B0 F1 B1 F2 B2 F3 B3 .  .  ."""
    )


def test_1f1b_with_more_pieces_than_stages_reaches_a_steady_state():
    assert (
        str(simulate(one_f_one_b(num_stages=2, num_micro_batches=4), Costs(forward=1, backward=2)))
        == """\
F0 F1 .  .  B0 B0 F2 B1 B1 F3 B2 B2 .  B3 B3
.  F0 B0 B0 F1 B1 B1 F2 B2 B2 F3 B3 B3 .  ."""
    )


def test_late_recompute_waits_for_the_gradient():
    assert (
        str(simulate(gpipe(3, 3, checkpoint="always", recompute="late"), EQUAL))
        == """\
F0 F1 F2 .  .  .  .  .  .  R2 B2 R1 B1 R0 B0
.  F0 F1 F2 .  .  .  R2 B2 R1 B1 R0 B0 .  .
.  .  F0 F1 F2 R2 B2 R1 B1 R0 B0 .  .  .  ."""
    )


def test_early_recompute_hides_in_the_bubble():
    assert (
        str(simulate(gpipe(3, 3, checkpoint="always", recompute="early"), EQUAL))
        == """\
F0 F1 F2 R2 .  .  .  .  B2 R1 B1 R0 B0
.  F0 F1 F2 R2 .  .  B2 R1 B1 R0 B0 .
.  .  F0 F1 F2 R2 B2 R1 B1 R0 B0 .  ."""
    )


def test_except_last_does_not_recompute_the_piece_that_goes_back_first():
    assert (
        str(simulate(gpipe(3, 3, checkpoint="except_last", recompute="late"), EQUAL))
        == """\
F0 F1 F2 .  .  .  .  B2 .  .  R1 B1 R0 B0
.  F0 F1 F2 .  .  B2 .  R1 B1 R0 B0 .  .
.  .  F0 F1 F2 B2 R1 B1 R0 B0 .  .  .  ."""
    )


def test_a_device_with_several_stages_labels_its_ops_with_the_stage():
    v_shape = Schedule(
        ["0F0 0F1 3F0 3B0 3F1 3B1 0B0 0B1", "1F0 1F1 2F0 2F1 2B0 1B0 2B1 1B1"], placement=[0, 1, 1, 0]
    )
    assert (
        str(simulate(v_shape, EQUAL))
        == """\
0F0 0F1 .   .   3F0 3B0 3F1 3B1 0B0 .   0B1
.   1F0 1F1 2F0 2F1 .   2B0 1B0 2B1 1B1 ."""
    )


def test_labels_name_the_stage_even_when_other_devices_hold_none():
    assert (
        str(simulate(Schedule(["0F0 1F0 1B0 0B0", ""]), EQUAL))
        == """\
0F0 1F0 1B0 0B0
.   .   .   ."""
    )


def test_a_split_backward_sends_its_gradient_before_its_weights():
    split = Schedule.from_text("0F0 0F1 0I0 0W0 0I1 0W1 | 1F0 1I0 1F1 1I1 1W0 1W1")
    assert (
        str(simulate(split, Costs(forward=1, backward=2)))
        == """\
F0 F1 .  I0 W0 I1 W1
.  F0 I0 F1 I1 W0 W1"""
    )


# -- the lesson: 4 GPUs, 16 columns, forward only


def test_the_uncut_batch_leaves_48_of_64_cells_idle():
    rows = cells(simulate(naive(4), Costs(forward=4)).only("F"), column=1)
    assert (len(rows), len(rows[0])) == (4, 16)
    assert (16 * 4 - idle_cells(rows), idle_cells(rows)) == (16, 48)
    assert all(sum(row[column] != "." for row in rows) == 1 for column in range(16))  # one GPU at a time
    assert (
        picture(simulate(naive(4), Costs(forward=4)).only("F"), column=2)
        == """\
F0 F0 .  .  .  .  .  .
.  .  F0 F0 .  .  .  .
.  .  .  .  F0 F0 .  .
.  .  .  .  .  .  F0 F0"""
    )


def test_four_pieces_take_7_columns_and_leave_12_of_28_cells_idle():
    timeline = simulate(gpipe(4, 4), Costs()).only("F")
    assert (
        str(timeline)
        == """\
F0 F1 F2 F3 .  .  .
.  F0 F1 F2 F3 .  .
.  .  F0 F1 F2 F3 .
.  .  .  F0 F1 F2 F3"""
    )
    rows = cells(timeline)
    assert (len(rows[0]), sum(map(len, rows)), idle_cells(rows)) == (7, 28, 12)
    before = sum(next(column for column, cell in enumerate(row) if cell != ".") for row in rows)
    after = sum(next(column for column, cell in enumerate(row[::-1]) if cell != ".") for row in rows)
    assert (before, after) == (6, 6)  # K(K-1)/2 at each end: the pipe fills, the pipe drains


@pytest.mark.parametrize(("num_stages", "num_micro_batches"), [(4, 4), (4, 8), (3, 5), (1, 3)])
def test_gpu_k_works_on_piece_m_in_column_k_plus_m_minus_1(num_stages, num_micro_batches):
    rows = cells(simulate(gpipe(num_stages, num_micro_batches), Costs()).only("F"))
    for k in range(1, num_stages + 1):  # the class counts from 1
        for m in range(1, num_micro_batches + 1):
            assert rows[k - 1][k + m - 1 - 1] == f"F{m - 1}"
    assert len(rows[0]) == num_micro_batches + num_stages - 1


def test_cutting_in_4_saves_9_of_16_columns():
    costs = Costs(forward=1, backward=1, unit_samples=1)
    uncut = simulate(naive(4), costs, sizes=[4]).only("F")
    cut = simulate(gpipe(4, 4), costs, sizes=[1, 1, 1, 1]).only("F")
    assert (uncut.makespan, cut.makespan, uncut.makespan - cut.makespan) == (16, 7, 9)


@pytest.mark.parametrize(
    ("num_micro_batches", "idle", "of", "percent", "busy", "columns"),
    [(1, 3, 4, 75, 1.0, 16), (4, 3, 7, 43, 2.29, 7), (8, 3, 11, 27, 2.91, 5.5), (16, 3, 19, 16, 3.37, 4.75)],
)
def test_more_pieces_make_a_smaller_bubble(num_micro_batches, idle, of, percent, busy, columns):
    costs = Costs(forward=1, backward=2, unit_samples=1)
    both = simulate(gpipe(4, num_micro_batches), costs, sizes=[4 / num_micro_batches] * num_micro_batches)
    forward = both.only("F")
    for timeline in (both, forward):
        assert bubble_fraction(timeline) == pytest.approx(idle / of)
        assert round(100 * bubble_fraction(timeline)) == percent
        assert round(busy_devices(timeline), 2) == busy
    assert forward.makespan == columns


def test_laundry_takes_180_minutes_in_a_pipeline():
    machines = Costs(forward=30)
    one_basket = simulate(naive(3), machines).only("F").makespan
    assert (one_basket, 4 * one_basket) == (90, 360)
    assert simulate(gpipe(3, 4), machines).only("F").makespan == 180


@pytest.mark.parametrize(("num_pieces", "c_starts", "done"), [(1, 24, 36), (3, 8, 20), (12, 2, 14)])
def test_twelve_cards_take_36_or_20_or_14(num_pieces, c_starts, done):
    cards = simulate(gpipe(3, num_pieces), Costs(forward=1), sizes=[12 / num_pieces] * num_pieces).only("F")
    assert cards.makespan == done
    assert cards.spans[2 * num_pieces].start == c_starts  # device 2's first span


def test_way_two_of_the_card_game_leaves_6_of_15_cells_idle():
    rows = cells(simulate(gpipe(3, 3), Costs()).only("F"))
    assert rows == [
        ["F0", "F1", "F2", ".", "."],
        [".", "F0", "F1", "F2", "."],
        [".", ".", "F0", "F1", "F2"],
    ]
    assert idle_cells(rows) == 6


@pytest.mark.parametrize(("num_pieces", "c_starts", "done"), [(1, 36, 84), (3, 12, 60), (12, 3, 51)])
def test_one_slow_person_makes_all_wait(num_pieces, c_starts, done):
    people = Costs(forward=[2, 1, 4])
    cards = simulate(gpipe(3, num_pieces), people, sizes=[12 / num_pieces] * num_pieces).only("F")
    assert (cards.spans[2 * num_pieces].start, cards.makespan) == (c_starts, done)


@pytest.mark.parametrize(("num_pieces", "done"), [(1, 39), (2, 28), (3, 25), (4, 24), (6, 24), (12, 28)])
def test_cards_cut_too_finely_lose_to_the_hand_over(num_pieces, done):
    cards = simulate(gpipe(3, num_pieces), Costs(overhead=1), sizes=[12 / num_pieces] * num_pieces).only("F")
    assert cards.makespan == done


# -- columns


def test_a_picture_has_at_most_160_columns():
    long = simulate(gpipe(num_stages=2, num_micro_batches=100), Costs(forward=1, backward=2))
    assert len(cells(long)[0]) == 160
    assert len(cells(long, column=1e-6)[0]) == 160
    assert len(cells(long, column=10)[0]) == 30
    assert column_time(long) == long.makespan / 160


@pytest.mark.parametrize("column", [0, -1, float("nan")])
def test_a_column_must_last_longer_than_0(column):
    with pytest.raises(CostsError, match="one column must last longer than 0, not"):
        picture(simulate(gpipe(2, 2), Costs()), column)


def test_one_column_is_the_smallest_op():
    assert len(cells(simulate(gpipe(2, 2), Costs(forward=0.5, backward=1)))[0]) == 3 * 3
    assert len(cells(simulate(gpipe(2, 2), Costs(forward=0, backward=1)))[0]) == 3  # 0 is no smallest op


def test_jitter_of_a_measured_run_does_not_change_the_picture():
    predicted = simulate(gpipe(num_stages=3, num_micro_batches=4), Costs(forward=1, backward=2))
    late = np.random.default_rng(0).uniform(0, 0.05, size=(len(predicted.spans), 2))
    spans = [
        Span(span.op, span.device, 100 + span.start + late[i, 0], 100 + span.end + late[i, 1])
        for i, span in enumerate(predicted.spans)
    ]
    measured = Timeline(spans, num_devices=3, source="measured")
    assert len(cells(measured)[0]) == len(cells(predicted)[0]) == 18
    assert str(measured) == str(predicted)


def test_one_short_op_in_a_measured_run_does_not_change_the_columns():
    spans = [Span(Op.parse(f"0F{m}"), 0, float(m), m + (0.01 if m == 3 else 1.0)) for m in range(9)]
    assert len(cells(Timeline(spans, num_devices=1, source="measured"))[0]) == 9


def test_64_stages_and_512_pieces_fit_in_one_picture():
    rows = cells(simulate(gpipe(num_stages=64, num_micro_batches=512), Costs()))
    assert (len(rows), len(rows[0])) == (64, 160)
