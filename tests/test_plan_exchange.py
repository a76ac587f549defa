"""Schedules go to PyTorch and come back; PyTorch trains them; what its format can't say is refused with the reason."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.distributed.pipelining import schedules as torch_schedules

from pipekit import plan
from pipekit.errors import FileError, ScheduleError
from pipekit.plan import Schedule, from_torch_csv, to_torch_csv
from tests import torch_pipeline

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT = 200  # seconds; it takes some eight on a quiet machine, most of them to import torch

TWO_COPIES = ("dualpipe", "chimera")
SINGLE_PLACEMENT = [name for name in plan.SCHEDULES if name not in TWO_COPIES]


def test_every_schedule_is_either_exchanged_or_refused_here():
    assert SINGLE_PLACEMENT == [
        "gpipe", "1f1b", "interleaved_1f1b", "looped_bfs", "zb_h1", "zb_h2", "zb_v", "dualpipe_v",
    ]  # fmt: skip


@pytest.mark.parametrize("name", SINGLE_PLACEMENT)
@pytest.mark.parametrize("num_devices, num_micro_batches", [(2, 4), (2, 8), (3, 6), (4, 8), (4, 16)])
def test_a_schedule_comes_back_op_for_op(name, num_devices, num_micro_batches):
    schedule = plan.by_name(name, num_devices, num_micro_batches)
    assert from_torch_csv(to_torch_csv(schedule), name=name) == schedule


@pytest.mark.parametrize("name", ["interleaved_1f1b", "looped_bfs"])
def test_three_chunks_a_device_come_back_too(name):
    schedule = plan.by_name(name, 2, 4, num_chunks=3)
    assert from_torch_csv(to_torch_csv(schedule), name=name) == schedule


def test_what_the_automatic_scheduler_found_can_be_written():
    found = plan.greedy(3, 6, plan.Costs(), 3)
    assert from_torch_csv(to_torch_csv(found)).lanes == found.lanes


def test_one_row_a_device_one_cell_an_op():
    assert to_torch_csv(Schedule.from_text("0F0 0F1 0B1 0I0 0W0 | 1F0 1F1 1B1 1B0")) == (
        "0F0,0F1,0B1,0I0,0W0\n1F0,1F1,1B1,1B0\n"
    )


def test_empty_cells_spaces_a_mark_and_empty_lines_at_the_end_are_no_ops():
    text = "\ufeff0F0, 0F1 ,,0B0,0B1\r\n,1F0,1B0,1F1,1B1,,\r\n\r\n ,\r\n"
    assert str(from_torch_csv(text)) == "0F0 0F1 0B0 0B1 | 1F0 1B0 1F1 1B1"


def test_what_is_no_computation_is_left_out_and_a_fused_pair_runs_one_after_the_other():
    text = (
        "0UNSHARD,0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1,0REDUCE_GRAD,0RESHARD\n"
        "1F0,(1F1;1B0)OVERLAP_F_B,1B1"
    )
    assert str(from_torch_csv(text)) == "0F0 0F1 0B0 0B1 | 1F0 1F1 1B0 1B1"


# -- PyTorch's own orders


def torch_order(schedule_class, num_devices, num_micro_batches, num_chunks):
    """What PyTorch's class runs, as its `_dump_csv` writes it."""
    stages = [
        SimpleNamespace(
            num_stages=num_devices * num_chunks,
            group_size=num_devices,
            group_rank=0,
            stage_index=chunk * num_devices,
            is_first=chunk == 0,
            is_last=False,
            submod=nn.Identity(),
        )
        for chunk in range(num_chunks)
    ]
    single = issubclass(schedule_class, torch_schedules.PipelineScheduleSingle)
    made = schedule_class(stages[0] if single else stages, num_micro_batches, loss_fn=nn.functional.mse_loss)
    rows = (made.pipeline_order[rank] for rank in range(num_devices))
    return "\r\n".join(",".join("" if op is None else str(op) for op in row) for row in rows)


def in_order_of_forwards(num_devices, num_micro_batches):
    """GPipe as PyTorch runs it: backwards in the order of the forwards."""
    lanes = [[f"{k}{kind}{m}" for kind in "FB" for m in range(num_micro_batches)] for k in range(num_devices)]
    return Schedule(lanes)


