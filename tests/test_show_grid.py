"""The painter: colours that can be read, one time axis, idle cells that can be seen, a line that can't be lost."""

import statistics
import time
from dataclasses import replace

import numpy as np
import pytest

from pipekit import plan, show
from pipekit.plan import Costs, Kind
from pipekit.show import grid


@pytest.fixture
def lesson():
    return plan.simulate(plan.gpipe(num_stages=4, num_micro_batches=4), Costs())


def measured(timeline, devices="4 stand-ins, 160 ms a mini-batch forward"):
    return replace(timeline, source="measured", devices=devices)


def pixels(image):
    return np.asarray(image).astype(int)


def share_of(image, colour):
    """The share of pixels with exactly this colour."""
    return float((pixels(image) == np.array(colour)).all(axis=2).mean())


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("tinted", [False, True])
def test_labels_can_be_read_on_every_fill(kind, tinted):
    fill = grid._tint(grid.FILLS[kind]) if tinted else grid.FILLS[kind]
    assert grid.contrast(grid.ink_on(fill), fill) >= 4.5


def test_contrast_is_wcags():
    assert grid.contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert grid.contrast((119, 119, 119), (255, 255, 255)) == pytest.approx(4.48, abs=0.01)


def test_a_cell_carries_the_largest_label_that_fits():
    stamps = {width: grid._label("F", "12", width, grid.FILLS[Kind.FORWARD]) for width in (13, 22, 40, 60)}
    assert stamps[13] is None
    assert stamps[22].shape[1] <= 20 and stamps[22].shape[0] <= grid.ROW  # the letter over the number
    assert stamps[22].shape[1] < stamps[40].shape[1] <= stamps[60].shape[1]


def test_both_grids_share_one_time_axis(lesson):
    slower = measured(
        replace(lesson, spans=[replace(s, start=s.start * 2, end=s.end * 2) for s in lesson.spans])
    )
    image = pixels(show.paint([lesson, slower], column=1.0))
    half = image.shape[0] // 2
    for kind in (Kind.FORWARD, Kind.BACKWARD):
        painted = (image == np.array(grid.FILLS[kind])).all(axis=2)
        first, second = painted[:half].any(axis=0).nonzero()[0], painted[half:-40].any(axis=0).nonzero()[0]
        if kind == Kind.FORWARD:
            left = first[0]
            assert second[0] == left  # both begin at time 0
        assert second[-1] - left == pytest.approx(
            2 * (first[-1] - left), abs=4
        )  # twice as slow, twice as far


def test_measured_cells_are_solid_and_predicted_ones_pale(lesson):
    blue = grid.FILLS[Kind.FORWARD]
    assert share_of(show.paint([measured(lesson)]), blue) > 2 * share_of(show.paint([lesson]), blue)


def test_a_bubble_can_be_seen(lesson):
    """12 of 28 cells idle: grey, with a dot each."""
    image = show.paint([lesson.only("F")], column=1.0)
    assert share_of(image, grid.IDLE) > 0.15
    assert share_of(image, grid.DOT) > 0


def test_the_line_that_says_where_it_comes_from_is_always_painted(lesson):
    one, other = show.paint([measured(lesson, "2 x A")]), show.paint([measured(lesson, "2 x B")])
    assert one.size == other.size
    changed = (pixels(one) != pixels(other)).any(axis=2).any(axis=1).nonzero()[0]
    assert changed.min() >= grid.MARGIN and changed.max() < grid.MARGIN + grid.LINE


def test_a_long_devices_line_is_written_smaller_and_not_cut_off(lesson):
    words = "4 stand-ins, 160 ms a mini-batch forward; durations declared, order and waiting measured"
    image = pixels(show.paint([measured(lesson, words)], width=700))
    caption = image[grid.MARGIN : grid.MARGIN + grid.LINE]
    assert (caption[:, -1] == 255).all()


def test_rows_wait_while_nothing_is_measured(lesson):
    nothing = plan.Timeline([], 4, source="measured")
    waiting, done = show.paint([lesson, nothing]), show.paint([lesson, measured(lesson)])
    assert waiting.size == done.size  # the picture doesn't jump when the run begins


@pytest.mark.parametrize("lang", show.LANGUAGES)
@pytest.mark.parametrize("view", ["class", "engineer"])
def test_every_language_and_view_paints(lesson, lang, view):
    assert show.paint([lesson], lang=lang, view=view).width == grid.WIDTH


def test_views_count_differently(lesson):
    assert pixels(show.paint([lesson])).tolist() != pixels(show.paint([lesson], view="engineer")).tolist()


def test_several_stages_a_device_show_their_stage():
    schedule = plan.Schedule(["0F0 1F0 1B0 0B0"])
    assert show.paint([plan.simulate(schedule, Costs())]).height > 0


def test_png_is_a_png(lesson):
    assert show.png(show.paint([lesson])).startswith(b"\x89PNG")


def test_eight_by_sixty_four_labelled_cells_take_milliseconds():
    timeline = plan.simulate(plan.gpipe(num_stages=8, num_micro_batches=32), Costs(backward=1.0))
    show.paint([timeline], width=1800)  # stamps are rendered once
    times = []
    for _ in range(5):
        began = time.perf_counter()
        show.paint([timeline], width=1800)
        times.append(time.perf_counter() - began)
    print(f"8 x 64 cells: {1000 * statistics.median(times):.1f} ms")
    assert statistics.median(times) < 0.1  # 13 ms on a quiet machine
