"""All exercises, in the order in which they get harder."""

from __future__ import annotations

from pipekit.learn.exercises import by_hand, gradients, grid, orders, recompute, scratch_plan, times
from pipekit.learn.exercises.task import Task

_ALL = {
    task.key: task
    for module in (by_hand, grid, scratch_plan, times, gradients, orders, recompute)
    for task in module.TASKS
}
BY_HAND = (
    "count_cells",
    "cut_layers",
    "fill_grid",
    "predict_bubble",
    "card_times",
    "balance_stages",
    "batch_norm",
    "three_cells",
)
IN_CODE = (
    "slot",
    "finish_time",
    "best_pieces",
    "gpipe_order",
    "scale_gradients",
    "recompute",
    "beat_gpipe",
)
NOTEBOOKS = {"exercises": BY_HAND, "exercises-code": IN_CODE}  # where they are posed
TASKS: dict[str, Task] = {key: _ALL[key] for key in BY_HAND + IN_CODE}
