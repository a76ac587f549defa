"""`python -m pipekit handouts`: the printed sheets."""

from __future__ import annotations

import argparse

from pipekit.cli.streams import spoken
from pipekit.learn.handouts import terminal


def main(asked: argparse.Namespace) -> int:
    """Run the command."""
    return terminal.main(asked, spoken(asked))
