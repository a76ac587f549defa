"""Try many settings, one real step each: which points there are, measuring them one by one, a table of what came.

Lists are read from what a learner types, and their cross product is cut down to what can be run. No widget, no picture.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pipekit import plan
from pipekit.errors import Cancelled, FileError, PipekitError, PlacementError, SweepError
from pipekit.learn.experiment import Experiment, Outcome, Settings, Watch
from pipekit.plan.schedules import count

E = TypeVar("E", bound=BaseException)

MOST_POINTS = 500  # of one sweep
LOOK_EVERY = 0.05  # seconds between two looks at whether a paused sweep goes on
BETWEEN = 0.3  # seconds between two points, roughly: the uncut model's gradients, and a picture

_SIGNS = str.maketrans({"、": ",", ";": ",", "。": ",", "–": "-", "—": "-", "~": "-", "至": "-", "到": "-"})
_ENTRY = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def numbers(text: str, name: str) -> list[int]:
    """The whole numbers of a typed list, smallest first, each once; full-width signs are as good as any.

    Args:
        name: `"num_stages"` or `"num_micro_batches"`.

    Raises:
        SweepError: an entry can't be read, or there are too many. ScheduleError: a number that can't be.

    >>> numbers("8, 1-3", "num_stages"), numbers("４、１～２", "num_stages")
    ([1, 2, 3, 8], [1, 2, 4])
    """
    letter = "K" if name == "num_stages" else "M"
    plain = unicodedata.normalize("NFKC", text).translate(_SIGNS)
    entries = re.sub(r"\s*-\s*", "-", plain).replace(",", " ").split()
    found: set[int] = set()
    for entry in entries:
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise SweepError("sweep_list", name=letter, asked=entry)
        low, high = sorted(count(name, int(end)) for end in (match[1], match[2] or match[1]))
        if high - low >= MOST_POINTS:
            raise SweepError("sweep_range", name=letter, asked=high - low + 1, most=MOST_POINTS)
        found.update(range(low, high + 1))
    return sorted(found)


def cross(
    stages: Sequence[int],
    micro_batches: Sequence[int],
    policies: Sequence[str],
    schedules: Sequence[str],
    overhead_ms: float = 0.0,
    latency_ms: float = 0.0,
) -> list[Settings]:
    """Every combination, each once, those with the same K together.

    Raises:
        SweepError: an empty list, or more than `MOST_POINTS` combinations.
    """
    lengths = [len(stages), len(micro_batches), len(policies), len(schedules)]
    if not all(lengths):
        names = ("num_stages", "num_micro_batches", "num_policies", "num_schedules")
        raise SweepError("sweep_nothing", **dict(zip(names, lengths, strict=True)))
    total = lengths[0] * lengths[1] * lengths[2] * lengths[3]
    if total > MOST_POINTS:
        raise SweepError("sweep_points", asked=total, most=MOST_POINTS)
    combinations = itertools.product(stages, schedules, policies, micro_batches)
    points = (
        Settings(k, m, policy, schedule, overhead_ms=overhead_ms, latency_ms=latency_ms).key()
        for k, schedule, policy, m in combinations
    )
    return list(dict.fromkeys(points))


@dataclass(frozen=True)
class Choice:
    """What a sweep would run.

    Args:
        points: settings -> predicted seconds of their step.
        skipped: settings that can't be run, and why.
    """

    points: Mapping[Settings, float]
    skipped: Mapping[Settings, PipekitError]

    def only(self, wanted: Callable[[Settings], bool]) -> Choice:
        """The same with the wanted points alone."""
        return replace(self, points={each: time_ for each, time_ in self.points.items() if wanted(each)})

    @property
    def seconds(self) -> float:
        """How long they will take, with one step for each K to warm up."""
        warm_ups: dict[int, float] = {}
        for each, step in self.points.items():
            warm_ups[each.num_stages] = min(step, warm_ups.get(each.num_stages, step))
        return sum(self.points.values()) + sum(warm_ups.values()) + BETWEEN * len(self.points)


def choose(experiment: Experiment, points: Iterable[Settings]) -> Choice:
    """Sort out what can't be run on this experiment's model and mini-batch: more stages than layers, say."""
    possible: dict[Settings, float] = {}
    skipped: dict[Settings, PipekitError] = {}
    for each in points:
        try:
            possible[each] = experiment.predict(each).timeline.makespan
        except PipekitError as error:
            skipped[each] = bare(error)
    return Choice(possible, skipped)


def bare(error: E) -> E:
    """An error to keep: without the frames, and so the tensors, that it came through."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


