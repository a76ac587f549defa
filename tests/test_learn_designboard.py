"""The design board without a browser: the law decides, moves are undone, schedules are found, saved and trained."""

import html
import io
import random
import re
from datetime import datetime, timezone
from itertools import product
from pathlib import Path

import ipywidgets
import pytest
import torch
from PIL import Image
from torch import nn

from pipekit import plan, show
from pipekit.errors import Cancelled, FileError, ScheduleError, StageError
from pipekit.learn import DesignBoard, Experiment, designboard, experiment
from pipekit.learn.designboard import saved, scene, words
from pipekit.learn.designboard.board import HALVES, LENGTHS, TICKS, Board, filled
from pipekit.learn.designboard.figures import figures, hint
from pipekit.learn.designboard.live import Live
from pipekit.learn.designboard.training import Experiments, design_of
from pipekit.plan import Kind, Op, Schedule
from pipekit.show import panel, say

ONE_F_ONE_B = "0F0 0F1 0B0 0F2 0B1 0B2 | 1F0 1B0 1F1 1B1 1F2 1B2"
SIZES = list(product((2, 3, 4), (2, 3, 8)))
FOLDER = Path(designboard.__file__).parent
LONGEST = 60  # seconds a run may take on a busy machine before a test gives up


def op(text):
    return Op.parse(text)


def board_with(*ops, num_devices=2, num_micro_batches=2):
    board = Board(num_devices, num_micro_batches)
    for each in ops:
        name, _, tick = each.partition("@")
        board = board.put(op(name), int(tick) if tick else None)
    return board


def refusal(act, *asked):
    with pytest.raises(ScheduleError) as caught:
        act(*asked)
    return str(caught.value)


# -- what may stand where


def test_an_op_that_comes_too_early_is_refused_with_what_it_needs_and_when_that_ends():
    board = board_with("0F0")
    said = refusal(board.put, op("1F0"), 0)
    assert said == "1F0 needs 0F0, which ends at tick 1; put it at tick 1 or later"
    assert str(board.put(op("1F0"), 1).timeline()) == "F0 .\n.  F0"


def test_an_op_whose_need_is_not_there_yet_is_refused():
    assert refusal(board_with().put, op("1F0"), 3) == (
        "1F0 needs 0F0, which is not on the board; put that there first"
    )
    assert refusal(board_with("0F0", "1F0").put, op("0B0")) == (
        "0B0 needs 1B0, which is not on the board; put that there first"
    )


def test_a_tick_that_is_taken_is_refused():
    board = board_with("0F0", "1F0", "1B0")
    assert refusal(board.put, op("1F1"), 6).startswith("1F1 needs 0F1")
    assert refusal(board.put(op("0F1")).put, op("1F1"), 3).startswith("1F1 finds tick 3 taken by 1B0")


def test_a_stage_stays_on_its_device():
    said = refusal(board_with("0F0").put, op("0F1"), 5, 1)
    assert said == "0F1 stands in the lane of device 1, but stage 0 lives on device 0"


def test_what_the_board_has_no_room_for_is_refused():
    assert refusal(board_with().put, op("2F0")).startswith("2F0 names stage 2")
    assert refusal(board_with().put, op("0F2")) == (
        "0F2 names micro-batch 2, but the board has only 2 of them; choose a larger M"
    )
    assert refusal(Board, 5, 2).startswith("K goes from 2 to 4, not 5")
    assert refusal(Board, 2, 9).startswith("M goes from 2 to 8, not 9")


def test_an_op_on_the_board_moves_and_what_waits_for_it_is_asked():
    board = board_with("0F0", "1F0")
    assert refusal(board.put, op("0F0"), 4) == (
        "1F0 needs 0F0, which would end at tick 5; move 1F0 to tick 5 or later first"
    )
    moved = board.put(op("1F0"), 6).put(op("0F0"), 4)
    assert moved.starts == {op("0F0"): 4, op("1F0"): 6}
    assert board.starts == {op("0F0"): 0, op("1F0"): 1}, "the old board is as it was"


def test_an_op_that_another_one_needs_stays():
    board = board_with("0F0", "1F0")
    assert refusal(board.take_off, op("0F0")) == "1F0 needs 0F0, so it has to stay; take 1F0 off first"
    assert board.take_off(op("1F0")).take_off(op("0F0")).starts == {}
    assert refusal(board.take_off, op("0B1")).startswith("0B1 is not on the board")


