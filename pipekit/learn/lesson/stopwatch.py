"""A stopwatch as data: whoever presses it says what the clock reads, and gets the next one."""

from __future__ import annotations

from dataclasses import dataclass

MOST_LAPS = 15  # groups of a class


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """What a stopwatch knows, in seconds of one clock.

    Args:
        before: counted before it was started last.
        since: what the clock read at the last start; None: it stands.
        laps: what had been counted at each press of "lap", at most `MOST_LAPS`, the newest last.
    """

    before: float = 0.0
    since: float | None = None
    laps: tuple[float, ...] = ()

    @property
    def running(self) -> bool:
        """Whether it counts."""
        return self.since is not None

    def elapsed(self, now: float) -> float:
        """What has been counted, in seconds."""
        return self.before + (0.0 if self.since is None else now - self.since)

    def start(self, now: float) -> Stopwatch:
        """Count on from here; one that runs runs on."""
        return self if self.running else Stopwatch(self.before, now, self.laps)

    def stop(self, now: float) -> Stopwatch:
        """Stand; what has been counted stays."""
        return Stopwatch(self.elapsed(now), None, self.laps)

    def lap(self, now: float) -> Stopwatch:
        """Write down what has been counted, and count on."""
        return Stopwatch(self.before, self.since, (*self.laps, self.elapsed(now))[-MOST_LAPS:])


def in_words(seconds: float) -> str:
    """Minutes, seconds and tenths, as a stopwatch shows them: never rounded up.

    >>> in_words(187.49), in_words(59.99), in_words(0)
    ('3:07.4', '0:59.9', '0:00.0')
    """
    tenths = int(10 * seconds + 1e-6)
    return f"{tenths // 600}:{tenths // 10 % 60:02}.{tenths % 10}"
