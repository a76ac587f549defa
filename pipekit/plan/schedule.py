"""A schedule says who does what, in which order; it knows no time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pipekit.errors import ScheduleError
from pipekit.plan.ops import KINDS, Codes, Lane, Op, pack, unpack

CHECKPOINTS = ("never", "except_last", "always")
RECOMPUTES = ("late", "early")  # late: R waits for the gradient its B needs; early: only for its own F


@dataclass(frozen=True)
class Schedule:
    """One list of ops a device.

    The checkpoint policy is nothing but which (stage, micro-batch) pairs have an `R`: a forward with a later `R`
    keeps only its input.

    Args:
        lanes: one lane a device, in device order; each a `Lane`, ops, or a text such as `"0F0 0B0"`.
        placement: stage -> device, one int a stage; left out, it is read off the lanes.
        recompute: `"late"` or `"early"`: what an `R` waits for. Both have the same lanes.
        name: what to call it in pictures.

    Raises:
        ScheduleError: unreadable op, no op at all, unknown recompute. (`plan.validate` finds the deeper faults.)

    >>> schedule = Schedule(["0F0 0F1 0B1 0B0", "1F0 1F1 1B1 1B0"])
    >>> schedule.num_devices, schedule.num_stages, schedule.num_micro_batches
    (2, 2, 2)
    >>> print(schedule)
    0F0 0F1 0B1 0B0 | 1F0 1F1 1B1 1B0
    """

    lanes: tuple[Lane, ...]
    placement: tuple[int, ...] = ()
    recompute: str = "late"
    name: str = ""

    def __init__(
        self,
        lanes: Iterable[Lane | Codes | str | Iterable[Op | str]],
        placement: Sequence[int] | None = None,
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
        homes = self._read_placement() if placement is None else tuple(int(device) for device in placement)
        object.__setattr__(self, "placement", homes)

    @classmethod
    def from_text(cls, text: str, placement: Sequence[int] | None = None, name: str = "") -> Schedule:
        """Read what `str(schedule)` wrote: lanes divided by `|`, perhaps after the word `early`.

        >>> Schedule.from_text("early 0F0 0R0 0B0").recompute
        'early'
        """
        words = text.split()
        early = bool(words) and words[0] == "early"
        body = text.strip().removeprefix("early") if early else text
        return cls(body.split("|"), placement, "early" if early else "late", name)

    def __str__(self) -> str:
        return ("early " if self.recompute == "early" else "") + " | ".join(map(str, self.lanes))

    def __repr__(self) -> str:
        what = self.name or "schedule"
        return (
            f"<{what}: {self.num_stages} stages on {self.num_devices} devices, "
            f"{self.num_micro_batches} micro-batches, {self.num_ops} ops>"
        )

    def _read_placement(self) -> tuple[int, ...]:
        homes: dict[int, int] = {}
        for device, lane in enumerate(self.lanes):
            for stage in np.unique(unpack(lane.codes)[1]).tolist():
                homes.setdefault(stage, device)
        for stage in range(len(homes)):
            if stage not in homes:
                raise ScheduleError("missing_op", op=f"{stage}F0")
        return tuple(homes[stage] for stage in range(len(homes)))

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
        """v: the most stages that one device holds."""
        return int(np.bincount(np.asarray(self.placement)).max())

    @cached_property
    def device_of(self) -> npt.NDArray[np.int32]:
        """(5, S, M): which device runs the op of that kind code, stage and micro-batch; -1 where there is none."""
        table = np.full((len(KINDS), self.num_stages, self.num_micro_batches), -1, dtype=np.int32)
        for device, lane in enumerate(self.lanes):
            table[unpack(lane.codes)] = device
        return table

    def has(self, kind: int, stage: int, micro_batch: int) -> bool:
        """Whether a lane runs that op; `kind` is a kind code."""
        return bool(self.device_of[kind, stage, micro_batch] >= 0)

    @cached_property
    def matrix(self) -> Codes:
        """(K, longest lane): the packed ops, filled up with -1."""
        table = np.full((self.num_devices, max(map(len, self.lanes))), -1, dtype=np.int64)
        for device, lane in enumerate(self.lanes):
            table[device, : len(lane)] = lane.codes
        return table


def lane_of(kinds: npt.ArrayLike, stages: npt.ArrayLike, micro_batches: npt.ArrayLike) -> Lane:
    """A lane from arrays of kind codes, stages and micro-batches."""
    return Lane(pack(kinds, stages, micro_batches))