def test_as_early_as_possible_is_in_a_gap_where_it_fits():
    board = board_with("0F0", "1F0", "1B0", "0B0")
    assert board.starts[op("0B0")] == 4
    assert board.put(op("0F1")).starts[op("0F1")] == 1
    assert board.put(op("0F1"), 3).put(op("1F1")).starts[op("1F1")] == 4


def test_a_backward_in_two_halves_waits_like_a_whole_one_and_does_not_stand_beside_one():
    board = board_with("0F0", "1F0", "1I0")
    assert board.put(op("0B0")).starts[op("0B0")] == 3
    assert refusal(board.put, op("1B0")).startswith("stage 1, micro-batch 0 has a full backward B")
    assert refusal(board_with("0F0", "1F0", "1B0").put, op("1W0")).startswith("stage 1, micro-batch 0")
    assert refusal(board_with("0F0", "1F0").put, op("1W0")) == (
        "1W0 needs 1I0, which is not on the board; put that there first"
    )
    assert op("1W0") in board.missing() and op("1B0") not in board.missing()
    assert refusal(board.put(op("0B0")).take_off, op("1I0")).startswith("0B0 needs 1I0, so it has to stay")


def test_a_recomputation_comes_before_the_backward_that_needs_it():
    board = board_with("0F0", "1F0", "1B0")
    assert refusal(board.put, op("1R0"), 7) == (
        "1B0 needs 1R0, which would end at tick 8; move 1B0 to tick 8 or later first"
    )
    later = board_with("0F0", "1F0", "1B0@3").put(op("1R0"), 2)
    assert later.take_off(op("1R0")).starts == board_with("0F0", "1F0", "1B0@3").starts


def random_board(rng, num_devices, num_micro_batches):
    """A whole board by random legal moves, with gaps, halves and recomputations."""
    board = Board(num_devices, num_micro_batches)
    split = {pair: rng.random() < 0.3 for pair in product(range(num_devices), range(num_micro_batches))}
    while board.missing():
        chosen = rng.choice(board.missing())
        if chosen.kind is Kind.BACKWARD and split[chosen.stage, chosen.micro_batch]:
            chosen = Op(Kind.INPUT_GRAD, chosen.stage, chosen.micro_batch)
        again = Op(Kind.RECOMPUTE, chosen.stage, chosen.micro_batch)
        try:
            if chosen.kind in (Kind.BACKWARD, Kind.INPUT_GRAD) and rng.random() < 0.2:
                board = board.put(again)
            board = board.put(chosen, board.earliest(chosen) + rng.choice((0, 0, 0, 1, 2)))
        except ScheduleError as error:
            assert error.key in ("board_needs_missing", "board_taken")
    return board


def test_every_whole_board_can_run_and_is_as_quick_pushed_left_as_simulated():
    rng = random.Random(5)
    for _ in range(12):
        board = random_board(rng, rng.choice((2, 3, 4)), rng.choice((2, 3)))
        plan.validate(board.schedule())
        simulated = plan.simulate(board.schedule(), TICKS)
        left = board.pushed_left()
        assert left.makespan == simulated.makespan <= board.makespan
        assert left.schedule().lanes == board.schedule().lanes
        assert str(left.timeline()) == str(simulated)


@pytest.mark.parametrize("name", ["gpipe", "1f1b", "zb_h1"])
def test_known_schedules_stand_as_they_are_simulated(name):
    for num_devices, num_micro_batches in SIZES:
        if name == "zb_h1" and num_micro_batches < num_devices:
            continue
        schedule = plan.by_name(name, num_devices, num_micro_batches)
        board = saved.board_of(schedule)
        simulated = plan.simulate(schedule, TICKS)
        assert str(board.timeline()) == str(simulated)
        assert board.makespan == simulated.makespan and not board.missing()


def test_the_page_knows_no_rule():
    page = (FOLDER / "canvas.js").read_text(encoding="utf-8")
    assert not re.search(r"""(['"])[FBIWR]\1|needs|backward|forward""", page)
    others = [file.read_text(encoding="utf-8") for file in FOLDER.glob("*.py") if file.name != "board.py"]
    assert not any("rules" in text.replace("It knows no rule", "") for text in others)


