"""One lesson on one page: five stops in one notebook, with a stopwatch; a stop is made when a class comes to it."""

from pipekit.learn.lesson.lesson import Lesson

__all__ = ["Lesson"]
