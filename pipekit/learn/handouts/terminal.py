"""The printed sheets from a terminal: `python -m pipekit handouts --lang zh`."""

from __future__ import annotations

import argparse

from pipekit.learn import handouts
from pipekit.show import say


def main(asked: argparse.Namespace, lang: str) -> int:
    """Write both files and say where they are and how to print them."""
    for path, pages in handouts.write(lang, asked.out):
        print(say("paper_made", lang, path=path, count=pages))
    print(say("paper_print", lang))
    return 0
