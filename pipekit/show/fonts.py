"""Find a font that has Chinese, and never draw an empty box: without one, labels are English and say so.

Names are tried first, in this order; then fonts installed since matplotlib made its list; then the optional package
`pylopdf-fonts-zh-cn`. (Asking every font whether it has the glyphs takes 14 s and picks matplotlib's Last Resort.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path

import matplotlib
from matplotlib import font_manager
from PIL import ImageFont

CHINESE_NAMES = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "Microsoft YaHei",
    "PingFang SC",
    "Hiragino Sans GB",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "SimHei",
    "Heiti SC",
    "Droid Sans Fallback",
)
CHINESE_PACKAGE = "pylopdf-fonts-zh-cn"
SMALLEST_CHINESE_FILE = 1_000_000  # bytes: thousands of glyphs don't fit in less
LATIN = "DejaVu Sans"


@dataclass(frozen=True, slots=True)
class Font:
    """A face in a file, and the name matplotlib knows it by."""

    name: str
    path: str
    index: int = 0  # which face of a collection (.ttc)


@lru_cache
def latin(bold: bool = False) -> Font:
    """DejaVu Sans, which matplotlib brings along."""
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return Font(LATIN, str(folder / ("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf")))


@lru_cache
def chinese() -> Font | None:
    """The first Chinese font there is; None where there is none."""
    return _by_name() or _installed_lately() or _from_package()


def font_for(lang: str, bold: bool = False) -> Font:
    """The font for labels in this language."""
    found = chinese() if drawn_language(lang) == "zh" else None
    return found or latin(bold)


def drawn_language(lang: str) -> str:
    """The language that pictures can be labelled in: English where there's no Chinese font."""
    return "en" if lang == "zh" and chinese() is None else lang


@lru_cache
def sized(font: Font, size: int) -> ImageFont.FreeTypeFont:
    """The same face for Pillow, `size` pixels high."""
    return ImageFont.truetype(font.path, size, index=font.index)


def _by_name() -> Font | None:
    known = {entry.name: entry for entry in reversed(font_manager.fontManager.ttflist)}
    for name in CHINESE_NAMES:
        if name in known and Path(known[name].fname).exists():
            return Font(name, known[name].fname, getattr(known[name], "index", 0))
    return None


def _installed_lately() -> Font | None:
    """Fonts that came after matplotlib wrote its list, such as one installed a minute ago."""
    known = {entry.fname for entry in font_manager.fontManager.ttflist}
    for path in font_manager.findSystemFonts():
        if path not in known and Path(path).stat().st_size >= SMALLEST_CHINESE_FILE:
            _add(path)
    return _by_name()


def _from_package() -> Font | None:
    try:
        files = metadata.files(CHINESE_PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.suffix in (".otf", ".ttf"):
            _add(str(file.locate()))
    return _by_name()


def _add(path: str) -> None:
    try:
        font_manager.fontManager.addfont(path)
    except (RuntimeError, OSError, ValueError):
        return  # a font that can't be read is a font we don't have
