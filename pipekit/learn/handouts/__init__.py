"""Printed sheets for a class and for its teacher: `python -m pipekit handouts`, A4, black on white."""

from __future__ import annotations

from pathlib import Path

from pipekit.errors import FileError
from pipekit.learn.handouts import class_sheets, paper, teacher_sheets
from pipekit.learn.handouts.sheet import Sheet

__all__ = ["for_the_class", "for_the_teacher", "write"]


def for_the_class(lang: str) -> list[Sheet]:
    """Sheets with blanks: grids, cards, roles, record, and the two of the scratch-paper game."""
    return [
        class_sheets.grid_sheet(lang),
        class_sheets.card_sheet(lang),
        class_sheets.role_sheet(lang),
        class_sheets.record_sheet(lang),
        class_sheets.scratch_sheet(lang),
        class_sheets.question_sheet(lang),
    ]


def for_the_teacher(lang: str) -> list[Sheet]:
    """A lesson without a computer, the answers, and the class's sheets filled in."""
    return [
        teacher_sheets.plan_sheet(lang),
        teacher_sheets.answer_sheet(lang),
        class_sheets.grid_sheet(lang, key=True),
        class_sheets.record_sheet(lang, key=True),
        class_sheets.question_sheet(lang, key=True),
    ]


def write(lang: str, folder: Path) -> list[tuple[Path, int]]:
    """Write both files into a folder, which is made if it isn't there.

    Returns:
        (file, pages): the class's, then the teacher's.

    Raises:
        FileError: there's no font for this language, or the system refuses.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError("file_refused", path=folder, cause=error.strerror or type(error).__name__) from None
    files = {"handouts": for_the_class(lang), "teacher": for_the_teacher(lang)}
    return [
        (paper.write(sheets, folder / f"pipekit-{name}-{lang}.pdf", lang), len(sheets))
        for name, sheets in files.items()
    ]
