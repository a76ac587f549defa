"""An op is one stage working on one micro-batch in one direction: `2F0`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import overload

import numpy as np
import numpy.typing as npt

from pipekit.errors import ScheduleError

Codes = npt.NDArray[np.int64]


class Kind(str, Enum):
    """What an op does with a stage and a micro-batch."""

    FORWARD = "F"
    BACKWARD = "B"  # the full backward: both halves below
    INPUT_GRAD = "I"  # only the gradient that the stage before waits for
    WEIGHT_GRAD = "W"  # only the gradient of the stage's own parameters
    RECOMPUTE = "R"  # the forward again, on the way back

    def __str__(self) -> str:
        return self.value


KINDS: tuple[Kind, ...] = tuple(Kind)
F, B, I, W, R = range(5)  # noqa: E741 -- the field's own letters, as array codes
_CODE_OF_KIND = {kind: code for code, kind in enumerate(KINDS)}
_OP = re.compile(r"([0-9]{1,12})([FBIWR])([0-9]{1,12})")

# One op in one int64: 3 bits kind, 20 bits micro-batch, the rest stage. Eight million frozen objects would cost
# seven seconds and 0.8 GB before any simulation; eight million integers cost 64 MB.
_KIND_BITS = 3
_MICRO_BATCH_BITS = 20
KIND_MASK = (1 << _KIND_BITS) - 1
MAX_MICRO_BATCHES = MAX_STAGES = 1 << _MICRO_BATCH_BITS
NEXT_STAGE = 1 << (_KIND_BITS + _MICRO_BATCH_BITS)  # a packed op plus this: the same op of the stage behind


@dataclass(frozen=True, slots=True, order=True)
class Op:
    """One stage, one micro-batch, one direction; counts from 0.

    >>> Op(Kind.FORWARD, stage=2, micro_batch=0)
    2F0
    >>> Op.parse("1B3").micro_batch
    3
    """

    kind: Kind
    stage: int
    micro_batch: int

    def __str__(self) -> str:
        return f"{self.stage}{self.kind.value}{self.micro_batch}"

    __repr__ = __str__

    @classmethod
    def parse(cls, text: str) -> Op:
        """Read `2F0`; raises `ScheduleError` for anything else."""
        match = _OP.fullmatch(text.strip())
        if match is None:
            raise ScheduleError("op_text", text=text)
        return cls(Kind(match[2]), int(match[1]), int(match[3]))

    @property
    def code(self) -> int:
        """The op packed into one integer; raises `ScheduleError` where it does not fit."""
        if not (0 <= self.stage < MAX_STAGES and 0 <= self.micro_batch < MAX_MICRO_BATCHES):
            raise ScheduleError("op_range", op=self, last=MAX_STAGES - 1)
        return (((self.stage << _MICRO_BATCH_BITS) | self.micro_batch) << _KIND_BITS) | _CODE_OF_KIND[
            self.kind
        ]

    @classmethod
    def from_code(cls, code: int) -> Op:
        """Unpack what `code` packed."""
        kind, stage, micro_batch = code & 7, code >> (_KIND_BITS + _MICRO_BATCH_BITS), code >> _KIND_BITS
        return cls(KINDS[kind], int(stage), int(micro_batch) & (MAX_MICRO_BATCHES - 1))


def pack(kinds: npt.ArrayLike, stages: npt.ArrayLike, micro_batches: npt.ArrayLike) -> Codes:
    """Pack arrays of kind codes (`F`, `B`, `I`, `W`, `R`), stages and micro-batches, broadcast together."""
    kind, stage, micro_batch = (np.asarray(part, dtype=np.int64) for part in (kinds, stages, micro_batches))
    return (((stage << _MICRO_BATCH_BITS) | micro_batch) << _KIND_BITS) | kind


def unpack(codes: Codes) -> tuple[Codes, Codes, Codes]:
    """Packed ops -> arrays of kind codes, stages, micro-batches."""
    return (
        codes & KIND_MASK,
        codes >> (_KIND_BITS + _MICRO_BATCH_BITS),
        (codes >> _KIND_BITS) & (MAX_MICRO_BATCHES - 1),
    )


class Lane(Sequence[Op]):
    """One device's ops in order: a packed integer array that hands out `Op` on access.

    >>> lane = Lane.of("0F0 0F1 0B1 0B0")
    >>> len(lane), lane[-1]
    (4, 0B0)
    """

    __slots__ = ("codes",)

    def __init__(self, codes: Codes) -> None:
        self.codes = np.ascontiguousarray(codes, dtype=np.int64)
        self.codes.flags.writeable = False

    @classmethod
    def of(cls, ops: Lane | Codes | str | Iterable[Op | str]) -> Lane:
        """Make a lane of a lane, packed codes, a text such as `"0F0 0B0"`, or ops."""
        if isinstance(ops, Lane):
            return ops
        if isinstance(ops, np.ndarray):
            return cls(ops.copy())
        parts = ops.split() if isinstance(ops, str) else list(ops)
        codes = [(Op.parse(part) if isinstance(part, str) else part).code for part in parts]
        return cls(np.array(codes, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> Op: ...
    @overload
    def __getitem__(self, index: slice) -> Lane: ...
    def __getitem__(self, index: int | slice) -> Op | Lane:
        if isinstance(index, slice):
            return Lane(self.codes[index])
        return Op.from_code(int(self.codes[index]))

    def __iter__(self) -> Iterator[Op]:
        return map(Op.from_code, self.codes.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lane) and np.array_equal(self.codes, other.codes)

    def __hash__(self) -> int:
        return hash(self.codes.tobytes())

    def __str__(self) -> str:
        return " ".join(map(str, self))

    def __repr__(self) -> str:
        return f"Lane({str(self)!r})"
