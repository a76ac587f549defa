"""Boards one after the other: what undo goes back to, and redo on to."""

from __future__ import annotations

from pipekit.learn.designboard.board import Board


class History:
    """The board that is, and those that were.

    >>> history = History(Board(2, 2))
    >>> history.do(Board(2, 3))
    >>> history.undo(), history.board.num_micro_batches
    (True, 2)
    >>> history.redo(), history.redo(), history.board.num_micro_batches
    (True, False, 3)
    """

    def __init__(self, board: Board) -> None:
        self._boards, self._now = [board], 0

    @property
    def board(self) -> Board:
        """The board that is."""
        return self._boards[self._now]

    @property
    def can_undo(self) -> bool:
        """Whether something was done."""
        return self._now > 0

    @property
    def can_redo(self) -> bool:
        """Whether something was taken back, and nothing was done since."""
        return self._now + 1 < len(self._boards)

    def do(self, board: Board) -> None:
        """Another board; what was taken back is forgotten. One that is the same is no step."""
        if board != self.board:
            self._boards[self._now + 1 :] = [board]
            self._now += 1

    def undo(self) -> bool:
        """Go back one board; False at the first."""
        went = self.can_undo
        self._now -= went
        return went

    def redo(self) -> bool:
        """Go on one board; False at the last."""
        went = self.can_redo
        self._now += went
        return went