# -- numbers, names, hints


def test_the_numbers_of_1f1b_and_of_a_board_with_a_gap():
    found = figures(saved.board_of_text(ONE_F_ONE_B))
    assert (found.makespan, found.bubble, found.in_flight, found.saved) == (12, 0.25, [2, 1], 0)
    assert (found.missing, found.name) == ([], "1f1b")
    late = figures(board_with("0F0@2", "1F0"))
    assert (late.makespan, late.bubble, late.saved, late.name) == (4, 0.75, 2, None)
    assert len(late.missing) == 6
    assert figures(board_with()).bubble is None


def test_known_schedules_are_found_and_others_are_ones_own():
    for name, size in product(("gpipe", "1f1b", "zb_h1"), SIZES):
        if name != "zb_h1" or size[1] >= size[0]:
            assert figures(saved.board_of(plan.by_name(name, *size))).name == name
    assert figures(saved.board_of_text("0F0 0F1 0B1 0B0 | 1F0 1F1 1B0 1B1")).name is None


@pytest.mark.parametrize("size", SIZES)
def test_hints_lead_to_a_schedule_that_trains(size):
    board = Board(*size)
    while (found := hint(board)) is not None:
        board = board.put(*found)
    assert board.complete
    plan.validate(board.schedule())
    assert board.makespan <= 3 * (sum(size) - 1) + 2


def test_a_hint_is_what_can_begin_first_and_goes_back_if_it_can():
    assert hint(board_with()) == (op("0F0"), 0)
    assert hint(board_with("0F0", "1F0")) == (op("0F1"), 1)
    assert hint(board_with("0F0", "1F0", "0F1")) == (op("1B0"), 2)
    assert hint(saved.board_of_text(ONE_F_ONE_B)) is None


# -- text and files


def test_text_goes_in_and_out():
    board = saved.board_of_text(ONE_F_ONE_B)
    assert saved.text_of(board) == ONE_F_ONE_B
    assert saved.text_of(Board(2, 2)) == ""
    assert saved.board_of_text("0F0 | 1F0").starts == board_with("0F0", "1F0").starts


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0F0 banana", "cannot read 'banana' as an op"),
        ("0F0 0F0 | 1F0", "0F0 stands 2 times"),
        ("0F0 0B0 | 1B0 1F0", "deadlock: 1B0 waits for 1F0, which stands behind 1B0"),
        ("0F0 | 1F0 0F1", "0F1 stands in the lane of device 1"),
        ("0F0 2F0 | 1F0 3F0", "the board has one stage a device, but the schedule has 4 stages on 2 devices"),
        ("0F0 0B0", "K goes from 2 to 4, not 1"),
        ("0F9 | 1F9", "M goes from 2 to 8, not 10"),
        ("0F0 | 1F1", "1F1 needs 0F1, which is not on the board"),
        ("", "a schedule needs at least one op"),
    ],
)  # fmt: skip
def test_text_that_cannot_stand_on_a_board_is_refused_with_the_reason(text, reason):
    assert refusal(saved.board_of_text, text).startswith(reason) or reason in refusal(
        saved.board_of_text, text
    )


def test_a_file_keeps_every_tick(tmp_path):
    board = random_board(random.Random(1), 3, 4)
    path = saved.write(board, tmp_path / "mine.json")
    assert saved.read(path) == board
    assert saved.text_of(saved.read(saved.write(board, tmp_path / "mine.txt"))) == saved.text_of(board)
    with pytest.raises(FileError, match="exists already"):
        saved.write(board, path)


def test_a_board_with_early_recomputation_comes_back():
    board = saved.board_of(plan.gpipe(2, 2, "always", "early"))
    assert board.recompute == "early"
    assert saved.board_of_content(saved.json_of(board).encode(), "x.json") == board
    assert saved.board_of_text(saved.text_of(board)) == board


def test_the_order_of_any_timeline_can_be_read(tmp_path):
    measured = plan.simulate(plan.one_f_one_b(3, 4), plan.Costs(forward=0.013, backward=0.029))
    path = plan.write_timeline(measured, tmp_path / "run.csv")
    assert figures(saved.read(path)).name == "1f1b"
    with pytest.raises(FileError):
        saved.board_of_content(b"\xff\xfe", "photo.txt")


