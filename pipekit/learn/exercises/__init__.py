"""Exercises with graders: `task = exercises.get("gpipe_order"); task.show(); task.check(answer)`."""

from pipekit.learn.exercises.catalogue import BY_HAND, IN_CODE, TASKS
from pipekit.learn.exercises.exercise import Exercise, get
from pipekit.learn.exercises.verdict import Verdict

__all__ = ["BY_HAND", "IN_CODE", "TASKS", "Exercise", "Verdict", "get"]
