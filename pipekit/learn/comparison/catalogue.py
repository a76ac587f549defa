"""The schedules that can be compared: how each is built, and what can be chosen about it besides K and M."""

from __future__ import annotations

from dataclasses import dataclass

from pipekit import plan


@dataclass(frozen=True, slots=True)
class Known:
    """What can be chosen about a schedule: `chunks`, how many stages a device holds (v); `policies`, what is recomputed."""

    chunks: bool = False
    policies: bool = False


KNOWN: dict[str, Known] = {
    "naive": Known(),
    "gpipe": Known(policies=True),
    "1f1b": Known(policies=True),
    "interleaved_1f1b": Known(chunks=True, policies=True),
    "looped_bfs": Known(chunks=True, policies=True),
    "zb_h1": Known(),
    "zb_h2": Known(),
    "zb_v": Known(),
    "dualpipe": Known(),
    "dualpipe_v": Known(),
    "chimera": Known(),
}


@dataclass(frozen=True, slots=True)
class Variant:
    """A schedule with what was chosen about it; what it doesn't take is left at its default."""

    name: str
    num_chunks: int = 1
    checkpoint: str = "never"

    @classmethod
    def of(cls, name: str, num_chunks: int = 1, checkpoint: str = "never") -> Variant:
        """The same for all choices that the schedule doesn't take.

        >>> Variant.of("zb_h1", num_chunks=3, checkpoint="always")
        Variant(name='zb_h1', num_chunks=1, checkpoint='never')
        """
        known = KNOWN[name]
        return cls(name, num_chunks if known.chunks else 1, checkpoint if known.policies else "never")

    def build(self, num_devices: int, num_micro_batches: int) -> plan.Schedule:
        """The schedule itself; a relay race has one micro-batch, whatever M says.

        Raises:
            ScheduleError: it can't serve these numbers.
        """
        return plan.by_name(
            self.name, num_devices, num_micro_batches, self.checkpoint, num_chunks=self.num_chunks
        )
