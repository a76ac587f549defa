"""Three questions before going home, and the code that carries a pupil's three choices to the teacher.

A code is the three letters as chosen and one digit that catches a slip in writing it down: `ABC4`. There is nothing
else in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Any
from unicodedata import normalize

from pipekit.show import say

LETTERS = "ABCD"
RIGHT = "BCA"  # the right letter of each question
# Times any step of 1 to 3 no 8, nor are their differences: it shows one wrong letter, or any two swapped.
WEIGHTS = (1, 2, 3)
DIGITS = "23456789"  # 0 and 1 look like letters
CODE = re.compile(rf"([{LETTERS}]{{{len(RIGHT)}}})([{DIGITS}])")


def code(letters: str) -> str:
    """The code of three choices.

    >>> code("BCA")
    'BCA7'
    """
    places = (LETTERS.index(letter) for letter in letters)
    return letters + DIGITS[sum(place * weight for place, weight in zip(places, WEIGHTS, strict=True)) % 8]


def decode(written: str) -> str | None:
    """The three letters of a code, however it was typed; None if there is a slip in it.

    >>> decode(" bca-7 "), decode("BCB9")
    ('BCA', None)
    """
    found = CODE.fullmatch(re.sub(r"[\s-]", "", normalize("NFKC", written)).upper())
    return found[1] if found and code(found[1]) == found[0] else None


def table(lang: str) -> dict[str, Any]:
    """What the page looks up: questions, options with a reply each, and the code of every three choices."""
    questions = [
        {
            "asked": say(f"phone_q{number}", lang),
            "right": right,
            "options": {
                letter: [say(f"phone_q{number}_{letter}", lang), say(f"phone_q{number}_{letter}_why", lang)]
                for letter in LETTERS
            },
        }
        for number, right in enumerate(RIGHT, start=1)
    ]
    codes = {"".join(letters): code("".join(letters)) for letters in product(LETTERS, repeat=len(RIGHT))}
    return {"questions": questions, "codes": codes}


def decoded(codes: Sequence[str], lang: str) -> tuple[str, bool]:
    """What codes say, a block a code; of several also how often each letter was chosen. And whether all could be read."""
    letters = [decode(written) for written in codes]
    blocks = [
        "\n".join(_explained(written, found, lang)) for written, found in zip(codes, letters, strict=True)
    ]
    readable = [found for found in letters if found]
    if len(codes) > 1:
        blocks.append("\n".join(_tally(readable, lang)))
    return "\n\n".join(blocks), len(readable) == len(codes)


def _explained(written: str, found: str | None, lang: str) -> list[str]:
    if found is None:
        return [say("phone_code_unreadable", lang, code=written)]
    right = sum(letter == good for letter, good in zip(found, RIGHT, strict=True))
    lines = [say("phone_code_score", lang, code=code(found), right=right, total=len(RIGHT))]
    for number, (letter, good) in enumerate(zip(found, RIGHT, strict=True), start=1):
        key = "phone_code_right" if letter == good else "phone_code_wrong"
        why = say(f"phone_q{number}_{letter}_why", lang)
        lines.append(say(key, lang, number=number, letter=letter, why=why))
    return lines


def _tally(found: Sequence[str], lang: str) -> list[str]:
    lines = [say("phone_code_class", lang, count=len(found))]
    for number, good in enumerate(RIGHT, start=1):
        counts = "  ".join(
            f"{letter}{'*' if letter == good else ''} {sum(each[number - 1] == letter for each in found)}"
            for letter in LETTERS
        )
        lines.append(say("phone_code_question", lang, number=number, counts=counts))
    return lines
