"""Ctrl-C and a kernel's interrupt during a step: the step is undone first, then the interrupt goes on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any


class InterruptGuard:
    """While it is open, an interrupt calls `on_interrupt` instead of breaking in between two bytecodes.

    Only the main thread gets interrupts, so elsewhere it does nothing.
    """

    def __init__(self, on_interrupt: Callable[[], None]) -> None:
        self.on_interrupt = on_interrupt
        self.hit = False
        self._before: Any = None

    def __enter__(self) -> InterruptGuard:
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.hit = True
        self.on_interrupt()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def deliver(self) -> None:
        """The step was undone: let the interrupt do now what it would have done (raise KeyboardInterrupt)."""
        if self.hit and self._before is not None:
            self._before(signal.SIGINT, None)

    def deliver_after_return(self) -> None:
        """The interrupt came while gradients were being added: the step counts, the interrupt follows it."""
        if self.hit:
            threading.Timer(0.001, _interrupt_main_thread).start()


def _interrupt_main_thread() -> None:
    if hasattr(signal, "pthread_kill"):  # wakes it even from a long sleep
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)
