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
    """What was guessed, or measured: slots, and idle time in percent; None: not guessed."""

    slots: float | None = None
    percent: float | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of a text: its value, None for a blank one or one that can't be; then why not, in words."""

    value: float | None = None
    complaint: str = ""


def parse(text: str) -> float | None:
    """The number in a text, however a keyboard writes it; None where there is none.

    >>> parse("43％"), parse("约４３．５%"), parse("43,5"), parse(" 7格 "), parse("lots"), parse("")
    (43.0, 43.5, 43.5, 7.0, None, None)
    """
    bare = _bare(text)
    return float(bare) if _NUMBER.fullmatch(bare) else None


def read_slots(text: str, lang: str) -> Reading:
    """A guess in slots, or a word for the class about what it can't be."""
    value = parse(text)
    if value is None:
        return _unreadable(text, lang, example="7")
    if value < 0:
        return Reading(None, say("guess_negative", lang))
    if value == 0:
        return Reading(None, say("guess_no_slots", lang))
    return Reading(value) if value <= MOST_SLOTS else Reading(None, say("guess_too_large", lang))


def read_percent(text: str, lang: str) -> Reading:
    """A guess in percent; 3/7 and 0.43 are shares, 43 and 0.43% are percents."""
    fraction = _FRACTION.fullmatch(_bare(text))
    if fraction is not None and int(fraction[2]):
        value: float | None = 100 * int(fraction[1]) / int(fraction[2])
    else:
        value = parse(text)
        if value is not None and 0 < value < 1 and "%" not in unicodedata.normalize("NFKC", text):
            value *= 100
    if value is None:
        return _unreadable(text, lang, example="43%")
    if value < 0:
        return Reading(None, say("guess_negative", lang))
    return Reading(value) if value <= 100 else Reading(None, say("guess_over_100", lang))


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
    bare = re.sub(r"\s+", "", bare)
    bare = _UNITS.sub("", _AROUND.sub("", bare))
    if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", bare):
        return bare.replace(",", "")  # thousands
    return bare.replace(",", ".", 1)


def _unreadable(text: str, lang: str, example: str) -> Reading:
    """Nothing for a blank; for anything else a word with an example."""
    if not text.strip():
        return Reading()
    return Reading(None, say("guess_not_a_number", lang, text=text.strip()[:12], example=example))


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
