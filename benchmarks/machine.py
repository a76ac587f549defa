"""Facts about the machine that every benchmark prints above its figures, and a table printer."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from pipekit import run  # first: it sets the allocator before torch is imported

import torch  # isort: skip


def facts() -> str:
    """Processor, cores, system, Python, torch, allocator; one line each."""
    lines = [
        f"processor   {_processor()}, {os.cpu_count()} cores, usable {run.usable_cores():.3g}",
        f"system      {platform.platform()}",
        f"python      {platform.python_version()}, torch {torch.__version__}",
        f"allocator   {'memory kept (mallopt)' if run.keep_memory() else 'as it is'}",
        f"load        {os.getloadavg()[0]:.2f} in the last minute"
        if hasattr(os, "getloadavg")
        else "load        ?",
    ]
    return "\n".join(lines)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown processor"


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows under heads, columns aligned; floats with two decimals."""
    cells = [[f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(heads), *cells]) for i in range(len(heads))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in [heads, *cells]
    )
