"""Each schedule at its best v, M and checkpoint policy under one cap of memory: a small exhaustive search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from pipekit import plan
from pipekit.errors import PipekitError
from pipekit.learn.comparison.cases import Case
from pipekit.learn.comparison.catalogue import KNOWN, Variant
from pipekit.learn.comparison.rows import Row, predict
from pipekit.learn.sweeping import bare

CHUNKS = (2, 3, 4)  # v: with one stage a device there's nothing to interleave
TIMES = (0.25, 0.5, 1, 2, 4)  # of the case's M
EXACT = 1e-9  # what floats may add to a sum of shares


@dataclass(frozen=True)
class Search:
    """What was found, and what was tried.

    Args:
        rows: the best of each schedule, in the order asked; one that never fits carries no prediction.
        over: combinations over the cap. refused: combinations that can't be built.
        least: schedule -> the least memory it was seen to need.
    """

    case: Case
    cap: float
    rows: tuple[Row, ...]
    tried: int
    over: int
    refused: int
    chunks: tuple[int, ...]
    pieces: tuple[int, ...]
    policies: tuple[str, ...]
    least: dict[str, float] = field(default_factory=dict)


def pieces(case: Case) -> tuple[int, ...]:
    """The M that are tried: the case's, and halves and doubles of it as far as they are whole.

    >>> pieces(Case(num_micro_batches=6))
    (3, 6, 12, 24)
    """
    return tuple(
        int(case.num_micro_batches * times) for times in TIMES if not case.num_micro_batches * times % 1
    )


def candidates(case: Case, name: str) -> Iterator[tuple[Variant, int]]:
    """Every combination of v, policy and M that one schedule can choose from."""
    known = KNOWN[name]
    for chunks in CHUNKS if known.chunks else (1,):
        for policy in plan.CHECKPOINTS if known.policies else ("never",):
            for count in (1,) if name == "naive" else pieces(case):
                yield Variant.of(name, chunks, policy), count


def best_under(
    case: Case, names: Sequence[str], cap: float, step: Callable[[int, int], None] = lambda done, total: None
) -> Search:
    """Try all combinations; the fastest within the cap wins, then the one that keeps least, then the fewest pieces.

    Args:
        cap: what a device may keep at once, in the shares of `Case.peak`; parameters aren't in it.
        step: called after each combination with how many are done, of how many; an exception out of it ends the
            search.
    """
    asked = [(name, *each) for name in names for each in candidates(case, name)]
    best: dict[str, tuple[tuple[float, float, int], Row]] = {}
    least: dict[str, float] = {}
    errors: dict[str, PipekitError] = {}
    over = refused = 0
    for done, (name, variant, count) in enumerate(asked, start=1):
        try:
            schedule = variant.build(case.num_devices, count)
            peak = case.peak(schedule)
            least[name] = min(peak, least.get(name, peak))
            if peak > cap + EXACT:
                over += 1
            else:
                found = predict(case, variant, schedule)
                rank = (round(found.figures.makespan, 9), round(peak, 9), count)
                if name not in best or rank < best[name][0]:
                    best[name] = rank, Row(variant, schedule.num_micro_batches, found)
        except PipekitError as error:
            refused += 1
            errors[name] = bare(error)
        step(done, len(asked))
    rows = [
        best[name][1]
        if name in best
        else Row(Variant.of(name), case.num_micro_batches, error=errors.get(name))
        for name in names
    ]
    return Search(
        case, cap, tuple(rows), len(asked), over, refused,
        CHUNKS if any(KNOWN[name].chunks for name in names) else (),
        pieces(case), plan.CHECKPOINTS if any(KNOWN[name].policies for name in names) else (), least,
    )  # fmt: skip
