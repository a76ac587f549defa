"""`python -m pipekit collect DIR`: a class's table. Loads neither torch nor what draws, so it is there at once."""

from __future__ import annotations

import argparse
import os

from pipekit.cli.streams import language, spoken
from pipekit.learn.classroom.collect import collect, report, write_csv
from pipekit.show import say

NOTHING = 1  # exit code


def main(asked: argparse.Namespace) -> int:
    """Print the class's table; exit code 1 if there is nothing to collect."""
    lang = spoken(asked)
    found = collect(asked.folder)
    print(report(found, asked.folder, lang))
    if asked.csv is not None and found.learners:
        write_csv(found.learners, asked.csv, language(asked.lang, "utf-8", os.environ))
        print("\n" + say("collect_written", lang, file=asked.csv))
    return 0 if found.learners else NOTHING
