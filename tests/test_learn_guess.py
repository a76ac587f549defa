"""Guesses: read however a class writes them, refused kindly, and answered kindly."""

from __future__ import annotations

import pytest

from pipekit.learn.controlroom.guess import Guess, complaint, parse, verdict
from pipekit.show import LANGUAGES


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7.0),
        (" 7 格", 7.0),
        ("７", 7.0),
        ("7.5", 7.5),
        ("７．５", 7.5),
        ("7。5", 7.5),
        ("7,5", 7.5),
        ("7，5", 7.5),
        ("1,000", 1000.0),
        ("约7格左右", 7.0),
        ("大概 7 个吧", 7.0),
        ("≈7", 7.0),
        ("about 7 slots", 7.0),
        ("+7", 7.0),
    ],
)
def test_slots_are_read_however_they_are_written(text, value):
    assert parse(text) == value
    assert complaint(text, "slots", "zh") == ""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("43", 43.0),
        ("43%", 43.0),
        ("43％", 43.0),
        ("４３ ％", 43.0),
        ("43,5%", 43.5),
        ("约 43%", 43.0),
        ("0.43", 43.0),
        ("0.43%", 0.43),
        ("3/7", 300 / 7),
        ("０", 0.0),
        ("1", 1.0),
        ("100%", 100.0),
    ],
)
def test_percents_are_read_however_they_are_written(text, value):
    assert parse(text, "percent") == pytest.approx(value)
    assert complaint(text, "percent", "zh") == ""


@pytest.mark.parametrize("kind", ["slots", "percent"])
@pytest.mark.parametrize("text", ["", "  ", "\u3000"])
def test_a_blank_is_no_guess_and_no_mistake(text, kind):
    assert parse(text, kind) is None
    assert complaint(text, kind, "zh") == ""


@pytest.mark.parametrize(
    ("text", "kind", "chinese", "english"),
    [
        ("很多", "slots", "“很多”看不懂：请写一个数，例如 7", "can't read “很多”: write a number such as 7"),
        (
            "half",
            "percent",
            "“half”看不懂：请写一个数，例如 43%",
            "can't read “half”: write a number such as 43%",
        ),
        ("7 8", "slots", "“7 8”看不懂：请写一个数，例如 7", None),
        ("3/7", "slots", "“3/7”看不懂：请写一个数，例如 7", None),
        ("1/0", "percent", "“1/0”看不懂：请写一个数，例如 43%", None),
        ("nan", "slots", "“nan”看不懂：请写一个数，例如 7", None),
        ("1e5", "slots", "“1e5”看不懂：请写一个数，例如 7", None),
        ("-3", "slots", "不会比 0 少：请写 0 或更大的数", "it can't be less than 0: write 0 or more"),
        ("－3％", "percent", "不会比 0 少：请写 0 或更大的数", None),
        ("0", "slots", "干活总要时间：请写大于 0 的数", "work takes time: write a number above 0"),
        (
            "143%",
            "percent",
            "最多是 100%：请写 0 到 100 的数",
            "100% is the most: write a number from 0 to 100",
        ),
        ("9" * 400, "slots", "这个数太大了：请写小一点的数", "that is too large: write a smaller number"),
    ],
)
def test_nonsense_is_refused_with_a_word_and_no_exception(text, kind, chinese, english):
    assert parse(text, kind) is None
    assert complaint(text, kind, "zh") == chinese
    assert english is None or complaint(text, kind, "en") == english


def test_a_long_text_is_not_repeated_whole():
    assert complaint("我们一点都不知道应该写什么才好", "slots", "zh").startswith("“我们一点都不知道应该写什”")


MEASURED = Guess(slots=7.05, percent=43.1)


@pytest.mark.parametrize(
    ("guess", "chinese", "english"),
    [
        (Guess(7, 43), "猜中了", "spot on"),
        (Guess(slots=7.5), "猜中了", "spot on"),
        (Guess(percent=45), "猜中了", "spot on"),
        (Guess(slots=5), "差 2 格", "2 slots off"),
        (Guess(slots=8), "差 1 格", "1 slot off"),
        (Guess(percent=50), "差 7 个百分点", "7 points off"),
        (Guess(9, 43), "格数差 2 格，气泡猜中了", "slots: 2 slots off, idle: spot on"),
        (Guess(), "", ""),
    ],
)
def test_a_verdict_is_short_and_kind(guess, chinese, english):
    assert verdict(guess, MEASURED, "zh") == chinese
    assert verdict(guess, MEASURED, "en") == english


def test_what_was_not_measured_is_not_judged():
    for lang in LANGUAGES:
        assert verdict(Guess(7, 43), Guess(), lang) == ""
