"""What should happen: schedules, their law, their prediction. Standard library and numpy; no torch, no display."""

from pipekit.plan.balance import balance
from pipekit.plan.costs import Costs
from pipekit.plan.exchange import from_torch_csv, to_torch_csv
from pipekit.plan.files import MemoryRecord, read_timeline, write_timeline
from pipekit.plan.measure import (
    Shares,
    bubble_fraction,
    bubble_overhead,
    busy_devices,
    busy_time,
    formula_bubble,
    peak_in_flight,
    shares,
)
from pipekit.plan.memory import (
    DeviceMemory,
    ModelShape,
    StageShape,
    activation_curves,
    micro_batch_sizes,
    peak_activations,
    predict_memory,
)
from pipekit.plan.ops import Kind, Lane, Op
from pipekit.plan.picture import cells, column_time, picture
from pipekit.plan.rules import needs
from pipekit.plan.schedule import CHECKPOINTS, RECOMPUTES, Schedule
from pipekit.plan.schedules import SCHEDULES, by_name, gpipe, naive, one_f_one_b
from pipekit.plan.simulate import simulate, validate
from pipekit.plan.timeline import Span, Spans, Timeline
from pipekit.plan.trace import chrome_trace, from_chrome_trace

__all__ = [
    "CHECKPOINTS",
    "RECOMPUTES",
    "SCHEDULES",
    "Costs",
    "DeviceMemory",
    "Kind",
    "Lane",
    "MemoryRecord",
    "ModelShape",
    "Op",
    "Schedule",
    "Shares",
    "Span",
    "Spans",
    "StageShape",
    "Timeline",
    "activation_curves",
    "balance",
    "bubble_fraction",
    "bubble_overhead",
    "busy_devices",
    "busy_time",
    "by_name",
    "cells",
    "chrome_trace",
    "column_time",
    "formula_bubble",
    "from_chrome_trace",
    "from_torch_csv",
    "gpipe",
    "micro_batch_sizes",
    "naive",
    "needs",
    "one_f_one_b",
    "peak_activations",
    "peak_in_flight",
    "picture",
    "predict_memory",
    "read_timeline",
    "shares",
    "simulate",
    "to_torch_csv",
    "validate",
    "write_timeline",
]
