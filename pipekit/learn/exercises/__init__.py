"""Exercises with graders: `task = exercises.get("gpipe_order"); task.show(); task.check(answer)`."""

from typing import TYPE_CHECKING

from pipekit.lazily import on_demand
from pipekit.learn.exercises.keys import BY_HAND, IN_CODE

if TYPE_CHECKING:
    from pipekit.learn.exercises.catalogue import TASKS
    from pipekit.learn.exercises.exercise import Exercise, get
    from pipekit.learn.exercises.verdict import Verdict
else:  # a type checker reads the imports above, Python imports on demand
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            "catalogue": ["TASKS"],
            "exercise": ["Exercise", "get"],
            "verdict": ["Verdict"],
        },
    )

__all__ = ["BY_HAND", "IN_CODE", "TASKS", "Exercise", "Verdict", "get"]
