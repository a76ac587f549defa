"""Errors teach: every sentence has a key, every key is used, every error says both numbers."""

import ast
import inspect
import pickle
import string
from pathlib import Path

import pytest

from pipekit import errors
from pipekit.errors import MESSAGES, PipekitError, ScheduleError

PACKAGE = Path(errors.__file__).parent
CLASSES = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, PipekitError)]


def raised():
    """(file, line, key or None, names of the numbers or None) of every place that makes a pipekit error."""
    names = {each.__name__ for each in CLASSES}
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in names and node.args:
                numbers = [each.arg for each in node.keywords]
                for key in ast.walk(node.args[0]):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield f"{file.relative_to(PACKAGE)}:{node.lineno}", key.value, numbers


def words_in_the_source():
    """Every string constant of the package outside errors.py."""
    return {
        node.value
        for file in PACKAGE.rglob("*.py")
        if file.name != "errors.py" and "i18n" not in file.parts and file.stem != "i18n"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_every_sentence_is_said_somewhere():
    unused = sorted(set(MESSAGES) - words_in_the_source())
    assert not unused, f"nobody raises {', '.join(unused)}"


def test_every_error_raised_has_its_sentence_and_its_numbers():
    found = list(raised())
    assert len(found) > 20
    for where, key, numbers in found:
        assert key in MESSAGES, f"{where} raises {key!r}, which has no sentence"
        wanted = {field for _, field, _, _ in string.Formatter().parse(MESSAGES[key]) if field}
        if None not in numbers:  # a ** may bring any
            assert wanted <= set(numbers), f"{where}: {key} needs {sorted(wanted - set(numbers))}"


def test_an_error_carries_its_key_and_numbers_and_speaks_english():
    error = ScheduleError("repeated_op", op="0F0", count=2)
    assert (error.key, error.numbers) == ("repeated_op", {"op": "0F0", "count": 2})
    assert str(error) == "0F0 stands 2 times in the lanes; every op runs once"


@pytest.mark.parametrize("error", CLASSES)
def test_pipekits_errors_can_be_caught_together(error):
    assert issubclass(error, PipekitError)
    assert inspect.getdoc(error)
    assert error is PipekitError or error.__name__ in errors.__doc__


def test_bad_arguments_are_value_errors_and_bad_luck_is_a_runtime_error():
    kinds = {each.__name__: each for each in CLASSES}
    for name in ("ScheduleError", "CostsError", "PartitionError", "PlacementError", "BatchError"):
        assert issubclass(kinds[name], ValueError)
    for name in ("DeviceError", "MemoryBudgetError", "LossError", "StageError"):
        assert issubclass(kinds[name], RuntimeError)


def test_a_sentence_is_one_line_and_ends_without_a_full_stop():
    for key, sentence in MESSAGES.items():
        assert "\n" not in sentence, key
        assert not sentence.endswith("."), key


def test_an_error_survives_pickling():
    error = pickle.loads(pickle.dumps(ScheduleError("num_stages", asked=0)))
    assert (str(error), error.numbers) == (
        "a schedule needs at least 1 stage, not 0; choose K >= 1",
        {"asked": 0},
    )
