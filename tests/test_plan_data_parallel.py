"""Pipelines side by side: the copies are alike, the pieces are shared out, and what it costs is a formula."""

import math

import pytest

from pipekit import plan
from pipekit.errors import CostsError, ScheduleError
from pipekit.plan.ops import unpack


def eight(pipelines, **changed):
    given = {"forward": 8, "backward": 16, "all_reduce": 8, **changed}
    return plan.side_by_side(8, pipelines, 8, **given)


def test_two_pipelines_are_one_picture_twice():
    made = plan.side_by_side(4, 2, 4, forward=2, backward=4)
    assert (
        str(made.timeline)
        == """\
F0 F1 .  .  .  B1 B1 B0 B0
.  F0 F1 B1 B1 B0 B0 .  .
F2 F3 .  .  .  B3 B3 B2 B2
.  F2 F3 B3 B3 B2 B2 .  ."""
    )


@pytest.mark.parametrize("pipelines", [1, 2, 4, 8])
def test_every_piece_goes_forward_and_back_once_through_every_layer(pipelines):
    made = eight(pipelines)
    kinds, stages, pieces = unpack(made.timeline.spans.codes)
    assert len(set(zip(kinds.tolist(), stages.tolist(), pieces.tolist(), strict=True))) == len(kinds)
    assert len(kinds) == 2 * 8 * made.num_stages
    assert plan.busy_time(made.timeline) == pytest.approx(8 * [24])  # the same work for every device


@pytest.mark.parametrize("pipelines", [1, 2, 4, 8])
def test_a_step_is_the_pipelines_own_and_the_ring_after_it(pipelines):
    made = eight(pipelines)
    stages, share = 8 // pipelines, 8 // pipelines
    assert made.timeline.makespan == (share + stages - 1) * 24 / stages
    assert made.exchange == 2 * (pipelines - 1) / pipelines * 8 / stages
    assert plan.bubble_fraction(made.timeline) == pytest.approx((stages - 1) / (share + stages - 1))


def test_the_lessons_eight_gpus():
    """More copies are quicker while links are quick and the model fits; with slow links, fewer."""
    assert [eight(d).step for d in (1, 2, 4, 8)] == [45, 44, 42, 38]
    assert [eight(d, all_reduce=16).step for d in (1, 2, 4, 8)] == [45, 46, 48, 52]
    assert [eight(d).parameters for d in (1, 2, 4, 8)] == [1 / 8, 1 / 4, 1 / 2, 1]


def test_what_is_kept_is_counted_in_pieces_of_the_whole_model():
    assert eight(1).peak_model_pieces == [1.0] * 8  # 8 in flight, each an eighth of the model
    assert eight(1, schedule=plan.one_f_one_b).peak_model_pieces == [(8 - d) / 8 for d in range(8)]
    assert eight(8).peak_model_pieces == [1.0] * 8


def test_a_schedule_that_cuts_finer_does_the_same_work():
    made = eight(2, schedule=plan.zb_v)  # two stages a device
    assert plan.busy_time(made.timeline) == pytest.approx(8 * [24])
    assert (made.parameters, made.exchange) == (1 / 4, 2.0)
    assert max(made.peak_model_pieces) == 1.0  # 8 stages' worth on one device, each an eighth of the model


def test_a_schedule_that_keeps_the_model_twice_holds_and_exchanges_twice_as_much():
    made = plan.side_by_side(8, 2, 16, forward=8, backward=16, all_reduce=8, schedule=plan.dualpipe)
    assert plan.busy_time(made.timeline) == pytest.approx(8 * [48])
    assert made.parameters == 2 / 4
    assert made.exchange == 2 * 3 / 4 * 8 * 2 / 4  # a ring of 4: two pipelines, two copies each


def test_what_cannot_be_shared_is_refused_with_the_numbers():
    with pytest.raises(ScheduleError, match="3 pipelines cannot share 8 devices and 8 micro-batches"):
        eight(3)
    with pytest.raises(ScheduleError, match="cannot have 0 pipelines"):
        eight(0)
    for name in ("forward", "backward", "all_reduce"):
        for asked in (-1, math.nan, math.inf):
            with pytest.raises(CostsError, match=f"{name} must be finite and at least 0, not {asked}"):
                eight(2, **{name: asked})
