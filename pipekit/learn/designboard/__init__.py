"""The design board: place ops by hand, be told why one can't go there, find a schedule, and train it."""

from pipekit.learn.designboard.board import Board
from pipekit.learn.designboard.panel import DesignBoard

__all__ = ["Board", "DesignBoard"]
