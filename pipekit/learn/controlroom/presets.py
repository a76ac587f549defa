"""One-click settings, each for one idea of the lesson."""

from __future__ import annotations

from dataclasses import dataclass

from pipekit.learn.experiment import Settings
from pipekit.show import say

LESSON = Settings()  # where the lesson starts, and where "back to the lesson" leads


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings with a name.

    Args:
        key: of its name in `show`'s words; its one sentence has the same with `_tip` behind.
        both_ways: whether the idea is only seen with the way back in view.
    """

    key: str
    settings: Settings
    both_ways: bool = False

    def name(self, lang: str, view: str = "class") -> str:
        """What its button says."""
        return say(self.key, lang, view)

    def tip(self, lang: str, view: str = "class") -> str:
        """One sentence: what there is to see."""
        return say(f"{self.key}_tip", lang, view)


PRESETS = (
    Preset("preset_relay_race", Settings(num_micro_batches=1, schedule="naive")),
    Preset("preset_4_pieces", LESSON),
    Preset("preset_16_pieces", Settings(num_micro_batches=16)),
    Preset("preset_slow_stage", Settings(slow_device=2)),
    Preset("preset_erase", Settings(checkpoint="always"), both_ways=True),
    Preset("preset_1f1b", Settings(num_micro_batches=8, schedule="1f1b"), both_ways=True),
)
