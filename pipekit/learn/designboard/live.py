"""A run that goes on, as far as it has come."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from pipekit import plan
from pipekit.errors import Cancelled
from pipekit.learn.experiment import Watch
from pipekit.run import Pipeline
from pipekit.show import Run

BESIDE = ("uncut", "kept")  # phases whose spans are of another schedule


class Live:
    """Its newest step of the designed schedule, how far it is, and the pipeline that can be cancelled.

    Args:
        num_ops: of all its steps. changed: called when there is something new to show; from workers too.
    """

    def __init__(self, num_ops: int, changed: Callable[[], None]) -> None:
        self.phase, self.numbers = "preparing", dict[str, Any]()
        self._total, self._done, self._changed = num_ops, 0, changed
        self._spans: dict[plan.Op, plan.Span] = {}
        self._pipeline: Pipeline | None = None
        self._lock = threading.Lock()

    @property
    def share(self) -> float:
        """How much of it is done, from 0 to 1."""
        return min(1.0, self._done / self._total)

    def timeline(self, num_devices: int) -> plan.Timeline:
        """The newest step of the design, as far as it has come."""
        with self._lock:
            spans = plan.Spans.of(self._spans.values())
        return plan.Timeline(spans, num_devices, source="measured")

    def count_from(self, num_ops: int) -> None:
        """So many of its ops are done: what ran in vain and runs again counts once."""
        with self._lock:
            self._done = num_ops

    def tell(self, phase: str, **numbers: Any) -> None:
        """What it is at now: a key of `show`'s words."""
        self.phase, self.numbers = phase, numbers
        self._changed()

    def watch(self, current: Run[Any]) -> Watch:
        """What an experiment tells; and where it finds out that it shall stop."""

        def phase(key: str, **numbers: Any) -> None:
            if current.stopping:
                raise Cancelled("cancelled")
            self.tell(key, **numbers)

        def span(ended: plan.Span) -> None:
            self._add(ended)
            self._changed()
            if current.stopping:
                self.cancel()

        return Watch(phase, span, self._hold)

    def cancel(self) -> None:
        """Stop between two ops."""
        pipeline = self._pipeline
        if pipeline is not None:
            pipeline.cancel()

    def _hold(self, pipeline: Pipeline | None) -> None:
        self._pipeline = pipeline

    def _add(self, span: plan.Span) -> None:
        """An op has ended; one that had ended already means that the next step has begun."""
        with self._lock:
            self._done += 1
            if self.phase in BESIDE:
                return
            if span.op in self._spans:
                self._spans.clear()
            self._spans[span.op] = span
