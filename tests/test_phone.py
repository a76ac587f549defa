"""The phone page: one small file that asks nobody, whose numbers are plan's, the games' and those of recorded runs."""

import base64
import hashlib
import json
import re
from argparse import Namespace
from itertools import combinations, product

import pytest

from pipekit import plan
from pipekit.cli import main
from pipekit.learn.experiment import LATE
from pipekit.learn.games.cards import finish
from pipekit.learn.games.scratch import Move, optimum, replay
from pipekit.learn.phone import cards, grids, puzzles, questions, record, scratch, terminal
from pipekit.learn.phone.page import FOLDER, SCRIPTS, page
from pipekit.learn.phone.page import data as page_data
from pipekit.show import LANGUAGES
from pipekit.show.phone_words import WORDS as PHONE_WORDS

COSTS = plan.Costs(forward=1, backward=2)
CHINESE = re.compile(r"[\u3000-\u9fff\uff00-\uffef]")


@pytest.fixture(scope="module")
def pages():
    return {lang: page(lang) for lang in LANGUAGES}


@pytest.fixture(scope="module")
def tables(pages):
    """What each page looks up, read off the page."""
    found = {}
    for lang, html in pages.items():
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)
        found[lang] = json.loads(data[1])
    return found


def scripts() -> str:
    return "\n".join((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)


# One file


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_page_is_one_file_under_a_megabyte_that_names_no_other(pages, lang):
    html = pages[lang]
    assert len(html.encode()) < 1_000_000
    assert not re.search(
        r"https?:|@import|url\(|<img|<iframe|srcset|\bsrc=|XMLHttp|fetch\(|WebSocket|Beacon", html
    )
    assert re.findall(r'href="([^"]*)"', html) == ["data:,"]
    assert html.count("<script") == 2 and html.count("<style") == 1


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_policy_allows_this_style_and_this_script_and_nothing_else(pages, lang):
    html = pages[lang]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none'; ")
    for tag, name in (("style", "style-src"), ("script", "script-src")):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_nothing_in_the_data_can_end_the_script_block(monkeypatch):
    told = {"words": {"title": "</script><script>alert(1)</script>"}}
    monkeypatch.setattr("pipekit.learn.phone.page.data", lambda lang: told)
    html = page("en")
    assert html.count("<script") == 2
    assert json.loads(re.search(r'id="data">(.*?)</script>', html, re.S)[1]) == told


def test_a_page_speaks_one_language(pages, tables):
    assert not CHINESE.search(pages["en"])
    for key, words in tables["zh"]["words"].items():
        assert CHINESE.search(words) or not re.search("[a-z]{4}", words), (key, words)
    assert "模拟" not in pages["zh"]


def test_every_word_is_said_somewhere_and_every_word_said_is_there():
    script = scripts()
    python = "".join(path.read_text(encoding="utf-8") for path in FOLDER.parent.glob("*.py"))
    known = {key.removeprefix("phone_") for key in PHONE_WORDS}
    assert set(re.findall(r'say\("(\w+)"', script)) <= known
    literal = set(re.findall(r'"(\w+)"', script + python))
    gaps = [*re.findall(r"say\(`([^`]*)`", re.sub(r"\$\{[^}]*\}", "~", script)), "q~", "q~_~", "q~_~_why"]
    patterns = [gap.replace("~", r"\w+") for gap in gaps]
    for key in known:
        assert {key, f"phone_{key}"} & literal or any(re.fullmatch(each, key) for each in patterns), key


# The timetables


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_predicted_numbers_are_plans_for_every_k_and_m(tables, lang):
    predicted = tables[lang]["predicted"]
    assert set(predicted) == {f"{k},{m}" for k in range(1, 7) for m in range(1, 17)}
    for k, m in product(range(1, 7), range(1, 17)):
        timeline = plan.simulate(plan.gpipe(k, m), COSTS)
        for view, kinds in (("forward", "F"), ("both", "FB")):
            shown, there = predicted[f"{k},{m}"][view], timeline.only(*kinds)
            assert (
                shown["bubble"] == f"{plan.bubble_fraction(there):.1%}" == f"{plan.formula_bubble(k, m):.1%}"
            )
            assert shown["busy"] == f"{plan.busy_devices(there):.2f}"
            assert shown["slots"] == there.makespan == (m + k - 1) * (1 if view == "forward" else 3)
            assert shown["uncut"] == k * m * (1 if view == "forward" else 3)
            assert shown["share"] == f"{shown['slots'] / shown['uncut']:.0%}"
            spans = [(s.op.kind.value, s.op.micro_batch + 1, s.start, s.end) for s in there.spans]
            drawn = [tuple(span) for row in shown["rows"] for span in row if span[0] in "FB"]
            assert drawn == spans


def test_the_lessons_numbers_stand_on_the_page(tables):
    views = {m: tables["zh"]["predicted"][f"4,{m}"]["forward"] for m in (1, 4, 8, 16)}
    assert [views[m]["bubble"] for m in views] == ["75.0%", "42.9%", "27.3%", "15.8%"]
    assert [views[m]["busy"] for m in views] == ["1.00", "2.29", "2.91", "3.37"]
    idle = {
        kind: sum(end - start for row in views[4]["rows"] for name, _, start, end in row if name == kind)
        for kind in "se"
    }
    assert idle == {"s": 6, "e": 6}
    assert views[4]["uncut"] - views[4]["slots"] == 9


def test_every_row_is_filled_from_its_first_slot_to_the_last(tables):
    for views in [*tables["zh"]["predicted"].values(), *tables["zh"]["measured"].values()]:
        for view in ("forward", "both"):
            for row in views[view]["rows"]:
                ends = [0, *(end for _, _, _, end in row)]
                for (_, _, start, _), before in zip(row, ends, strict=False):
                    assert abs(start - before) < 0.02
                assert abs(ends[-1] - views[view]["slots"]) < 0.02


# What was measured


def test_every_k_and_m_was_really_run_in_equal_pieces_without_an_overrun():
    runs = grids.recorded()
    assert {(run["num_stages"], run["num_micro_batches"]) for run in runs} == set(
        product(grids.STAGES, grids.MICRO_BATCHES)
    )
    for run in runs:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", run["date"]) and "torch" in run["machine"]
        assert run["source"] == "measured" and run["overruns"] == 0
        assert run["num_samples"] % run["num_micro_batches"] == 0
        assert run["gradient_difference"] < 1e-5
        assert "stand-in" in run["devices"] and "order and waiting measured" in run["devices"]
        assert len(run["spans"]) == 2 * run["num_stages"] * run["num_micro_batches"]


def test_no_recorded_gpu_begins_with_what_is_not_there_yet():
    """But for the time that a worker may wake up late, which its own span then holds."""
    for run in grids.recorded():
        num_stages, num_micro_batches = run["num_stages"], run["num_micro_batches"]
        schedule = plan.gpipe(num_stages, num_micro_batches)
        times = {
            plan.Op(plan.Kind(kind), stage, m): (start, end) for stage, kind, m, start, end in run["spans"]
        }
        assert len(times) == schedule.num_ops
        for op, (start, _) in times.items():
            for needed in plan.needs(op, schedule):
                early = (times[needed][1] - start) / run["ticks_a_second"]
                assert early <= LATE + 1e-4, (num_stages, num_micro_batches, op, early)


def test_the_measured_bubble_is_within_a_point_of_the_predicted_one(tables):
    for key, measured in tables["en"]["measured"].items():
        for view in ("forward", "both"):
            there, here = (
                float(each[view]["bubble"].rstrip("%")) for each in (measured, tables["en"]["predicted"][key])
            )
            assert abs(there - here) < 1, (key, view, there, here)


def test_a_recorded_run_says_that_it_was_measured_on_what(tables):
    zh, en = (tables[lang]["measured"]["4,4"] for lang in LANGUAGES)
    assert zh["on"].startswith("测到的 · 替身显卡×4，") and "先后和等待是测到的" in zh["on"]
    assert en["on"].startswith("Measured · 4 stand-ins, ") and "order and waiting measured" in en["on"]
    assert (zh["samples"], zh["slot_ms"]) == (64, 160)
    assert "分之" in zh["difference"] and "million" in en["difference"]


def test_a_run_recorded_again_has_its_own_day_and_machine_and_the_others_keep_theirs(tmp_path, monkeypatch):
    """So what is said of a run, and at which clock its times are read, is what was true when it ran."""
    before = {grids.key(run["num_stages"], run["num_micro_batches"]): run for run in grids.recorded()}
    file = tmp_path / "recorded.json"
    file.write_bytes(grids.RECORDED.read_bytes())
    for module in (grids, record):
        monkeypatch.setattr(module, "RECORDED", file)
    ran = {name: before["2,3"][name] for name in before["2,3"] if name not in record.made_on()}
    elsewhere = {
        "date": "2031-02-03",
        "machine": "Abacus",
        "seconds_a_sample": 0.02,
        "ticks_a_second": 20_000,
    }
    monkeypatch.setattr(record, "made_on", lambda: elsewhere)
    monkeypatch.setattr(record, "record", lambda num_stages, num_micro_batches: ran)
    record.main(["2,3"])
    after = {grids.key(run["num_stages"], run["num_micro_batches"]): run for run in grids.recorded()}
    assert list(after) == list(before)
    assert {name for name in after if after[name] != before[name]} == {"2,3"}
    assert after["2,3"] == ran | elsewhere
    shown = page_data("en")["measured"]
    assert (shown["2,3"]["date"], shown["2,3"]["machine"], shown["2,3"]["slot_ms"]) == (
        "2031-02-03",
        "Abacus",
        420,
    )
    assert all(shown[name]["date"] == before[name]["date"] for name in before if name != "2,3")


# The cards


def test_the_card_tables_are_the_card_games(tables):
    found = tables["zh"]["cards"]
    assert len(found) == 3**3 * 2
    for seconds, hand_over in product(product((1, 2, 4), repeat=3), (0, 1)):
        speeds = found[cards.key(seconds, hand_over)]
        assert set(speeds["ways"]) == {"1", "2", "3", "4", "6", "12"}
        for count, way in speeds["ways"].items():
            noted = finish(seconds, int(count), hand_over)
            assert (way["first"], way["done"], way["idle"]) == (noted.first, noted.done, f"{noted.idle:.1%}")
        done = {int(count): way["done"] for count, way in speeds["ways"].items()}
        assert speeds["best"] == [count for count in done if done[count] == min(done.values())]


def test_the_lessons_cards(tables):
    def lesson(key):
        ways = tables["zh"]["cards"][key]["ways"]
        return [(ways[count]["first"], ways[count]["done"]) for count in ("1", "3", "12")]

    assert lesson("111+0") == [(24, 36), (8, 20), (2, 14)]
    assert lesson("214+0") == [(36, 84), (12, 60), (3, 51)]
    with_hand_over = tables["zh"]["cards"]["111+1"]
    assert [way["done"] for way in with_hand_over["ways"].values()] == [39, 28, 25, 24, 24, 28]
    assert with_hand_over["best"] == [4, 6]


# The grids to fill in


def test_the_answers_are_the_lessons_grids(tables):
    def drawn(name):
        return ["".join(row) for row in tables["zh"]["puzzles"][name]["answers"]]

    assert drawn("cards") == ["123--", "-123-", "--123"]
    assert drawn("gpus") == ["1234---", "-1234--", "--1234-", "---1234"]
    cards_grid, gpus = (tables["zh"]["puzzles"][name] for name in ("cards", "gpus"))
    assert (cards_grid["busy"], cards_grid["idle"], cards_grid["bubble"]) == (9, 6, "40%")
    assert (gpus["busy"], gpus["idle"], gpus["bubble"]) == (16, 12, "43%")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_possible_answer_has_a_sentence_and_only_the_right_one_is_called_right(tables, lang):
    good, bad = {"zh": ("对：", "不对："), "en": ("Right: ", "No: ")}[lang]
    for puzzle in tables[lang]["puzzles"].values():
        for row, line in enumerate(puzzle["answers"]):
            for slot, answer in enumerate(line):
                replies = puzzle["said"][row][slot]
                assert set(replies) == set(puzzle["choices"])
                for choice, place in replies.items():
                    sentence = puzzle["sentences"][place]
                    assert sentence.startswith(good if choice == answer else bad), sentence
                    assert "{" not in sentence


def test_the_reason_is_the_law():
    gpus = puzzles.puzzles("zh")[1]
    assert (
        puzzles.reply(gpus, 1, 0, "1", "zh") == "不对：第 1 份，显卡 1 要到第 1 格才做完，显卡 2 这时拿不到。"
    )
    assert puzzles.reply(gpus, 2, 3, "-", "zh") == "不对：显卡 2 在第 3 格已经做完第 2 份，显卡 3 有活干。"
    assert puzzles.reply(gpus, 0, 4, "4", "zh") == "不对：第 4 份，显卡 1 在第 4 格已经做过了。"
    assert puzzles.reply(gpus, 3, 0, "-", "zh") == "对：显卡 4 还没拿到第 1 份。"


# Scratch paper


def test_the_chain_and_its_values(tables):
    assert tables["zh"]["scratch"]["values"] == [2, 6, 18, 10, 20, 25, 5, 20, 9, 27]
    assert tables["zh"]["scratch"]["steps"] == ["+4", "×3", "−8", "×2", "+5", "÷5", "×4", "−11", "×3"]


@pytest.mark.parametrize("num_cells", scratch.CELLS)
def test_the_shown_moves_win_with_the_optimum(tables, num_cells):
    kinds = {"A": "compute", "w": "keep", "j": "take"}
    shown = tables["en"]["scratch"]["cells"][str(num_cells)]
    moves = [
        Move("restart")
        if each == "j0"
        else Move(kinds[each[0]], cell=None if each[0] == "A" else int(each[1]) - 1)
        for each in shown["moves"]
    ]
    game = replay(moves, num_cells)
    assert game.won and game.evaluations == shown["optimum"] == optimum(9, num_cells)


def test_the_numbers_of_the_lesson_are_recognised():
    assert [optimum(9, cells) for cells in scratch.CELLS] == [45, 15, 14, 9]
    said = {
        (cells, count): scratch.verdict(cells, count)
        for cells, count in [(0, 45), (3, 14), (3, 15), (3, 18), (3, 16), (8, 9)]
    }
    assert said == {
        (0, 45): "scratch_optimum",
        (3, 14): "scratch_optimum",
        (3, 15): "scratch_lesson",
        (3, 18): "scratch_third_unused",
        (3, 16): "scratch_more",
        (8, 9): "scratch_optimum",
    }


# Three questions


def test_every_code_reads_back_and_a_slip_is_noticed():
    every = ["".join(letters) for letters in product("ABCD", repeat=3)]
    for letters in every:
        code = questions.code(letters)
        assert questions.decode(code) == letters == questions.decode(f" {code[:2].lower()}-{code[2:]} ")
        for place, letter in product(range(3), "ABCD"):
            slip = code[:place] + letter + code[place + 1 :]
            assert questions.decode(slip) == (letters if slip == code else None)
        for one, other in combinations(range(3), 2):
            swapped = list(code)
            swapped[one], swapped[other] = code[other], code[one]
            assert questions.decode("".join(swapped)) == (letters if "".join(swapped) == code else None)
        wide = "".join(chr(ord(letter) + 0xFEE0) for letter in code)  # a Chinese keyboard
        assert questions.decode(wide) == letters
    for nonsense in ("", "ABC", "ABCD", "ABC10", "ÄBC2", "ABCA2", "２ABC"):
        assert questions.decode(nonsense) is None


def test_the_page_has_every_code(tables):
    codes = tables["zh"]["exit"]["codes"]
    assert len(codes) == 64 and all(questions.decode(code) == letters for letters, code in codes.items())


def test_the_right_answers_are_the_lessons(tables):
    naive = plan.simulate(plan.naive(4), COSTS, sizes=[4]).only("F")
    cells = 4 * round(naive.makespan)
    first, second, third = tables["en"]["exit"]["questions"]
    assert first["options"][first["right"]][0] == str(cells - 16) == "48"
    assert second["right"] == "C" and "tiny pieces" in second["options"]["C"][0]
    assert third["right"] == "A" and "one change at the end" in third["options"]["A"][0]


def test_a_teacher_reads_a_code_and_a_class(capsys):
    assert main(["page", "--lang", "en", "--decode", "BCA7"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("BCA7: 3 of 3 right\n") and said.count(", right.") == 3 and "class" not in said
    assert main(["page", "--lang", "zh", "--decode", "bca7", "acb9", "AAA3"]) == 2
    said = capsys.readouterr().out
    assert "BCA7：对 3 题，共 3 题" in said and "ACB9：对 1 题" in said and "AAA3：读不出来" in said
    assert said.endswith(
        "读出来的有 2 份（* 是对的）：\n  第 1 题  A 1  B* 1  C 0  D 0\n  第 2 题  A 0  B 0  C* 2  D 0\n  第 3 题  A* 1  B 1  C 0  D 0\n"
    )


# The command


def test_the_command_writes_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pipekit.learn.phone.page.page", lambda lang: f"一页 {lang}\n")
    assert main(["page", "--lang", "zh"]) == 0
    assert "写好了：pipekit-zh.html" in capsys.readouterr().out
    assert (tmp_path / "pipekit-zh.html").read_bytes() == "一页 zh\n".encode()
    assert main(["page", "--lang", "en", "--out", "手机 page.html"]) == 0
    assert (tmp_path / "手机 page.html").read_text(encoding="utf-8") == "一页 en\n"
    assert main(["page", "--out", "nowhere/page.html"]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_a_page_has_chinese_whatever_the_terminal_has(tmp_path, monkeypatch):
    asked = Namespace(lang="zh", out=tmp_path / "page.html", decode=None)
    monkeypatch.setattr("pipekit.learn.phone.page.page", lambda lang: lang)
    assert terminal.page(asked, lang="en") == 0
    assert asked.out.read_text(encoding="utf-8") == "zh"
