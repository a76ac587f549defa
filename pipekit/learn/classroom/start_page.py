"""The first page: the course in order, and how far one is. Plain HTML, so that it opens without a kernel, too."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pipekit.learn.classroom.course import Lesson, course
from pipekit.learn.exercises import results
from pipekit.learn.exercises.keys import KEYS, NOTEBOOKS
from pipekit.show import say

INK, PAPER, LINE, LINK, DONE = "#111111", "#ffffff", "#888888", "#0b5394", "#005a3c"
CELL = f"padding:10px 12px;border-bottom:1px solid {LINE};text-align:left;vertical-align:top;font-size:18px"


class StartPage:
    """The course and one's progress in it.

    Args:
        folder: where the notebooks and `results.jsonl` lie; left out: the working folder.
    """

    def __init__(self, lang: str = "zh", folder: Path | None = None) -> None:
        self.lang = lang
        self.folder = Path.cwd() if folder is None else folder

    @property
    def lessons(self) -> list[Lesson]:
        """The course in order."""
        return course(self.folder, self.lang)

    @property
    def solved(self) -> list[str]:
        """The exercises that were solved here."""
        try:
            done = results.solved(results.read(self.folder / results.FILE))
        except OSError:
            return []
        return [task for task in KEYS if task in done]

    def reset(self) -> StartPage:
        """Begin anew: the results so far are kept beside, under today's date."""
        results.reset(self.folder)
        return self

    def __repr__(self) -> str:
        lines = [
            f"{number}. {each.title} ({self._minutes(each)}): {each.question}"
            for number, each in enumerate(self.lessons, 1)
        ]
        return "\n".join([*(lines or [self._say("start_no_course")]), self._progress()])

    def _repr_html_(self) -> str:
        lessons = self.lessons
        body = self._table(lessons) if lessons else f"<p>{html.escape(self._say('start_no_course'))}</p>"
        style = f"color:{INK};background:{PAPER};font-size:18px;line-height:1.5"
        return f'<div style="{style}">{body}{self._boxes()}</div>'

    def _say(self, key: str, **numbers: Any) -> str:
        return say(key, self.lang, **numbers)

    def _minutes(self, lesson: Lesson) -> str:
        return self._say("start_minutes", minutes=lesson.minutes)

    def _progress(self) -> str:
        return self._say("start_solved", solved=len(self.solved), total=len(KEYS))

    def _boxes(self) -> str:
        """The exercises as boxes: a solved one is filled and ticked."""
        solved = set(self.solved)
        boxes = "".join(_box(self._say(f"exercise_{task}_title"), task in solved) for task in KEYS)
        return f'<p style="margin:10px 0 4px">{html.escape(self._progress())}</p><div>{boxes}</div>'

    def _table(self, lessons: list[Lesson]) -> str:
        rows = "".join(self._row(number, each) for number, each in enumerate(lessons, 1))
        columns = ("start_number", "start_notebook", "start_question", "start_time", "start_state")
        head = "".join(f'<th style="{CELL}">{html.escape(self._say(column))}</th>' for column in columns)
        name = html.escape(self._say("start_course"), quote=True)
        return (
            f'<table aria-label="{name}" style="border-collapse:collapse;margin-top:8px;background:{PAPER}">'
            f"<tr>{head}</tr>{rows}</table>"
        )

    def _row(self, number: int, lesson: Lesson) -> str:
        title = html.escape(lesson.title)
        if lesson.here:
            title = f'<a href="{quote(lesson.name)}.ipynb" style="color:{LINK};text-decoration:underline">{title}</a>'
        style = f"{CELL};color:{INK}"
        parts = [
            str(number),
            title,
            html.escape(lesson.question),
            html.escape(self._minutes(lesson)),
            self._state(lesson),
        ]
        wide = (3, 4)  # columns whose words stay on one line
        cells = (
            f'<td style="{style}{";white-space:nowrap" if column in wide else ""}">{part}</td>'
            for column, part in enumerate(parts)
        )
        return f"<tr>{''.join(cells)}</tr>"

    def _state(self, lesson: Lesson) -> str:
        """Opened or not; of a page of exercises how many are solved."""
        tasks = NOTEBOOKS.get(lesson.name, ())
        if tasks:
            return f"{sum(task in tasks for task in self.solved)} / {len(tasks)}"
        return html.escape(self._say("start_opened")) if lesson.opened else ""


def _box(title: str, solved: bool) -> str:
    ground, ink, sign = (DONE, PAPER, "√ ") if solved else (PAPER, INK, "")
    return (
        f'<span style="display:inline-block;border:1px solid {LINE};background:{ground};color:{ink};'
        f'padding:2px 8px;margin:2px 4px 2px 0">{sign}{html.escape(title)}</span>'
    )
