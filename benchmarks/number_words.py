"""Write the numbers 0 to 999 in words with num2words and cn2an, for the translator: `python -m benchmarks.number_words`.

It makes `pipekit/learn/giants/translator_words.npz`, which travels with the package, so nobody else needs the two
libraries (the extra `giants`). `WRONG` lists what they write wrongly and what is left out for it; numbers from 1000 on
were left out in all languages, where several are written wrongly (Dutch without the space that its spelling asks
for, Vietnamese without "không trăm"), and so were languages with a fault below 1000 (Italian 118, "centodicotto").
"""

from __future__ import annotations

from typing import Any

import numpy as np
from cn2an import an2cn
from num2words import num2words

from pipekit.learn.giants.translator_data import CODES, NUMBERS, WORDS_FILE

WRONG = {
    "ar": {200},  # "مئتا", a form that only stands before a noun, for "مئتان"
    "nl": set(range(101, 1000, 100)),  # "honderdéén" for "honderdeen"
}


def words_of(code: str) -> list[str]:
    """The words of all numbers; empty where the library is wrong."""
    return ["" if number in WRONG.get(code, ()) else _written(code, number) for number in NUMBERS]


def _written(code: str, number: int) -> str:
    return str(an2cn(number) if code == "zh" else num2words(number, lang=code))


def main() -> None:
    """Write the file."""
    lines = {code: "\n".join(words_of(code)).encode("utf-8") for code in CODES}
    arrays: dict[str, Any] = {code: np.frombuffer(text, dtype=np.uint8) for code, text in lines.items()}
    np.savez_compressed(WORDS_FILE, **arrays)
    print(f"{WORDS_FILE.name}: {WORDS_FILE.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
