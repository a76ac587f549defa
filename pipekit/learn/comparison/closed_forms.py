"""Closed forms of a schedule's time, each with the conditions under which it is exact; where there is none, none is shown.

F, I, W, R: one device's whole share of the model, for one micro-batch; B = I + W; c: latency of a hop; K devices,
M micro-batches, v stages a device. Sources: GPipe (arXiv 1811.06965), Megatron-LM (2104.04473), Breadth-First Pipeline
Parallelism (2211.05953), Zero Bubble (2401.10241); the others were found by hand and hold for every case that `tests/test_learn_comparison.py` tries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipekit import plan
from pipekit.learn.comparison.cases import Case
from pipekit.learn.comparison.catalogue import Variant


@dataclass(frozen=True, slots=True)
class Form:
    """A closed form, in slots; `formula` and `condition` say it in the field's letters.

    Args:
        makespan: None where only the span bubble is known. span_bubble: None where only the time is known.
    """

    formula: str
    condition: str
    makespan: float | None = None
    span_bubble: float | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What closed forms are made of. An op's overhead counts as part of its op, v times a device's share."""

    K: int
    M: int
    v: int
    F: float
    B: float  # with the R before it, where there is one
    I: float  # noqa: E741 -- the field's own letter
    W: float
    R: float
    c: float
    even: bool
    forwards: list[float]  # of each part of the model
    backwards: list[float]
    recomputed: bool
    overhead: float

    @property
    def work(self) -> str:
        """What a micro-batch costs a device, in letters."""
        return "(F+R+B)" if self.recomputed else "(F+B)"

    @property
    def ordered(self) -> bool:
        """W <= F <= I, for which the Zero Bubble schedules were made."""
        return self.W <= self.F * (1 + 1e-12) and self.F <= self.I * (1 + 1e-12)

    @property
    def equal(self) -> bool:
        """F = I = W."""
        return _same(self.F, self.I) and _same(self.I, self.W)


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(one, other)


def facts(case: Case, variant: Variant, schedule: plan.Schedule) -> Facts:
    """What the schedule's closed form needs to know of the case."""
    v = schedule.num_stages // schedule.num_devices
    piece, extra = case.piece(schedule), v * case.overhead
    recomputed = variant.checkpoint == "always"
    again = case.recompute * piece + extra if recomputed else 0.0
    back = (case.input_grad + case.weight_grad) * piece
    slow = [
        1.0 if case.even or part != case.slow_part else case.slow_factor for part in range(case.num_devices)
    ]
    return Facts(
        K=schedule.num_devices,
        M=schedule.num_micro_batches,
        v=v,
        F=case.forward * piece + extra,
        B=back + extra + again,
        I=case.input_grad * piece + extra,
        W=case.weight_grad * piece + extra,
        R=case.recompute * piece + extra,
        c=case.latency,
        even=case.even,
        forwards=[case.forward * piece * factor + extra for factor in slow],
        backwards=[
            back * factor + extra + (case.recompute * piece * factor + extra if recomputed else 0.0)
            for factor in slow
        ],
        recomputed=recomputed,
        overhead=case.overhead,
    )


def closed_form(case: Case, variant: Variant, schedule: plan.Schedule) -> Form | None:
    """The schedule's closed form, or None where none is known for these numbers.

    >>> case = Case(num_devices=4, num_micro_batches=8)
    >>> variant = Variant.of("1f1b")
    >>> form = closed_form(case, variant, variant.build(4, 8))
    >>> form.makespan, form.formula
    (33.0, '(M+K-1)(F+B)')
    """
    form = FORMS.get(variant.name)
    known = facts(case, variant, schedule)
    if variant.checkpoint == "except_last":
        return _gpipe_except_last(known) if variant.name == "gpipe" else None
    return None if form is None else form(known)


def _gpipe(n: Facts) -> Form:
    time = sum(n.forwards) + sum(n.backwards) + (n.M - 1) * (max(n.forwards) + max(n.backwards))
    time += 2 * (n.K - 1) * n.c
    if n.even:
        hops = " + 2(K-1)c" if n.c else ""
        return Form(f"(M+K-1){n.work}{hops}", "", time)
    back = "(R+B)" if n.recomputed else "B"
    return Form(f"sum{n.work} + (M-1)(max F + max {back}) + 2(K-1)c", "", time)


def _gpipe_except_last(n: Facts) -> Form | None:
    if not n.even or n.c or n.M < 2:
        return None
    return Form(
        "(M+K-1)(F+B) + (M+K-2)R", "M >= 2, c = 0", (n.M + n.K - 1) * (n.F + n.B) + (n.M + n.K - 2) * n.R
    )


