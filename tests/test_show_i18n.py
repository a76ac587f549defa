"""Words: every one in both languages, every error with a Chinese sentence, counting in one place."""

import string
from pathlib import Path

import pytest

from pipekit.errors import MESSAGES, PartitionError
from pipekit.plan import Kind, Timeline
from pipekit.show import devices_line, number, say, sentence
from pipekit.show.i18n import ERRORS_ZH, WORDS

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("predicted", "measured", "shared")


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_error_has_a_chinese_sentence():
    assert ERRORS_ZH.keys() == MESSAGES.keys()


@pytest.mark.parametrize("key", MESSAGES)
def test_an_error_names_the_same_numbers_in_both_languages(key):
    assert placeholders(ERRORS_ZH[key]) == placeholders(MESSAGES[key])


@pytest.mark.parametrize("key", WORDS)
def test_words_name_the_same_numbers_in_both_languages(key):
    chinese, english = WORDS[key]
    assert placeholders(chinese) == placeholders(english)


def test_every_word_is_used():
    own = ROOT / "pipekit" / "show" / "i18n.py"
    sources = [file.read_text(encoding="utf-8") for file in (ROOT / "pipekit").rglob("*.py") if file != own]
    text = "".join([*sources, own.read_text(encoding="utf-8").partition("WORDS:")[0]]).replace("'", '"')
    built = {f"kind_{kind.value}" for kind in Kind} | {f"source_{source}" for source in SOURCES}
    assert [key for key in WORDS if f'"{key}"' not in text and key not in built] == []


@pytest.mark.parametrize("key", WORDS)
def test_a_measurement_is_never_called_a_simulation(key):
    assert "模拟" not in WORDS[key][0]
    assert "simulat" not in WORDS[key][1].lower()


def test_what_may_reach_a_terminal_can_be_written_in_gbk():
    for chinese, english in WORDS.values():
        (chinese + english).encode("gbk")
    for chinese in ERRORS_ZH.values():
        chinese.encode("gbk")


def test_an_error_speaks_the_learners_language():
    error = PartitionError("cut_layers", num_layers=6, num_stages=8)
    assert sentence(error, "zh") == "6 层切不成 8 段；请选 K <= 6"
    assert sentence(error, "en") == "cannot cut 6 layers into 8 stages; choose K <= 6"


def test_a_foreign_error_keeps_its_name_and_words():
    assert sentence(ZeroDivisionError("division by zero"), "zh") == "ZeroDivisionError：division by zero"


def test_a_class_counts_from_one_and_an_engineer_from_zero():
    assert [number(index) for index in range(3)] == [1, 2, 3]
    assert [number(index, view="engineer") for index in range(3)] == [0, 1, 2]
    assert say("device", "zh", number=number(0)) == "显卡 1"


def test_the_devices_line_says_source_and_devices():
    devices = "4 stand-ins, 160 ms a mini-batch forward; durations declared, order and waiting measured"
    timeline = Timeline([], 4, source="measured", devices=devices)
    assert devices_line(timeline, "en") == f"Measured · {devices}"
    assert devices_line(timeline, "zh") == (
        "测到的 · 替身显卡×4，一大批往前算 160 毫秒；每格活的时间是规定的，先后和等待是测到的"
    )


def test_devices_that_nobody_translated_do_not_vanish():
    assert devices_line(Timeline([], 2, "measured", "2 x NVIDIA H200"), "zh") == "测到的 · 2 x NVIDIA H200"
    assert "shared" in devices_line(Timeline([], 2, "shared", "2 CPU threads"), "en")
