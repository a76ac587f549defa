"""What the room says after a run: three sentences and a line of evidence. Templates, filled with what was measured.

1. how long: uncut, and cut; 2. how idle, beside the formula, and why where they differ; 3. whether the result is
the same.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pipekit import plan
from pipekit.learn.experiment import Outcome, Settings
from pipekit.run import StepResult
from pipekit.show import number, say, tiny

WHOLE = 0.15  # a number of slots this near a whole one is said as that
POINT = 0.01  # a bubble that is off by more is explained
MINOR = 0.1  # a cause of less than this share of the gap is not named
LINE = 130  # letters that fit on one line of a projector; a class's sentence drops its brackets before it gets longer
SLOWER = 2  # times the clock that is offered where ops overran


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence, and its tone: "plain", or "warn" (amber)."""

    text: str
    tone: str = "plain"


@dataclass(frozen=True, slots=True)
class _Speech:
    """Who is spoken to, and in which unit: slots of `slot` seconds, or milliseconds where `slot` is None."""

    lang: str
    view: str
    slot: float | None

    def say(self, key: str, **numbers: object) -> str:
        return say(key, self.lang, self.view, **numbers)

    def amount(self, seconds: float) -> str:
        """A time with its unit."""
        if self.slot is None:
            return self.say("amount_ms", count=f"{_rounded(1000 * seconds, None):g}")
        slots = count(seconds, self.slot)
        return self.say("amount_slot" if slots == "1" else "amount_slots", count=slots)

    def difference(self, one: float, other: float) -> str:
        """|one - other| as somebody gets who subtracts the two numbers that were said."""
        unit = 0.001 if self.slot is None else self.slot
        apart = abs(_rounded(one / unit, self.slot) - _rounded(other / unit, self.slot))
        return self.amount(apart * unit)

    def alike(self, one: float, other: float) -> bool:
        """Whether nobody would call these times different."""
        return abs(one - other) <= (WHOLE * self.slot if self.slot is not None else 0.02 * max(one, other))

    def devices(self, how_many: int) -> str:
        return self.say("gpu" if how_many == 1 else "gpus", count=how_many)

    def device(self, index: int) -> str:
        return self.say("device", number=number(index, self.view))

    def end(self, text: str) -> str:
        """A whole sentence."""
        return (text[0].upper() + text[1:] if self.lang == "en" else text) + self.say("full_stop")


def count(seconds: float, slot: float) -> str:
    """A time in slots: whole where it's within 0.15 of a whole number, else with one decimal.

    >>> count(0.64, 0.04), count(0.283, 0.04), count(0.744, 0.04)
    ('16', '7', '18.6')
    """
    return f"{_rounded(seconds / slot, slot):g}"


def _rounded(value: float, slot: float | None) -> float:
    """As it is said: slots whole where they're near it, milliseconds from 100 on; else with one decimal."""
    nearest = float(round(value))
    whole = value >= 100 if slot is None else abs(value - nearest) <= WHOLE
    return nearest if whole else round(value, 1)


def forwards_first(settings: Settings) -> bool:
    """Whether the forwards alone make a picture: not where a device goes back in between (as in 1F1B, its gaps would
    look idle), nor where the point is what is redone on the way back."""
    kinds = ["".join(str(op.kind) for op in lane) for lane in settings.build().lanes]
    return settings.checkpoint == "never" and not any("F" in lane.lstrip("F") for lane in kinds)


def shown(timeline: plan.Timeline, forward_only: bool) -> plan.Timeline:
    """What is looked at: the way forward, or all of it."""
    return timeline.only("F") if forward_only else timeline


def three(
    outcome: Outcome, slot: float, lang: str, view: str = "class", forward_only: bool = True
) -> list[Said]:
    """The three sentences about a run.

    Args:
        slot: seconds a slot. forward_only: only the forwards are in view; ignored where that makes no picture.
    """
    forward_only = forward_only and forwards_first(outcome.settings)
    speech = _Speech(lang, view, None if outcome.settings.real_time else slot)
    return [
        _how_long(outcome, speech, forward_only),
        _how_idle(outcome, speech, forward_only, slot),
        _the_same(outcome, speech),
    ]


