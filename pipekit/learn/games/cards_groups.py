"""The groups' stopwatch times: read, fitted, and what is left over said of each group.

What can be told from C's first card and the end, in each of the three ways, is how long a card takes the last person,
how long it takes the others on average (which of them is the slower one leaves no trace in these times), and how long
a hand-over takes. These three are fitted for each group alone, by the smallest sum of deviations: a mistaken time of way
2 then stays whole in its own deviation, where least squares would spread it over all. (The times of way 1 carry the
speeds, the end of way 3 the hand-over: mistakes there can hide in them.) Only where three explain nothing, a fourth is
tried: that one of the others is the slowest of all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from pipekit.learn.games.cards import WAYS, finish
from pipekit.learn.games.refused import Refused

GROUPS = 15  # most
LONGEST = 3600  # seconds
LEAST = 3  # times that a fit needs: it has three unknowns
NOTICED = 3.0  # seconds off that are said; a thumb on a stopwatch is off by less
EXPLAINED = 1.0  # seconds off that a thumb is
Clock = tuple[str, int]  # ("first" | "done", pieces): which of the six times
CLOCKS: tuple[Clock, ...] = tuple((what, pieces) for pieces in WAYS for what in ("first", "done"))
Floats = npt.NDArray[np.float64]
_MINUTES = re.compile(r"(\d{1,2}):([0-5]\d(?:\.\d+)?)")
_SECONDS = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)")


@dataclass(frozen=True, slots=True)
class Fit:
    """A group's own speeds and hand-over; and each time less what these say.

    speeds: seconds a card, one a person. The first ones are alike: their mean; unless `apart`: then one of them (it
        stands first, but these times don't tell which it is) is slower than all others.
    """

    speeds: tuple[float, ...]
    handover: float
    residuals: Mapping[Clock, float]
    apart: bool

    @property
    def worst(self) -> Clock:
        """The time that is furthest off."""
        return max(self.residuals, key=lambda clock: abs(self.residuals[clock]))


@dataclass(frozen=True)
class _Model:
    """What times say as long as one person stays the slowest: sums of a few unknowns, read off `finish`.

    matrix: (6, n). speeds: (K, n), unknowns -> speeds. at_least_0: (m, n), what holds where the model does.
    """

    matrix: Floats
    speeds: Floats
    at_least_0: Floats


def seconds(text: str) -> float:
    """A stopwatch time as typed: `84`, `84.5`, `1:24`, also with wide digits or a decimal comma.

    Raises:
        Refused: it's no time, or not between 0 and an hour.
    """
    plain = normalize("NFKC", text).strip().replace(",", ".").rstrip("sS秒").strip()
    minutes = _MINUTES.fullmatch(plain)
    if not minutes and not _SECONDS.fullmatch(plain):
        raise Refused("times_number", asked=text.strip()[:12] or "-")
    value = 60 * int(minutes[1]) + float(minutes[2]) if minutes else float(plain)
    if not 0 < value <= LONGEST:
        raise Refused("times_range", asked=f"{value:g}", most=LONGEST)
    return value


def check(times: Mapping[Clock, float]) -> None:
    """Refuse times that can't be: all done before the last person has the first card."""
    for pieces in WAYS:
        first, done = times.get(("first", pieces)), times.get(("done", pieces))
        if first is not None and done is not None and done <= first:
            way = WAYS.index(pieces) + 1
            raise Refused("times_order", way=way, first=f"{first:g}", done=f"{done:g}")


def fit(times: Mapping[Clock, float], num_people: int = 3) -> Fit:
    """A group's speeds and hand-over from its times; some may be missing.

    One of the first people is called slower than the rest only if that explains all times, and nothing else does.

    Raises:
        Refused: fewer than three times, or times that several sets of speeds explain.
    """
    if len(times) < LEAST:
        raise Refused("times_few", found=len(times), least=LEAST)
    found = _best(times, [_last_slowest(num_people), _others_slowest(num_people)])
    if found is None:
        raise Refused("times_alike")
    if abs(found.residuals[found.worst]) >= NOTICED and num_people > 2:
        apart = _best(times, [_one_slowest(num_people)])
        if apart is not None and abs(apart.residuals[apart.worst]) <= EXPLAINED:
            return replace(apart, apart=True)
    return found


def _best(times: Mapping[Clock, float], models: Sequence[_Model]) -> Fit | None:
    """The fit with the smallest sum of deviations; None where the times leave an unknown open."""
    clocks = [clock for clock in CLOCKS if clock in times]
    rows = [CLOCKS.index(clock) for clock in clocks]
    measured = np.array([times[clock] for clock in clocks])
    best, smallest = None, np.inf
    for model in models:
        matrix = model.matrix[rows]
        if np.linalg.matrix_rank(matrix) < matrix.shape[1]:
            return None
        for unknowns in _corners(matrix, measured, model.at_least_0):
            left = measured - matrix @ unknowns
            if (off := float(np.abs(left).sum())) < smallest - 1e-9:
                speeds = tuple((model.speeds @ unknowns).tolist())
                residuals = dict(zip(clocks, left.tolist(), strict=True))
                best, smallest = Fit(speeds, float(unknowns[-1]), residuals, apart=False), off
    return best


def _corners(matrix: Floats, measured: Floats, at_least_0: Floats) -> Iterator[Floats]:
    """Where the smallest sum of deviations can lie: there as many rows hold exactly as there are unknowns.

    A row is a time that is met, or a border of what can be.
    """
    rows = np.concatenate([matrix, at_least_0])
    values = np.concatenate([measured, np.zeros(len(at_least_0))])
    for chosen in map(list, combinations(range(len(rows)), matrix.shape[1])):
        if abs(np.linalg.det(rows[chosen])) > 1e-9:
            found = np.linalg.solve(rows[chosen], values[chosen])
            if (at_least_0 @ found).min() >= -1e-9:
                yield np.maximum(found, 0.0)


@lru_cache(maxsize=8)
def _last_slowest(num_people: int) -> _Model:
    """Unknowns: each of the others, the last, the hand-over."""
    speeds = np.array([[1.0, 0, 0]] * (num_people - 1) + [[0, 1.0, 0]])
    return _model(speeds, [[0, 1, 0], [1, 1, 0]], [[-1, 1, 0], [1, 0, 0], [0, 0, 1]])


@lru_cache(maxsize=8)
def _others_slowest(num_people: int) -> _Model:
    """The same unknowns."""
    speeds = np.array([[1.0, 0, 0]] * (num_people - 1) + [[0, 1.0, 0]])
    return _model(speeds, [[1, 0, 0], [1, 1, 0]], [[1, -1, 0], [0, 1, 0], [0, 0, 1]])


@lru_cache(maxsize=8)
def _one_slowest(num_people: int) -> _Model:
    """Unknowns: one of the others, each of the rest, the last, the hand-over."""
    speeds = np.array([[1.0, 0, 0, 0]] + [[0, 1.0, 0, 0]] * (num_people - 2) + [[0, 0, 1.0, 0]])
    borders = [[1, -1, 0, 0], [1, 0, -1, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    return _model(speeds, [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]], borders)


def _model(
    speeds: Floats, probes: Sequence[Sequence[float]], at_least_0: Sequence[Sequence[float]]
) -> _Model:
    """Times grow evenly while the slowest stays the slowest, so probes of `finish` there, one an unknown, say all."""
    handed = [*probes[-1][:-1], 1]
    unknowns = np.array([*probes, handed], dtype=float)
    times = np.stack([_times((speeds @ each).tolist(), each[-1]) for each in unknowns], axis=1)
    return _Model(times @ np.linalg.inv(unknowns.T), speeds, np.array(at_least_0, dtype=float))


def _times(speeds: Sequence[float], handover: float = 0.0) -> Floats:
    """(6,): the times of `CLOCKS`."""
    return np.array([getattr(finish(speeds, pieces, handover), what) for what, pieces in CLOCKS])
