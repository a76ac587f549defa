"""Words: every one in both languages, every error with a Chinese sentence, counting in one place."""

import re
import string
from importlib import import_module
from pathlib import Path

import pytest

from pipekit.errors import MESSAGES, DeviceError, PartitionError, PipekitError, ScheduleError, StageError
from pipekit.learn.lesson.erase import EraseAndRedo
from pipekit.learn.lesson.pieces import MorePieces
from pipekit.plan import Op, Schedule, Timeline, validate
from pipekit.show import devices_line, number, say, sentence, tiny
from pipekit.show.i18n import ERRORS_ZH, INDEXES, WORDS, WORDS_ENGINEER

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


@pytest.mark.parametrize("key", WORDS_ENGINEER)
def test_an_engineers_words_name_the_numbers_of_the_class(key):
    chinese, english = WORDS_ENGINEER[key]
    assert placeholders(chinese) == placeholders(english) == placeholders(WORDS[key][0])


@pytest.mark.parametrize("key", WORDS)
def test_an_engineer_who_has_no_words_of_their_own_reads_the_class(key):
    numbers = dict.fromkeys(placeholders(WORDS[key][0]), 1)
    for lang in ("zh", "en"):
        own = say(key, lang, "engineer", **numbers)
        assert (own == say(key, lang, **numbers)) or key in WORDS_ENGINEER


CLASS_WORDS = ["显卡", "小份", "一大批", "草稿", "书桌", "旋钮", "往前算", "往回改", "擦掉", "接力", "排法"]


@pytest.mark.parametrize("key", WORDS_ENGINEER)
def test_an_engineers_chinese_has_none_of_the_classs_words(key):
    assert [word for word in CLASS_WORDS if word in WORDS_ENGINEER[key][0]] == []


OWN = ROOT / "pipekit" / "show" / "i18n.py"
TABLES = sorted(OWN.parent.glob("*_words.py"))


def test_no_word_is_in_two_tables():
    keys = [key for table in TABLES for key in import_module(f"pipekit.show.{table.stem}").WORDS]
    own = OWN.read_text(encoding="utf-8").partition("\nWORDS:")[2].partition("\n}\n")[0]
    keys += re.findall(r'^    "(\w+)": \(', own, re.M)
    assert sorted(keys) == sorted(WORDS)


def test_every_word_is_used():
    """Named as it is, or by an f-string whose gaps are filled by words that are named somewhere, numbers or single letters.

    The phone page's words have a test of their own.
    """
    sources = [file for file in (ROOT / "pipekit").rglob("*.py") if file not in {OWN, *TABLES}]
    text = "".join(file.read_text(encoding="utf-8") for file in sources).replace("'", '"')
    text += OWN.read_text(encoding="utf-8").partition("\nWORDS:")[0]
    named = {*re.findall(r'"(\w+)"', text), "hint_1", "hint_2", "hint_3"}
    filled = rf"(?:\d|[a-z]|{'|'.join(named)})?"
    gaps = re.findall(r'f"([a-z]\w+_\{[\w{}.[\]]+)"', text)
    built = [re.sub(r"\{.*?\}", lambda _: filled, each) for each in gaps]
    built += [f"{panel.prefix}_(?:question|guess)" for panel in (MorePieces, EraseAndRedo)]
    mine = [key for key in WORDS if not key.startswith("phone_")]
    assert [key for key in mine if key not in named and not re.fullmatch("|".join(built), key)] == []


@pytest.mark.parametrize("key", WORDS)
def test_a_measurement_is_never_called_a_simulation(key):
    for chinese, english in (WORDS[key], WORDS_ENGINEER.get(key, WORDS[key])):
        assert "模拟" not in chinese
        assert "simulat" not in english.lower()


def test_what_may_reach_a_terminal_can_be_written_in_gbk():
    for chinese, english in (*WORDS.values(), *WORDS_ENGINEER.values()):
        (chinese + english).encode("gbk")
    for chinese in ERRORS_ZH.values():
        chinese.encode("gbk")


def test_an_error_speaks_the_learners_language():
    error = PartitionError("cut_layers", num_layers=6, num_stages=8)
    assert sentence(error, "zh") == "6 层切不成 8 段；请选 K <= 6"
    assert sentence(error, "en") == "cannot cut 6 layers into 8 stages; choose K <= 6"


