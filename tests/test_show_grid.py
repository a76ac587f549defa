"""The painter: colours that can be read, one time axis, idle cells that can be seen, a line that can't be lost."""

import inspect
import statistics
import time
from dataclasses import replace

import numpy as np
import pytest

from pipekit import plan, show
from pipekit.errors import CostsError
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


def labels_of(timeline, **options):
    """Every label in a cell, as drawn: op labels have a coloured ground or stand on a predicted cell."""
    scene = grid.scene([timeline], captions=[""], legend=False, **options)
    return [
        item for item in scene.items if isinstance(item, grid.Text) and item.font.path.endswith("Bold.ttf")
    ]


def boxes_of(timelines, **options):
    """Every op's box, in the order of drawing."""
    scene = grid.scene(timelines, **options)
    return [item for item in scene.items if isinstance(item, grid.Box) and item.title]


def test_a_cell_carries_the_largest_label_that_fits():
    labels = {room: grid._label("F", "12", room, grid.ROW) for room in (13, 22, 40, 60)}
    assert labels[13] is None
    assert labels[22].stacked  # the letter over the number
    assert labels[22].size < labels[40].size <= labels[60].size == 17


def test_all_cells_of_a_kind_are_labelled_alike_in_a_measured_grid_too():
    """Late wake-ups make measured cells shorter and longer by a pixel; their labels must not come and go."""
    predicted = plan.simulate(plan.gpipe(num_stages=4, num_micro_batches=16), Costs())
    rattle = [0.12 * ((7 * i) % 10) / 10 for i in range(len(predicted.spans))]
    spans = [replace(span, end=span.end - r) for span, r in zip(predicted.spans, rattle, strict=True)]
    for width in range(700, 1300, 40):
        labels = labels_of(measured(replace(predicted, spans=spans)), column=1.0, width=width)
        for letter in "FB":
            sizes = [label.size for label in labels if label.text.startswith(letter)]
            assert len(set(sizes)) <= 1
            assert len(sizes) in (0, 64)


def test_the_axis_contains_the_longest_timeline_to_its_last_moment():
    """32 pieces on 4 devices: lateness of under a quarter slot opens no new numbered slot, and no op sticks out."""
    predicted = plan.simulate(plan.gpipe(num_stages=4, num_micro_batches=32), Costs())
    late = [replace(s, start=s.start + 0.2, end=s.end + 0.2) if s.start else s for s in predicted.spans]
    late = measured(replace(predicted, spans=late))
    assert show.slots_of([predicted], 1.0) == 105
    assert show.slots_of([predicted, late], 1.0) == pytest.approx(105.2)
    drawn = grid.scene([predicted, late], column=1.0)
    lane_ends = {
        item.right for item in drawn.items if getattr(item, "fill", None) == grid.IDLE and item.left < 200
    }
    ends = [box.right for box in boxes_of([predicted, late], column=1.0)]
    assert max(lane_ends) - 2 <= max(ends) <= max(lane_ends) < grid.WIDTH - 20
    assert "106" not in {getattr(item, "text", "") for item in drawn.items}


def test_two_pictures_of_one_length_share_an_axis(lesson):
    forward = lesson.only("F")
    alone, long = (boxes_of([forward], num_slots=slots)[0] for slots in (None, 21))
    beside = boxes_of([lesson])[0]
    assert long.right - long.left == beside.right - beside.left < alone.right - alone.left


def test_an_axis_never_cuts_off_a_timeline(lesson):
    assert boxes_of([lesson], num_slots=3) == boxes_of([lesson])


def test_until_draws_what_has_happened_and_cuts_the_running_op_off(lesson):
    whole, part = boxes_of([lesson]), boxes_of([lesson], until=2.5)
    assert len(part) == 6  # F1 F2 F3 on GPU 1, F1 F2 on GPU 2, F1 on GPU 3
    slot = whole[0].right - whole[0].left
    assert part[2].right - part[2].left == pytest.approx(slot / 2, abs=2)
    assert part[:2] == whole[:2]
    assert boxes_of([lesson], until=0.0) == []
    assert boxes_of([lesson], until=99.0) == whole


def test_a_label_waits_until_its_cell_has_room(lesson):
    assert [len(labels_of(lesson, until=until)) for until in (0.05, 0.9, 1.05)] == [0, 1, 1]


