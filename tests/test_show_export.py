"""Pictures out: the SVG is the PNG in vectors, the GIF replays slot by slot, `save` goes by the name."""

import io
import time
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from pipekit import plan, show
from pipekit.errors import CostsError, FileError
from pipekit.plan import Costs, Timeline
from pipekit.show import export, grid
from pipekit.show.fonts import drawn_language

DEVICES = "4 stand-ins, 160 ms a mini-batch forward; durations declared, order and waiting measured"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def lesson():
    return plan.simulate(plan.gpipe(num_stages=4, num_micro_batches=4), Costs())


@pytest.fixture
def pair(lesson):
    """The lesson's two forward grids: uncut 16 slots, cut 7."""
    uncut = plan.simulate(plan.naive(num_stages=4), Costs(forward=4.0, backward=8.0))
    return [replace(each.only("F"), source="measured", devices=DEVICES) for each in (uncut, lesson)]


def drawing(*args, **options):
    return ElementTree.fromstring(show.svg(*args, **options))


def words(root):
    return [element.text for element in root.iter(f"{SVG}text")]


# -- SVG


@pytest.mark.parametrize("lang", show.LANGUAGES)
@pytest.mark.parametrize("view", ["class", "engineer"])
@pytest.mark.parametrize("dashed", [False, True])
def test_the_svg_is_the_painters_picture(lesson, lang, view, dashed):
    """Same boxes, words and places: both are drawn from one scene."""
    timelines = [lesson, replace(lesson, source="measured", devices=DEVICES)]
    options = {"lang": lang, "view": view, "dashed": dashed, "notes": ["a", "b"]}
    scene, root = grid.scene(timelines, **options), drawing(timelines, **options)
    image = show.paint(timelines, **options)
    assert (int(root.get("width")), int(root.get("height"))) == image.size
    assert words(root) == [item.text for item in scene.items if isinstance(item, grid.Text)]
    boxes = [item for item in scene.items if isinstance(item, grid.Box)]
    rects = list(root.iter(f"{SVG}rect"))[1:]  # the first is the paper
    assert len(rects) == len(boxes)
    for rect, box in zip(rects, boxes, strict=True):
        line = float(rect.get("stroke-width", 0))
        assert float(rect.get("x")) - line / 2 == box.left
        assert float(rect.get("width")) + line == pytest.approx(box.right - box.left)
        assert (rect.get("stroke-dasharray") is not None) == box.dashed
    assert (any(rect.get("stroke-dasharray") for rect in rects)) == dashed


def test_an_svg_is_real_text_that_says_what_it_is(lesson):
    root = drawing([replace(lesson, source="measured", devices=DEVICES)])
    assert root.get("role") == "img"
    assert root.get("aria-label") == root.find(f"{SVG}title").text == f"Measured · {DEVICES}"
    assert {"Measured", DEVICES, "GPU 4", "F1", "B4", "forward"} <= set(words(root))


def test_pointing_at_an_op_says_which_where_and_when(lesson):
    tips = [title.text for rect in drawing([lesson]).iter(f"{SVG}rect") for title in rect]
    assert len(tips) == 32
    assert tips[0] == "F1 · GPU 1 · 0 - 1 s"
    engineer = [t.text for rect in drawing([lesson], view="engineer").iter(f"{SVG}rect") for t in rect]
    assert engineer[0] == f"F0 · {show.say('device', 'en', 'engineer', number=0)} · 0 - 1 s"


def test_words_from_outside_cannot_break_the_drawing(lesson):
    evil = '</title><script>alert("1")</script> & \x00\x0b "quotes" \'too\''
    shown = drawing(
        [replace(lesson, source="measured", devices=evil, unit="<b>")], notes=[evil], annotations=["<b>"]
    )
    assert not list(shown.iter("script")) and not list(shown.iter(f"{SVG}script"))
    assert evil.replace("\x00", "").replace("\x0b", "") in words(shown)


def test_an_svg_needs_nothing_from_elsewhere(lesson):
    text = show.svg([lesson])
    assert "href" not in text and "url(" not in text and "<style" not in text
    assert text.count("http") == 1  # the name of the language itself


def test_words_keep_their_width_in_a_browser_with_other_fonts(lesson):
    for text in drawing([lesson]).iter(f"{SVG}text"):
        assert int(text.get("textLength")) > 0 and text.get("lengthAdjust") == "spacingAndGlyphs"


# -- GIF


def gif_frames(content):
    image = Image.open(io.BytesIO(content))
    for index in range(image.n_frames):
        image.seek(index)
        yield image.info["duration"], np.asarray(image.convert("RGB")).astype(int)


def test_a_replay_has_a_frame_a_slot_and_ends_with_the_whole(pair):
    pictures = list(show.frames(pair, column=1.0))
    assert len(pictures) == 16 + 1
    assert len({picture.size for picture in pictures}) == 1  # nothing jumps
    assert pictures[-1] == show.paint(pair, column=1.0)
    blue = [(np.asarray(picture) == grid.FILLS[plan.Kind.FORWARD]).all(axis=2).sum() for picture in pictures]
    assert blue[0] < blue[1] < blue[4] < blue[-1]
    assert blue == sorted(blue)


