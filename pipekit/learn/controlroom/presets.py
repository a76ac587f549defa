"""One-click settings, each for one idea of the lesson."""

from __future__ import annotations

from dataclasses import dataclass

from pipekit.learn.experiment import Settings

LESSON = Settings()  # where the lesson starts, and where "back to the lesson" leads


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings with a name.

    Args:
        key: its name is `say(f"preset_{key}")`, and what there is to see `say(f"preset_{key}_why")`.
        both_ways: whether the idea is only seen with the way back in view.
    """

    key: str
    settings: Settings
    both_ways: bool = False


PRESETS = (
    Preset("relay_race", Settings(num_micro_batches=1, schedule="naive")),
    Preset("4_pieces", LESSON),
    Preset("16_pieces", Settings(num_micro_batches=16)),
    Preset("slow_stage", Settings(slow_device=2)),
    Preset("erase", Settings(checkpoint="always"), both_ways=True),
    Preset("1f1b", Settings(num_micro_batches=8, schedule="1f1b"), both_ways=True),
)
