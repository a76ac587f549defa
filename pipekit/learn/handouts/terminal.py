"""The printed sheets from a terminal: `python -m pipekit handouts --lang zh`."""

from __future__ import annotations

import argparse
from pathlib import Path

from pipekit.learn import handouts
from pipekit.show import LANGUAGES, say


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Tell the command line what `handouts` understands."""
    parser = commands.add_parser(
        "handouts", help="write sheets to print: for the class, and the teacher's key"
    )
    parser.add_argument("--lang", choices=LANGUAGES, help="default: the locale's")
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="folder to write into (default: this one)"
    )


def main(asked: argparse.Namespace, lang: str) -> int:
    """Write both files and say where they are and how to print them."""
    for path, pages in handouts.write(lang, asked.out):
        print(say("paper_made", lang, path=path, count=pages))
    print(say("paper_print", lang))
    return 0
