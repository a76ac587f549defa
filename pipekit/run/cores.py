"""What this machine can really do at once: usable cores, free memory, and how finely it can sleep."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch

CGROUP = Path("/sys/fs/cgroup")
SHARED_SLOWDOWN = 1.10  # K threads together may be this much slower than one alone
_PR_SET_TIMERSLACK = 29  # <linux/prctl.h>


class CoreLimits(NamedTuple):
    """What limits the cores of this process: how many there are, how many it may run on, a cgroup's quota."""

    present: int
    affinity: int
    quota: float  # infinite without one

    @property
    def usable(self) -> float:
        """The least of the three; may be below 1."""
        return min(float(self.present), float(self.affinity), self.quota)


def core_limits(cgroup: Path = CGROUP) -> CoreLimits:
    """Look at affinity, cgroup v1 or v2 quota and count."""
    present = os.cpu_count() or 1
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else present
    return CoreLimits(present, affinity, _quota(cgroup))


def usable_cores(cgroup: Path = CGROUP) -> float:
    """Cores this process may use: the least of affinity, cgroup v1 or v2 quota and count; may be below 1."""
    return core_limits(cgroup).usable


def _quota(cgroup: Path) -> float:
    """Cores by cgroup quota; infinite without one."""
    try:
        limit, period = (cgroup / "cpu.max").read_text(encoding="ascii").split()[:2]
        return float("inf") if limit == "max" else int(limit) / int(period)
    except (OSError, ValueError):
        pass
    try:
        quota = int((cgroup / "cpu" / "cpu.cfs_quota_us").read_text(encoding="ascii"))
        period_us = int((cgroup / "cpu" / "cpu.cfs_period_us").read_text(encoding="ascii"))
        return float("inf") if quota <= 0 else quota / period_us
    except (OSError, ValueError):
        return float("inf")


def available_memory() -> int | None:
    """Bytes a process can still get without swapping, or None where the system doesn't say."""
    found = []
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found.append(int(line.split()[1]) * 1024)
        limit = (CGROUP / "memory.max").read_text(encoding="ascii").strip()
        if limit != "max":
            found.append(int(limit) - int((CGROUP / "memory.current").read_text(encoding="ascii")))
    except (OSError, ValueError):
        pass
    return min(found) if found else None


def sharpen_sleep() -> None:
    """Ask Linux to wake this thread on time: halves the overshoot of `time.sleep`. Nothing elsewhere."""
    if sys.platform.startswith("linux"):
        try:
            ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
        except (OSError, AttributeError):  # a libc without prctl: sleeps stay as they are
            return


def one_thread() -> None:
    """Let torch compute with one thread in this Python thread."""
    torch.get_num_threads()  # or torch would read the process's default at the first op, and forget the 1
    torch.set_num_threads(1)


def sleep_grain(clock: Callable[[], float], sleep: Callable[[float], None]) -> float:
    """By how much a sleep of 1 ms overshoots here, in seconds, by the clock given.

    The second best of 7: a machine that is busy for a moment is no machine with a coarse clock.
    """
    overshoots = []
    for _ in range(7):
        begin = clock()
        sleep(0.001)
        overshoots.append(max(0.0, clock() - begin - 0.001))
    return sorted(overshoots)[1]


def slowdown_together(num_workers: int, seconds: float = 0.3) -> tuple[float, float]:
    """How fast one thread works alone, and how fast each of `num_workers` does when all work together.

    Returns:
        Seconds of one piece of work: (alone, together). The best of up to three tries of `seconds` each.
    """
    best = (1.0, float("inf"))
    for _ in range(3):
        alone = _piece_time(1, seconds / 3)
        together = _piece_time(num_workers, seconds * 2 / 3)
        if together / alone < best[1] / best[0]:
            best = (alone, together)
        if best[1] < best[0] * SHARED_SLOWDOWN:
            break
    return best


def _piece_time(num_workers: int, seconds: float) -> float:
    """Mean seconds of a small matrix product while `num_workers` threads do nothing else."""
    counts = [0] * num_workers
    go, stop = threading.Barrier(num_workers + 1), threading.Event()

    def work(index: int) -> None:
        matrix = torch.rand(192, 192)
        go.wait()
        while not stop.is_set():
            torch.mm(matrix, matrix)
            counts[index] += 1

    threads_before = torch.get_num_threads()

    def one_threaded(index: int) -> None:
        one_thread()
        work(index)

    workers = [
        threading.Thread(target=one_threaded, args=(index,), daemon=True) for index in range(num_workers)
    ]
    for worker in workers:
        worker.start()
    go.wait()
    begin = time.perf_counter()
    time.sleep(seconds)
    stop.set()
    elapsed = time.perf_counter() - begin
    for worker in workers:
        worker.join()
    torch.set_num_threads(threads_before)
    return elapsed / max(1.0, sum(counts) / num_workers)