def test_an_errors_stages_devices_and_pieces_count_from_1_in_class():
    error = StageError("stage_failed", op=Op.parse("2F0"), stage=2, device=1, cause="boom")
    assert sentence(error, "zh") == "第 3 段第 1 小份往前算 没做成（段 3，显卡 2）：boom"
    assert sentence(error, "en") == "stage 3's forward of piece 1 failed (stage 3, device 2): boom"
    assert sentence(error, "zh", "engineer") == "2F0 没做成（段 2，显卡 1，都从 0 数起）：boom"
    assert sentence(error, "en", "engineer") == str(error) == "2F0 failed (stage 2, device 1): boom"


def test_an_errors_layers_and_limits_count_from_1_in_class():
    layer = PartitionError("lazy_parameter", index=0, type="LazyLinear")
    assert sentence(layer, "zh").startswith("第 1 层（LazyLinear）的旋钮")
    assert sentence(layer, "zh", "engineer").startswith("第 0 层（LazyLinear，从 0 数起）的旋钮")
    far = ScheduleError("op_range", op="0F9", last=7)
    assert sentence(far, "zh") == "第 1 段第 10 小份往前算 超出范围：段和小份的编号只能从 1 到 8"
    assert sentence(far, "en").endswith("stages and micro-batches go from 1 to 8")


def test_an_error_about_a_line_of_code_counts_as_the_code_does():
    error = DeviceError("clock_slow", asked={4: 2.0}, last=3)
    assert sentence(error, "zh") == "slow={4: 2.0}：请写显卡的编号（0 到 3）和大于 0 的倍数"
    assert sentence(error, "en") == str(error)


def test_what_an_error_counts_up_is_no_index():
    error = ScheduleError("unplaced", op="4F0", stage=4, num_stages=4)
    assert sentence(error, "zh") == "第 5 段第 1 小份往前算 用到段 5，可是一共只安排了 4 段"
    assert sentence(ScheduleError("repeated_op", op="no op", count=2), "zh").startswith("no op 出现了 2 次")


def test_a_deadlocks_chain_is_told_in_the_learners_language():
    with pytest.raises(ScheduleError) as caught:
        validate(Schedule(["0F0 0B0", "1B0 1F0"]))
    assert sentence(caught.value, "zh") == (
        "卡死了（死锁）：下面这几格活互相等着，请调换先后："
        "第 2 段第 1 小份往回改等第 2 段第 1 小份往前算（它排在显卡 2 的第 2 段第 1 小份往回改后面）"
    )
    assert sentence(caught.value, "zh", "engineer").endswith("1B0等1F0（它排在显卡 1 的1B0后面）")
    assert sentence(caught.value, "en") == (
        "deadlock: stage 2's backward of piece 1 waits for stage 2's forward of piece 1, "
        "which stands behind stage 2's backward of piece 1 on device 2"
    )


@pytest.mark.parametrize("key", [key for key in MESSAGES if placeholders(MESSAGES[key]) & {*INDEXES, "op"}])
def test_every_index_in_an_error_is_one_more_in_class(key):
    """Numbers far from each other: what a class reads is what an engineer reads with 1 added to each index."""
    known = {name: 10 * place for place, name in enumerate(sorted(placeholders(MESSAGES[key])), start=10)}
    numbers = {**known, **({"op": "no op"} if "op" in known else {})}
    for lang in ("zh", "en"):
        words = sentence(PipekitError(key, **numbers), lang)
        exact = sentence(PipekitError(key, **numbers), lang, "engineer")
        shifted = {name for name in {*INDEXES, "last"} & placeholders(MESSAGES[key])}
        for name, value in known.items():
            if name in shifted and key != "clock_slow" and str(value) in exact:
                assert str(value) not in words and str(value + 1) in words
        assert "从 0 数起" not in words


def test_small_shares_are_said_in_words_and_large_ones_in_percent():
    assert [tiny(value, "zh") for value in (3e-7, 0.02, 0.347, 1.5, 1e-12, 0.0)] == [
        "千万分之三", "百分之二", "35%", "1.5倍", "1.0e-12", "0",
    ]  # fmt: skip
    assert [tiny(value, "en") for value in (3e-7, 0.02, float("nan"))] == [
        "3 in 10 million",
        "2 in 100",
        "nan",
    ]


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
