"""Charts: private figures, PNG out, no empty boxes for Chinese."""

import io
import subprocess
import sys

import pytest
from PIL import Image

from pipekit import plan, show
from pipekit.show import fonts

MEMORY = [plan.DeviceMemory(parameters=40_000, gradients=40_000, activations=100_000.0)] * 4


def size(data: bytes) -> tuple[int, int]:
    return Image.open(io.BytesIO(data)).size


@pytest.mark.parametrize("lang", show.LANGUAGES)
def test_the_bubble_chart_is_a_png(lang):
    curve = {m: plan.formula_bubble(4, m) for m in range(1, 33)}
    assert size(show.bubble_chart(curve, {1: 0.75, 4: 0.43}, 4, 4, lang)) == (520, 290)


def test_a_measured_point_changes_the_chart():
    curve = {1: 0.75, 4: 0.43}
    assert show.bubble_chart(curve, {}, 4, 4) != show.bubble_chart(curve, {4: 0.44}, 4, 4)


@pytest.mark.parametrize("lang", show.LANGUAGES)
def test_the_memory_chart_is_a_png_before_and_after_a_run(lang):
    before, after = show.memory_chart(MEMORY, None, lang), show.memory_chart(MEMORY, [100_000] * 4, lang)
    assert size(before) == size(after) == (520, 290)
    assert before != after


def test_showing_never_loads_pyplot():
    code = "import sys, pipekit.show; print('matplotlib.pyplot' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
    )


def test_without_a_chinese_font_labels_are_english(monkeypatch):
    monkeypatch.setattr(fonts, "chinese", lambda: None)
    assert fonts.drawn_language("zh") == "en"
    assert fonts.font_for("zh") == fonts.latin()
    timeline = plan.simulate(plan.gpipe(num_stages=2, num_micro_batches=2), plan.Costs())
    assert show.png(show.paint([timeline], lang="zh")) == show.png(show.paint([timeline], lang="en"))


def test_a_font_is_found_by_name_and_not_by_its_glyphs(monkeypatch):
    entry = fonts.font_manager.fontManager.ttflist[0]
    monkeypatch.setattr(fonts, "CHINESE_NAMES", (entry.name,))
    found = fonts._by_name()
    assert found is not None and found.name == entry.name


def test_a_font_package_is_optional(monkeypatch):
    monkeypatch.setattr(fonts, "CHINESE_PACKAGE", "no-such-package-anywhere")
    assert fonts._from_package() is None


def test_a_font_that_cannot_be_read_is_skipped(tmp_path):
    broken = tmp_path / "broken.ttf"
    broken.write_bytes(b"no font")
    fonts._add(str(broken))
