"""Read what a learner hands over: numbers, rows of a grid, lanes, functions. What can't be read is refused in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import islice
from math import inf, isfinite
from reprlib import Repr
from typing import Any
from unicodedata import normalize

from pipekit.errors import PipekitError
from pipekit.learn.exercises.task import Case, Refused, case_of
from pipekit.plan import Schedule

MOST_WORDS = 2000  # of one answer; nobody's is longer, except one that never ends
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlist = _SHORT.maxtuple = 8
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?%?")


def short(value: Any) -> str:
    """A value in at most a line, whatever it is."""
    if isinstance(value, float):
        return f"{value:g}"
    try:
        return " ".join(_SHORT.repr(value).split())[:160]
    except Exception:
        return type(value).__name__


def answered(answer: Any) -> Any:
    """The answer; `...` and None mean that there is none yet."""
    if answer is None or answer is ... or (isinstance(answer, str) and answer.strip() in ("", "...")):
        raise Refused("unanswered")
    return answer


def items(answer: Any, most: int = MOST_WORDS) -> list[Any]:
    """The parts of a list, a tuple, an array; one more than `most` is enough to see that there are too many."""
    answered(answer)
    if isinstance(answer, Mapping):
        answer = answer.values()
    if isinstance(answer, str) or not isinstance(answer, Iterable):
        raise Refused("not_a_list", short(answer))
    parts = list(islice(answer, most + 1))
    if any(part is ... or part is None for part in parts):
        raise Refused("unanswered")
    return parts


def words(text: str) -> list[str]:
    """The words of a text, in half-width characters, whatever keyboard wrote it and whatever stands between them."""
    return re.findall(r"[^\s,;、]+", normalize("NFKC", text))


def wrong_count(wanted: int, parts: Sequence[Any]) -> Refused:
    """Too few parts, or too many: these were not counted to the end."""
    given = f"{len(parts)}{'+' if len(parts) > wanted else ''}"
    return Refused("wrong_count", case_of("case_count", wanted=wanted, given=given))


def listed(found: Sequence[float]) -> str:
    """Numbers as a learner wrote them."""
    return ", ".join(f"{value:g}" for value in found)


def number(value: Any) -> float:
    """One number; `"43%"` is 43, too."""
    answered(value)
    if isinstance(value, str):
        plain = normalize("NFKC", value).strip()
        found = float(plain.rstrip("%")) if _NUMBER.fullmatch(plain) else inf
    elif isinstance(value, (bool, complex)):
        found = inf
    else:
        try:
            found = float(value)
        except Exception:
            found = inf
    if not isfinite(found):
        raise Refused("not_a_number", short(value))
    return found


def numbers(answer: Any, count: int) -> list[float]:
    """So many numbers, in a list, a tuple, an array or a text."""
    answered(answer)
    if isinstance(answer, Set):  # has no order: right or wrong by luck
        raise Refused("not_a_list", short(answer))
    parts = words(answer) if isinstance(answer, str) else items(answer, count)
    if len(parts) != count:
        raise wrong_count(count, parts)
    return [number(part) for part in parts]


def function(answer: Any) -> Callable[..., Any]:
    """The function itself, not what it returned."""
    answered(answer)
    if not callable(answer):
        raise Refused("not_a_function", short(answer))
    return answer


def blame(error: BaseException) -> Case | str:
    """What was raised, and in which line of the answer."""
    trace, line = error.__traceback__, 0
    while trace is not None and not line:
        if not str(trace.tb_frame.f_globals.get("__name__")).startswith("pipekit."):
            line = trace.tb_lineno
        trace = trace.tb_next
    try:
        said = " ".join(str(error).split())[:160]
    except BaseException:  # its sentence is the learner's code, too
        said = ""
    sentence = ": ".join(filter(None, (type(error).__name__, said)))
    return case_of("case_error", error=sentence, line=line) if line else sentence


def lanes(answer: Any) -> Schedule:
    """A schedule, from a `Schedule`, a text with `|`, or a list with a text or a list of ops a device."""
    answered(answer)
    if isinstance(answer, Schedule):
        return answer
    rows = answer.split("|") if isinstance(answer, str) else items(answer, most=64)
    ops = [row.split() if isinstance(row, str) else [str(op) for op in items(row)] for row in rows]
    if any("..." in lane for lane in ops):
        raise Refused("unanswered")
    stages = {op.rstrip("0123456789")[:-1] for lane in ops for op in lane}
    if stages and "0" not in stages and all(stage.isdecimal() for stage in stages):
        raise Refused("ops_from_one", short(ops[0]))
    try:
        return Schedule(ops, name="answer")
    except PipekitError as error:
        raise Refused("unreadable_lanes", short(answer), error) from None


def judge(
    cases: Sequence[str] | None,
    found: Sequence[float],
    right: Sequence[float],
    misconceptions: Mapping[str, Sequence[float]],
    tolerance: float = 1e-6,
    partly: str = "numbers_differ",
) -> None:
    """Compare numbers case by case; what is wrong in a way that has a name gets it.

    Args:
        cases: what each number answers, the lesson's own first; None: they are told by their place.
        misconceptions: what one would find who believes it; the first that fits is named.
        tolerance: how far a right number may be off.
        partly: what it is called if the lesson's own case is right and another isn't.
    """

    def same(one: float, other: float) -> bool:
        return abs(one - other) <= tolerance

    wrong = [index for index, (a, b) in enumerate(zip(found, right, strict=True)) if not same(a, b)]
    if not wrong:
        return
    first = wrong[0]
    given = f"{found[first]:g}"
    case = f"{cases[first]}: {given}" if cases else case_of("case_place", place=first + 1, given=given)
    if not any(found):
        raise Refused("zeros", case)
    for name, numbers_then in misconceptions.items():
        if all(map(same, found, numbers_then)):
            raise Refused(name, case)
    raise Refused("numbers_differ" if 0 in wrong else partly, case)
