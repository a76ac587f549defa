"""`python -m pipekit giants`: the small relatives of two giant models."""

from __future__ import annotations

import argparse

from pipekit.cli.streams import spoken
from pipekit.learn.giants.terminal import GIANTS


def main(asked: argparse.Namespace) -> int:
    """Run the command."""
    GIANTS[asked.giant](asked, spoken(asked))
    return 0
