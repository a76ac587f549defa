"""What a class guesses before it measures: reading what was typed, and a kind word afterwards."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from pipekit.learn.controlroom.sentences import count
from pipekit.show import say

SLOTS_RIGHT, POINTS_RIGHT = 0.5, 2.0  # a guess this near is spot on
MOST_SLOTS = 100_000.0
_AROUND = re.compile(
    r"^(大概|大约|差不多|可能|约|about|around|approx\.?|roughly|ca\.?|[~≈])+|(左右|上下|吧)+$"
)
_UNITS = re.compile(r"(格|个|slots?|ticks?|percent|per cent|%)+$")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
_FRACTION = re.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True, slots=True)
class Guess:
    """What was guessed, or measured: slots, and idle time in percent; None: not guessed.

    Args:
        forward_only: whether the slots are those of the way forward.
    """

    slots: float | None = None
    percent: float | None = None
    forward_only: bool = True


def parse(text: str, kind: str = "slots") -> float | None:
    """The number in a text, however a keyboard writes it; None where there is none, or it can't be one.

    Args:
        kind: "slots", or "percent": there 3/7 and 0.43 are shares, 43 and 0.43% are percents.

    >>> parse("43％", "percent"), parse("约４３．５%", "percent"), parse("3/7", "percent"), parse(" 7格 ")
    (43.0, 43.5, 42.857142857142854, 7.0)
    >>> parse("lots"), parse("-3"), parse("143%", "percent"), parse("")
    (None, None, None, None)
    """
    value = _value(text, kind)
    return value if value is not None and not _impossible(value, kind) else None


def complaint(text: str, kind: str, lang: str, view: str = "class") -> str:
    """Why `parse` finds nothing in a text, in a word for the class; "" where it does, and for a blank."""
    if not text.strip():
        return ""
    value = _value(text, kind)
    if value is None:
        example = "43%" if kind == "percent" else "7"
        return say("guess_not_a_number", lang, view, text=text.strip()[:12], example=example)
    key = _impossible(value, kind)
    return say(key, lang, view) if key else ""


def verdict(guess: Guess, measured: Guess, lang: str, view: str = "class") -> str:
    """How near each guess came, in a few kind words; "" where nothing was guessed."""
    slots, percent = _apart(guess.slots, measured.slots), _apart(guess.percent, measured.percent)
    slots_words = "" if slots is None else _slots_words(slots, lang)
    percent_words = "" if percent is None else _percent_words(percent, lang)
    if not (slots_words and percent_words):
        return slots_words or percent_words
    if slots_words == percent_words:  # both spot on
        return slots_words
    said = [
        say("guess_slots_said", lang, view, words=slots_words),
        say("guess_percent_said", lang, view, words=percent_words),
    ]
    return say("comma", lang).join(said)


def _bare(text: str) -> str:
    """The text with half-width characters, a decimal point, and nothing around the number."""
    bare = unicodedata.normalize("NFKC", text).replace("。", ".").replace("−", "-").lower()
    bare = re.sub(r"(?<!\d)\s+|\s+(?!\d)", "", bare)  # between two digits a blank makes two numbers
    bare = _UNITS.sub("", _AROUND.sub("", bare))
    if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", bare):
        return bare.replace(",", "")  # thousands
    return bare.replace(",", ".", 1)


def _value(text: str, kind: str) -> float | None:
    """The number as it was meant, possible or not."""
    bare = _bare(text)
    fraction = _FRACTION.fullmatch(bare)
    if kind == "percent" and fraction is not None and int(fraction[2]):
        return 100 * int(fraction[1]) / int(fraction[2])
    if not _NUMBER.fullmatch(bare):
        return None
    value = float(bare)
    is_share = kind == "percent" and 0 < value < 1 and "%" not in unicodedata.normalize("NFKC", text)
    return 100 * value if is_share else value


def _impossible(value: float, kind: str) -> str:
    """The key of what to say about a number that can't be; "" for one that can."""
    if value < 0:
        return "guess_negative"
    if kind == "percent":
        return "guess_over_100" if value > 100 else ""
    if value == 0:
        return "guess_no_slots"
    return "guess_too_large" if value > MOST_SLOTS else ""


def _apart(guessed: float | None, measured: float | None) -> float | None:
    return None if guessed is None or measured is None else abs(guessed - measured)


def _slots_words(apart: float, lang: str) -> str:
    if apart <= SLOTS_RIGHT:
        return say("guess_right", lang)
    off = count(apart, 1)
    return say("guess_slot_off" if off == "1" else "guess_slots_off", lang, count=off)


def _percent_words(apart: float, lang: str) -> str:
    if apart <= POINTS_RIGHT:
        return say("guess_right", lang)
    return say("guess_points_off", lang, count=f"{apart:.0f}")