@dataclass(frozen=True, slots=True)
class Row:
    """One point that was run. Times are in seconds, bubbles are fractions; None: not known, it failed.

    Args:
        source, devices: the measured timeline's words on what it is.
        difference: contract 19's relative difference between its gradients and the uncut model's.
        peak_bytes: kept activations of the fullest device.
        error: why there is no measurement.
    """

    settings: Settings
    source: str = ""
    devices: str = ""
    bubble: float | None = None
    bubble_predicted: float | None = None
    bubble_formula: float | None = None
    step: float | None = None
    step_predicted: float | None = None
    difference: float | None = None
    overruns: int | None = None
    peak_bytes: int | None = None
    error: BaseException | None = None

    @classmethod
    def of(cls, outcome: Outcome) -> Row:
        """What an outcome measured, without its tensors."""
        timeline, predicted = outcome.timeline, outcome.prediction
        return cls(
            settings=outcome.key,
            source=timeline.source,
            devices=timeline.devices,
            bubble=outcome.bubble,
            bubble_predicted=plan.bubble_fraction(predicted.timeline),
            bubble_formula=predicted.formula,
            step=timeline.makespan,
            step_predicted=predicted.timeline.makespan,
            difference=outcome.difference,
            overruns=outcome.result.overruns,
            peak_bytes=max(outcome.result.memory.peak_activation_bytes),
        )

    @property
    def status(self) -> str:
        """`"measured"`; `"overrun"`: ran, but an op took longer than declared, twice; `"shared"`; `"failed"`."""
        if self.error is not None:
            return "failed"
        if self.source != "measured":
            return self.source
        return "overrun" if self.overruns else "measured"

    def record(self) -> dict[str, Any]:
        """The table's columns: plain numbers and words; seconds, milliseconds, bytes and fractions by name."""
        settings = self.settings
        return {
            "schedule": settings.schedule,
            "num_stages": settings.num_stages,
            "num_micro_batches": settings.num_micro_batches,
            "checkpoint": settings.checkpoint,
            "overhead_ms": settings.overhead_ms,
            "latency_ms": settings.latency_ms,
            "status": self.status,
            "bubble_measured": self.bubble,
            "bubble_predicted": self.bubble_predicted,
            "bubble_formula": self.bubble_formula,
            "step_seconds_measured": self.step,
            "step_seconds_predicted": self.step_predicted,
            "gradient_difference": self.difference,
            "overruns": self.overruns,
            "peak_activation_bytes": self.peak_bytes,
            "devices": self.devices,
            "error": "" if self.error is None else f"{type(self.error).__name__}: {self.error}",
        }


class Sweep:
    """Points on their way to being rows. `run` works in the caller's thread; the others may call from any.

    Args:
        points: settings -> predicted seconds, from `Choice.points`.
    """

    def __init__(self, experiment: Experiment, points: Mapping[Settings, float]) -> None:
        self.experiment = experiment
        self.pending = dict(points)
        self._going = threading.Event()
        self._going.set()

    @property
    def paused(self) -> bool:
        """Whether it rests, or will when the point that runs is done."""
        return not self._going.is_set()

    def pause(self) -> None:
        """Rest after the point that runs; its devices are free meanwhile."""
        self._going.clear()

    def resume(self) -> None:
        """Go on."""
        self._going.set()

    def run(self, watch: Watch, keep: Callable[[Row], None]) -> None:
        """Measure every pending point, and hand each to `keep` as it comes; one that fails becomes a row too.

        `watch.phase` is called with "sweep_warming", "sweep_point", "sweep_paused" or "sweep_waiting" (somebody else
        trains this model) and `stages`, `pieces` of the point that runs.

        Raises:
            Cancelled: by the watch or its pipeline; what was kept stays kept.
        """
        while self.pending:
            if self.paused:
                watch.phase("sweep_paused")
                self._going.wait(LOOK_EVERY)
                continue
            with closing(self._rows(watch)) as rows:
                for row in rows:
                    del self.pending[row.settings]
                    keep(row)
                    if self.paused:
                        break

    def _rows(self, watch: Watch) -> Generator[Row, None, None]:
        """Rows of one K, on one pipeline; a failure is the last: the pipeline may be broken."""
        first = next(iter(self.pending))
        group = [each for each in self.pending if each.num_stages == first.num_stages]
        current = min(group, key=self.pending.__getitem__)  # the quickest warms up
        try:
            with self.experiment.bench(current, watch) as measure:
                _tell(watch, "sweep_warming", current)
                measure(current)
                for current in group:
                    _tell(watch, "sweep_point", current)
                    yield Row.of(measure(current))
        except Cancelled:
            raise
        except Exception as error:  # a learner's model may raise anything, and other points may still work
            if isinstance(error, PlacementError) and error.key == "busy_model":
                watch.phase("sweep_waiting")
                time.sleep(LOOK_EVERY)
                return
            yield Row(current, error=bare(error))


def _tell(watch: Watch, key: str, settings: Settings) -> None:
    watch.phase(key, stages=settings.num_stages, pieces=settings.num_micro_batches)


def csv_bytes(rows: Sequence[Row]) -> bytes:
    """The table as Excel opens it: UTF-8 with its mark in front, English column names, numbers in full.

    Raises:
        SweepError: there is no row.
    """
    if not rows:
        raise SweepError("sweep_empty", found=0)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0].record()))
    writer.writeheader()
    writer.writerows(row.record() for row in rows)
    return text.getvalue().encode("utf-8-sig")


def save_beside(folder: Path, name: str, data: bytes) -> Path:
    """Write `data` under a name that is still free: `sweep.csv`, `sweep-2.csv` and so on; the path that it got.

    Raises:
        FileError: the system refuses; no half file is left.
    """
    stem, suffix = Path(name).stem, Path(name).suffix
    made: Path | None = None
    for number in itertools.count(1):
        path = folder / (name if number == 1 else f"{stem}-{number}{suffix}")
        try:
            with path.open("xb") as file:
                made = path
                file.write(data)
            break
        except FileExistsError:
            continue
        except OSError as error:
            if made is not None:
                made.unlink(missing_ok=True)
            raise FileError("file_refused", path=path, cause=error.strerror or error) from error
    return path
