"""A class's results: the folders that were handed in, and a table of what was tried, solved and believed. No names."""

from __future__ import annotations

import csv
import io
import os
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import east_asian_width

from pipekit.learn.exercises.keys import KEYS
from pipekit.learn.exercises.results import FILE, Result, lines_of, parsed
from pipekit.show import say
from pipekit.show.i18n import WORDS

MOST_DEEP = 6  # folders within folders that are looked through
NOT_LOOKED_AT = {"node_modules", "__pycache__", "site-packages", "wheels"}


@dataclass(frozen=True)
class Collected:
    """What a folder holds.

    Args:
        learners: the results of each learner.
        num_files: how many files were found. unread: how many of them could not be opened.
        bad_lines: how many lines are no results.
    """

    learners: list[list[Result]]
    num_files: int
    unread: int
    bad_lines: int


@dataclass(frozen=True)
class Row:
    """One task: how many tried and solved it, the median number of tries of those who solved it, and the misconception
    that most learners had, with their number."""

    task: str
    tried: int
    solved: int
    attempts: float | None
    wrong: str
    believers: int


def files_in(folder: Path) -> Iterator[Path]:
    """Every `results.jsonl` below a folder, and every `.jsonl` right in it (handed in under other names).

    Raises:
        NotADirectoryError: it is no folder.
    """
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder")
    for place, folders, names in os.walk(folder):
        deep = len(Path(place).relative_to(folder).parts)
        folders[:] = sorted(
            each
            for each in folders
            if deep < MOST_DEEP and not each.startswith(".") and each not in NOT_LOOKED_AT
        )
        yield from (Path(place) / name for name in sorted(names) if name == FILE or _handed_in(name, deep))


def _handed_in(name: str, deep: int) -> bool:
    return deep == 0 and name.endswith(".jsonl")


def collect(folder: Path) -> Collected:
    """Read a class's folder; broken files and lines are counted and left out."""
    files: list[dict[Result, None]] = []
    num_files = unread = bad = 0
    for path in files_in(folder):
        num_files += 1
        try:
            lines = lines_of(path)
        except OSError:
            unread += 1
            continue
        found = [result for result in map(parsed, lines) if result is not None]
        bad += len(lines) - len(found)
        if found:
            files.append(dict.fromkeys(found))
    return Collected(learners_of(files), num_files, unread, bad)


def learners_of(files: Sequence[dict[Result, None]]) -> list[list[Result]]:
    """One list of results a learner, from one set of results a file.

    A folder's random word tells learners apart. A file that holds another one of its word, and more, is the same folder
    handed in again. Files that went different ways from a common beginning were copied from one folder that had been
    used already: these are different learners, and the beginning is nobody's.
    """
    by_word: dict[str, list[dict[Result, None]]] = {}
    for results in sorted(files, key=len, reverse=True):
        of_word = by_word.setdefault(next(reversed(results)).who, [])
        if not any(results.keys() <= longer.keys() for longer in of_word):
            of_word.append(results)
    learners = []
    for of_word in by_word.values():
        common = set.intersection(*map(set, of_word)) if len(of_word) > 1 else set()
        learners += [[result for result in results if result not in common] for results in of_word]
    return learners


def rows_of(learners: Sequence[Sequence[Result]]) -> list[Row]:
    """A row a task, in the course's order; tasks that nobody tried are there, too."""
    tries: dict[str, list[list[Result]]] = {task: [] for task in KEYS}
    for results in learners:
        for task, mine in _by_task(results).items():
            tries.setdefault(task, []).append(mine)
    strange = sorted(tries.keys() - set(KEYS))
    return [_row(task, tries[task]) for task in [*KEYS, *strange]]


def _by_task(results: Sequence[Result]) -> dict[str, list[Result]]:
    """One learner's tries at each task."""
    tries: dict[str, list[Result]] = {}
    for result in results:
        tries.setdefault(result.task, []).append(result)
    return tries


def _row(task: str, tries: Sequence[Sequence[Result]]) -> Row:
    """Of one list of tries a learner."""
    passes = [_first_pass(mine) for mine in tries]
    needed = [count for count in passes if count is not None]
    beliefs = Counter(wrong for mine in tries for wrong in {each.wrong for each in mine if each.wrong})
    wrong, believers = beliefs.most_common(1)[0] if beliefs else ("", 0)
    return Row(task, len(tries), len(needed), statistics.median(needed) if needed else None, wrong, believers)


def _first_pass(mine: Sequence[Result]) -> int | None:
    """At which try it was passed first."""
    return next((number for number, each in enumerate(mine, start=1) if each.passed), None)


# -- in words


def cells(row: Row, lang: str) -> list[str]:
    """A row as words."""
    title = say(f"exercise_{row.task}_title", lang) if row.task in KEYS else row.task
    belief = ""
    if row.wrong:
        known = f"wrong_{row.wrong}" in WORDS
        what = say(f"wrong_{row.wrong}", lang) if known else row.wrong
        belief = say("collect_belief", lang, count=row.believers, what=what)
    return [
        title,
        str(row.tried),
        str(row.solved),
        "" if row.attempts is None else f"{row.attempts:g}",
        belief,
    ]


def head(lang: str) -> list[str]:
    """The names of the columns."""
    columns = ("collect_task", "collect_tried", "collect_solved", "collect_attempts", "collect_wrong")
    return [say(column, lang) for column in columns]


def report(found: Collected, folder: Path, lang: str) -> str:
    """The class's table as text, and what could not be read; or that there is nothing."""
    if not found.learners:
        words = say("collect_empty" if not found.num_files else "collect_no_results", lang, folder=folder)
        return words + _unread(found, lang)
    rows = [head(lang), *(cells(row, lang) for row in rows_of(found.learners))]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(_padded, row, widths)).rstrip() for row in rows]
    count = say("collect_learners", lang, count=len(found.learners))
    return "\n".join([count, "", *lines]) + _unread(found, lang)


def _unread(found: Collected, lang: str) -> str:
    if not found.unread and not found.bad_lines:
        return ""
    return "\n\n" + say("collect_unread", lang, files=found.unread, lines=found.bad_lines)


def as_csv(learners: Sequence[Sequence[Result]], lang: str) -> str:
    """The same for a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(head(lang))
    writer.writerows(cells(row, lang) for row in rows_of(learners))
    return text.getvalue()


def write_csv(learners: Sequence[Sequence[Result]], path: Path, lang: str) -> None:
    """With the mark at its start by which spreadsheets know utf-8."""
    path.write_text(as_csv(learners, lang), encoding="utf-8-sig", newline="")


def _width(text: str) -> int:
    """Columns of a terminal: a Chinese character takes two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))
