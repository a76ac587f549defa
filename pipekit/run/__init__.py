"""Make it happen: cut a real model, train it through a pipeline, measure what happened. plan + torch."""

from pipekit.run.allocator import keep_memory

keep_memory()  # must be said before torch is imported

from pipekit.run.batch_norm import defer_batch_norm  # noqa: E402
from pipekit.run.compare import gradients, relative_difference  # noqa: E402
from pipekit.run.cores import available_memory, usable_cores  # noqa: E402
from pipekit.run.devices import CpuThreads, Cuda, Devices, StandIns, auto, cpu, cuda, stand_ins  # noqa: E402
from pipekit.run.engine import Pipeline  # noqa: E402
from pipekit.run.fit import History, fit  # noqa: E402
from pipekit.run.halves import WholeBackward  # noqa: E402
from pipekit.run.inspect import inspect  # noqa: E402
from pipekit.run.measure import Measurement, measure  # noqa: E402
from pipekit.run.microbatch import Whole, sizes_of, whole  # noqa: E402
from pipekit.run.partition import partition  # noqa: E402
from pipekit.run.profile import profile  # noqa: E402
from pipekit.run.result import Memory, Slip, StepResult  # noqa: E402
from pipekit.run.workers import live_workers, working_workers  # noqa: E402

__all__ = [
    "CpuThreads",
    "Cuda",
    "Devices",
    "History",
    "Measurement",
    "Memory",
    "Pipeline",
    "Slip",
    "StandIns",
    "StepResult",
    "Whole",
    "WholeBackward",
    "auto",
    "available_memory",
    "cpu",
    "cuda",
    "defer_batch_norm",
    "fit",
    "gradients",
    "inspect",
    "keep_memory",
    "live_workers",
    "measure",
    "partition",
    "profile",
    "relative_difference",
    "sizes_of",
    "stand_ins",
    "usable_cores",
    "whole",
    "working_workers",
]
