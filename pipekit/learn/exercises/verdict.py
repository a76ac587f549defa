"""What a grader says: passed or not, and which misconception it was; printable, and as HTML."""

from __future__ import annotations

import html
from dataclasses import dataclass

GOOD, BAD, OPEN = ("#005a3c", "#e5f5ef"), ("#7a3300", "#fdf0e3"), ("#333333", "#f2f2f2")  # ink, ground
UNANSWERED = "unanswered"


@dataclass(frozen=True, repr=False)
class Verdict:
    """True where the answer is right, so that `assert task.check(answer)` reads as it should.

    Args:
        wrong: the misconception's key; empty if passed.
        words: the verdict as sentences.
        note: about the file of results, if something is to be said.
    """

    passed: bool
    words: str
    wrong: str = ""
    note: str = ""

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return "\n".join(filter(None, (self.words, self.note)))

    def _repr_html_(self) -> str:
        ink, ground = GOOD if self.passed else OPEN if self.wrong == UNANSWERED else BAD
        lines = html.escape(self.words).replace("\n", "<br>")
        note = f"<div>{html.escape(self.note)}</div>" if self.note else ""
        return (
            f'<div role="status" style="font-size:18px;line-height:1.5;padding:8px 12px;color:{ink};'
            f'background:{ground};border-left:6px solid {ink}">{lines}{note}</div>'
        )
