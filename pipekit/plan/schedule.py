"""A schedule says who does what, in which order; it knows no time."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from pipekit.errors import ScheduleError
from pipekit.plan.ops import KIND_MASK, KINDS, Codes, Lane, Op, pack, unpack

if TYPE_CHECKING:
    from pipekit.plan.waits import Waits

CHECKPOINTS = ("never", "except_last", "always")
RECOMPUTES = ("late", "early")  # late: R waits for the gradient its B needs; early: only for its own F
Home = int | tuple[int, int]  # the device of a stage, or both devices of a stage that is there twice


@dataclass(frozen=True)
class Schedule:
    """One list of ops a device.

    The checkpoint policy is nothing but which (stage, micro-batch) pairs have an `R`: a forward with a later `R`
    keeps only its input.

    Args:
        lanes: one lane a device, in device order; each a `Lane`, ops, or a text such as `"0F0 0B0"`.
        placement: where each stage lives: a device, or two devices in a bidirectional schedule, where each of
            them keeps a copy of the stage's parameters (the first is the original's). All ops of one stage on one
            micro-batch run on one device. Left out, it is read off the lanes: the device of a stage's lowest
            micro-batch comes first.
        recompute: `"late"` or `"early"`: what an `R` waits for. Both have the same lanes.
        name: what to call it in pictures.

    Raises:
        ScheduleError: unreadable op, no op at all, unknown recompute, a stage with three homes or none.
            (`plan.validate` finds the deeper faults.)

    >>> schedule = Schedule(["0F0 0F1 0B1 0B0", "1F0 1F1 1B1 1B0"])
    >>> schedule.num_devices, schedule.num_stages, schedule.num_micro_batches
    (2, 2, 2)
    >>> print(schedule)
    0F0 0F1 0B1 0B0 | 1F0 1F1 1B1 1B0
    >>> Schedule(["0F0 1F1 0B0 1B1", "1F0 0F1 1B0 0B1"]).placement
    ((0, 1), (1, 0))
    """

    lanes: tuple[Lane, ...]
    placement: tuple[Home, ...] = ()
    recompute: str = "late"
    name: str = ""

    def __init__(
        self,
        lanes: Iterable[Lane | Codes | str | Iterable[Op | str]],
        placement: Sequence[int | Sequence[int]] | None = None,
        recompute: str = "late",
        name: str = "",
    ) -> None:
        made = tuple(Lane.of(lane) for lane in lanes)
        if recompute not in RECOMPUTES:
            raise ScheduleError("recompute", asked=recompute, known=", ".join(RECOMPUTES))
        if not any(len(lane) for lane in made):
            raise ScheduleError("empty_schedule", num_devices=len(made))
        object.__setattr__(self, "lanes", made)
        object.__setattr__(self, "recompute", recompute)
        object.__setattr__(self, "name", name)
        given = self._read_placement() if placement is None else placement
        object.__setattr__(self, "placement", tuple(_home(stage, home) for stage, home in enumerate(given)))

    @classmethod
    def from_text(
        cls, text: str, placement: Sequence[int | Sequence[int]] | None = None, name: str = ""
    ) -> Schedule:
        """Read what `str(schedule)` wrote: lanes divided by `|`, perhaps after the word `early`.

        Raises:
            ScheduleError: a word that is no op; names its device (from 0) and its place there (from 1).

        >>> Schedule.from_text("early 0F0 0R0 0B0").recompute
        'early'
        """
        plain = normalize("NFKC", text).strip()  # a Chinese keyboard's wide letters and bars
        early = plain.split()[:1] == ["early"]
        lanes = (plain.removeprefix("early") if early else plain).split("|")
        ops = [
            [_op(device, place, word) for place, word in enumerate(lane.split(), start=1)]
            for device, lane in enumerate(lanes)
        ]
        return cls(ops, placement, "early" if early else "late", name)

    def __str__(self) -> str:
        return ("early " if self.recompute == "early" else "") + " | ".join(map(str, self.lanes))

    def __repr__(self) -> str:
        what = self.name or "schedule"
        return (
            f"<{what}: {self.num_stages} stages on {self.num_devices} devices, "
            f"{self.num_micro_batches} micro-batches, {self.num_ops} ops>"
        )

    def _read_placement(self) -> list[list[int]]:
        """The devices of each stage's ops, in the order of the lowest micro-batch there; at most two of them."""
        found: dict[int, list[tuple[int, int]]] = {}
        for device, lane in enumerate(self.lanes):
            _, in_order, micro_batch = unpack(np.sort(lane.codes))  # by stage, then micro-batch
            stages, first = np.unique(in_order, return_index=True)
            for each, lowest in zip(stages.tolist(), micro_batch[first].tolist(), strict=True):
                found.setdefault(each, []).append((lowest, device))
        for stage in range(len(found)):
            if stage not in found:
                raise ScheduleError("missing_op", op=f"{stage}F0")
        return [[device for _, device in sorted(found[stage])[:2]] for stage in range(len(found))]

    @cached_property
    def homes(self) -> tuple[tuple[int, ...], ...]:
        """The placement in one form: for each stage the one or two devices that keep its parameters.

        >>> Schedule(["0F0 0B0"]).homes
        ((0,),)
        """
        return tuple((home,) if isinstance(home, int) else home for home in self.placement)

    @property
    def num_devices(self) -> int:
        """K: the number of lanes."""
        return len(self.lanes)

    @property
    def num_stages(self) -> int:
        """S: how many pieces the model is cut into."""
        return len(self.placement)

    @cached_property
    def num_micro_batches(self) -> int:
        """M: how many pieces the mini-batch is cut into."""
        return int(max(int(unpack(lane.codes)[2].max()) for lane in self.lanes if len(lane))) + 1

    @property
    def num_ops(self) -> int:
        """How many ops all lanes hold together."""
        return sum(map(len, self.lanes))

    @property
    def stages_per_device(self) -> int:
        """v: the most stages that one device works for; a stage with two homes is half a stage on each."""
        halves = [device for home in self.homes for device in home * (2 // len(home))]
        return int(-(-np.bincount(halves).max() // 2))

    def slots(self, codes: Codes) -> Codes:
        """Where packed ops stand in a flattened (5, S, M) table."""
        kind, stage, micro_batch = unpack(codes)
        return (kind * self.num_stages + stage) * self.num_micro_batches + micro_batch

    @cached_property
    def device_of(self) -> npt.NDArray[np.int32]:
        """(5, S, M): which device runs the op of that kind code, stage and micro-batch; -1 where there is none."""
        table = np.full((len(KINDS), self.num_stages, self.num_micro_batches), -1, dtype=np.int32)
        for device, lane in enumerate(self.lanes):
            table.reshape(-1)[self.slots(lane.codes)] = device
        return table

    @cached_property
    def kinds(self) -> frozenset[int]:
        """The kind codes that occur."""
        return frozenset(
            np.flatnonzero(sum(np.bincount(lane.codes & KIND_MASK, minlength=8) for lane in self.lanes))
        )

    @cached_property
    def waits(self) -> Waits:
        """Who waits for whom, found once; raises `ScheduleError` where the schedule cannot run."""
        from pipekit.plan.waits import find_waits  # it asks the law, which knows schedules: above this file

        return find_waits(self)

    def has(self, kind: int, stage: int, micro_batch: int) -> bool:
        """Whether a lane runs that op; `kind` is a kind code."""
        return bool(self.device_of[kind, stage, micro_batch] >= 0)


def _op(device: int, place: int, word: str) -> Op:
    """The op that a word names, if its numbers fit."""
    try:
        return Op.from_code(Op.parse(word).code)
    except ScheduleError:
        raise ScheduleError("schedule_text", device=device, place=place, asked=shortened(word)) from None


def _home(stage: int, given: Any) -> Home:
    """One device, or two different ones, as ints."""
    devices = (given,) if np.ndim(given) == 0 else given
    try:
        numbers = tuple(dict.fromkeys(operator.index(device) for device in devices))
    except TypeError:
        raise ScheduleError("whole_number", name="placement", asked=given) from None
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    if len(numbers) != 1:
        raise ScheduleError("placement_homes", stage=stage, given=len(numbers))
    return numbers[0]


def lane_of(kinds: npt.ArrayLike, stages: npt.ArrayLike, micro_batches: npt.ArrayLike) -> Lane:
    """A lane from arrays of kind codes, stages and micro-batches."""
    return Lane(pack(kinds, stages, micro_batches))