def test_the_lessons_replay_is_small_and_says_measured_on_what(pair):
    content = show.gif(pair, column=1.0, width=1080, slot_seconds=0.25, annotations=["", "9 slots less"])
    print(f"{len(content) / 1000:.0f} kB")
    assert len(content) < 1_000_000
    durations, pictures = zip(*gif_frames(content), strict=True)
    assert durations == (250,) * 16 + (2000,)
    captions = np.asarray(show.paint(pair, column=1.0, width=1080, annotations=["", "9 slots less"]))
    for picture in pictures:
        line = picture[grid.MARGIN : grid.MARGIN + grid.LINE]
        assert np.abs(line - captions[grid.MARGIN : grid.MARGIN + grid.LINE]).mean() < 3
    assert tuple(pictures[0][0, -1]) == grid.PAPER
    assert (pictures[-1] == grid.FILLS[plan.Kind.FORWARD]).all(axis=2).any()


def test_a_late_end_gets_its_frame(lesson):
    late = [replace(span, end=span.end + 0.1) for span in lesson.spans]
    assert len(list(show.frames([replace(lesson, spans=late)], column=1.0))) == 23


def test_a_result_is_written_beside_the_grid_only_when_the_replay_has_come_there(pair):
    def said(until):
        items = grid.scene(pair, column=1.0, annotations=["", "9 slots less"], until=until).items
        return "9 slots less" in {item.text for item in items if isinstance(item, grid.Text)}

    assert [said(until) for until in (0.0, 6.0, 7.0, 16.0, None)] == [False, False, True, True, True]


def test_the_cursor_passes_rows_that_have_ended(pair):
    def lines(cursor):
        items = grid.scene(pair, column=1.0, annotations=["", "9 slots less"], cursor=cursor).items
        return sum(isinstance(item, grid.Box) and item.fill == grid.INK for item in items)

    assert (lines(5.0), lines(12.0)) == (2, 1)


# -- save


@pytest.mark.parametrize(
    ("suffix", "begin"),
    [
        (".png", b"\x89PNG"),
        (".svg", b"<svg "),
        (".gif", b"GIF89a"),
        (".json", b'{"format": "pipekit-timeline"'),
        (".csv", b"\xef\xbb\xbf# format,pipekit-timeline"),
        (".trace.json", b'{"traceEvents"'),
    ],
)
def test_a_names_end_says_what_is_saved(tmp_path, lesson, suffix, begin):
    path = show.save(lesson, tmp_path / f"第 1 次{suffix}", lang="en")
    assert path.read_bytes().startswith(begin)
    with pytest.raises(FileError, match="exists already"):
        show.save(lesson, path)
    show.save(lesson, path, overwrite=True)
    assert len(list(tmp_path.iterdir())) == 1


def test_pictures_show_several_timelines_and_data_hold_one(tmp_path, pair):
    heights = []
    for count in (1, 2):
        with Image.open(show.save(pair[:count], tmp_path / f"{count}.png", column=1.0)) as image:
            heights.append(image.height)
    assert heights[0] < heights[1]
    with pytest.raises(FileError, match=r"a\.csv holds one timeline, not 2"):
        show.save(pair, tmp_path / "a.csv")


def test_what_comes_back_paints_the_same_picture(tmp_path, pair):
    back = plan.read_timeline(show.save(pair[1], tmp_path / "a.csv"))
    for lang in show.LANGUAGES:
        assert show.paint([back], lang=lang) == show.paint([pair[1]], lang=lang)


def test_an_unknown_ending_is_refused_with_those_there_are(tmp_path, lesson):
    with pytest.raises(FileError, match=r"let the name end in one of: \.png, \.svg, \.gif, \.json, \.csv"):
        show.save(lesson, tmp_path / "a.pdf")


@pytest.mark.parametrize("suffix", [".png", ".svg", ".gif"])
def test_a_timeline_without_ops_is_refused_and_leaves_no_file(tmp_path, suffix):
    with pytest.raises(CostsError, match="nothing to measure"):
        show.save(Timeline([], 2), tmp_path / f"a{suffix}")
    assert not list(tmp_path.iterdir())


def test_saving_takes_little_time(pair):
    began = time.perf_counter()
    show.gif(pair, column=1.0)
    took = time.perf_counter() - began
    print(f"a replay of 17 frames: {1000 * took:.0f} ms")
    assert took < 3  # 0.15 s on a quiet machine


def test_a_machine_without_chinese_draws_english_svg(lesson, monkeypatch):
    from pipekit.show import fonts

    monkeypatch.setattr(fonts, "chinese", lambda: None)
    assert drawn_language("zh") == "en"
    assert "Predicted" in words(drawing([lesson], lang="zh"))
    assert export._family(fonts.font_for("zh")).endswith("sans-serif")