def evidence(
    settings: Settings, outcome: Outcome | None, slot: float, lang: str, view: str = "class"
) -> Said:
    """The last line: what was really done, on what, what was declared, and how well the clock was kept.

    It warns, and offers a slower clock, where an op computed longer than declared.
    """
    speech = _Speech(lang, view, slot)
    if outcome is None:
        parts = [speech.say("evidence_not_yet")]
    else:
        parts = [speech.say("evidence_trained" if outcome.trained else "evidence_tried")]
    parts += (
        _real_time(settings, outcome, speech) if settings.real_time else _declared(settings, speech, slot)
    )
    overruns = 0
    if outcome is not None and not settings.real_time:
        overruns = sum(result.overruns for result in _results(outcome))
        parts += _clock_kept(outcome, overruns, speech, slot)
    shared = outcome is not None and outcome.timeline.source == "shared"
    late = outcome is not None and not settings.real_time and outcome.late > 0
    return Said(" · ".join(parts), "warn" if overruns or shared or late else "plain")


def same(outcome: Outcome, lang: str, view: str = "class") -> Said:
    """The third sentence alone: whether the gradients are the uncut model's, which every run compares."""
    return _the_same(outcome, _Speech(lang, view, None))


# -- 1: how long


def _how_long(outcome: Outcome, speech: _Speech, forward_only: bool) -> Said:
    settings, pieces = outcome.settings, outcome.key.num_micro_batches
    samples = outcome.result.num_samples
    cut = shown(outcome.timeline, forward_only).makespan
    uncut = None if outcome.uncut is None else shown(outcome.uncut.timeline, forward_only).makespan
    numbers: dict[str, object] = {"samples": samples, "count": pieces, "cut": speech.amount(cut)}
    if pieces == 1:
        return Said(speech.end(_relay(settings, speech, numbers, cut, uncut)))
    if uncut is None:
        return Said(speech.end(speech.say("said_only_cut", **numbers)))
    numbers["uncut"] = speech.amount(uncut)
    if speech.alike(cut, uncut):
        alone = speech.say("said_alone") if settings.num_stages == 1 else ""
        return Said(speech.end(speech.say("said_as_fast", **numbers) + alone))
    apart = speech.difference(cut, uncut)
    if cut > uncut:
        text = speech.say("said_slower", more=apart, **numbers)
        return Said(speech.end(text + _why_slower(outcome, speech, forward_only)))
    text = speech.say("said_saved" if speech.slot is not None else "said_saved_ms", saved=apart, **numbers)
    if speech.slot is None or speech.view == "engineer":
        text += speech.say("said_ratio", ratio=f"{uncut / cut:.1f}")
    return Said(speech.end(text))


def _relay(
    settings: Settings, speech: _Speech, numbers: Mapping[str, object], cut: float, uncut: float | None
) -> str:
    """One piece: a relay race, or one device that does it all."""
    devices = speech.devices(settings.num_stages)
    key = "said_one_device" if settings.num_stages == 1 else "said_relay"
    text = speech.say(key, devices=devices, **numbers)
    if uncut is None or cut < uncut or speech.alike(cut, uncut):
        return text
    return text + speech.say("said_relay_longer", more=speech.difference(cut, uncut))


def _why_slower(outcome: Outcome, speech: _Speech, forward_only: bool) -> str:
    """What made more pieces slower than one: as it was declared, or in real time as it was measured."""
    settings = outcome.settings
    if settings.real_time:
        return _more_work(outcome, speech, forward_only)
    if settings.overhead_ms > 0:
        return speech.say("said_because_overhead", overhead=f"{settings.overhead_ms:g}")
    if settings.latency_ms > 0:
        return speech.say("said_because_link", latency=f"{settings.latency_ms:g}")
    return speech.say("said_alone") if settings.num_stages == 1 else ""


