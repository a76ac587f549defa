"""Worker threads: one a device, as long as the pipeline lives, each with one intra-op thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

import torch

from pipekit.run.cores import one_thread, sharpen_sleep

Work = Callable[[], None]


class Census:
    """The engine's own count of its workers; `threading.Thread` objects lie after a Ctrl-C hits a join."""

    def __init__(self) -> None:
        self._state = threading.Condition()
        self._alive = 0
        self._working = 0

    def change(self, alive: int = 0, working: int = 0) -> None:
        """Called by the workers themselves. Waking those who wait costs the workers time, so `working` doesn't."""
        with self._state:
            self._alive += alive
            self._working += working
            if alive:
                self._state.notify_all()

    def wake(self) -> None:
        """Have those who wait look again."""
        with self._state:
            self._state.notify_all()

    def wait(self, done: Callable[[], bool], seconds: float = float("inf")) -> bool:
        """Wait in steps of 0.1 s until `done`; False if `seconds` went by first."""
        with self._state:
            while not done() and seconds > 0:
                self._state.wait(0.1)
                seconds -= 0.1
        return done()

    @property
    def alive(self) -> int:
        """Workers that exist."""
        return self._alive

    @property
    def working(self) -> int:
        """Workers that run a lane right now."""
        return self._working


CENSUS = Census()
_STARTING = threading.Lock()


class Crew:
    """The workers of one pipeline."""

    def __init__(self, num_workers: int) -> None:
        self._queues: list[SimpleQueue[Work | None]] = [SimpleQueue() for _ in range(num_workers)]
        self._left = [False] * num_workers
        ready = [False] * num_workers
        # Setting the number of threads in a worker also becomes the default of threads started later, so the
        # caller's number is said again once all workers are up.
        with _STARTING:
            threads = torch.get_num_threads()
            try:
                for index, queue in enumerate(self._queues):
                    name = f"pipekit-worker-{index}"
                    arguments = (queue, index, ready, self._left)
                    threading.Thread(target=_live, args=arguments, name=name, daemon=True).start()
                CENSUS.wait(lambda: all(ready))
            except BaseException:  # an interrupt: nobody else knows of these workers yet
                self.dismiss()
                raise
            finally:
                torch.set_num_threads(threads)

    def start(self, works: list[Work]) -> None:
        """Hand each worker its work."""
        for queue, work in zip(self._queues, works, strict=True):
            queue.put(work)

    def dismiss(self) -> None:
        """Ask the workers to leave when they are at rest."""
        for queue in self._queues:
            queue.put(None)

    def gone(self) -> bool:
        """Whether all workers of this crew have left."""
        return all(self._left)


def _live(queue: SimpleQueue[Work | None], index: int, ready: list[bool], left: list[bool]) -> None:
    """A worker's life. It holds nothing of its pipeline between two works, so that one can be collected."""
    one_thread()
    sharpen_sleep()
    ready[index] = True
    CENSUS.change(alive=1)
    try:
        while (work := queue.get()) is not None:
            CENSUS.change(working=1)
            try:
                work()
            finally:
                del work
                CENSUS.change(working=-1)
    finally:
        left[index] = True
        CENSUS.change(alive=-1)


def live_workers() -> int:
    """How many worker threads of all pipelines exist, by the engine's own count."""
    return CENSUS.alive


def working_workers() -> int:
    """How many of them run a lane right now."""
    return CENSUS.working
