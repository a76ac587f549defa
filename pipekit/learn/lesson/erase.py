"""Stop 5, the real thing: the same training with scratch paper kept, kept in part, and all erased and redone."""

from __future__ import annotations

from pipekit import plan, show
from pipekit.learn.controlroom import pictures
from pipekit.learn.controlroom.sentences import count
from pipekit.learn.experiment import Experiment, Settings
from pipekit.learn.lesson.real_run import RealRun
from pipekit.show import say
from pipekit.show.fonts import drawn_language

DRAWN = ("never", "always")  # the two whose grids stand one above the other
GRIDS = 690  # pixels: beside the table
KIB = 1024


class EraseAndRedo(RealRun):
    """All scratch paper kept, the last piece's kept, all erased: really run, with the memory and the time of each."""

    prefix = "lesson_erase"

    def __init__(self, lang: str = "zh", experiment: Experiment | None = None) -> None:
        super().__init__([Settings(checkpoint=policy) for policy in plan.CHECKPOINTS], lang, experiment)
        self.add_class("pipekit-erase")

    def guess_words(self, lang: str) -> list[str]:
        """How much less memory, how much more time."""
        return [say("lesson_erase_less", lang), say("lesson_erase_longer", lang)]

    def _rows(self) -> list[list[str]]:
        outcomes = [self.outcomes[each] for each in self.asked if each in self.outcomes]
        if not outcomes:
            return []
        kept = [max(each.result.memory.peak_activation_bytes) for each in outcomes]
        spans = [each.timeline.makespan for each in outcomes]
        slots = [count(span, self.experiment.slot) for span in spans]
        rows = [
            [say("checkpoint", self.lang), *(say(policy, self.lang) for policy in plan.CHECKPOINTS)],
            [say("lesson_erase_kept", self.lang), *(f"{each / KIB:.0f} KiB" for each in kept)],
            [say("lesson_erase_less_row", self.lang), *(change(each, kept[0]) for each in kept)],
            [say("lesson_erase_slots", self.lang), *slots],
            [say("lesson_erase_longer_row", self.lang), *(change(span, spans[0]) for span in spans)],
        ]
        return rows if self.guesses is None else self._with_guesses(rows)

    def _with_guesses(self, rows: list[list[str]]) -> list[list[str]]:
        less, longer = ("" if each is None else f"{each:g}%" for each in self.guesses or ())
        column = [say("guessed", self.lang), "", less, "", longer]
        return [[*row, cell] for row, cell in zip(rows, column, strict=True)]

    def _picture(self) -> bytes:
        return self._grids() if self.outcomes else b""

    def _grids(self) -> bytes:
        lang = drawn_language(self.lang)
        parts = [
            pictures.Part(
                self.outcomes[each].timeline, each.build(), say(f"lesson_erase_{each.checkpoint}", lang)
            )
            for each in self.asked
            if each.checkpoint in DRAWN
        ]
        look = pictures.look(parts, self.experiment.slot, self.lang, "class") | {"width": GRIDS}
        return show.png(show.paint([part.timeline for part in parts], **look))


def change(now: float, before: float) -> str:
    """How much more or less than before.

    >>> change(40, 100), change(133, 100), change(1, 1)
    ('-60%', '+33%', '0%')
    """
    share = round(100 * (now / before - 1))
    return f"{share:+d}%" if share else "0%"