# -- the scene


def test_the_scene_says_where_everything_is_and_counts_as_its_readers_do():
    board = board_with("0F0", "1F0", num_micro_batches=3)
    drawn = scene.scene(board, "en", "class")
    assert drawn["columns"] == 3 * (3 + 2 - 1) + scene.SPARE and drawn["first"] == 1
    (first, second) = drawn["ops"]
    assert (first["label"], first["device"], first["start"], first["length"]) == ("F1", 0, 0, 1)
    assert second["name"] == "stage 2's forward of piece 1, GPU 2, slots 2 to 2"
    engineer = scene.scene(board, "en", "engineer")
    assert engineer["first"] == 0 and engineer["ops"][1]["name"] == "1F0, device 1, ticks 1 to 1"


def test_chips_are_kinds_and_pieces_that_say_which_rows_lack_them():
    board = board_with("0F0", "1F0", "1I0")

    def chips(view):
        return {
            chip["key"]: chip
            for line in scene.scene(board, "en", view)["chips"]
            for group in line
            for chip in group
        }

    assert list(chips("class")) == ["F0", "F1", "B0", "B1"]
    assert {key[0] for key in chips("engineer")} == set("FBIWR")
    found = chips("engineer")
    assert [found[key]["left"] for key in ("F0", "F1", "B0", "I0", "W0", "R0")] == [
        [], [0, 1], [0], [0], [0, 1], [0, 1],
    ]  # fmt: skip
    assert found["F1"]["name"] == "forward of micro-batch 1: still for device 0 and device 1"
    assert found["F0"]["name"] == "forward of micro-batch 0: on every row"


def test_every_cell_has_a_letter_and_enough_contrast():
    for kind in Kind:
        fill = show.FILLS[kind]
        assert show.grid.contrast(show.grid.ink_on(fill), fill) >= 4.5
        assert scene.label(Op(kind, 0, 2), "class") == f"{kind}3"


# -- the panel


@pytest.fixture(scope="module")
def quick():
    """The lesson's model, four times as fast, in pieces of one size."""
    return Experiment(batch_size=60, batch_time=0.04)


@pytest.fixture
def make(quick, monkeypatch):
    monkeypatch.setattr(experiment, "STEPS", 1)
    monkeypatch.setattr(panel, "DRAW_EVERY", 0.02)
    made = []

    def board(lang="en", **asked):
        made.append(DesignBoard(lang, **{"experiment": quick, **asked}))
        return made[-1]

    yield board
    for each in made:
        each.stop()
        each.settle()


@pytest.fixture
def desk(make):
    return make(view="engineer")


def by_hand(desk, **content):
    """What the page sends."""
    desk._hear({"do": "put", "tick": None, **content})


def said(desk):
    return html.unescape(re.sub(r"<[^>]+>", " ", desk.screen.said.value)).strip()


def test_a_learner_places_ops_by_hand_is_refused_once_and_finds_1f1b(desk):
    by_hand(desk, chip="F0", device=0, tick=0)
    by_hand(desk, chip="F0", device=1, tick=0)
    assert said(desk) == "Refused: 1F0 needs 0F0, which ends at tick 1; put it at tick 1 or later."
    assert desk.screen.canvas.scene["marks"] == [{"kind": "needed", "device": 0, "start": 0, "length": 1}]
    assert len(desk.board.starts) == 1
    for chip, device in (
        ("F1", 0),
        ("F2", 0),
        ("F0", 1),
        ("B0", 1),
        ("F1", 1),
        ("B1", 1),
        ("F2", 1),
        ("B2", 1),
    ):
        by_hand(desk, chip=chip, device=device)
    for chip in ("B0", "B1", "B2"):
        by_hand(desk, chip=chip, device=0)
    assert desk.figures.name is None and "a schedule of your own" in said(desk)
    by_hand(desk, op="0F2", device=0, tick=6)
    assert desk.figures.name == "1f1b" and said(desk).endswith("You have found 1F1B.")


def test_what_is_found_is_said(desk):
    assert desk.load(ONE_F_ONE_B) == "1f1b"
    assert said(desk).endswith("You have found 1F1B.")
    desk.lang = "zh"
    assert said(desk).endswith("这就是 1F1B。")
    desk.view = "class"
    assert said(desk).endswith("你排出了 1F1B！")