def _more_work(outcome: Outcome, speech: _Speech, forward_only: bool) -> str:
    """Small pieces use a CPU less well: the time of all ops together, cut and uncut; "" where it didn't grow."""
    assert outcome.uncut is not None  # it's what was faster
    cut, uncut = (
        float(plan.busy_time(shown(each.timeline, forward_only)).sum())
        for each in (outcome.result, outcome.uncut)
    )
    if cut < uncut or speech.alike(cut, uncut):
        return ""
    return speech.say("said_because_small", cut=speech.amount(cut), uncut=speech.amount(uncut))


# -- 2: how idle


def _how_idle(outcome: Outcome, speech: _Speech, forward_only: bool, slot: float) -> Said:
    devices = speech.devices(outcome.settings.num_stages)
    if outcome.timeline.source == "shared":
        return Said(speech.end(speech.say("said_shared", devices=devices)), "warn")
    timeline = shown(outcome.timeline, forward_only)
    formula = plan.formula_bubble(outcome.settings.num_stages, outcome.key.num_micro_batches)
    measured = plan.bubble_fraction(timeline)
    gap = measured - formula
    off = abs(gap) > POINT
    key = ("said_idle_more" if gap > 0 else "said_idle_less") if off else "said_idle"
    causes = _causes(outcome, forward_only, slot, gap) if off else []
    saved = _saved_for(outcome, speech) or _in_flight(outcome, speech)
    numbers = {"devices": devices, "percent": f"{measured:.1%}", "formula": f"{formula:.1%}"}
    if off:
        numbers["points"] = f"{abs(100 * gap):.1f}"
    because = _because(causes, outcome.settings, speech)
    parts = "" if saved else _parts(timeline, speech)
    whole, short = (
        speech.end(saved + speech.say(key, parts=each, **numbers) + because) for each in (parts, "")
    )
    return Said(short if speech.view == "class" and _width(whole) > LINE else whole)


def _width(text: str) -> int:
    """In letters; a Chinese character is as wide as two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _parts(timeline: plan.Timeline, speech: _Speech) -> str:
    """Idle time at the start, in the middle and at the end, as far as there is some, in brackets."""
    parts = zip(("idle_start", "idle_middle", "idle_end"), idle_times(timeline), strict=True)
    least = timeline.num_devices * timeline.makespan * POINT
    said = [speech.say(key, amount=speech.amount(seconds)) for key, seconds in parts if seconds > least]
    return speech.say("bracketed", words=speech.say("comma").join(said)) if said else ""


def idle_times(timeline: plan.Timeline) -> tuple[float, float, float]:
    """Seconds of all devices together before their first op, between ops, and after their last."""
    spans = timeline.spans
    lanes = [spans.where(spans.devices == device) for device in range(timeline.num_devices)]
    start = sum(float(lane.starts.min()) - timeline.start for lane in lanes if len(lane))
    end = sum(timeline.end - float(lane.ends.max()) for lane in lanes if len(lane))
    idle = timeline.num_devices * timeline.makespan - float(plan.busy_time(timeline).sum())
    return start, max(0.0, idle - start - end), end


def _saved_for(outcome: Outcome, speech: _Speech) -> str:
    """What erasing saved and what it cost, both measured; "" where nothing was erased."""
    if outcome.kept is None:
        return ""
    before, after = (
        max(each.memory.peak_activation_bytes, default=0) for each in (outcome.kept, outcome.result)
    )
    less = 1 - after / before if before else 0.0
    longer = outcome.timeline.makespan / outcome.kept.timeline.makespan - 1
    return _share("scratch_same", "scratch_less", "scratch_more", less, speech) + _share(
        "time_same", "time_more", "time_less", longer, speech
    )


def _in_flight(outcome: Outcome, speech: _Speech) -> str:
    """How many pieces' scratch work each device kept at once where the schedule goes back early; GPipe keeps all."""
    if outcome.settings.schedule != "1f1b" or outcome.key.num_micro_batches == 1:
        return ""
    counts = speech.say("then_comma").join(map(str, plan.peak_in_flight(outcome.timeline)))
    return speech.say("papers_kept", counts=counts, all=outcome.key.num_micro_batches)


