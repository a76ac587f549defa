"""One rank of a real torch.distributed.pipelining run: `python -m tests.torch_pipeline FOLDER RANK NUM_RANKS`.

For every `NAME.csv` in the folder: load it in PyTorch's own runtime, train one mini-batch over gloo, and write
losses and gradients of this rank's stages, or the error, to `NAME.RANK.pt`. After an error the ranks are out of step,
so it ends there. test_plan_exchange.py starts the ranks and compares.
"""

import logging
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime

from pipekit.plan import Schedule, from_torch_csv

NUM_SAMPLES, WIDTH = 12, 6


def layers(num_stages: int) -> list[nn.Sequential]:
    """The model, cut: the same numbers in every process."""
    torch.manual_seed(0)
    return [nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()).double() for _ in range(num_stages)]


def data() -> tuple[torch.Tensor, torch.Tensor]:
    """Batch and target: the same in every process."""
    generator = torch.Generator().manual_seed(1)
    batch, target = torch.randn(2, NUM_SAMPLES, WIDTH, dtype=torch.float64, generator=generator)
    return batch, target


def train(schedule: Schedule, path: Path, rank: int) -> dict[str, object]:
    """One step of the schedule in that file, run by PyTorch."""
    batch, target = data()
    model = layers(schedule.num_stages)
    mine = [stage for stage in range(schedule.num_stages) if schedule.placement[stage] == rank]
    stages = [PipelineStage(model[s], s, schedule.num_stages, torch.device("cpu")) for s in mine]
    runtime = _PipelineScheduleRuntime(stages, schedule.num_micro_batches, loss_fn=nn.functional.mse_loss)
    runtime._load_csv(str(path), format="compute_only")
    losses: list[torch.Tensor] = []
    given = {"target": target, "losses": losses} if schedule.num_stages - 1 in mine else {}
    runtime.step(*((batch,) if 0 in mine else ()), **given)
    grads = {f"{s}.{name}": p.grad for s in mine for name, p in model[s].named_parameters()}
    return {"losses": [loss.item() for loss in losses], "grads": grads}


def main(folder: Path, rank: int, num_ranks: int) -> None:
    """Every file of the folder, one after the other, in one process group."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    logging.disable()
    torch.set_num_threads(1)
    store = dist.FileStore(str(folder / "store"), num_ranks)
    dist.init_process_group("gloo", rank=rank, world_size=num_ranks, store=store)
    for path in sorted(folder.glob("*.csv")):
        result = folder / f"{path.stem}.{rank}.pt"
        try:
            torch.save(train(from_torch_csv(path.read_text(encoding="utf-8")), path, rank), result)
        except RuntimeError as error:
            torch.save({"error": str(error)}, result)
            return
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
