"""Games of the lesson: pure rules with tests, and a table that a page draws."""

from pipekit.learn.games.cards_panel import CardsGame
from pipekit.learn.games.grid_puzzle_panel import GridPuzzle
from pipekit.learn.games.laundry_panel import LaundryGame
from pipekit.learn.games.scratch_panel import ScratchPaperGame
from pipekit.learn.games.table import Table

__all__ = ["CardsGame", "GridPuzzle", "LaundryGame", "ScratchPaperGame", "Table"]
