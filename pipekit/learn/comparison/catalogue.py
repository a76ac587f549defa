"""The schedules that can be compared: how each is built, and what can be chosen about it besides K and M."""

from __future__ import annotations

from dataclasses import dataclass

from pipekit import plan


@dataclass(frozen=True, slots=True)
class Known:
    """One schedule of the field.

    Args:
        name: its key in the table of words.
        builder: its function's name in `plan`; a version of `plan` without it doesn't offer the schedule.
        chunks: whether one chooses how many stages a device holds (v).
        policies: whether it takes a checkpoint policy.
    """

    name: str
    builder: str
    chunks: bool = False
    policies: bool = False

    @property
    def there(self) -> bool:
        """Whether this `plan` builds it."""
        return hasattr(plan, self.builder)


KNOWN: dict[str, Known] = {
    each.name: each
    for each in (
        Known("naive", "naive"),
        Known("gpipe", "gpipe", policies=True),
        Known("1f1b", "one_f_one_b", policies=True),
        Known("interleaved_1f1b", "interleaved_1f1b", chunks=True, policies=True),
        Known("looped_bfs", "looped_bfs", chunks=True, policies=True),
        Known("zb_h1", "zb_h1"),
        Known("zb_h2", "zb_h2"),
        Known("zb_v", "zb_v"),
        Known("dualpipe", "dualpipe"),
        Known("dualpipe_v", "dualpipe_v"),
        Known("chimera", "chimera"),
    )
}
OFFERED = tuple(name for name, known in KNOWN.items() if known.there)


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
        known = KNOWN[self.name]
        builder = getattr(plan, known.builder)
        if self.name == "naive":
            return builder(num_devices)
        numbers = [num_devices, num_micro_batches, *([self.num_chunks] if known.chunks else [])]
        return builder(*numbers, self.checkpoint) if known.policies else builder(*numbers)