def test_a_refusal_follows_the_language_and_counts_from_1_in_class(make):
    desk = make("zh", view="class")
    by_hand(desk, chip="F0", device=0, tick=0)
    by_hand(desk, chip="F0", device=1, tick=0)
    assert said(desk) == (
        "不行：第 2 段第 1 小份往前算 要等 第 1 段第 1 小份往前算，那格活满 1 格才做完；请放在第 2 格或更后面。"
    )
    desk.lang = "en"
    assert said(desk) == (
        "Refused: stage 2's forward of piece 1 needs stage 1's forward of piece 1, which ends at slot 1;"
        " put it at slot 2 or later."
    )


def test_without_an_op_in_hand_a_press_says_what_to_do_first(desk):
    by_hand(desk, device=0)
    assert said(desk) == say("design_take_first", "en", "engineer")


def test_undo_goes_back_over_moves_and_sizes_and_redo_comes_again(desk):
    desk.put("0F0")
    desk.put("1F0")
    desk.num_micro_batches = 2
    assert len(desk.board.starts) == 2, "another M keeps what has its place"
    desk.num_stages = 3
    assert (desk.board.num_devices, len(desk.board.starts)) == (3, 0)
    desk._hear({"do": "undo"})
    assert (desk.num_stages, len(desk.board.starts)) == (2, 2)
    for _ in range(9):
        desk.screen.undo.click()
    assert (desk.num_micro_batches, desk.board.starts) == (3, {})
    assert desk.screen.undo.disabled and not desk.screen.redo.disabled
    for _ in range(9):
        desk._hear({"do": "redo"})
    assert (desk.num_stages, desk.num_micro_batches) == (3, 2)
    assert desk.screen.redo.disabled
    desk.undo()
    desk.clear()
    desk.put("0F0", 4)
    assert desk.board.starts == {op("0F0"): 4} and desk.screen.redo.disabled, (
        "another way on: the old one is gone"
    )
    desk.undo()
    assert desk.board.starts == {}


def test_a_smaller_m_takes_the_pieces_that_are_no_longer_there(desk):
    desk.load(ONE_F_ONE_B)
    desk.num_micro_batches = 2
    assert {each.micro_batch for each in desk.board.starts} == {0, 1}
    assert not desk.board.missing()


def test_clear_take_off_push_left_and_hint(desk):
    desk.put("0F0", 3)
    desk.screen.hint.click()
    assert said(desk) == "1F0 could go on device 1, tick 4." or said(desk).startswith("0F1 could go")
    assert desk.screen.canvas.scene["marks"][0]["kind"] == "hint"
    desk.screen.push_left.click()
    assert desk.board.starts == {op("0F0"): 0} and said(desk) == "It ends 3 ticks earlier now."
    desk._hear({"do": "take_off", "op": "0F0"})
    assert desk.board.starts == {} and said(desk) == "0F0 is off the board."
    desk.load(ONE_F_ONE_B)
    desk.screen.hint.click()
    assert said(desk).startswith('Complete: press "Train once".')
    desk.screen.clear.click()
    assert desk.board.starts == {}


def test_text_is_loaded_from_the_field_and_a_file_from_a_button(desk, tmp_path):
    desk.screen.text.value = ONE_F_ONE_B
    desk.screen.load.click()
    assert desk.figures.name == "1f1b"
    desk.screen.text.value = "0F0 1B0 | 1F0"
    desk.screen.load.click()
    assert said(desk).startswith("Refused: 1B0 stands in the lane of device 0")
    assert desk.figures.name == "1f1b", "the board is as it was"
    content = desk.save(tmp_path / "mine.json").read_bytes()
    desk.clear()
    desk.screen.upload.value = ({"name": "mine.json", "content": memoryview(content), "size": len(content),
                                 "type": "application/json", "last_modified": datetime.now(timezone.utc)},)  # fmt: skip
    assert desk.figures.name == "1f1b"
    desk.open_file(tmp_path / "mine.json")
    assert "design-K2-M3.json" in desk.screen.links.value


