"""The printed sheets: every page there, numbers plan's, nothing on top of anything, every character in the font."""

import re
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from pipekit import plan, show
from pipekit.cli import main
from pipekit.errors import FileError
from pipekit.launcher import main as launcher
from pipekit.launcher.places import Places
from pipekit.learn import handouts
from pipekit.learn.handouts import class_sheets, grids, paper, sheet, teacher_sheets
from pipekit.learn.handouts.sheet import Box, Circle, Column, Line, Sheet, Words, width_of, wrapped
from pipekit.show.fonts import chinese, latin

LANGUAGES = pytest.mark.parametrize("lang", show.LANGUAGES)
NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
EDGE = 5.0  # millimetres that most printers leave white


def pages(lang):
    return [*handouts.for_the_class(lang), *handouts.for_the_teacher(lang)]


def text(page):
    return " ".join(page.words)


def numbers(page):
    return [int(found) for found in re.findall(r"\d+", text(page))]


# -- what is on them


@LANGUAGES
def test_a_class_gets_six_sheets_and_the_teacher_five(lang):
    assert len(handouts.for_the_class(lang)) == 6
    assert len(handouts.for_the_teacher(lang)) == 5


@LANGUAGES
def test_the_grids_give_the_first_cell_and_nothing_else(lang):
    for grid, rows, slots in (
        (grids.relay(lang), 4, 16),
        (grids.line(lang), 4, 7),
        (grids.cards(lang), 3, 5),
    ):
        assert (len(grid.rows), grid.num_slots) == (rows, slots)
        given = grid.first_only()
        assert given.cells[0][0] == grid.cells[0][0] != ""
        assert given.num_busy == 1
        assert given.rows == grid.rows


def test_the_filled_grids_are_the_lessons():
    relay, line, cards = grids.relay("en"), grids.line("en"), grids.cards("en")
    assert (relay.num_cells, relay.num_busy, relay.num_idle) == (64, 16, 48)
    assert (line.num_cells, line.num_idle, line.num_waiting) == (28, 12, 6)
    assert (cards.num_cells, cards.num_busy, cards.num_idle) == (15, 9, 6)
    assert [" ".join(cell or "." for cell in row) for row in cards.cells] == [
        "1 2 3 . .",
        ". 1 2 3 .",
        ". . 1 2 3",
    ]
    for device, row in enumerate(line.cells, start=1):
        for slot, cell in enumerate(row, start=1):
            assert cell == (str(slot - device + 1) if 1 <= slot - device + 1 <= 4 else "")


@LANGUAGES
def test_a_sheet_asks_for_what_its_key_says(lang):
    """The class's sheet is the key with blanks: as many as there are numbers to find, and none of them given away."""
    asked, key = class_sheets.grid_sheet(lang), class_sheets.grid_sheet(lang, key=True)
    assert text(asked).count(class_sheets.BLANK) == 20
    assert class_sheets.BLANK not in text(key)
    for answer in ("64", "48", "28", "43", "75", "27", "2.3", "k+m-1"):
        assert answer in text(key) and answer not in text(asked)


@LANGUAGES
def test_the_idle_shares_and_busy_gpus_are_plans(lang):
    key = text(class_sheets.grid_sheet(lang, key=True))
    for pieces in (1, 4, 8, 16):
        assert f"{100 * plan.formula_bubble(4, pieces):.0f}%" in key
    timeline = plan.simulate(plan.gpipe(4, 4), plan.Costs()).only("F")
    assert f"{plan.busy_devices(timeline):.1f}" in key


@LANGUAGES
def test_a_group_gets_36_cards_twelve_for_each_way(lang):
    page = class_sheets.card_sheet(lang)
    assert sum(isinstance(mark, Circle) for mark in page.marks) == 36
    assert sum(isinstance(mark, Box) for mark in page.marks) == 36
    folds = [mark for mark in page.marks if isinstance(mark, Line) and mark.dashed]
    cuts = [mark for mark in page.marks if isinstance(mark, Line) and not mark.dashed]
    assert len(folds) == 36 and len(cuts) == 10 + 5
    for way in (1, 2, 3):
        names = [show.say("paper_card_way", lang, way=way, card=card) for card in range(1, 13)]
        assert [words for words in page.words if words in names] == names


@LANGUAGES
def test_there_are_four_roles_and_the_record_asks_first_and_all_done_for_three_ways(lang):
    roles = class_sheets.role_sheet(lang)
    assert all(show.say(f"paper_role_{who}", lang) in roles.words for who in "abct")
    record = class_sheets.record_sheet(lang)
    cells = [mark for mark in record.marks if isinstance(mark, Box) and mark.width > 30]
    assert len(cells) == 4 * 5  # a head and three ways; way, guess, first, all done, who waited
    assert sum(mark.grey > 0 for mark in cells) == 5


