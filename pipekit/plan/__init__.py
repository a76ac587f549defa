"""What should happen: schedules, their law, their prediction. Standard library and numpy; no torch, no display."""

from pipekit.plan.balance import balance
from pipekit.plan.bidirectional import chimera, dualpipe, dualpipe_v
from pipekit.plan.catalogue import SCHEDULES, by_name
from pipekit.plan.costs import Costs
from pipekit.plan.data_parallel import SideBySide, side_by_side
from pipekit.plan.exchange import from_torch_csv, to_torch_csv
from pipekit.plan.files import MemoryRecord, read_timeline, write_timeline
from pipekit.plan.greedy import Found, greedy
from pipekit.plan.interleaved import interleaved_1f1b, looped_bfs
from pipekit.plan.measure import (
    Shares,
    bubble_fraction,
    bubble_overhead,
    busy_devices,
    busy_time,
    formula_bubble,
    messages,
    peak_in_flight,
    shares,
    span_bubble,
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
from pipekit.plan.overhead import PieceCost, fit_piece_cost
from pipekit.plan.picture import cells, column_time, picture
from pipekit.plan.recognise import recognise
from pipekit.plan.rules import needs
from pipekit.plan.schedule import CHECKPOINTS, RECOMPUTES, Schedule
from pipekit.plan.schedules import gpipe, naive, one_f_one_b
from pipekit.plan.simulate import simulate, validate
from pipekit.plan.timeline import Span, Spans, Timeline
from pipekit.plan.trace import chrome_trace, from_chrome_trace
from pipekit.plan.zero_bubble import zb_h1, zb_h2, zb_v

__all__ = [
    "CHECKPOINTS",
    "RECOMPUTES",
    "SCHEDULES",
    "Costs",
    "DeviceMemory",
    "Found",
    "Kind",
    "Lane",
    "MemoryRecord",
    "ModelShape",
    "Op",
    "PieceCost",
    "Schedule",
    "Shares",
    "SideBySide",
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
    "chimera",
    "chrome_trace",
    "column_time",
    "dualpipe",
    "dualpipe_v",
    "fit_piece_cost",
    "formula_bubble",
    "from_chrome_trace",
    "from_torch_csv",
    "gpipe",
    "greedy",
    "interleaved_1f1b",
    "looped_bfs",
    "messages",
    "micro_batch_sizes",
    "naive",
    "needs",
    "one_f_one_b",
    "peak_activations",
    "peak_in_flight",
    "picture",
    "predict_memory",
    "read_timeline",
    "recognise",
    "shares",
    "side_by_side",
    "simulate",
    "span_bubble",
    "to_torch_csv",
    "validate",
    "write_timeline",
    "zb_h1",
    "zb_h2",
    "zb_v",
]
