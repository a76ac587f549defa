"""A schedule that is a known one is recognised, whatever its pieces are called; anything else is not."""

import numpy as np
import pytest

from pipekit.errors import ScheduleError
from pipekit.plan import SCHEDULES, Lane, Schedule, by_name, gpipe, naive, one_f_one_b, recognise, zb_h1
from pipekit.plan.ops import pack, unpack

SIZES = [(2, 4), (4, 8), (4, 16)]


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("num_devices, num_micro_batches", SIZES)
def test_every_known_schedule_is_recognised(name, num_devices, num_micro_batches):
    schedule = by_name(name, num_devices, num_micro_batches)
    assert recognise(Schedule.from_text(str(schedule))) == name


@pytest.mark.parametrize("name", ["interleaved_1f1b", "looped_bfs"])
def test_three_chunks_a_device_are_recognised(name):
    assert recognise(by_name(name, 2, 4, num_chunks=3)) == name


@pytest.mark.parametrize("name", ["gpipe", "1f1b", "interleaved_1f1b", "looped_bfs"])
@pytest.mark.parametrize("checkpoint", ["except_last", "always"])
@pytest.mark.parametrize("recompute", ["late", "early"])
def test_a_checkpoint_policy_does_not_hide_the_name(name, checkpoint, recompute):
    assert recognise(by_name(name, 2, 4, checkpoint, recompute)) == name


def test_a_recomputation_in_another_place_is_no_known_policy():
    assert recognise(Schedule.from_text("0F0 0F1 0B1 0R0 0B0 | 1F0 1F1 1R1 1B1 1B0")) is None


def test_with_one_piece_it_is_a_relay_race():
    assert recognise(naive(3)) == recognise(gpipe(3, 1)) == recognise(one_f_one_b(3, 1)) == "naive"
    assert recognise(zb_h1(3, 1)) == "zb_h1"


def renumbered(schedule, numbers):
    lanes = []
    for lane in schedule.lanes:
        kind, stage, micro_batch = unpack(lane.codes)
        lanes.append(Lane(pack(kind, stage, np.array(numbers)[micro_batch])))
    return Schedule(lanes)


@pytest.mark.parametrize("name", SCHEDULES)
def test_pieces_may_have_other_numbers_if_they_have_them_everywhere(name):
    schedule = by_name(name, 4, 8)
    assert recognise(renumbered(schedule, [3, 0, 2, 1, 7, 6, 4, 5])) == name
    one_lane = renumbered(schedule, [1, 0, 2, 3, 4, 5, 6, 7]).lanes[:1] + schedule.lanes[1:]
    assert recognise(Schedule(one_lane)) is None


def test_one_number_for_two_pieces_is_no_renaming():
    assert recognise(renumbered(gpipe(2, 3), [0, 0, 2])) is None


@pytest.mark.parametrize("checkpoint", ["never", "except_last", "always"])
def test_gpipe_is_recognised_with_its_backwards_in_the_order_of_the_forwards_too(checkpoint):
    texts = {
        "never": "0F0 0F1 0F2 0B0 0B1 0B2 | 1F0 1F1 1F2 1B0 1B1 1B2",
        "except_last": "0F0 0F1 0F2 0R0 0B0 0R1 0B1 0B2 | 1F0 1F1 1F2 1R0 1B0 1R1 1B1 1B2",
        "always": "0F0 0F1 0F2 0R0 0B0 0R1 0B1 0R2 0B2 | 1F0 1F1 1F2 1R0 1B0 1R1 1B1 1R2 1B2",
    }
    assert recognise(Schedule.from_text(texts[checkpoint])) == "gpipe"


def test_backwards_in_a_third_order_are_not_gpipe():
    assert recognise(Schedule.from_text("0F0 0F1 0F2 0B1 0B0 0B2 | 1F0 1F1 1F2 1B1 1B0 1B2")) is None


@pytest.mark.parametrize("swap", range(11))
def test_two_neighbours_swapped_on_one_device_are_another_schedule(swap):
    lanes = [list(lane) for lane in one_f_one_b(2, 6).lanes]
    lanes[0][swap], lanes[0][swap + 1] = lanes[0][swap + 1], lanes[0][swap]
    assert recognise(Schedule(lanes)) is None


def test_what_is_not_whole_yet_is_none():
    assert recognise(Schedule.from_text("0F0 0F1 0B0 | 1F0 1B0 1F1 1B1")) is None
    assert recognise(Schedule.from_text("0F0 | ")) is None


def test_the_same_ops_on_other_devices_are_another_schedule():
    assert recognise(Schedule(one_f_one_b(2, 3).lanes[::-1])) is None


# -- text that can't be read

BAD = {
    "0F0 0B0 | 1F0 1X0": ("device 1", "word 2", "'1X0'"),
    "F0 0B0": ("device 0", "word 1", "'F0'"),
    "0F0,0B0": ("device 0", "word 1", "'0F0,0B0'"),
    "0F0 0b0": ("device 0", "word 2", "'0b0'"),
    "0F0 0B0 / 1F0 1B0": ("device 0", "word 3", "'/'"),
    "0F0 early 0B0": ("device 0", "word 2", "'early'"),
    "late 0F0 0B0": ("device 0", "word 1", "'late'"),
    "0F0 0B0 | 1F0 1B9999999": ("device 1", "word 2", "'1B9999999'"),
}


@pytest.mark.parametrize("text", BAD)
def test_text_that_cannot_be_read_names_the_device_and_the_word(text):
    with pytest.raises(ScheduleError) as caught:
        Schedule.from_text(text)
    assert caught.value.key == "schedule_text"
    assert all(words in str(caught.value) for words in BAD[text])
    assert "like 2F0" in str(caught.value)


@pytest.mark.parametrize("text", ["", "  ", "early", " | "])
def test_text_without_an_op_is_refused(text):
    with pytest.raises(ScheduleError) as caught:
        Schedule.from_text(text)
    assert caught.value.key == "empty_schedule"


def test_text_is_read_with_the_wide_letters_of_a_chinese_keyboard():
    assert Schedule.from_text("０Ｆ０　0B0 ｜ 1F0 1B0") == Schedule.from_text("0F0 0B0 | 1F0 1B0")


def test_line_breaks_are_spaces():
    assert Schedule.from_text("0F0\n0B0 |\n 1F0 1B0\n") == Schedule.from_text("0F0 0B0 | 1F0 1B0")


def test_one_chunk_a_device_is_not_called_interleaved():
    assert recognise(by_name("interleaved_1f1b", 2, 4, num_chunks=1)) is None
    assert recognise(by_name("looped_bfs", 2, 4, num_chunks=1)) == "gpipe"