@LANGUAGES
def test_the_scratch_paper_gives_the_steps_and_no_value(lang):
    page, key = class_sheets.scratch_sheet(lang), class_sheets.question_sheet(lang, key=True)
    assert [words for words in page.words if re.fullmatch(r"[-+×÷]\d+", words)] == [
        *("+4", "×3", "-8", "×2", "+5", "÷5", "×4", "-11", "×3")
    ]
    assert sum(isinstance(mark, Box) and mark.height == 15 for mark in page.marks) == 9 + 3
    right = [words for words in key.words if words.isdigit() and words != "2"]
    assert right == ["9", "20", "5", "25", "20", "10", "18", "6"]
    asked = class_sheets.question_sheet(lang)
    assert [words for words in asked.words if words.isdigit()] == ["2"]  # the start


@LANGUAGES
def test_the_answers_are_the_lessons_numbers(lang):
    found = numbers(teacher_sheets.answer_sheet(lang))
    for expected in (
        (90, 4, 360),
        (24, 36, 67),
        (8, 20, 40),
        (2, 14, 14),
        (36, 84, 67),
        (12, 60, 53),
        (3, 51, 45),
        (39, 28, 25, 24, 24, 28),
        (6, 18, 10, 20, 25, 5, 20, 9, 27),
        (45, 20, 15, 14, 13, 12, 11, 10, 9, 9),
    ):
        assert any(tuple(found[at : at + len(expected)]) == expected for at in range(len(found))), (
            f"{expected} not in {found}"
        )
    assert {180, 60} <= set(found)


def test_the_steps_of_the_scratch_paper_game_are_the_lessons():
    assert [teacher_sheets.lesson_evaluations(cells) for cells in (9, 3, 0)] == [9, 15, 45]
    assert teacher_sheets.without_the_third() == 18
    said = text(teacher_sheets.answer_sheet("en"))
    assert "With 9 cells 9 steps; with none 45." in said
    assert re.search(r"third cell used on the way back, 15; .* never used, 18; .* on the first way, 14", said)
    assert "9, 15, 45 steps" in text(teacher_sheets.plan_sheet("en"))


@LANGUAGES
def test_the_lesson_without_a_computer_takes_45_minutes_in_order(lang):
    assert sum(teacher_sheets.MINUTES) == 45
    page = teacher_sheets.plan_sheet(lang)
    times = [tuple(map(int, words.split("-"))) for words in page.words if re.fullmatch(r"\d+-\d+", words)]
    assert times[0][0] == 0 and times[-1][1] == 45
    assert all(before[1] == after[0] for before, after in pairwise(times))


@LANGUAGES
def test_the_lessons_page_has_the_same_minutes_without_a_computer_and_cards_take_longest(lang):
    notes = (NOTEBOOKS / "teacher" / lang / "lesson-45.md").read_text(encoding="utf-8")
    part = re.split(r"^## (?:没有电脑|Without a computer)$", notes, flags=re.M)[1].split("\n## ")[0]
    assert tuple(map(int, re.findall(r"^\| (\d+) \|", part, re.M))) == teacher_sheets.MINUTES
    assert max(teacher_sheets.MINUTES) == teacher_sheets.MINUTES[1] > 2 * teacher_sheets.MINUTES[0]


@LANGUAGES
def test_the_laundrys_answer_is_the_teachers_alone(lang):
    assert not any("180" in text(page) for page in handouts.for_the_class(lang))
    assert "180" in text(teacher_sheets.answer_sheet(lang))


# -- how they look


def place(words):
    width = width_of(words.text, words.size) * (1.15 if words.bold else 1.0)
    left = words.x - width / 2 if words.centred else words.x
    height = words.size * sheet.POINT
    return left, words.y - height / 2, left + width, words.y + height / 2


@LANGUAGES
def test_no_words_lie_on_others_or_beyond_what_a_printer_prints(lang):
    for page in pages(lang):
        places = [(place(mark), mark.text) for mark in page.marks if isinstance(mark, Words) and mark.text]
        for (left, top, right, bottom), words in places:
            assert left >= EDGE and right <= 210 - EDGE, (page.name, words)
            assert top >= EDGE and bottom <= 297 - EDGE, (page.name, words)
        for (one, words), (other, more) in combinations(places, 2):
            beside = one[2] <= other[0] or other[2] <= one[0]
            below = one[3] <= other[1] or other[3] <= one[1]
            assert beside or below, (page.name, words, more)


@LANGUAGES
def test_boxes_and_lines_lie_on_the_paper_and_hold_their_words(lang):
    for page in pages(lang):
        for mark in page.marks:
            if isinstance(mark, Box):
                assert mark.x >= EDGE and mark.x + mark.width <= 210 - EDGE
                assert mark.y >= EDGE and mark.y + mark.height <= 297 - EDGE
        cells = [mark for mark in page.marks if isinstance(mark, Box)]
        for words in page.marks:
            if isinstance(words, Words) and words.centred:
                left, _, right, _ = place(words)
                inside = [box for box in cells if box.x < words.x < box.x + box.width]
                inside = [box for box in inside if box.y < words.y < box.y + box.height]
                assert all(box.x <= left and right <= box.x + box.width for box in inside), words.text