def _one_f_one_b(n: Facts) -> Form | None:
    if not n.even:
        return None
    time = (n.M + n.K - 1) * (n.F + n.B)
    if not n.c or n.K < 2:
        return Form(f"(M+K-1){n.work}", "", time)
    hops = 2 * n.c * (n.K + n.M - 3 - (n.M - 2) // n.K)
    return Form(f"(M+K-1){n.work} + 2c(K+M-3-floor((M-2)/K))", "K >= 2", time + hops)


def _interleaved(n: Facts) -> Form | None:
    if not n.even or n.c or n.M % n.K:
        return None
    return Form(f"(M+(K-1)/v){n.work}", "M % K = 0, c = 0", (n.M + (n.K - 1) / n.v) * (n.F + n.B))


def _looped_bfs(n: Facts) -> Form | None:
    if not n.even or n.c:
        return None
    rounds = ((n.v - 1) * max(n.M, n.K) + n.M + n.K - 1) / n.v
    return Form(f"((v-1)max(M,K)+M+K-1){n.work}/v", "c = 0", rounds * (n.F + n.B))


def _zb_h1(n: Facts) -> Form | None:
    if not n.even or n.c or n.M < n.K or not n.ordered:
        return None
    bubble = (n.K - 1) * (n.F + n.I - n.W)
    return Form(
        "M(F+I+W) + (K-1)(F+I-W)", "M >= K, W <= F <= I, c = 0", n.M * (n.F + n.I + n.W) + bubble, bubble
    )


def _zb_h2(n: Facts) -> Form | None:
    if not n.even or n.c or n.M < 2 * n.K - 1 or not n.ordered:
        return None
    time = (3 * n.M + n.K - 1) * n.F if n.equal else None
    span = (n.K - 1) * (n.F + n.I - 2 * n.W)
    formula = "(3M+K-1)F; span (K-1)(F+I-2W)" if n.equal else "span (K-1)(F+I-2W)"
    return Form(formula, "M >= 2K-1, W <= F <= I, c = 0" + ("; F = I = W" if n.equal else ""), time, span)


def _zb_v(n: Facts) -> Form | None:
    if not n.even or n.c or n.M < 2 * n.K - 1 or not n.ordered:
        return None
    time = (3 * n.M + (n.K - 1) / 2) * n.F if n.equal else None
    span = (n.K - 1) * (n.I - n.W)
    formula = "(3M+(K-1)/2)F; span (K-1)(I-W)" if n.equal else "span (K-1)(I-W)"
    return Form(formula, "M >= 2K-1, W <= F <= I, c = 0" + ("; F = I = W" if n.equal else ""), time, span)


def _fits_dualpipe(n: Facts) -> bool:
    """It mixes whole backwards and halves, which an overhead makes differ in cost."""
    return n.even and not n.c and not n.overhead and n.M >= 2 * n.K and _same(n.F, n.I) and n.W <= n.F


def _dualpipe(n: Facts) -> Form | None:
    """Forward and backward one after the other: what DualPipe's overlapped pair (F&B) would gain isn't in it."""
    if n.K % 2 or n.M % 2 or not _fits_dualpipe(n):
        return None
    time = n.M * (n.F + n.B) + (n.K / 2 - 1) * (n.F + n.B - 2 * n.W)
    return Form("M(F+B) + (K/2-1)(F+B-2W)", "K, M even, M >= 2K, F = I >= W, c = 0", time)


def _dualpipe_v(n: Facts) -> Form | None:
    if not _fits_dualpipe(n):
        return None
    time = n.M * (n.F + n.B) + (n.K - 1) * (n.F + n.B - 2 * n.W) / 2
    return Form("M(F+B) + (K-1)(F+B-2W)/2", "M >= 2K, F = I >= W, c = 0", time)


def _chimera(n: Facts) -> Form | None:
    if not n.even or n.c or not _same(n.F, n.B) or n.M % n.K:
        return None
    return Form("(2M+K-2)F", "F = B, M % K = 0, c = 0", (2 * n.M + n.K - 2) * n.F)


FORMS: dict[str, Callable[[Facts], Form | None]] = {
    "naive": _gpipe,
    "gpipe": _gpipe,
    "1f1b": _one_f_one_b,
    "interleaved_1f1b": _interleaved,
    "looped_bfs": _looped_bfs,
    "zb_h1": _zb_h1,
    "zb_h2": _zb_h2,
    "zb_v": _zb_v,
    "dualpipe": _dualpipe,
    "dualpipe_v": _dualpipe_v,
    "chimera": _chimera,
}
