"""What all schedules of one comparison have in common: K, M, and the same total work."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipekit import plan

KEPT = (
    0.1  # an input, as a share of what a device keeps of one micro-batch: GPipe's stash beside its internals
)


@dataclass(frozen=True, slots=True)
class Case:
    """K devices, and a mini-batch that is M micro-batches' work; costs in slots.

    Args:
        forward, input_grad, weight_grad, recompute: of ONE device's whole share (1/K) of the model, for one of M
            micro-batches. A stage that is 1/v of that costs 1/v; a schedule that cuts the mini-batch finer or
            coarser has cheaper or dearer micro-batches: the total work is the same.
        latency: of each hop between two devices. overhead: of every op, whatever its size.
        slow_part: which K-th of the model (from 0) needs `slow_factor` times as long; -1: none. It's a part of the
            model, not a device: with several stages a device it may be spread out.
    """

    num_devices: int = 4
    num_micro_batches: int = 8
    forward: float = 1.0
    input_grad: float = 1.0
    weight_grad: float = 1.0
    recompute: float = 1.0
    latency: float = 0.0
    overhead: float = 0.0
    slow_part: int = -1
    slow_factor: float = 2.0

    @property
    def even(self) -> bool:
        """Whether all parts of the model cost the same."""
        return not 0 <= self.slow_part < self.num_devices or self.slow_factor == 1

    def piece(self, schedule: plan.Schedule) -> float:
        """How large a micro-batch of this schedule is, one of the case's being 1."""
        return self.num_micro_batches / schedule.num_micro_batches

    def costs(self, schedule: plan.Schedule, slot: float = 1.0) -> plan.Costs:
        """What the schedule's ops cost, for one of its own micro-batches.

        Args:
            slot: seconds of a slot; left out, costs are in slots.

        >>> from pipekit.plan import gpipe
        >>> Case(num_micro_batches=8, slow_part=1).costs(gpipe(num_stages=4, num_micro_batches=16)).forward
        [0.5, 1.0, 0.5, 0.5]
        """
        stages, devices = schedule.num_stages, self.num_devices
        parts = [stage * devices // stages for stage in range(stages)]
        slow = [1.0 if self.even or part != self.slow_part else self.slow_factor for part in parts]
        scale = slot * self.piece(schedule) * devices / stages

        def each(cost: float) -> list[float]:
            return [cost * scale * factor for factor in slow]

        return plan.Costs(
            forward=each(self.forward),
            backward=each(self.input_grad + self.weight_grad),
            recompute=each(self.recompute),
            input_grad=each(self.input_grad),
            weight_grad=each(self.weight_grad),
            overhead=self.overhead * slot,
            latency=self.latency * slot,
        )

    def simulate(self, schedule: plan.Schedule) -> plan.Timeline:
        """The prediction, in slots."""
        timeline = plan.simulate(schedule, self.costs(schedule))
        return replace(timeline, unit="slot")

    def peak(self, schedule: plan.Schedule) -> float:
        """The most that a device keeps, 1 being its whole share of the model for one of the case's micro-batches.

        A (stage, micro-batch) pair of 1/v of a share counts 1/v, of a micro-batch half as large half, and one that is
        recomputed keeps only its input (`KEPT`) until then.
        """
        share = self.num_devices / schedule.num_stages
        shape = plan.StageShape(0, 0, stash=min(KEPT, share), internals=share)
        model = plan.ModelShape((shape,) * schedule.num_stages)
        sizes = [self.piece(schedule)] * schedule.num_micro_batches
        return max(plan.peak_activations(schedule, model, sizes))  # type: ignore[arg-type]  # sizes as shares
