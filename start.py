"""Prepare pipekit and open its control room, with nothing but Python's standard library.

    python3 start.py                  prepare `.venv` (the first time only), open JupyterLab on the control room
    python3 start.py --lang en        the same in English
    python3 start.py lesson           open the page for one lesson instead
    python3 start.py afresh           give the notebooks anew; yours are kept beside them
    python3 start.py setup            only prepare
    python3 start.py share            give the page for phones out in the local network
    python3 start.py bundle           make a folder for a USB stick, to install from without a network
    python3 start.py test [ARGS]      prepare, then pass every check; ARGS are handed to pytest

This file checks the Python; `pipekit/launcher` does the rest, in the Python that was called until `.venv` is
there, and then in `.venv`'s.
"""

import os
import sys

OLDEST_PYTHON = (3, 10)
TOO_OLD = (
    (
        "pipekit: pipekit 需要 Python {}.{} 或更新的版本，而这是 Python {}.{}。请装一个新的（python.org、系统的软件源或 "
        "conda），再用它运行，例如 python3.12 start.py；Windows：py -3.12 start.py。"
    ),
    (
        "pipekit: pipekit needs Python {}.{} or newer, and this is Python {}.{}. Install a newer one (python.org, "
        "your system's packages, or conda) and call start.py with it, for example `python3.12 start.py`, or "
        "`py -3.12 start.py` on Windows."
    ),
)


def too_old(version, encoding):
    """Explain in Chinese and in English that this Python cannot run pipekit; in what the terminal can show."""
    paragraphs = [text.format(*(OLDEST_PYTHON + tuple(version[:2]))) for text in TOO_OLD]
    return "\n".join(text for text in paragraphs if text == text.encode(encoding, "ignore").decode(encoding))


# The launcher's files are written in a way that an older Python cannot read, so the check comes first.
if sys.version_info < OLDEST_PYTHON:
    sys.exit(too_old(sys.version_info, sys.stderr.encoding or "ascii"))

ROOT = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, ROOT)  # before any other package of the name pipekit

from pathlib import Path  # noqa: E402

from pipekit.launcher.main import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(Path(ROOT), sys.argv[1:]))