@LANGUAGES
def test_a_roles_words_stay_on_its_quarter_of_the_sheet(lang):
    for words in class_sheets.role_sheet(lang).marks:
        if isinstance(words, Words):
            left, top, right, bottom = place(words)
            assert right < 105 or left > 105, words.text
            assert bottom < 148.5 or top > 148.5, words.text


@LANGUAGES
def test_they_copy_well_in_black_and_white(lang):
    greys = {mark.grey for page in pages(lang) for mark in page.marks if isinstance(mark, Box)}
    assert max(greys) <= 0.15
    assert min(mark.size for page in pages(lang) for mark in page.marks if isinstance(mark, Words)) >= 8


@LANGUAGES
def test_a_page_is_in_one_language(lang):
    for page in pages(lang):
        chinese_letters = re.findall(r"[\u3000-\u9fff]", text(page))
        assert bool(chinese_letters) == (lang == "zh"), page.name


def test_a_paragraph_is_broken_where_a_reader_would():
    assert wrapped("one two three", width_of("one two", 10), 10) == ["one two", "three"]
    assert wrapped("往前算，往回改", 4 * 10 * sheet.POINT, 10) == ["往前算，", "往回改"]
    assert wrapped("往前算了，往回改", 4 * 10 * sheet.POINT, 10) == ["往前算", "了，往回", "改"]
    assert wrapped("", 10, 10) == [""]
    for lang in show.LANGUAGES:
        for line in [words for page in pages(lang) for words in page.words if words]:
            assert line[0] not in "，。！？、；：）”" and line[-1] not in "（“"


def test_a_sheet_that_is_too_long_is_not_made():
    column = Column("long")
    column.y = 296
    with pytest.raises(AssertionError, match="'long' is 296 mm long, A4 has 297"):
        column.sheet()


# -- the files


@LANGUAGES
def test_every_character_has_a_glyph(lang):
    if lang == "zh" and chinese() is None:
        pytest.skip("no Chinese font here: the command says so, and writes nothing")
    assert paper.lacking(pages(lang), lang) == set()


def test_a_character_without_a_glyph_is_found():
    spoiled = Sheet("x", (Words(50, 50, "算 \U0001f9fa"),))
    assert "\U0001f9fa" in paper.lacking([spoiled], "en")
    assert "算" in paper.lacking([spoiled], "en")
    with pytest.raises(FileError, match="lacks"):
        paper.write([spoiled], "never.pdf", "en")


@LANGUAGES
def test_the_figure_draws_every_mark_on_a4(lang):
    page = class_sheets.grid_sheet(lang)
    figure = paper.painted(page, lang)
    assert tuple(round(side * 25.4, 3) for side in figure.get_size_inches()) == (210, 297)
    (axes,) = figure.axes
    assert [drawn.get_text() for drawn in axes.texts] == page.words
    shapes = [mark for mark in page.marks if not isinstance(mark, Words)]
    assert len(axes.patches) + len(axes.lines) + len(axes.artists) == len(shapes)


def test_the_command_writes_both_files_and_says_how_to_print(tmp_path, capsys):
    folder = tmp_path / "to print"
    assert main(["handouts", "--lang", "en", "--out", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "(6 pages of A4)" in said and "(5 pages of A4)" in said and "black and white" in said
    for name, count in (("handouts", 6), ("teacher", 5)):
        content = (folder / f"pipekit-{name}-en.pdf").read_bytes()
        assert content.startswith(b"%PDF-")
        assert len(re.findall(rb"/Type /Page\b", content)) == count
        assert content.count(b"/MediaBox [ 0 0 595.27") == count


def test_the_same_sheets_give_the_same_file(tmp_path):
    page = [class_sheets.question_sheet("en")]
    one, two = (paper.write(page, tmp_path / f"{n}.pdf", "en").read_bytes() for n in (1, 2))
    assert one == two


def test_without_a_chinese_font_it_says_what_to_do_and_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(paper, "chinese", lambda: None)
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert main(["handouts", "--lang", "zh", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "pylopdf-fonts-zh-cn" in said and "--lang en" in said
    assert list(tmp_path.iterdir()) == []


def test_a_chinese_file_has_its_words(tmp_path):
    if chinese() is None:
        pytest.skip("no Chinese font here")
    page = replace(class_sheets.question_sheet("zh"), name="x")
    path = paper.write([page], tmp_path / "x.pdf", "zh")
    assert path.stat().st_size > 5000
    assert chinese().name != latin().name


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["handouts", "--lang", "en", "--out", str(tmp_path / "file" / "in")]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_start_py_lets_the_prepared_python_write_them_beside_its_other_products(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(launcher.subprocess, "call", lambda command, cwd: asked.append((command, cwd)) or 0)
    places = Places(tmp_path)
    assert launcher.write_handouts(places, "zh") == 0
    folder = str(tmp_path / "dist" / "handouts")
    command = [str(places.python), "-m", "pipekit", "handouts", "--lang", "zh", "--out", folder]
    assert asked == [(command, tmp_path)]
    assert launcher.parse(["handouts"])[0].command == "handouts"
