"""`python -m pipekit page`: the page for phones, and what pupils' codes say."""

from __future__ import annotations

import argparse

from pipekit.cli.streams import spoken
from pipekit.learn.phone import terminal


def main(asked: argparse.Namespace) -> int:
    """Run the command."""
    return terminal.page(asked, spoken(asked))
