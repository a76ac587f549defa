"""Numbers from 0 to 999 in words, in 16 languages, and how a model reads and writes them.

The words travel with the package. `benchmarks/number_words.py` made them with num2words 0.5.14 and, for Chinese, cn2an
0.5.24, and left out what those write wrongly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

WORDS_FILE = Path(__file__).with_name("translator_words.npz")
NUMBERS = range(1000)
HELD_OUT = 200  # numbers that no model sees in any language while it trains
RICH_EXAMPLES, POOR_EXAMPLES = 500, 40  # numbers that a language gives to learn from


class Language(NamedTuple):
    """A language to translate into; `rich` ones give many examples, the others a few dozen."""

    code: str
    zh: str
    en: str
    rich: bool

    @property
    def num_examples(self) -> int:
        """How many numbers it gives to learn from."""
        return RICH_EXAMPLES if self.rich else POOR_EXAMPLES


LANGUAGES = (
    Language("zh", "中文", "Chinese", True),
    Language("en", "英语", "English", True),
    Language("de", "德语", "German", True),
    Language("fr", "法语", "French", True),
    Language("es", "西班牙语", "Spanish", True),
    Language("ru", "俄语", "Russian", True),
    Language("ar", "阿拉伯语", "Arabic", True),
    Language("fa", "波斯语", "Persian", True),
    Language("ja", "日语", "Japanese", True),
    Language("vi", "越南语", "Vietnamese", True),
    Language("nl", "荷兰语", "Dutch", False),
    Language("pt", "葡萄牙语", "Portuguese", False),
    Language("uk", "乌克兰语", "Ukrainian", False),
    Language("he", "希伯来语", "Hebrew", False),
    Language("ko", "韩语", "Korean", False),
    Language("th", "泰语", "Thai", False),
)
CODES = tuple(language.code for language in LANGUAGES)


@cache
def number_words() -> dict[str, dict[int, str]]:
    """Language -> number -> words; a number whose words would be wrong is not there.

    >>> [number_words()[code][42] for code in ("zh", "en", "de", "ja")]
    ['四十二', 'forty-two', 'zweiundvierzig', '四十二']
    """
    with np.load(WORDS_FILE, allow_pickle=False) as file:
        lines = {code: bytes(file[code]).decode("utf-8").split("\n") for code in CODES}
    return {code: {number: line for number, line in enumerate(lines[code]) if line} for code in CODES}


# What a model reads, one sign each: into which language, then hundreds, tens, ones.
SOURCES = (*"0123456789", *CODES)
SOURCE_LENGTH = 4

# What it writes, one letter at a time.
_WORDS = [word for words in number_words().values() for word in words.values()]
PAD, START, END = 0, 1, 2
LETTERS = ("", "<", ">", *sorted(set("".join(_WORDS))))
LONGEST = max(map(len, _WORDS))
_INDEX = {letter: index for index, letter in enumerate(LETTERS)}


class Pairs(NamedTuple):
    """Row by row a number in one language: what is read (n, 4), the letters before each place (n, t), and at it (n, t)."""

    numbers: torch.Tensor
    before: torch.Tensor
    after: torch.Tensor

    def rows(self, chosen: torch.Tensor) -> Pairs:
        """These rows, no longer than the longest of them."""
        before, after = self.before[chosen], self.after[chosen]
        length = int((after != PAD).sum(dim=1).max())
        return Pairs(self.numbers[chosen], before[:, :length], after[:, :length])


def encode_numbers(code: str, numbers: Sequence[int]) -> torch.Tensor:
    """Each number as its language and three digits: (n, 4).

    >>> encode_numbers("zh", [7, 365]).tolist()
    [[10, 0, 0, 7], [10, 3, 6, 5]]
    """
    language = SOURCES.index(code)
    return torch.tensor([[language, number // 100, number // 10 % 10, number % 10] for number in numbers])


def encode_words(words: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """The letters before each place, and the letter at it: (n, longest + 1) each."""
    before, after = (torch.full((len(words), LONGEST + 1), PAD) for _ in range(2))
    for row, word in enumerate(words):
        letters = [_INDEX[letter] for letter in word]
        before[row, : len(word) + 1] = torch.tensor([START, *letters])
        after[row, : len(word) + 1] = torch.tensor([*letters, END])
    return before, after


def decode(letters: Sequence[int]) -> str:
    """The word that these letters spell, up to its end."""
    signs = list(letters)
    return "".join(LETTERS[sign] for sign in signs[: signs.index(END) if END in signs else len(signs)])


@cache
def held_out() -> frozenset[int]:
    """The numbers kept for the test: the same in every language, for every seed."""
    return frozenset(np.random.default_rng(2018).permutation(len(NUMBERS))[:HELD_OUT].tolist())


def examples(language: Language, seed: int) -> list[int]:
    """The numbers that a language gives to learn from, drawn by the seed."""
    left = sorted(set(number_words()[language.code]) - held_out())
    drawn = np.random.default_rng([seed, CODES.index(language.code)]).permutation(left)
    return [int(number) for number in drawn[: language.num_examples]]


def exam_numbers(language: Language) -> list[int]:
    """The held-out numbers whose words are known."""
    return sorted(set(number_words()[language.code]) & held_out())


def pairs(language: Language, numbers: Sequence[int]) -> Pairs:
    """These numbers in one language, ready for a model."""
    words = number_words()[language.code]
    read = encode_numbers(language.code, numbers)
    return Pairs(read, *encode_words([words[number] for number in numbers]))


def mini_batches(languages: Sequence[Language], seed: int, batch_size: int, steps: int) -> Iterator[Pairs]:
    """Mini-batches in which every language has its turn equally often, whether it gives many examples or few."""
    random = torch.Generator().manual_seed(seed)
    each = [pairs(language, examples(language, seed)) for language in languages]
    everything = Pairs(*map(torch.cat, zip(*each, strict=True)))
    starts = np.cumsum([0, *(len(part.numbers) for part in each)]).tolist()
    turns = _endless(len(languages), random)
    orders = [_endless(len(part.numbers), random) for part in each]
    for _ in range(steps):
        chosen = [next(turns) for _ in range(batch_size)]
        yield everything.rows(torch.tensor([starts[turn] + next(orders[turn]) for turn in chosen]))


def _endless(count: int, random: torch.Generator) -> Iterator[int]:
    """0 .. count-1 in a new order again and again."""
    while True:
        yield from torch.randperm(count, generator=random).tolist()
