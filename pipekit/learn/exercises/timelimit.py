"""Run a learner's code for a limited time, on any thread of any system: a kernel's cell must come back.

A signal would reach the main thread only, and Windows has none; a process would not know functions that a cell defined.
So the code runs in a thread, into which Python itself can throw an exception. What holds Python's lock for minutes
inside one call of C (`10**10**9`) can't be stopped this way, nor by the kernel's own stop button.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
SLICE = 0.05  # seconds between two looks: a join in slices lets Ctrl-C through
GRACE = 2.0  # seconds in which stopped code may end; after that it is left alone


class TimeUp(BaseException):
    """Thrown into code that took too long; no `except Exception` keeps it."""


class Limited(Generic[T]):
    """Work in a thread that is stopped when its time is over.

    `run` returns what the work returned, and raises what it raised, whatever that is.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._outcome: list[T] = []
        self._error: BaseException | None = None
        self._over = False
        self._lock = threading.Lock()
        # A daemon: nobody can end code that swallows every exception, and Python must still be able to end.
        self._thread = threading.Thread(target=self._main, name="pipekit-answer", daemon=True)

    def run(self, seconds: float) -> T:
        """Wait for the work, at most so long.

        Raises:
            TimeUp: it took longer. KeyboardInterrupt: somebody stopped the wait; the work is stopped, too.
        """
        self._thread.start()
        try:
            if not self._ends_within(seconds):
                raise TimeUp
        finally:
            self._stop()
        if self._error is not None:
            raise self._error
        return self._outcome[0]

    @property
    def abandoned(self) -> bool:
        """Whether the work still runs, because it can't be stopped."""
        return self._thread.is_alive()

    def _ends_within(self, seconds: float) -> bool:
        for _ in range(max(1, round(seconds / SLICE))):
            self._thread.join(SLICE)
            if not self._thread.is_alive():
                return True
        return False

    def _stop(self) -> None:
        """Throw until it ends: an answer may catch everything once."""
        for _ in range(round(GRACE / SLICE)):
            with self._lock:
                if self._over or not self._thread.is_alive():
                    return
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self._thread.ident or 0), ctypes.py_object(TimeUp)
                )
            self._thread.join(SLICE)

    def _main(self) -> None:
        try:
            try:
                self._outcome.append(self._work())
            finally:
                self._finish()
        except KeyboardInterrupt:  # nobody's key: threads get none
            self._error = RuntimeError("KeyboardInterrupt")
        except BaseException as error:  # kept for `run`, which raises it where somebody looks
            self._error = error
        self._finish()

    def _finish(self) -> None:
        """From here on nothing is thrown any more; what was thrown just before may still arrive, so it asks again."""
        while not self._over:
            try:
                with self._lock:
                    self._over = True
            except TimeUp:
                continue
