"""Why is a device idle at a moment? Asked of any timeline; the answer names what it waits for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pipekit import plan
from pipekit.plan.ops import unpack
from pipekit.show import number, say


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a device is idle.

    Args:
        kind: "fill" (nothing has come yet) or "waits" (for `op`, on `device`), "link" (`op` is done, its message on
            the way), "late" (all is there, the computer was late to start `op`), "done" (nothing is left to do),
            "before" and "after" (the step).
        op: what it waits for; with "late" its own next one.
        device: where `op` runs.
        begun: whether `op` is being worked on; else it's in a queue there.
        num_micro_batches: M.
        forward_only: whether only forwards are in view.
    """

    kind: str
    op: plan.Op | None = None
    device: int = -1
    begun: bool = False
    num_micro_batches: int = 0
    forward_only: bool = False


def why(
    schedule: plan.Schedule, timeline: plan.Timeline, device: int, time: float, latency: float = 0.0
) -> Reason | None:
    """Why `device` is idle at `time`; None where it's busy.

    Args:
        timeline: of `schedule`, predicted or measured, whole or `only("F")`.
        time: by the timeline's own clock, in its unit. latency: of each hop, in the same unit.
    """
    return _Asked(schedule, timeline, latency).why(device, time)


def at_slot(
    schedule: plan.Schedule,
    timeline: plan.Timeline,
    device: int,
    slot_index: int,
    slot: float,
    origin: float = 0.0,
    latency: float = 0.0,
) -> Reason | None:
    """Why `device` is idle in the middle of a slot of the axis (counted from 0).

    Args:
        slot: seconds a slot. origin: where slot 0 begins, in seconds after the timeline's start.
    """
    return why(schedule, timeline, device, timeline.start + origin + (slot_index + 0.5) * slot, latency)


def rows(
    schedule: plan.Schedule,
    timeline: plan.Timeline,
    num_slots: int,
    slot: float,
    origin: float = 0.0,
    latency: float = 0.0,
) -> list[list[Reason | None]]:
    """`at_slot` of every device (outer) and slot (inner), for a whole picture at once."""
    asked = _Asked(schedule, timeline, latency)
    times = [timeline.start + origin + (index + 0.5) * slot for index in range(num_slots)]
    return [[asked.why(device, time) for time in times] for device in range(schedule.num_devices)]


def words(reason: Reason, lang: str, view: str = "class") -> str:
    """The reason in a few words: plain ones for a class, with the op's code for an engineer."""
    if reason.kind == "done" and reason.forward_only:
        return say("idle_done_forward", lang, view)
    if reason.op is None:
        return say(f"idle_{reason.kind}", lang, view)
    key = "idle_queued" if reason.kind == "waits" and not reason.begun else f"idle_{reason.kind}"
    device = say("device", lang, view, number=number(reason.device, view))
    return say(key, lang, view, device=device, what=_what(reason.op, reason, lang, view))


@dataclass(frozen=True)
class _Asked:
    """A schedule, its timeline, and the latency of a hop."""

    schedule: plan.Schedule
    timeline: plan.Timeline
    latency: float

    @cached_property
    def spans(self) -> dict[plan.Op, plan.Span]:
        return {span.op: span for span in self.timeline.spans}

    @cached_property
    def period(self) -> tuple[float, float]:
        """When the step starts and ends."""
        return self.timeline.start, self.timeline.end

    @cached_property
    def kinds(self) -> set[plan.Kind]:
        """What is in view: with only forwards in it, nothing else is waited for."""
        return {op.kind for op in self.spans}

    @cached_property
    def lanes(self) -> list[list[plan.Op]]:
        """Each device's ops, as far as they are in view."""
        return [[op for op in lane if op.kind in self.kinds] for lane in self.schedule.lanes]

    def why(self, device: int, time: float) -> Reason | None:
        start, end = self.period
        if not start <= time < end:
            return Reason("before" if time < start else "after")
        begun = [self.spans[op] for op in self.lanes[device] if self._begun(op, time)]
        if any(time < span.end for span in begun):
            return None
        following = next((op for op in self.lanes[device] if not self._begun(op, time)), None)
        if following is None:
            return Reason("done", forward_only=self.kinds == {plan.Kind.FORWARD})
        needed = self._missing(following, time)
        if needed is None:
            return self._all_there(following, time)
        return self._reason("waits" if begun else "fill", needed, self._begun(needed, time))

    def _begun(self, op: plan.Op, time: float) -> bool:
        return op in self.spans and self.spans[op].start <= time

    def _done(self, op: plan.Op, time: float) -> bool:
        return op in self.spans and self.spans[op].end <= time

    def _missing(self, op: plan.Op, time: float) -> plan.Op | None:
        """What `op` needs and what is not done yet: one thing at most, since its own device is idle."""
        return next((each for each in plan.needs(op, self.schedule) if not self._done(each, time)), None)

    def _all_there(self, op: plan.Op, time: float) -> Reason:
        """All that `op` needs is done: its message is under way, or the computer was late."""
        needed = plan.needs(op, self.schedule)
        crossing = [each for each in needed if self._home(each) != self._home(op)]
        newest = max(crossing, key=lambda each: self.spans[each].end, default=None)
        # A prediction is never late. A measured message that is over its latency has arrived.
        predicted = self.timeline.source == "predicted"
        if newest is not None and (predicted or time < self.spans[newest].end + self.latency):
            return self._reason("link", newest, begun=True)
        return self._reason("late", op, begun=False)

    def _reason(self, kind: str, op: plan.Op, begun: bool) -> Reason:
        return Reason(kind, op, self._home(op), begun, self.schedule.num_micro_batches)

    def _home(self, op: plan.Op) -> int:
        """The device that runs an op."""
        kind, stage, micro_batch = unpack(np.array([op.code]))
        return int(self.schedule.device_of[kind, stage, micro_batch][0])


def _what(op: plan.Op, reason: Reason, lang: str, view: str) -> str:
    """An op: its code for an engineer; for a class its piece (one that is all there is has no number) and direction."""
    if view == "engineer":
        return str(op)
    whole = reason.num_micro_batches == 1
    piece = say("whole_piece", lang) if whole else say("piece", lang, piece=number(op.micro_batch))
    return say("piece_and_kind", lang, piece=piece, kind=say(f"kind_{op.kind}", lang))
