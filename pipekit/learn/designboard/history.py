"""States of a board or a game one after the other: what undo goes back to, and redo on to."""

from __future__ import annotations

from typing import Generic, TypeVar

State = TypeVar("State")


class History(Generic[State]):
    """The state that is, and those that were.

    >>> history = History("start")
    >>> history.do("first move")
    >>> history.undo(), history.state, history.undo()
    (True, 'start', False)
    >>> history.redo(), history.state
    (True, 'first move')
    """

    def __init__(self, begin: State) -> None:
        self._states, self._now = [begin], 0

    def copy(self) -> History[State]:
        """The same states, to go back to whatever is done from here."""
        copied = History(self.state)
        copied._states, copied._now = self._states[:], self._now
        return copied

    @property
    def state(self) -> State:
        """The state that is."""
        return self._states[self._now]

    @property
    def can_undo(self) -> bool:
        """Whether something was done."""
        return self._now > 0

    @property
    def can_redo(self) -> bool:
        """Whether something was taken back, and nothing was done since."""
        return self._now + 1 < len(self._states)

    def do(self, state: State) -> None:
        """Another state; what was taken back is forgotten. One that is the same is no step."""
        if state != self.state:
            self._states[self._now + 1 :] = [state]
            self._now += 1

    def note(self, state: State) -> None:
        """Something to remember about the state that is; no step, so that undo does not forget it alone."""
        self._states[self._now] = state

    def undo(self) -> bool:
        """Go back one state; False at the first."""
        went = self.can_undo
        self._now -= went
        return went

    def redo(self) -> bool:
        """Go on one state; False at the last."""
        went = self.can_redo
        self._now += went
        return went