def test_a_move_costs_few_messages(desk, monkeypatch):
    desk.load(ONE_F_ONE_B)
    sent = []
    monkeypatch.setattr(ipywidgets.Widget, "_send", lambda self, *asked, **named: sent.append(asked[0]))
    by_hand(desk, op="0B2", device=0, tick=12)
    assert desk.board.starts[op("0B2")] == 12
    assert len(sent) <= 8, sent


def test_training_needs_a_whole_schedule(desk):
    desk.put("0F0")
    desk.screen.train.click()
    assert said(desk) == (
        "Refused: 11 ops are missing, the first is 0B0; put them on the board, then it can train."
    )
    assert desk.current is None
    assert desk.screen.train.description == "Train once"


def test_a_design_trains_for_real_and_its_measured_grid_stands_beside_it(desk):
    desk.load(ONE_F_ONE_B)
    assert desk.screen.train.description.startswith("Train once ~")
    before = [parameter.detach().clone() for parameter in desk.experiments.own.model.parameters()]
    desk.screen.train.click()
    assert desk.screen.canvas.scene["resting"] and desk.screen.clear.disabled
    by_hand(desk, op="0B2", device=0, tick=12)
    outcome = desk.wait(LONGEST)
    desk.settle()
    assert desk.board == saved.board_of_text(ONE_F_ONE_B), "the board rests during a run"
    assert outcome.same and outcome.timeline.source == "measured"
    spans = outcome.timeline.spans
    assert [
        " ".join(str(each.op) for each in spans if each.device == row) for row in (0, 1)
    ] == ONE_F_ONE_B.split(" | ")
    assert abs(outcome.bubble - 0.25) < 0.05
    changed = [
        not torch.equal(*pair) for pair in zip(before, desk.experiments.own.model.parameters(), strict=True)
    ]
    assert any(changed)
    assert "ticks measured, 12 designed" in said(desk) and "Same gradients as uncut" in said(desk)
    assert "You have found 1F1B." in said(desk)
    ran = desk.screen.canvas.ran
    assert len(ran["ops"]) == 12 and ran["caption"].startswith(
        "Really trained · 2 stand-ins (CPU, slowed down)"
    )
    assert not desk.screen.canvas.scene["resting"] and not desk.screen.train.disabled

    desk.put("0B2", 12)
    assert desk.outcome is outcome, "a gap is no other order"
    desk.clear()
    assert desk.outcome is None and desk.screen.canvas.ran == {}
    desk.undo()
    desk.undo()
    assert desk.outcome is outcome and len(desk.screen.canvas.ran["ops"]) == 12


def test_halves_and_recomputation_placed_by_hand_train_too(desk):
    for each in ("0F0", "0F1", "1F0", "1I0", "1W0", "1F1", "1R1", "1B1", "0R0", "0B0", "0I1", "0W1"):
        desk.num_micro_batches = 2
        desk.put(each)
    outcome = desk.run().wait(LONGEST)
    assert outcome.same and "a schedule of your own" in said(desk)
    assert {str(each.op.kind) for each in outcome.timeline.spans} == set("FBIWR")


def test_the_result_is_called_the_same_only_if_it_was(desk):
    class Moody(nn.Module):
        """Its result is about a piece of a mini-batch, not about each sample."""

        def forward(self, x):
            return x - x.mean(dim=0)

    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 16), Moody(), nn.Linear(16, 16), nn.Linear(16, 10))
    desk.experiments = Experiments(Experiment(model, batch_time=0.04))
    desk.load(ONE_F_ONE_B)
    outcome = desk.run().wait(LONGEST)
    assert not outcome.same and "Gradients differ!" in said(desk)


def test_stop_leaves_the_model_as_it_was_and_the_board_usable(make):
    desk = make(experiment=Experiment(batch_time=0.4), view="engineer")
    desk.load(ONE_F_ONE_B)
    run = desk.run()
    desk.screen.stop.click()
    with pytest.raises(Cancelled):
        run.wait(LONGEST)
    assert said(desk).startswith("Stopped.") and desk.outcome is None
    assert not desk.screen.train.disabled and desk.screen.stop.disabled
    desk.put("0B2", 12)


