"""Why is a device idle at a moment? Asked of any timeline; the answer names what it waits for."""

from __future__ import annotations

from dataclasses import dataclass

from pipekit import plan
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
    if time < timeline.start:
        return Reason("before")
    if time >= timeline.end:
        return Reason("after")
    spans = {span.op: span for span in timeline.spans}
    if any(span.device == device and span.start <= time < span.end for span in spans.values()):
        return None
    kinds = {op.kind for op in spans}
    lane = [op for op in schedule.lanes[device] if op.kind in kinds]
    following = next((op for op in lane if op not in spans or spans[op].start > time), None)
    if following is None:
        return Reason("done", forward_only=kinds == {plan.Kind.FORWARD})
    needed = _needed(following, schedule, spans, time)
    if needed is None:
        return _all_there(following, schedule, timeline, spans, time, latency)
    begun = needed in spans and spans[needed].start <= time
    started = any(span.device == device and span.start <= time for span in spans.values())
    return _reason("waits" if started else "fill", needed, schedule, begun)


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
    time = timeline.start + origin + (slot_index + 0.5) * slot
    return why(schedule, timeline, device, time, latency)


def words(reason: Reason, lang: str, view: str = "class") -> str:
    """The reason in a few words: plain ones for a class, with the op's code for an engineer."""
    if reason.kind == "done" and reason.forward_only:
        return say("idle_done_forward", lang, view)
    if reason.op is None:
        return say(f"idle_{reason.kind}", lang, view)
    key = "idle_queued" if reason.kind == "waits" and not reason.begun else f"idle_{reason.kind}"
    device = say("device", lang, view, number=number(reason.device, view))
    return say(key, lang, view, device=device, what=_what(reason.op, reason, lang, view))


def _needed(
    op: plan.Op, schedule: plan.Schedule, spans: dict[plan.Op, plan.Span], time: float
) -> plan.Op | None:
    """The op that `op` needs and that is not done yet at `time`; of several the one that's done last."""
    never = float("inf")
    ends = {each: spans[each].end if each in spans else never for each in plan.needs(op, schedule)}
    missing = [each for each in ends if ends[each] > time]
    return max(missing, key=ends.__getitem__, default=None)


def _all_there(
    op: plan.Op,
    schedule: plan.Schedule,
    timeline: plan.Timeline,
    spans: dict[plan.Op, plan.Span],
    time: float,
    latency: float,
) -> Reason:
    """All that `op` needs is done: its message is under way, or the computer was late."""
    own = _home(op, schedule)
    crossing = [each for each in plan.needs(op, schedule) if _home(each, schedule) != own]
    newest = max(crossing, key=lambda each: spans[each].end, default=None)
    # A prediction is never late. A measured message that is over its latency has arrived.
    if newest is not None and (timeline.source == "predicted" or time < spans[newest].end + latency):
        return _reason("link", newest, schedule, begun=True)
    return _reason("late", op, schedule, begun=False)


def _reason(kind: str, op: plan.Op, schedule: plan.Schedule, begun: bool) -> Reason:
    return Reason(kind, op, _home(op, schedule), begun, schedule.num_micro_batches)


def _home(op: plan.Op, schedule: plan.Schedule) -> int:
    """The device that runs an op."""
    return schedule.placement[op.stage]


def _what(op: plan.Op, reason: Reason, lang: str, view: str) -> str:
    """An op: its code for an engineer; for a class its piece (one that is all there is has no number) and direction."""
    if view == "engineer":
        return str(op)
    whole = reason.num_micro_batches == 1
    piece = say("whole_piece", lang) if whole else say("piece", lang, piece=number(op.micro_batch))
    return say("piece_and_kind", lang, piece=piece, kind=say(f"kind_{op.kind}", lang))
