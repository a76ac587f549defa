"""What was tried, a line a verdict: `results.jsonl` in the folder of the notebook. No names: a random word a folder."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import date, datetime, timezone
from pathlib import Path

FILE = "results.jsonl"
MOST_BYTES = 4_000_000  # of a file that is read: some 30,000 verdicts
_KEY = re.compile("[a-z0-9_]{1,40}")


@dataclass(frozen=True)
class Result:
    """One verdict.

    Args:
        who: the folder's random word, the same in all its lines.
        time: UTC, to the second.
        wrong: the misconception, empty if passed.
        attempt: which try at this task it was, from 1.
    """

    who: str
    time: str
    task: str
    passed: bool
    wrong: str
    attempt: int


def record(task: str, passed: bool, wrong: str, folder: Path) -> Result:
    """Append one verdict to the folder's file.

    Raises:
        OSError: the folder can't be written.
    """
    path = folder / FILE
    before = list(read(path)) if path.exists() else []
    result = Result(
        who=before[-1].who if before else secrets.token_hex(4),
        time=datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        task=task,
        passed=passed,
        wrong=wrong,
        attempt=1 + sum(each.task == task for each in before),
    )
    _append(path, json.dumps(asdict(result)))
    return result


def _append(path: Path, line: str) -> None:
    """One write of a whole line: two kernels in one folder don't mix theirs, and a line broken off ends first."""
    with open(path, "ab", buffering=0) as file:
        ends = path.stat().st_size == 0 or _last_byte(path) == b"\n"
        file.write((("" if ends else "\n") + line + "\n").encode("utf-8"))


def _last_byte(path: Path) -> bytes:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


def read(path: Path) -> Iterator[Result]:
    """The results of a file, without the lines that are none.

    Raises:
        OSError: the file can't be read.
    """
    return (result for result in map(parsed, lines_of(path)) if result is not None)


def lines_of(path: Path) -> list[str]:
    """The lines that hold something, as far as a file of sensible size goes.

    Raises:
        OSError: it can't be read, or is something that might never end: a pipe, a device.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a file", str(path))
    with open(path, "rb") as file:
        text = file.read(MOST_BYTES).decode("utf-8-sig", errors="replace")  # an editor may have left its mark
    return [line for line in text.split("\n") if line.strip()]


def parsed(line: str) -> Result | None:
    """The result that a line holds; None for a line that was broken off, or comes from something else."""
    try:
        result = Result(**json.loads(line))
    except (ValueError, TypeError, RecursionError):
        return None
    words = (result.who, result.time, result.task, result.wrong)
    kinds = type(result.passed) is bool and type(result.attempt) is int and {*map(type, words)} == {str}
    if not kinds or not _KEY.fullmatch(result.task) or not _KEY.fullmatch(result.wrong or "none"):
        return None
    return result


def solved(results: Iterable[Result]) -> set[str]:
    """The tasks that were passed at least once."""
    return {result.task for result in results if result.passed}


def reset(folder: Path) -> Path | None:
    """Begin anew; what was there stays beside it under today's date. Returns where, None if there was nothing."""
    path = folder / FILE
    if not path.exists():
        return None
    number = 1
    while True:
        kept = folder / f"results-{date.today().isoformat()}{f'-{number}' if number > 1 else ''}.jsonl"
        if not kept.exists():
            return path.rename(kept)
        number += 1
