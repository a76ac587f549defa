"""What the translators wrote, as tables: one number in every language; how the shared one and the single ones did."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import torch
from torch import nn

from pipekit.errors import PipekitError
from pipekit.learn.giants.translator_comparison import Score, saved_results, scores
from pipekit.learn.giants.translator_data import (
    LANGUAGES,
    NUMBERS,
    Language,
    encode_numbers,
    held_out,
    number_words,
)
from pipekit.learn.giants.translator_training import write
from pipekit.show import say

STYLE = (
    "<style>.pipekit-words{border-collapse:collapse;font-size:18px!important}.pipekit-words td,.pipekit-words th"
    "{padding:3px 12px;text-align:start!important;border-bottom:1px solid #ddd}.pipekit-words .r{text-align:end!important}"
    ".pipekit-words caption{text-align:start!important;padding:4px 0}</style>"
)
MARKS = {True: "√", False: "×", None: "?"}


def name_of(language: Language, lang: str) -> str:
    """What a language is called."""
    return language.zh if lang == "zh" else language.en


@dataclass(frozen=True, repr=False)
class Translations:
    """One number, written by a model in every language.

    Args:
        written: a word for each of `LANGUAGES`.
    """

    number: int
    written: tuple[str, ...]
    lang: str

    @property
    def right(self) -> tuple[bool | None, ...]:
        """Whether each is what the libraries write; None where those are wrong themselves."""
        known = [number_words()[language.code].get(self.number) for language in LANGUAGES]
        return tuple(
            None if word is None else word == wrote for word, wrote in zip(known, self.written, strict=True)
        )

    def rows(self) -> list[tuple[str, str, str]]:
        """(language, what was written, whether it is right)."""
        return [
            (name_of(language, self.lang), wrote, MARKS[right])
            for language, wrote, right in zip(LANGUAGES, self.written, self.right, strict=True)
        ]

    def caption(self) -> str:
        """The number, and whether a model may have seen it."""
        key = "words_unseen" if self.number in held_out() else "words_maybe_seen"
        return say(key, self.lang, number=self.number)

    def __repr__(self) -> str:
        return "\n".join([self.caption(), *(f"{mark} {name}: {wrote}" for name, wrote, mark in self.rows())])

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<tr><th>{html.escape(name)}</th><td lang="{language.code}" dir="auto">{html.escape(wrote)}</td>'
            f"<td>{mark}</td></tr>"
            for language, (name, wrote, mark) in zip(LANGUAGES, self.rows(), strict=True)
        )
        caption = html.escape(self.caption())
        return f'{STYLE}<table class="pipekit-words"><caption>{caption}</caption>{cells}</table>'


def translate(model: nn.Module, number: int, lang: str = "zh") -> Translations:
    """Write a number from 0 to 999 in all languages.

    Raises:
        PipekitError: another number, or none.
    """
    if isinstance(number, bool) or not isinstance(number, int) or number not in NUMBERS:
        raise PipekitError("words_number", asked=number, least=NUMBERS[0], most=NUMBERS[-1])
    asked = torch.cat([encode_numbers(language.code, [number]) for language in LANGUAGES])
    return Translations(number, tuple(write(model, asked)), lang)


@dataclass(frozen=True, repr=False)
class ComparedLanguages:
    """How the shared model and the single ones did, with settings, seeds, machine and date."""

    results: dict[str, Any]
    lang: str

    @property
    def scores(self) -> list[Score]:
        """Language by language."""
        return scores(self.results)

    def heads(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(
            say(f"words_{key}", self.lang) for key in ("language", "examples", "alone", "shared", "gain")
        )

    def rows(self) -> list[tuple[str, ...]]:
        """In percent and percentage points; then the means of those with many examples, and with few."""
        rows: list[tuple[str, ...]] = [
            (
                name_of(score.language, self.lang),
                str(score.language.num_examples),
                _spread(score.alone),
                _spread(score.shared),
                f"{_points(score.gain)} ({' … '.join(map(_points, score.interval))})",
            )
            for score in self.scores
        ]
        for rich, key in ((True, "words_rich"), (False, "words_poor")):
            chosen = [score for score in self.scores if score.language.rich == rich]
            alone, shared = (mean(mean(each) for each in side) for side in _sides(chosen))
            rows.append((say(key, self.lang), "", f"{alone:.0%}", f"{shared:.0%}", _points(shared - alone)))
        return rows

    def caption(self) -> str:
        """What was counted, how often, where and when."""
        found = self.results
        seeds = len({run["seed"] for run in found["runs"]})
        return say(
            "words_settings", self.lang, held_out=found["held_out_numbers"], seeds=seeds, machine=_machine(found["machine"], self.lang),
            torch=found["torch"], date=found["date"], minutes=found["seconds"] / 60,
            steps=found["recipe"]["steps_each"], batch=found["recipe"]["batch_size"], languages=len(LANGUAGES),
        )  # fmt: skip

    def __repr__(self) -> str:
        return "\n".join([self.caption(), *(" | ".join(row) for row in [self.heads(), *self.rows()])])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(each)}</th>" for each in self.heads())
        body = "".join(
            "<tr>" + "".join(f'<td class="{"r" if i else ""}">{html.escape(each)}</td>' for i, each in enumerate(row))
            + "</tr>"
            for row in self.rows()
        )  # fmt: skip
        caption = html.escape(self.caption())
        return (
            f'{STYLE}<table class="pipekit-words"><caption>{caption}</caption><tr>{head}</tr>{body}</table>'
        )


def _machine(machine: str, lang: str) -> str:
    """Where it was trained, in words: `translator_comparison` writes it in English."""
    found = re.fullmatch(r"(?P<system>.+), (?P<cores>\d+) cores, one thread", machine)
    return say("words_machine", lang, **found.groupdict()) if found else machine


def _sides(chosen: Sequence[Score]) -> tuple[list[tuple[float, ...]], list[tuple[float, ...]]]:
    return [score.alone for score in chosen], [score.shared for score in chosen]


def _spread(shares: Sequence[float]) -> str:
    return f"{mean(shares):.0%} ({100 * min(shares):.0f}–{100 * max(shares):.0f})"


def _points(share: float) -> str:
    return f"{round(100 * share):+d}"  # an integer has no -0


def compared_languages(lang: str = "zh") -> ComparedLanguages:
    """What came out of the package's own run."""
    return ComparedLanguages(saved_results(), lang)
