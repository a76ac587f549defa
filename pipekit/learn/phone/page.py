"""Put the page together: words, tables, style and script in one HTML file that asks nobody for anything."""

from __future__ import annotations

import hashlib
import html
import json
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

from pipekit.learn.phone import cards, grids, puzzles, questions, scratch
from pipekit.show import LANGUAGES, number, say
from pipekit.show.phone_words import WORDS

FOLDER = Path(__file__).with_name("page")
SCRIPTS = ("core", "timetable", "cards", "fill", "scratch", "exit", "main")
PREFIX = "phone_"
GAP = re.compile(r"\{\{(\w+)\}\}")
POLICY = "default-src 'none'; img-src data:; style-src '{style}'; script-src '{script}'; base-uri 'none'; form-action 'none'"


def page(lang: str) -> str:
    """The whole page in one language, as HTML."""
    style = _read("page.css")
    script = "(() => {\n" + "\n".join(_read(f"{name}.js") for name in SCRIPTS) + "})();\n"
    gaps = {
        "lang": {"zh": "zh-CN", "en": "en"}[lang],
        "policy": POLICY.format(style=_fingerprint(style), script=_fingerprint(script)),
        "title": html.escape(say("phone_title", lang)),
        "tabs": html.escape(say("phone_tabs", lang)),
        "no_script": html.escape(say("phone_no_script", lang)),
        "style": style,
        "data": json.dumps(data(lang), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        "script": script,
    }
    return GAP.sub(lambda gap: gaps[gap[1]], _read("page.html"))


def write(lang: str, file: Path | None = None) -> Path:
    """Write the page into a file; left out: `pipekit-zh.html` or `pipekit-en.html`, in this folder."""
    file = Path(f"pipekit-{lang}.html") if file is None else file
    file.write_text(page(lang), encoding="utf-8", newline="\n")
    return file


def data(lang: str) -> dict[str, Any]:
    """Everything that the page looks up."""
    return {
        "words": {key.removeprefix(PREFIX): both[LANGUAGES.index(lang)] for key, both in WORDS.items()},
        "devices": [say("device", lang, number=number(device)) for device in range(max(grids.STAGES))],
        "most": {
            "k": [min(grids.STAGES), max(grids.STAGES)],
            "m": [min(grids.MICRO_BATCHES), max(grids.MICRO_BATCHES)],
            "seconds": cards.SECONDS,
            "hand_overs": cards.HAND_OVERS,
        },
        "predicted": grids.predicted_tables(),
        "measured": grids.measured_tables(grids.recorded(), lang),
        "cards": cards.tables(),
        "puzzles": {each.name: puzzles.table(each, lang) for each in puzzles.puzzles(lang)},
        "scratch": scratch.table(),
        "exit": questions.table(lang),
    }


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _fingerprint(text: str) -> str:
    """By which the page's policy knows its own style and script, and no other."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()