PYTORCHS_OWN = {  # class -> (stages a device, the same of ours)
    "ScheduleGPipe": (1, in_order_of_forwards),
    "ScheduleInterleaved1F1B": (2, lambda k, m: plan.interleaved_1f1b(k, m, 2)),
    "ScheduleLoopedBFS": (2, lambda k, m: plan.looped_bfs(k, m, 2)),
    "ScheduleInterleavedZeroBubble": (1, plan.zb_h1),
    "ScheduleZBVZeroBubble": (2, plan.zb_v),
    "ScheduleDualPipeV": (2, plan.dualpipe_v),
}


@pytest.mark.parametrize("name", PYTORCHS_OWN)
@pytest.mark.parametrize("num_devices, num_micro_batches", [(2, 4), (4, 8)])
def test_pytorchs_own_order_is_read_and_is_ours(name, num_devices, num_micro_batches):
    num_chunks, builder = PYTORCHS_OWN[name]
    text = torch_order(getattr(torch_schedules, name), num_devices, num_micro_batches, num_chunks)
    ours = builder(num_devices, num_micro_batches)
    theirs = from_torch_csv(text)
    assert (theirs.lanes, theirs.placement) == (ours.lanes, ours.placement)


@pytest.mark.parametrize("num_devices, num_micro_batches", [(2, 4), (4, 8)])
def test_pytorchs_own_1f1b_is_wrong_on_the_last_rank_only_and_is_refused_there(
    num_devices, num_micro_batches
):
    text = torch_order(torch_schedules.Schedule1F1B, num_devices, num_micro_batches, 1)
    with pytest.raises(FileError) as caught:
        from_torch_csv(text)
    last = num_devices - 1
    assert caught.value.key == "torch_forward"
    assert (caught.value.numbers["row"], str(caught.value.numbers["op"])) == (num_devices, f"{last}B0")
    assert "its last rank counts forwards from 1: use plan.one_f_one_b" in str(caught.value)
    right = to_torch_csv(plan.one_f_one_b(num_devices, num_micro_batches)).splitlines()
    for theirs, ours in zip(text.split("\r\n")[:last], right, strict=False):
        assert [cell for cell in theirs.split(",") if cell and "REDUCE" not in cell] == ours.split(",")


# -- PyTorch's own runtime trains ours


def uncut(num_stages):
    """Loss and gradients of the whole model on the whole mini-batch."""
    batch, target = torch_pipeline.data()
    model = torch_pipeline.layers(num_stages)
    loss = nn.functional.mse_loss(nn.Sequential(*model)(batch), target)
    loss.backward()
    grads = {f"{s}.{name}": p.grad for s, stage in enumerate(model) for name, p in stage.named_parameters()}
    return loss.item(), grads


