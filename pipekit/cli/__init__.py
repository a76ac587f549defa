"""The same from a terminal: `python -m pipekit run --stages 4 --micro-batches 8`, `python -m pipekit doctor`.

A command is a module of its name with a `main`, imported when it is asked for; `parser` knows them all.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from pipekit.cli.parser import parser
from pipekit.cli.streams import PLAIN, language, write_plainly
from pipekit.errors import PipekitError
from pipekit.show import sentence

__all__ = ["PLAIN", "language", "main", "write_plainly"]

USAGE_ERROR, INTERRUPTED = 2, 130  # exit codes, as shells have them


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit code: 0, 1 if the doctor found something to put right or there is nothing to collect, 2 for what can't
        be done as asked, 130 after Ctrl-C.
    """
    write_plainly(sys.stdout, sys.stderr)
    asked = parser().parse_args(arguments)
    command = import_module(f"pipekit.cli.{asked.command}")  # only some commands need torch: it takes seconds
    try:
        return int(command.main(asked))
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 -- until the interpreter is gone
        return 0
    except PipekitError as error:
        lang = language(None, sys.stderr.encoding, os.environ)
        print(f"pipekit: {sentence(error, lang, view='engineer')}", file=sys.stderr)
        return USAGE_ERROR
    except OSError as error:
        print(f"pipekit: {error}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        print("pipekit: interrupted; the step was undone", file=sys.stderr)
        return INTERRUPTED