@pytest.mark.parametrize("width", range(500, 1300, 37))
def test_the_last_number_of_the_axis_does_not_run_into_its_name(width):
    timeline = plan.simulate(plan.gpipe(num_stages=4, num_micro_batches=32), Costs())
    items = grid.scene([timeline], width=width, captions=[""], num_slots=110).items
    texts = [item for item in items if isinstance(item, grid.Text)]
    name = next(item for item in texts if item.text == "slot")
    numbers = [item for item in texts if item.text.isdecimal() and item.size == grid.SMALL]
    assert max(item.x + item.width // 2 for item in numbers) <= name.x


def test_the_picture_keeps_its_size_while_it_is_replayed(lesson):
    assert {show.paint([lesson], until=u, cursor=u).size for u in (0.0, 3.5, 21.0)} == {
        show.paint([lesson]).size
    }


def test_a_cursor_goes_through_all_rows(lesson):
    bare, marked = (pixels(show.paint([lesson], cursor=cursor)) for cursor in (None, 9.5))
    changed = (bare != marked).any(axis=2)
    assert 1 <= len(changed.any(axis=0).nonzero()[0]) <= grid.CURSOR
    assert changed.any(axis=1).sum() >= 4 * grid.ROW


def test_a_dashed_frame_says_predicted_and_is_explained(lesson):
    vermillion = grid.FILLS[Kind.BACKWARD]
    assert share_of(show.paint([lesson], dashed=True), grid._tint(vermillion)) == 0
    scene = grid.scene([lesson, measured(lesson)], dashed=True)
    boxes = [item for item in scene.items if isinstance(item, grid.Box) and item.title]
    assert {box.dashed for box in boxes[:32]} == {True} and {box.dashed for box in boxes[32:]} == {False}
    said = {item.text for item in scene.items if isinstance(item, grid.Text)}
    assert "dashed frame = predicted" in said
    assert "dashed frame = predicted" not in {
        item.text for item in grid.scene([measured(lesson)], dashed=True).items if isinstance(item, grid.Text)
    }


def test_pieces_are_labelled_by_their_number_and_the_uncut_batch_in_words(lesson):
    uncut = plan.simulate(plan.naive(num_stages=4), Costs(forward=4, backward=8))
    assert {label.text for label in labels_of(lesson, labels="piece")} == {"1", "2", "3", "4"}
    scene = grid.scene([uncut.only("F")], labels="piece", column=1.0)
    assert [item.text for item in scene.items if isinstance(item, grid.Text)].count("whole batch") == 4
    narrow = labels_of(uncut, labels="piece", column=1.0, num_slots=200)
    assert {label.text for label in narrow} == {"1"}  # the words don't fit a narrow cell


def test_unknown_labels_are_refused_with_what_there_is(lesson):
    with pytest.raises(CostsError, match="unknown labels 'both'; choose one of: op, piece"):
        show.paint([lesson], labels="both")


@pytest.mark.parametrize("column", [0.0, -1.0, float("nan")])
def test_a_slot_of_no_time_is_refused(lesson, column):
    with pytest.raises(CostsError, match="longer than 0"):
        show.paint([lesson], column=column)


def test_nothing_at_all_is_refused():
    with pytest.raises(CostsError, match="nothing to measure"):
        show.paint([])


@pytest.mark.parametrize("view", ["class", "engineer"])
def test_the_axis_counts_every_slot_or_every_fifth(lesson, view):
    def numbers(**options):
        items = grid.scene([lesson], view=view, **options).items
        return [int(item.text) for item in items if getattr(item, "text", "").isdecimal()]

    first = show.number(0, view)
    assert numbers(column=1.0) == list(range(first, 21 + first))
    assert numbers(column=1.0, num_slots=100)[:4] == [first, 5, 10, 15]
    assert len(numbers(column=1e-9)) < 50  # however short a slot, there is room for so many


def test_rows_can_be_higher_and_their_labels_grow_along(lesson):
    assert show.paint([lesson], row=40).height - show.paint([lesson]).height == 4 * (40 - grid.ROW)
    assert labels_of(lesson, row=40)[0].size > labels_of(lesson)[0].size


def test_a_caller_may_write_the_captions_and_leave_the_legend_out(lesson):
    said = [item.text for item in grid.scene([lesson], captions=["Cut"]).items if isinstance(item, grid.Text)]
    assert "Cut" in said and "Predicted" not in said
    full = show.paint([lesson]).height
    assert show.paint([lesson], legend=False).height == full - grid.LINE
    assert show.paint([lesson], captions=[""]).height == full - grid.LINE


def test_an_annotation_stands_right_of_its_timelines_end_where_the_rows_end(lesson):
    scene = grid.scene([lesson, lesson.only("F")], column=1.0, annotations=["", "14 slots less"])
    (annotation,) = [item for item in scene.items if getattr(item, "text", "") == "14 slots less"]
    lanes = [
        item
        for item in scene.items
        if getattr(item, "fill", None) == grid.IDLE and item.right - item.left > 99
    ]
    assert lanes[-1].right < lanes[0].right
    assert lanes[-1].right < annotation.x < lanes[-1].right + 30


def test_an_annotation_finds_room_beside_the_longest_timeline(lesson):
    scene = grid.scene([lesson], annotations=["as long as it gets"])
    (annotation,) = [item for item in scene.items if getattr(item, "text", "") == "as long as it gets"]
    assert annotation.size == grid.TEXT
    assert annotation.x + grid._width_of(annotation.text, grid.TEXT, annotation.font) <= grid.WIDTH


def test_paint_says_what_it_takes():
    """`paint` is made from `scene`; a notebook's help must still show its arguments."""
    assert "annotations" in inspect.signature(show.paint).parameters
    assert show.paint.__doc__.startswith("Paint timelines") and "annotations:" in show.paint.__doc__


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


def test_a_frame_of_a_replay_takes_ten_milliseconds(lesson):
    uncut = plan.simulate(plan.naive(num_stages=4), Costs(forward=4, backward=8))
    pair = [measured(uncut.only("F")), measured(lesson.only("F"))]
    times = []
    for slot in range(17):
        began = time.perf_counter()
        show.paint(pair, column=1.0, until=slot, cursor=slot)
        times.append(time.perf_counter() - began)
    print(f"a frame: {1000 * statistics.median(times):.1f} ms")
    assert statistics.median(times) < 0.05  # 3 ms on a quiet machine
