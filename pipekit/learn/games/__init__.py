"""Games of the lesson: pure rules with tests, and a table that a page draws."""

from pipekit.learn.games.laundry_panel import LaundryGame
from pipekit.learn.games.table import Table

__all__ = ["LaundryGame", "Table"]