OUT_OF_ORDER = "0F1 0F0 0F2 0B1 0B0 0B2 | 1F1 1F0 1F2 1B1 1B0 1B2"  # PyTorch takes one loss for another here
HALVES_AND_WHOLES_IN_A_V = (
    "0F0 0F1 0F2 3F0 3I0 3W0 3F1 3I1 0I0 0W0 3W1 3F2 3I2 0I1 0W1 3W2 0I2 0W2 | "
    "1F0 2F0 1F1 2F1 2I0 2W0 1F2 1I0 1W0 2F2 2I1 1I1 2W1 1W1 2B2 1B2"
)
TRAINED = {
    **{name: plan.by_name(name, 2, 4) for name in SINGLE_PLACEMENT},
    "halves_and_wholes_in_a_v": Schedule.from_text(HALVES_AND_WHOLES_IN_A_V),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """name -> [what rank 0, what rank 1 wrote]: one pair of real processes trains all files."""
    folder = tmp_path_factory.mktemp("torch")
    for name, schedule in TRAINED.items():
        (folder / f"{name}.csv").write_text(to_torch_csv(schedule))
    rows = (lane.strip().replace(" ", ",") for lane in OUT_OF_ORDER.split("|"))
    (folder / "zz_out_of_order.csv").write_text("\n".join(rows))
    ranks = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.torch_pipeline", str(folder), str(rank), "2"],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        said = [rank.communicate(timeout=TIMEOUT)[1] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    assert [rank.returncode for rank in ranks] == [0, 0], "\n".join(said)
    names = [*TRAINED, "zz_out_of_order"]
    return {
        name: [torch.load(folder / f"{name}.{rank}.pt", weights_only=True) for rank in range(2)]
        for name in names
    }


@pytest.mark.parametrize("name", TRAINED)
def test_pytorchs_runtime_trains_our_csv_with_the_uncut_models_loss_and_gradients(trained, name):
    loss, grads = uncut(TRAINED[name].num_stages)
    losses = [each for rank in trained[name] for each in rank["losses"]]
    assert len(losses) == TRAINED[name].num_micro_batches
    assert sum(losses) / len(losses) == pytest.approx(loss, rel=1e-12)
    found = {key: grad for rank in trained[name] for key, grad in rank["grads"].items()}
    assert found.keys() == grads.keys()
    for key, grad in grads.items():
        torch.testing.assert_close(found[key], grad, rtol=1e-10, atol=1e-14)


def test_pytorchs_runtime_fails_where_the_last_stages_forwards_are_out_of_order_so_that_is_refused(trained):
    assert any("error" in rank for rank in trained["zz_out_of_order"])
    with pytest.raises(
        ScheduleError, match="1F1 runs before 1F0, but PyTorch's runtime finds a loss by"
    ) as caught:
        to_torch_csv(Schedule.from_text(OUT_OF_ORDER))
    assert caught.value.key == "torch_loss_order"


# -- what the format can't say


@pytest.mark.parametrize("checkpoint", ["except_last", "always"])
def test_a_recomputation_is_refused_with_the_reason(checkpoint):
    with pytest.raises(ScheduleError, match="has no recomputation, but this schedule has 0R") as caught:
        to_torch_csv(plan.gpipe(2, 3, checkpoint))
    assert caught.value.key == "torch_recompute"


@pytest.mark.parametrize("name, second", [("dualpipe", 3), ("chimera", 3)])
def test_two_replicas_are_refused_with_the_reason(name, second):
    with pytest.raises(ScheduleError, match=f"stage 0 is there twice, on devices 0 and {second}") as caught:
        to_torch_csv(plan.by_name(name, 4, 8))
    assert caught.value.key == "torch_replicas"


def test_a_device_without_an_op_is_refused():
    with pytest.raises(ScheduleError, match="device 1 has no op"):
        to_torch_csv(Schedule(["0F0 0B0", ""]))


def test_what_cannot_run_is_not_written():
    with pytest.raises(ScheduleError, match="deadlock"):
        to_torch_csv(Schedule(["0F0 0B0", "1B0 1F0"]))


# -- bad text

BAD = {
    "": ("empty_schedule", "needs at least one op"),
    "0F0,0B0\n\n1F0,1B0": ("torch_row", "row 2 of the schedule holds no op"),
    "0F0,0X0": ("torch_cell", "row 1, cell 2: cannot read '0X0' as an op"),
    "0F0,0B0\n1F0;1B0": ("torch_cell", "row 2, cell 1: cannot read '1F0;1B0'"),
    "0F0,0R0,0B0": ("torch_cell", "row 1, cell 2: cannot read '0R0'"),
    "0F0x,0B0": ("torch_cell", "row 1, cell 1: cannot read '0F0x'"),
    "0F0,(0F1;0Z0)OVERLAP_F_B": ("torch_cell", "row 1, cell 2"),
    "0F9999999,0B0": ("torch_cell", "row 1, cell 1"),
    "0F\u0660,0B0": ("torch_cell", "row 1, cell 1"),  # a digit, but not one of ours
    '0F0,"0B0': ("torch_csv", "row 1 of the schedule can't be read as CSV"),
    "0F0,0B0,0B0": ("torch_repeated", "row 1, cell 3: 0B0 stands already in row 1, cell 2"),
    "0F0,0B0\n1F0,1B0,0W0": ("torch_two_ranks", "row 2, cell 3: 0W0 puts stage 0 on a second rank, but row 1, cell 1"),
    "0F0,0B0\n1B0": ("torch_forward", "row 2, cell 1: 1B0 needs 1F0, which no row runs"),
    "0F0,0I0": ("missing_op", "0W0 is missing"),
    "0F0,0B0\n1F0": ("missing_op", "1B0 is missing"),
    "0F0,0B0\n2F0,2B0": ("missing_op", "1F0 is missing"),
    "0B0,0F0": ("deadlock_cycle", "0B0 waits for 0F0"),
}  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_bad_text_is_refused_with_row_cell_and_reason(text):
    key, words = BAD[text]
    with pytest.raises((FileError, ScheduleError)) as caught:
        from_torch_csv(text)
    assert caught.value.key == key
    assert words in str(caught.value)