def test_a_stage_that_fails_is_said_and_raised(make):
    class Bomb(nn.Module):
        def forward(self, x):
            raise RuntimeError("bang")

    desk = make(
        experiment=Experiment(
            nn.Sequential(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), Bomb()), batch_time=0.04
        )
    )
    desk.load(ONE_F_ONE_B)
    with pytest.raises(StageError, match="bang"):
        desk.run().wait(LONGEST)
    assert "bang" in said(desk) and not desk.screen.train.disabled


def test_pieces_of_the_lessons_mini_batch_have_one_size():
    lessons = Experiments()
    for count in (2, 3, 7, 8):
        assert lessons.of(count).batch_size % count == 0
        assert lessons.of(count).model is lessons.of(2).model
        assert lessons.tick(count) * count == pytest.approx(0.16)


def test_a_design_is_run_with_the_ticks_it_was_drawn_with():
    board = saved.board_of(plan.one_f_one_b(3, 7))
    design, lessons = design_of(board), Experiments()
    predicted = lessons.of(7).predict(design).timeline
    assert predicted.makespan == pytest.approx(board.makespan * lessons.tick(7))
    assert str(predicted) == str(board.timeline())
    assert lessons.seconds(board) == pytest.approx(lessons.of(7).seconds(design))
    assert refusal(design_of, Board(2, 2)).startswith("8 ops are missing, the first is 0F0")


@pytest.mark.parametrize("lang", show.LANGUAGES)
@pytest.mark.parametrize("view", ["class", "engineer"])
def test_without_a_kernel_there_is_a_picture_and_words(make, lang, view):
    desk = make(lang, view=view)
    for each in ("", ONE_F_ONE_B):
        if each:
            desk.load(each)
        bundle = desk._repr_mimebundle_()
        assert bundle["text/plain"].endswith(say("still_line", lang, view))
        with Image.open(io.BytesIO(desk.picture_png())) as image:
            assert image.width > 1000 and image.height > 100
    assert "B2 B2" in desk.picture_text()


def test_everything_that_can_be_pressed_has_a_name(make):
    def every(widget):
        yield widget
        for child in getattr(widget, "children", ()):
            yield from every(child)

    for lang, view in product(show.LANGUAGES, ("class", "engineer")):
        desk = make(lang, view=view)
        for widget in every(desk):
            if isinstance(widget, ipywidgets.Button | ipywidgets.ToggleButton | ipywidgets.Text):
                assert widget.tooltip, widget


def test_the_halves_are_the_kinds_that_a_whole_backward_is_made_of():
    assert LENGTHS[Kind.BACKWARD] == sum(LENGTHS[kind] for kind in HALVES)
    assert words.percent(3 / 7) == "42.9%"
    assert filled(Board(2, 2), [[], []]) == Board(2, 2)
    assert Schedule.from_text(ONE_F_ONE_B).lanes == saved.board_of_text(ONE_F_ONE_B).schedule().lanes


def test_what_runs_is_shown_as_far_as_its_own_newest_step_has_come():
    told = []
    live = Live(num_ops=4, changed=lambda: told.append(live.share))
    watch = live.watch(show.Run(lambda run: None))

    def spans():
        return [str(span.op) for span in live.timeline(2).spans]

    watch.phase("uncut", step=1, steps=1)
    watch.span(plan.Span(op("0F0"), 0, 0.0, 9.0))
    assert spans() == [], "the uncut mini-batch is another schedule"
    watch.phase("measuring", step=1, steps=1)
    for each in ("0F0", "1F0", "0F0"):
        watch.span(plan.Span(op(each), op(each).stage, 0.0, 1.0))
    assert spans() == ["0F0"], "an op that ends again begins the next step"
    assert live.share == 1.0 and (live.phase, live.numbers["step"]) == ("measuring", 1) and len(told) == 6


@pytest.mark.parametrize("tick", [-1, -5, 1000, 10**9])
def test_a_tick_outside_of_any_board_is_refused_also_from_a_file(tick):
    with pytest.raises(ScheduleError, match="from 0 to 999"):
        Board(2, 2).put(Op.parse("0F0"), tick)
    timeline = Board(2, 2).put(Op.parse("0F0"), 0).timeline()
    text = plan.files.to_json(timeline).replace(
        '"start": 0.0, "end": 1.0', f'"start": {tick}, "end": {tick + 1}'
    )
    with pytest.raises(ScheduleError, match="from 0 to 999"):
        saved.board_of_content(text.encode(), "board.json")
