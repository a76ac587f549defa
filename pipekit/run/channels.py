"""Channels between workers in one process: an inbox a device.

A transport is this small: `put` from any worker, `wait_for` and `take` in the one that owns it. Nothing else in the
worker's loop knows how values travel.
"""

from __future__ import annotations

from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from pipekit.run.values import Parcel

Gradients = list[Any]  # one tensor or None a leaf of the value they belong to


@dataclass(slots=True)
class Message:
    """The value an op sends: a `Parcel` forward, `Gradients` backward; `code` is the packed op that made it.

    `due` is when it arrives by the carried clock of stand-ins; 0 where the wall clock alone counts. `ready` is what
    a GPU stream waits for.
    """

    code: int
    value: Parcel | Gradients
    due: float = 0.0
    ready: Any = None


class Stopped(Exception):
    """The step is over for this worker: another one failed, or the caller cancelled."""


class Inbox:
    """What one device has received: a queue without timeouts (they are coarse), and what was taken out of it."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Message | None] = SimpleQueue()
        self._arrived: dict[int, Message] = {}
        self.waiting_bytes = 0  # activations received and not yet used

    def put(self, message: Message | None) -> None:
        """Deliver a message; None is the poison that wakes and stops the owner. Any thread may call it."""
        self._queue.put(message)

    def wait_for(self, code: int) -> Message:
        """Block until the op `code` has sent its value; raises `Stopped` on poison."""
        while code not in self._arrived:
            self._accept(self._queue.get())
        return self._arrived[code]

    def take(self, code: int) -> Any:
        """The value of a message that has arrived; it is the caller's from now on."""
        value = self._arrived.pop(code).value
        if isinstance(value, Parcel):
            self.waiting_bytes -= value.nbytes
        return value

    def look(self) -> None:
        """Take in what has arrived meanwhile, without waiting."""
        while not self._queue.empty():
            self._accept(self._queue.get())

    def _accept(self, message: Message | None) -> None:
        if message is None:
            raise Stopped
        self._arrived[message.code] = message
        if isinstance(message.value, Parcel):
            self.waiting_bytes += message.value.nbytes
