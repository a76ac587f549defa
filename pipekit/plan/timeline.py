"""A timeline says when each op ran, on which device, and whether that was predicted or measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from pipekit.plan.ops import KIND_MASK, KINDS, Codes, Kind, Op, unpack

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Span:
    """One op's time: `start` and `end` in seconds (or ticks) on `device`."""

    op: Op
    device: int
    start: float
    end: float

    @property
    def duration(self) -> float:
        """How long it took."""
        return self.end - self.start

    def __str__(self) -> str:
        return f"{self.op} on device {self.device}: {self.start:g} to {self.end:g}"


class Spans(Sequence[Span]):
    """Spans as four packed arrays, device by device in lane order; hands out `Span` on access."""

    __slots__ = ("codes", "devices", "ends", "starts")

    def __init__(self, codes: Codes, devices: npt.NDArray[Any], starts: Floats, ends: Floats) -> None:
        self.codes, self.devices, self.starts, self.ends = codes, devices, starts, ends

    @classmethod
    def of(cls, spans: Iterable[Span]) -> Spans:
        """Pack spans; they are put in order of device, then start."""
        rows = sorted(spans, key=lambda span: (span.device, span.start, span.end))
        return cls(
            np.array([span.op.code for span in rows], dtype=np.int64),
            np.array([span.device for span in rows], dtype=np.int64),
            np.array([span.start for span in rows], dtype=float),
            np.array([span.end for span in rows], dtype=float),
        )

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> Span: ...
    @overload
    def __getitem__(self, index: slice) -> Spans: ...
    def __getitem__(self, index: int | slice) -> Span | Spans:
        if isinstance(index, slice):
            return self.where(index)
        op = Op.from_code(int(self.codes[index]))
        return Span(op, int(self.devices[index]), float(self.starts[index]), float(self.ends[index]))

    def __iter__(self) -> Iterator[Span]:
        rows = zip(
            self.codes.tolist(), self.devices.tolist(), self.starts.tolist(), self.ends.tolist(), strict=True
        )
        return (Span(Op.from_code(code), device, start, end) for code, device, start, end in rows)

    def where(self, chosen: Any) -> Spans:
        """Those spans that a mask, an index array or a slice chooses."""
        return Spans(self.codes[chosen], self.devices[chosen], self.starts[chosen], self.ends[chosen])

    @property
    def durations(self) -> Floats:
        """(n,) how long each took."""
        return self.ends - self.starts

    @property
    def kinds(self) -> Codes:
        """(n,) kind codes."""
        return self.codes & KIND_MASK


@dataclass(frozen=True, eq=False)
class Timeline:
    """When each op ran.

    Args:
        spans: `Spans`, or any `Span`s.
        num_devices: K; a device without a span counts as idle.
        source: `"predicted"`, `"measured"`, or `"shared"` (it ran, but on shared cores: no bubble measurement).
        devices: on what, in words: "4 stand-ins, 25 ms a tick". No picture may lose this line.
        memory: what `run` counted, or None.
        unit: what 1.0 is: "s" or "tick".

    `print(timeline)` draws it as text.
    """

    spans: Spans
    num_devices: int
    source: str = "predicted"
    devices: str = ""
    memory: Any = None
    unit: str = "s"

    def __post_init__(self) -> None:
        if not isinstance(self.spans, Spans):
            object.__setattr__(self, "spans", Spans.of(self.spans))

    @property
    def start(self) -> float:
        """When the first op started."""
        return float(self.spans.starts.min()) if len(self.spans) else 0.0

    @property
    def end(self) -> float:
        """When the last op ended."""
        return float(self.spans.ends.max()) if len(self.spans) else 0.0

    @property
    def makespan(self) -> float:
        """From the first span's start to the last span's end; the optimizer is outside."""
        return self.end - self.start

    @property
    def num_stages(self) -> int:
        """S, as far as the spans show it."""
        return int(unpack(self.spans.codes)[1].max()) + 1 if len(self.spans) else 0

    @property
    def num_micro_batches(self) -> int:
        """M, as far as the spans show it."""
        return int(unpack(self.spans.codes)[2].max()) + 1 if len(self.spans) else 0

    def only(self, *kinds: Kind | str) -> Timeline:
        """The same run with only ops of these kinds in view, such as `timeline.only("F")` for a class."""
        codes = [KINDS.index(Kind(kind)) for kind in kinds]
        return replace(self, spans=self.spans.where(np.isin(self.spans.kinds, codes)))

    def __str__(self) -> str:
        from pipekit.plan.picture import picture  # picture draws timelines, so it stands above this file

        return picture(self)