def _share(same: str, up: str, down: str, share: float, speech: _Speech) -> str:
    """One of three words, with the share in whole percent."""
    if abs(share) < 0.01:
        return speech.say(same)
    return speech.say(up if share > 0 else down, share=f"{abs(share):.0%}")


def costs(settings: Settings, num_samples: int, slot: float) -> plan.Costs:
    """What the stand-ins of these settings declare, for one sample; `slot` is a forward on a quarter of the batch."""
    forward = [4 * slot / num_samples] * settings.num_stages
    if 0 <= settings.slow_device < settings.num_stages:
        forward[settings.slow_device] *= settings.slow_factor
    return plan.Costs(
        forward=forward,
        backward=[2 * seconds for seconds in forward],
        overhead=settings.overhead_ms / 1000,
        latency=settings.latency_ms / 1000,
    )


def _bubble(
    settings: Settings, costs: plan.Costs, sizes: list[float] | list[int], forward_only: bool
) -> float:
    return plan.bubble_fraction(shown(plan.simulate(settings.build(), costs, sizes), forward_only))


def _causes(outcome: Outcome, forward_only: bool, slot: float, gap: float) -> list[tuple[str, float]]:
    """Why the bubble is off the formula's by `gap`: (key of its words, its share of the bubble), largest first.

    A cause's share is what the bubble would be less without it, other things equal; what no declared time explains is the
    computer's.
    """
    explain = _undeclared_causes if outcome.settings.real_time else _declared_causes
    found = explain(outcome, forward_only, slot)
    large = [(key, share) for key, share in found if share * gap > 0 and abs(share) > MINOR * abs(gap)]
    return sorted(large, key=lambda cause: -abs(cause[1]))


def _declared_causes(outcome: Outcome, forward_only: bool, slot: float) -> list[tuple[str, float]]:
    """Each declared cause, left out in turn; and what was measured beyond the prediction."""
    settings, samples = outcome.settings, outcome.result.num_samples
    pieces = outcome.key.num_micro_batches
    sizes = plan.micro_batch_sizes(samples, pieces)
    whole = _bubble(settings, costs(settings, samples, slot), sizes, forward_only)

    def without(**changed: object) -> float:
        other = replace(settings, **changed)  # type: ignore[arg-type]
        return whole - _bubble(other, costs(other, samples, slot), sizes, forward_only)

    even = _bubble(settings, costs(settings, samples, slot), [samples / pieces] * pieces, forward_only)
    causes = [
        ("cause_slow", without(slow_device=-1)),
        ("cause_overhead", without(overhead_ms=0.0)),
        ("cause_link", without(latency_ms=0.0)),
        ("cause_recompute", without(checkpoint="never")),
        ("cause_uneven", whole - even),
    ]
    rest = plan.bubble_fraction(shown(outcome.timeline, forward_only)) - whole
    if abs(rest) > POINT and outcome.result.overruns:
        causes.append(("cause_overruns", rest))
    elif rest > POINT:
        causes.append(("cause_busy", rest))
    return causes


def _undeclared_causes(outcome: Outcome, forward_only: bool, slot: float) -> list[tuple[str, float]]:
    """In real time: stages that took unlike long, and what was lost between them."""
    timeline = outcome.timeline
    mean = {
        kind: [
            float(each.durations.mean()) if len(each) else 0.0
            for each in (_of(timeline, kind, device) for device in range(timeline.num_devices))
        ]
        for kind in ("F", "B", "R")
    }
    measured = plan.Costs(forward=mean["F"], backward=mean["B"], recompute=mean["R"])
    ideal = _bubble(outcome.settings, measured, [1] * outcome.key.num_micro_batches, forward_only)
    formula = plan.formula_bubble(outcome.settings.num_stages, outcome.key.num_micro_batches)
    rest = plan.bubble_fraction(shown(timeline, forward_only)) - ideal
    return [("cause_stages", ideal - formula), ("cause_waiting", rest)]


