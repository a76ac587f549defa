"""The comparison panel's part of the table of words (`i18n`): (Chinese, English), for a class and for engineers."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # -- names of schedules, as the field says them
    "interleaved_1f1b": ("交错 1F1B", "interleaved 1F1B"),
    "looped_bfs": ("循环 BFS", "looped BFS"),
    "zb_h1": ("ZB-H1", "ZB-H1"),
    "zb_h2": ("ZB-H2", "ZB-H2"),
    "zb_v": ("ZB-V", "ZB-V"),
    "dualpipe": ("DualPipe", "DualPipe"),
    "dualpipe_v": ("DualPipeV", "DualPipeV"),
    "chimera": ("Chimera", "Chimera"),
}

ENGINEER: dict[str, tuple[str, str]] = {
    "interleaved_1f1b": ("Interleaved 1F1B", "Interleaved 1F1B"),
    "looped_bfs": ("Looped BFS", "Looped BFS"),
}
