"""What a terminal can show, and in which language it is spoken to."""

from __future__ import annotations

import argparse
import codecs
import io
import locale
import os
import sys
from collections.abc import Mapping
from typing import Any

PLAIN = {"√": "OK", "×": "X", "…": "...", "·": "|", "–": "-", "→": "->", "█": "#"}


def write_plainly(*streams: Any) -> None:
    """Let what a stream's encoding lacks (GBK, ASCII) come out as `PLAIN` says, or as an escape: never a traceback."""
    codecs.register_error("pipekit_plain", _plain)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):  # a notebook's stream takes everything
            stream.reconfigure(errors="pipekit_plain")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(PLAIN.get(each) or ascii(each)[1:-1] for each in lacking), error.end


def language(asked: str | None, encoding: str | None, environment: Mapping[str, str]) -> str:
    """Chinese where it is asked for or the locale is Chinese, unless the terminal's encoding has no Chinese."""
    try:
        "中文".encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return "en"
    names = [environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG")]
    name = next(filter(None, names), None) or locale.getlocale()[0] or ""
    return asked or ("zh" if name.lower().startswith(("zh", "chinese")) else "en")


def spoken(asked: argparse.Namespace) -> str:
    """The language of a command's output."""
    return language(asked.lang, sys.stdout.encoding, os.environ)