def _of(timeline: plan.Timeline, kind: str, device: int) -> plan.Spans:
    """One device's ops of one kind."""
    spans = timeline.only(kind).spans
    return spans.where(spans.devices == device)


def _because(causes: list[tuple[str, float]], settings: Settings, speech: _Speech) -> str:
    """The causes in words, "" without any; an engineer gets each one's points too."""
    said = []
    for key, share in causes:
        slow = {"device": speech.device(settings.slow_device)} if key == "cause_slow" else {}
        words = speech.say(key, **slow)
        if speech.view == "engineer":
            words = speech.say("cause_points", cause=words, points=f"{100 * share:+.1f}")
        said.append(words)
    return speech.say("said_because", causes=speech.say("listed").join(said)) if said else ""


# -- 3: the same?


def _the_same(outcome: Outcome, speech: _Speech) -> Said:
    engineer = speech.view == "engineer"
    difference = f"{outcome.difference:.1e}" if engineer else tiny(outcome.difference, speech.lang)
    if outcome.difference == 0:
        return Said(speech.end(speech.say("said_same_exactly")))
    if outcome.same:
        return Said(speech.end(speech.say("said_same", difference=difference)))
    if outcome.settings.batch_norm and outcome.key.num_micro_batches > 1:
        return Said(speech.end(speech.say("said_batch_norm", difference=difference)))
    return Said(speech.end(speech.say("said_different", difference=difference)), "warn")


# -- the line of evidence


def _results(outcome: Outcome) -> list[StepResult]:
    """All steps that are talked about, each once: an uncut run is its own uncut step."""
    every = (outcome.result, outcome.uncut, outcome.kept)
    return list({id(each): each for each in every if each is not None}.values())


def _declared(settings: Settings, speech: _Speech, slot: float) -> list[str]:
    """What the stand-ins declare."""
    many = settings.num_stages
    parts = [speech.say("evidence_stand_in" if many == 1 else "evidence_stand_ins", count=many)]
    parts.append(speech.say("evidence_slot", ms=f"{1000 * slot:g}"))
    if 0 <= settings.slow_device < many and settings.slow_factor != 1:
        device = speech.device(settings.slow_device)
        parts.append(speech.say("evidence_slow", device=device, factor=f"{settings.slow_factor:g}"))
    if settings.overhead_ms:
        parts.append(speech.say("evidence_overhead", ms=f"{settings.overhead_ms:g}"))
    if settings.latency_ms:
        parts.append(speech.say("evidence_latency", ms=f"{settings.latency_ms:g}"))
    return parts


def _real_time(settings: Settings, outcome: Outcome | None, speech: _Speech) -> list[str]:
    """CPU threads, and whether they had a core each."""
    parts = [speech.say("evidence_real_time", count=settings.num_stages)]
    if outcome is not None and outcome.timeline.source == "shared":
        parts.append(speech.say("evidence_shared"))
    return parts


def _clock_kept(outcome: Outcome, overruns: int, speech: _Speech, slot: float) -> list[str]:
    """Overruns; for an engineer (and where it's seen, for a class) how late the workers woke up; where something
    overran what to do."""
    parts = [speech.say("evidence_overrun" if overruns == 1 else "evidence_overruns", overruns=overruns)]
    if speech.view == "engineer":
        slip = outcome.result.slip
        median, worst = (f"{1000 * late:.1f}" for late in (slip.median, slip.worst))
        parts.append(speech.say("evidence_slip", median=median, worst=worst))
    if outcome.late:
        parts.append(speech.say("evidence_late", worst=f"{1000 * outcome.late:.0f}"))
    if overruns:
        now, slower = (f"{batch_time:g}" for batch_time in (4 * slot, SLOWER * 4 * slot))
        parts.append(speech.say("evidence_slower", now=now, slower=slower))
    return parts
