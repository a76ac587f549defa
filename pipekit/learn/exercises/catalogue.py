"""All exercises, in the order in which they get harder."""

from __future__ import annotations

from pipekit.learn.exercises import by_hand, gradients, grid, orders, recompute, scratch_plan, times
from pipekit.learn.exercises.keys import KEYS
from pipekit.learn.exercises.task import Task

_ALL = {
    task.key: task
    for module in (by_hand, grid, scratch_plan, times, gradients, orders, recompute)
    for task in module.TASKS
}
TASKS: dict[str, Task] = {key: _ALL[key] for key in KEYS}
