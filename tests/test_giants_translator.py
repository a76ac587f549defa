"""The translator: its words, its layers, the cut, the comparison at equal compute, and what it says."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from pipekit import plan, run
from pipekit.cli import main
from pipekit.errors import FileError, PipekitError
from pipekit.learn import giants
from pipekit.learn.giants import translator_comparison as comparison
from pipekit.learn.giants import translator_data as data
from pipekit.learn.giants import translator_saved as saved
from pipekit.learn.giants import translator_training
from pipekit.learn.giants.translator import letter_loss, num_letters, number_translator
from pipekit.show import sentence

RESULTS = comparison.saved_results()
TINY = translator_training.TranslatorRecipe(steps_each=1, batch_size=2)
LANGUAGE = {language.code: language for language in giants.LANGUAGES}


@pytest.fixture(scope="module")
def shared():
    return giants.saved_translator()


def a_batch(size=16, seed=0):
    return next(data.mini_batches(giants.LANGUAGES, seed, size, 1))


# The words


@pytest.mark.parametrize(
    ("code", "number", "word"),
    [
        ("zh", 110, "一百一十"),
        ("zh", 305, "三百零五"),
        ("en", 365, "three hundred and sixty-five"),
        ("de", 21, "einundzwanzig"),
        ("fr", 71, "soixante et onze"),
        ("fr", 80, "quatre-vingts"),
        ("fr", 81, "quatre-vingt-un"),
        ("es", 26, "veintiséis"),
        ("ru", 40, "сорок"),
        ("ar", 11, "أحد عشر"),
        ("fa", 200, "دویست"),
        ("ja", 300, "三百"),
        ("vi", 15, "mười lăm"),
        ("vi", 21, "hai mươi mốt"),
        ("nl", 22, "tweeëntwintig"),
        ("pt", 17, "dezassete"),
        ("uk", 5, "п'ять"),
        ("he", 200, "מאתיים"),
        ("ko", 11, "십일"),
        ("th", 21, "ยี่สิบเอ็ด"),
    ],
)
def test_a_number_in_words_is_what_a_speaker_writes(code, number, word):
    assert data.number_words()[code][number] == word


def test_what_the_libraries_write_wrongly_is_left_out():
    missing = {code: set(data.NUMBERS) - set(words) for code, words in data.number_words().items()}
    assert {code: numbers for code, numbers in missing.items() if numbers} == {
        "ar": {200},
        "nl": set(range(101, 1000, 100)),
    }


def test_no_two_numbers_have_the_same_words():
    for words in data.number_words().values():
        assert len(set(words.values())) == len(words)


def test_the_words_in_the_package_are_what_the_libraries_write():
    for library in ("num2words", "cn2an"):
        pytest.importorskip(library, reason="not installed: pip install 'pipekit-lab[giants]'")
    from benchmarks.number_words import words_of

    for code, words in data.number_words().items():
        assert {number: word for number, word in enumerate(words_of(code)) if word} == words


def test_there_are_at_least_twelve_languages_and_some_have_only_a_few_dozen_examples():
    assert {"en", "ar", "ja", "ko", "ru", "de", "fr", "es", "th", "vi", "fa", "he", "zh"} <= set(LANGUAGE)
    assert {language.num_examples for language in giants.LANGUAGES} == {500, 40}


def test_letters_come_back_as_the_word_they_were():
    words = [words[365] for words in data.number_words().values()]
    before, after = data.encode_words(words)
    assert [data.decode(row) for row in after.tolist()] == words
    assert torch.equal(before[:, 1:][after[:, 1:] != data.PAD], after[:, :-1][after[:, 1:] != data.PAD])


# What is learnt from, and what is asked


def test_no_language_ever_sees_a_held_out_number():
    for seed in range(5):
        for language in giants.LANGUAGES:
            chosen = data.examples(language, seed)
            assert len(set(chosen)) == language.num_examples
            assert not set(chosen) & set(data.exam_numbers(language))


def test_another_seed_draws_other_examples():
    assert data.examples(LANGUAGE["pt"], 0) != data.examples(LANGUAGE["pt"], 1)


def test_every_language_has_its_turn_equally_often():
    for batch in data.mini_batches(giants.LANGUAGES, 0, 16, 5):
        assert sorted(batch.numbers[:, 0].tolist()) == [data.SOURCES.index(code) for code in data.CODES]


# The layers


def test_a_letter_is_chosen_without_a_look_at_those_after_it():
    model, batch = number_translator(), a_batch()
    changed = batch.before.clone()
    changed[:, 3:] = data.START
    with torch.no_grad():
        scores, again = (model((batch.numbers, letters)) for letters in (batch.before, changed))
    assert torch.allclose(scores[:, :3], again[:, :3], atol=1e-5)
    assert not torch.allclose(scores[:, 3:], again[:, 3:], atol=1e-5)


def test_padding_changes_nothing():
    model, batch = number_translator().double(), a_batch()
    longer = torch.nn.functional.pad(batch.before, (0, 3)), torch.nn.functional.pad(batch.after, (0, 3))
    loss = letter_loss(model((batch.numbers, batch.before)), batch.after)
    padded = letter_loss(model((batch.numbers, longer[0])), longer[1])
    assert torch.allclose(loss, padded, atol=1e-12, rtol=0)
    assert num_letters(longer[1]) == num_letters(batch.after)


def cut_and_whole(schedule, num_stages, weight):
    """The relative difference between a cut step's gradients and the uncut model's, in double precision."""
    model, batch = number_translator().double(), a_batch(18)
    given = (batch.numbers, batch.before)
    uncut = list(torch.autograd.grad(letter_loss(model(given), batch.after), list(model.parameters())))
    with run.Pipeline(run.partition(model, num_stages), run.cpu(num_stages)) as pipeline:
        pipeline.step(schedule, given, batch.after, letter_loss, weight)
    return run.relative_difference(run.gradients([model]), uncut)


@pytest.mark.parametrize(
    "schedule",
    [plan.gpipe(6, 4), plan.gpipe(3, 5, "always"), plan.one_f_one_b(4, 4), plan.zb_h1(2, 3)],
    ids=lambda schedule: schedule.name,
)
def test_cutting_the_translator_changes_no_gradient(schedule):
    assert cut_and_whole(schedule, schedule.num_stages, num_letters) < 1e-12


def test_weighing_pieces_by_their_number_of_words_would_change_them():
    assert cut_and_whole(plan.gpipe(2, 4), 2, "samples") > 1e-3


def test_some_real_steps_cut_in_four_make_the_loss_fall():
    training = giants.train_cut_translator(steps=3)
    assert training.same and training.losses[-1] < training.losses[0]
    assert training.timeline.source == "measured" and training.timeline.num_devices == 4
    assert training.said("en").startswith("the same result") and training.said("zh").startswith("结果一样")


# The saved ones


def test_the_saved_translators_write_what_their_record_says(shared):
    first = {run["model"]: run["accuracy"] for run in RESULTS["runs"] if run["seed"] == 0}
    for language in giants.LANGUAGES:
        assert giants.written_right(shared, language.code) == pytest.approx(
            first["shared"][language.code], abs=0.011
        )
    alone = giants.written_right(giants.saved_translator("pt"), "pt")
    assert alone == pytest.approx(first["pt"]["pt"], abs=0.011)


def test_one_look_at_each_word_counts_what_writing_letter_by_letter_gives(shared):
    language = LANGUAGE["nl"]
    numbers = data.exam_numbers(language)
    written = translator_training.write(shared, data.encode_numbers("nl", numbers))
    right = [word == data.number_words()["nl"][number] for number, word in zip(numbers, written, strict=True)]
    assert np.mean(right) == pytest.approx(giants.written_right(shared, language.code))


def test_all_files_together_are_small():
    files = [*saved.FOLDER.glob("translator_*.npz"), comparison.RESULTS]
    assert len(files) == 4 and sum(file.stat().st_size for file in files) < 1.5e6


def test_weights_come_back_from_a_file_rounded_to_16_bits(tmp_path):
    model = number_translator()
    saved.save_translator(model, tmp_path / "a.npz")
    again = giants.saved_translator(path=tmp_path / "a.npz")
    for one, other in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(one.half().float(), other)


def test_a_file_that_holds_no_translator_is_refused(tmp_path):
    with pytest.raises(FileError, match="there is no"):
        giants.saved_translator(path=tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("no", encoding="utf-8")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    for name in ("text", "other"):
        with pytest.raises(FileError, match="no weights of this net"):
            giants.saved_translator(path=tmp_path / f"{name}.npz")


def test_nothing_in_a_file_is_run(tmp_path):
    class Opened:
        def __reduce__(self):
            return Path.touch, (tmp_path / "ran",)

    np.savez(tmp_path / "pickled.npz", a=np.array([Opened()], dtype=object))
    with pytest.raises(FileError, match="no weights of this net"):
        giants.saved_translator(path=tmp_path / "pickled.npz")
    assert not (tmp_path / "ran").exists()


# The comparison


def test_both_sides_had_equal_compute():
    for seed in range(5):
        shared_run, *alone = [run for run in RESULTS["runs"] if run["seed"] == seed]
        assert shared_run["model"] == "shared" and [run["model"] for run in alone] == list(data.CODES)
        assert {run["parameters"] for run in alone} == {shared_run["parameters"]}
        assert sum(run["steps"] for run in alone) == shared_run["steps"] == 4800
        assert sum(run["letters"] for run in alone) == pytest.approx(shared_run["letters"], rel=1e-3)


def test_the_results_say_how_they_came_about():
    assert RESULTS["command"] == "python -m pipekit giants languages --full --seeds 5"
    assert translator_training.TranslatorRecipe(**RESULTS["recipe"]) == translator_training.RECIPE
    assert RESULTS["examples"] == {language.code: language.num_examples for language in giants.LANGUAGES}
    assert RESULTS["held_out_numbers"] == len(data.held_out()) == 200
    for key in ("date", "machine", "python", "torch", "seconds"):
        assert RESULTS[key]
    assert len(RESULTS["runs"]) == 5 * 17


def test_the_interval_is_students():
    score = comparison.Score(LANGUAGE["pt"], alone=(0.1, 0.2, 0.3), shared=(0.5, 0.7, 0.6))
    low, high = score.interval
    half = 4.303 * 0.1 / 3**0.5  # gains 0.4, 0.5, 0.3: their standard deviation is 0.1
    assert (score.gain, low, high) == pytest.approx((0.4, 0.4 - half, 0.4 + half))
    assert score.sure == 1
    assert comparison.Score(LANGUAGE["pt"], (0.5, 0.6), (0.6, 0.5)).sure == 0


def test_the_shared_translator_was_better_most_where_examples_are_few():
    scores = giants.compared_languages().scores
    assert [score.language.code for score in scores if score.sure < 1] == ["ja"]
    assert min(score.gain for score in scores if not score.language.rich) > 0.3
    assert max(score.gain for score in scores if score.language.rich) < 0.2


def test_the_figures_in_the_notebooks_words_are_those_of_the_results():
    *rows, rich, poor = giants.compared_languages("en").rows()
    gains = {name: gain.split()[0] for name, _, _, _, gain in rows}
    assert (gains["Spanish"], gains["Ukrainian"], gains["Dutch"]) == ("+16", "+80", "+36")
    assert (*rich[2:4], *poor[2:4]) == ("94%", "99%", "11%", "68%")


def test_a_training_that_was_interrupted_goes_on_where_it_was(tmp_path, monkeypatch):
    two = {"shared": [LANGUAGE["ja"], LANGUAGE["ko"]], "ja": [LANGUAGE["ja"]], "ko": [LANGUAGE["ko"]]}
    monkeypatch.setattr(comparison, "LEARNS", two)
    trained = []

    def interrupted(name, seed):
        trained.append((name, seed))
        if trained[-1] == ("ja", 1):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        comparison.train_all(tmp_path, 2, interrupted, TINY)
    records = {file: file.stat().st_mtime_ns for file in tmp_path.glob("*.json")}
    assert len(records) == 5
    path = comparison.train_all(tmp_path, 2, lambda name, seed: None, TINY)
    assert {file: file.stat().st_mtime_ns for file in records} == records
    assert len(json.loads(path.read_text(encoding="utf-8"))["runs"]) == 6
    assert not list(tmp_path.glob("*.part"))


def test_the_same_seed_trains_the_same_model():
    one, other = (translator_training.train_translator([LANGUAGE["ko"]], 3, TINY).model for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


# What a class reads


def test_a_number_is_written_in_every_language(shared):
    found = giants.translate(shared, 42, "en")
    assert found.written[:3] == ("四十二", "forty-two", "zweiundvierzig")
    assert len(found.rows()) == 16 and found.rows()[1] == ("English", "forty-two", "√")
    assert giants.translate(shared, 42, "zh").rows()[0] == ("中文", "四十二", "√")


def test_a_table_says_whether_the_number_was_seen_and_which_way_it_is_read(shared):
    found = giants.translate(shared, 365, "en")
    assert found.number in data.held_out() and "no language had" in str(found)
    assert '<td lang="ar" dir="auto">' in found._repr_html_()
    seen = next(number for number in data.NUMBERS if number not in data.held_out())
    assert "may have had" in str(giants.translate(shared, seen, "en"))


def test_where_the_libraries_are_wrong_nobody_is_judged(shared):
    assert dict(zip(data.CODES, giants.translate(shared, 200).right, strict=True))["ar"] is None


@pytest.mark.parametrize("asked", [1000, -1, 3.5, "365", True, None])
def test_what_it_cannot_write_is_refused_in_words(shared, asked):
    with pytest.raises(PipekitError, match="only whole numbers from 0 to 999") as caught:
        giants.translate(shared, asked)
    assert "0 到 999" in sentence(caught.value, "zh")


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_comparison_is_a_table_with_settings_and_means(lang):
    found = giants.compared_languages(lang)
    assert len(found.rows()) == 18 and all(len(row) == 5 for row in found.rows())
    for part in ("200", "300", RESULTS["date"], RESULTS["torch"]):
        assert part in found.caption()
    assert found._repr_html_().count("<tr>") == 19
    assert {"zh": "个 CPU 核，一个线程", "en": " cores, one thread"}[lang] in found.caption()
    assert (" cores" in found.caption()) == (lang == "en")
    chinese = any("\u4e00" <= letter <= "\u9fff" for letter in str(found))
    assert chinese == (lang == "zh")


# From a terminal


def test_the_terminal_writes_a_number_and_shows_the_comparison(capsys):
    assert main(["giants", "languages", "--number", "42", "--lang", "en"]) == 0
    said = capsys.readouterr().out
    assert "√ German: zweiundvierzig" in said and "the same result" in said and "Portuguese | 40" in said


def test_the_terminal_trains_all_of_them_and_goes_on(capsys, tmp_path, monkeypatch):
    records = {(record["seed"], record["model"]): record for record in RESULTS["runs"]}
    monkeypatch.setattr(comparison, "_train_one", lambda name, seed, recipe, weights: records[seed, name])
    for _ in range(2):
        asked = ["giants", "languages", "--full", "--seeds", "2", "--folder", str(tmp_path), "--lang", "en"]
        assert main(asked) == 0
        said = capsys.readouterr().out
        assert "34 of 34  th, seed 1" in said and "2 seeds" in said
        records.clear()  # the second time there is nothing left to train


@pytest.mark.parametrize("seeds", ["1", "11"])
def test_an_interval_needs_two_seeds(capsys, seeds, tmp_path):
    assert main(["giants", "languages", "--full", "--seeds", seeds, "--folder", str(tmp_path)]) == 2
    assert "--seeds" in capsys.readouterr().err
