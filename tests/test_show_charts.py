"""Charts: private figures, PNG out, no empty boxes for Chinese."""

import io
import subprocess
import sys

import pytest
from matplotlib.text import Text
from PIL import Image

from pipekit import plan, show
from pipekit.show import charts, fonts

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


def line(look=0, measured=(), doubtful=(), name="K=4 GPipe"):
    """A line of a sweep whose fastest M is 8."""
    predicted = {m: (plan.formula_bubble(4, m), (m + 3) * (12 / m + 2 * 0.25)) for m in range(1, 33)}
    marks = ({m: predicted[m] for m in each} for each in (measured, doubtful))
    return show.Series(name, look, predicted, *marks)


def words_of(monkeypatch, series, lang="en"):
    """Every text of a sweep's charts."""
    figures = []
    save = charts.as_png
    monkeypatch.setattr(
        charts, "as_png", lambda figure, lang: (figures.append(figure), save(figure, lang))[1]
    )
    show.sweep_charts(series, "sweep_slots", "where it comes from", lang)
    monkeypatch.undo()
    return [text for text in figures[0].findobj(Text) if text.get_text()]


@pytest.mark.parametrize("lang", show.LANGUAGES)
@pytest.mark.parametrize("number", [0, 1, 8])
def test_sweep_charts_are_as_wide_as_the_room(lang, number):
    lines = [line(look, [1, 2, 4], [8], f"K={look}") for look in range(number)]
    width, height = size(show.sweep_charts(lines, "sweep_slots", "source", lang))
    assert width == 1180 and height < 560


def test_a_measured_mark_changes_the_sweep_charts_and_a_doubtful_one_looks_different():
    drawn = [
        show.sweep_charts([each], "sweep_slots", "source")
        for each in (line(), line(0, [4]), line(0, [], [4]))
    ]
    assert len(set(drawn)) == 3


@pytest.mark.parametrize(
    ("series", "said"),
    [
        (line(), "predicted fastest M=8"),
        (line(0, [4]), "predicted fastest M=8"),
        (line(0, [1, 4]), "fastest M=4"),
        (line(0, [1, 4, 8, 16]), "fastest M=8"),
        (line(0, [1], [8]), "predicted fastest M=8"),
    ],
)
def test_the_minimum_is_said_and_called_predicted_until_two_points_are_measured(monkeypatch, series, said):
    assert [t.get_text() for t in words_of(monkeypatch, [series]) if "fastest" in t.get_text()] == [said]


def test_with_many_lines_only_the_fastest_one_is_marked(monkeypatch):
    assert (
        sum("fastest" in t.get_text() for t in words_of(monkeypatch, [line(look) for look in range(3)])) == 3
    )
    assert (
        sum("fastest" in t.get_text() for t in words_of(monkeypatch, [line(look) for look in range(4)])) == 1
    )


@pytest.mark.parametrize("lang", show.LANGUAGES)
def test_every_word_of_a_sweeps_charts_is_16_pixels_high_and_inside_the_picture(monkeypatch, lang):
    names = {
        "en": "K=8 1F1B erase all, redo +10 ms an op 10 ms a hop",
        "zh": "K=8 1F1B 最后一份留着 每格活多花10毫秒",
    }
    lines = [line(look, [1, 2, 4], [8], names[lang]) for look in range(8)]
    texts = [text for text in words_of(monkeypatch, lines, lang) if not text.get_text().isdigit()]
    assert {names[lang], "where it comes from"} <= {text.get_text() for text in texts}
    for text in texts:
        assert text.get_fontsize() * charts.DPI / 72 == pytest.approx(16, abs=0.1)
        box, whole = text.get_window_extent(), text.figure.bbox
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= whole.x1 and box.y1 <= whole.y1, text.get_text()


@pytest.mark.parametrize("colour", charts.COLOURS)
def test_a_line_stands_out_from_white(colour):
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    assert 1.05 / (luminance + 0.05) >= 3  # WCAG 1.4.11


def test_lines_are_told_apart_by_their_shape_too():
    assert len(set(charts.MARKERS)) == len(charts.COLOURS) == len(set(charts.COLOURS))


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


@pytest.mark.parametrize("lang", show.LANGUAGES)
def test_pipelines_side_by_side_are_drawn_with_their_sums(lang):
    ways = [plan.side_by_side(8, copies, 8, forward=8, backward=16, all_reduce=16) for copies in (1, 2)]
    still = show.side_by_side_chart(ways, lang)
    assert still.png.startswith(b"\x89PNG")
    first, second = still.words.splitlines()
    assert "46.7%" in first and "45" in first and "42.9%" in second and "46" in second
    assert "1/8" in first and "1/4" in second
    twice = plan.side_by_side(4, 1, 8, schedule=plan.dualpipe)
    assert "1/2" in show.side_by_side_chart([twice], lang).words
