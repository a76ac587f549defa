"""The phone page from a terminal: `python -m pipekit page --lang zh`; and what pupils' codes say, with `--decode`."""

from __future__ import annotations

import argparse

from pipekit.learn.phone.page import write
from pipekit.learn.phone.questions import decoded
from pipekit.show import say

UNREADABLE = 2  # exit code: what can't be done as asked


def page(asked: argparse.Namespace, lang: str) -> int:
    """Write the page, or read what it gave to pupils; exit code 2 if a code can't be read.

    Args:
        lang: what this terminal can show; the page itself can show everything.
    """
    if asked.decode:
        text, all_readable = decoded(asked.decode, lang)
        print(text)
        return 0 if all_readable else UNREADABLE
    file = write(asked.lang or lang, asked.out)
    print(say("phone_page_written", lang, file=file, kilobytes=file.stat().st_size / 1000))
    return 0
