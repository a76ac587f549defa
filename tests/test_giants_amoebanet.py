"""AmoebaNet: as large as published; its small relative: really trained, cut in four, at least 97 % right."""

import dataclasses
import json
import threading

import pytest
import torch
from torch import nn

from pipekit import run, show
from pipekit.cli import main
from pipekit.errors import FileError
from pipekit.learn import giants
from pipekit.learn.data import Digits, digits
from pipekit.learn.giants import pictures, terminal
from pipekit.learn.giants.amoebanet import NORMAL, REDUCTION, Cell, Halve
from pipekit.show import say

# Huang et al., GPipe (arXiv 1811.06965), Table 1, 8 GB an accelerator: (L, D) -> parameters.
TABLE_1 = {(18, 208): 82e6, (18, 416): 318e6, (18, 544): 542e6, (36, 544): 1.05e9, (72, 512): 1.8e9}
# torchgpipe's documentation, benchmark "Memory": parameters of its AmoebaNet-D at the same sizes.
TORCHGPIPE = {(18, 208): 81.5e6, (18, 416): 319.0e6, (18, 544): 542.7e6, (36, 544): 1.06e9, (72, 512): 1.84e9}
RECORD = json.loads(pictures.SAVED.with_suffix(".json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def on_paper(num_cells, num_filters):
    with torch.device("meta"):
        return giants.amoebanet(num_cells, num_filters)


# -- the giant


@pytest.mark.parametrize("size", TABLE_1, ids=str)
def test_it_has_as_many_parameters_as_the_papers_and_torchgpipes(size):
    counted = giants.num_parameters(on_paper(*size))
    assert counted == pytest.approx(TABLE_1[size], rel=0.03)
    assert counted == pytest.approx(TORCHGPIPE[size], rel=0.005)
    assert giants.PUBLISHED[size] == TABLE_1[size]


def test_the_stem_halves_a_photo_three_times_and_the_groups_twice():
    giant, sides = on_paper(3, 32), []
    value = torch.empty(1, 3, 224, 224, device="meta")
    for layer in giant[:-1]:
        value = layer(value)
        sides.append(value[0].shape[-1])
    assert sides == [112, 56, 28, 28, 14, 14, 7, 7]
    assert giant[-1](value).shape == (1, 1000)
    assert value[0].shape[1] == 4 * 4 * 32  # four joined states of the third group, four times as wide


def test_a_cell_hands_on_its_own_result_and_the_one_it_read():
    cell = Cell(NORMAL, last=8, before=8, filters=8, halved=False, normalise=nn.BatchNorm2d)
    last, before = torch.rand(2, 8, 4, 4), torch.rand(2, 8, 4, 4)
    made, handed_on = cell((last, before))
    assert handed_on is last
    assert made.shape == (2, 32, 4, 4)


def test_an_odd_side_loses_no_pixel_when_halved():
    normalise = pictures.one_by_one
    cell = Cell(REDUCTION, last=8, before=8, filters=8, halved=False, normalise=normalise)
    image = torch.rand(1, 8, 7, 7, requires_grad=True)
    made, _ = cell((image, image))
    assert made.shape == (1, 24, 4, 4)
    halve = Halve(8, 8, normalise)
    assert halve(image).shape == (1, 8, 4, 4)


def test_halving_looks_at_pixels_of_even_and_of_odd_rows():
    halve = Halve(1, 2, nn.Identity)
    halve.normalise = nn.Identity()
    with torch.no_grad():
        halve.even.weight.fill_(1.0)
        halve.odd.weight.fill_(1.0)
    image = torch.arange(16.0).reshape(1, 1, 4, 4)
    even, odd = halve(image)[0]
    assert even.flatten().tolist() == [0, 2, 8, 10]
    assert odd.flatten().tolist() == [5, 7, 13, 15]


@pytest.mark.parametrize("wiring", [NORMAL, REDUCTION], ids=["normal", "reduction"])
def test_each_sum_reads_what_is_there_already_and_every_sum_is_used(wiring):
    used = set(wiring.outputs)
    for number, pair in enumerate(wiring.sums):
        assert all(state < 2 + number for state, _ in pair)
        used |= {state for state, _ in pair}
    assert used == set(range(2 + len(wiring.sums)))


# -- the small relative


@pytest.fixture(scope="module")
def exam():
    return giants.examine(giants.saved_picture_net())


def test_the_saved_one_reads_at_least_97_percent_cut_in_four_and_just_as_well_whole(exam):
    assert exam.num_images == 360
    assert exam.accuracy >= 0.97
    assert exam.right_cut == exam.right_whole
    assert torch.equal(exam.read_cut, exam.read_whole)
    assert exam.gradient_difference < 1e-4 and exam.same


def test_the_saved_one_is_small_finished_and_as_its_record_says(exam):
    saved = giants.saved_picture_net()
    assert pictures.SAVED.stat().st_size < 600_000
    assert saved.finished and saved.recipe == giants.Recipe()
    assert len(saved.stages) == 4
    assert RECORD["recipe"] == json.loads(json.dumps(dataclasses.asdict(saved.recipe)))
    assert RECORD["right"]["0"] == exam.right_cut
    assert all(right / exam.num_images >= 0.97 for right in RECORD["right"].values())


def test_the_record_names_machine_date_and_command():
    assert RECORD["command"] == "python -m pipekit giants pictures --full"
    assert all(RECORD[name] for name in ("machine", "date", "torch"))


def few(number):
    data = digits()
    return Digits(
        data.train_images[:number],
        data.train_labels[:number],
        data.test_images[:20],
        data.test_labels[:20],
    )


QUICK = giants.Recipe(epochs=2, batch_size=16)


def weights(picture):
    return [parameter.detach() for parameter in picture.model.parameters()]


def test_a_training_that_stopped_goes_on_as_if_it_had_not(tmp_path):
    data, file, stop = few(32), tmp_path / "net.pt", threading.Event()

    def told(picture):
        pictures.save(picture, file)
        stop.set()

    giants.train_pictures(giants.picture_net(QUICK), told, stop, data)
    again = giants.saved_picture_net(file)
    assert len(again.losses) == 1 and not again.finished
    giants.train_pictures(again, data=data)
    straight = giants.train_pictures(giants.picture_net(QUICK), data=data)
    assert again.losses == pytest.approx(straight.losses, rel=1e-4)
    assert run.relative_difference(weights(again), weights(straight)) < 1e-3
    assert [path.name for path in tmp_path.iterdir()] == ["net.pt"]


def test_each_epoch_and_each_seed_has_an_order_of_its_own():
    def order(epoch, seed=0):
        recipe = dataclasses.replace(QUICK, seed=seed)
        return torch.cat([labels for _, labels in pictures.mini_batches(digits(), recipe, epoch)]).tolist()

    assert order(0) == order(0)
    assert order(0) != order(1) and order(0) != order(0, seed=1)


def test_cut_in_four_it_learns_what_the_whole_one_learns():
    data, recipe = few(32), dataclasses.replace(QUICK, epochs=1)
    cut = giants.train_pictures(giants.picture_net(recipe), data=data)
    whole = giants.train_pictures(
        giants.picture_net(dataclasses.replace(recipe, balance=(7,), num_micro_batches=1)), data=data
    )
    assert cut.losses == pytest.approx(whole.losses, rel=1e-4)


def test_one_step_of_the_cut_one_gives_the_whole_ones_gradients_unless_it_normalises_over_the_batch():
    def difference(picture):
        picture.model.train()
        return giants.examine(picture, few(16)).gradient_difference

    picture = giants.picture_net()
    assert difference(picture) < 1e-4
    picture.model = giants.amoebanet(3, 16, num_classes=10, image_channels=1, stem_halvings=0)
    assert difference(picture) > 1e-2


def test_the_same_seed_begins_with_the_same_weights_and_takes_no_random_number():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, two = (weights(giants.picture_net(giants.Recipe(seed=3))) for _ in range(2))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


def test_mistakes_name_the_digit_what_is_written_and_what_was_read(exam):
    data = digits()
    assert len(exam.mistakes) == exam.num_images - exam.right_cut
    for index, written, read in exam.mistakes:
        assert int(data.test_labels[index]) == written != read
    picture = giants.misread(exam, "en")
    assert picture.png.startswith(b"\x89PNG")
    assert picture.words.count("written") == len(exam.mistakes)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04nothing", b"\x80\x04K\x01."])
def test_a_file_that_holds_no_net_is_refused_in_a_sentence(content, tmp_path):
    file = tmp_path / "other.pt"
    file.write_bytes(content)
    with pytest.raises(FileError, match="holds no weights of this net"):
        giants.saved_picture_net(file)


# -- from a terminal


@pytest.fixture
def quick(monkeypatch, tmp_path, exam):
    monkeypatch.setattr(pictures, "digits", lambda: few(64))
    monkeypatch.setattr(terminal, "examine", lambda picture: exam)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("lang", show.LANGUAGES)
def test_the_terminal_says_what_was_read_right(lang, exam, capsys, monkeypatch):
    monkeypatch.setattr(terminal, "examine", lambda picture: exam)
    assert main(["giants", "pictures", "--lang", lang]) == 0
    knobs, right, same = capsys.readouterr().out.splitlines()
    assert "97,082" in knobs
    assert "355/360" in right or "355 of 360" in right
    assert same.startswith(say("giant_same", lang, difference="|").split("|")[0])


def test_full_trains_saves_goes_on_and_refuses_another_seed(quick, capsys):
    full = ["giants", "pictures", "--lang", "en", "--full", "--epochs", "1"]
    assert main(full) == 0
    said = capsys.readouterr().out
    assert "round 1 of 1" in said and "saved in giant-pictures.pt" in said
    assert main(full) == 0
    said = capsys.readouterr().out
    assert "going on from giant-pictures.pt: 1 rounds are done" in said and "round 1 of 1" not in said
    assert main([*full, "--seed", "1"]) == 2
    assert "another seed or length" in capsys.readouterr().err


def test_ctrl_c_keeps_finished_rounds(quick, capsys, monkeypatch):
    real, rounds = pictures.run.fit, []

    def interrupted(*arguments, **options):
        rounds.append(1)
        if len(rounds) == 2:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(pictures.run, "fit", interrupted)
    assert main(["giants", "pictures", "--lang", "en", "--full", "--epochs", "2"]) == 130
    assert "stopped: 1 finished rounds are in giant-pictures.pt" in capsys.readouterr().out
    assert len(giants.saved_picture_net(quick / "giant-pictures.pt").losses) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--weights", "none.pt"], "there is no file none.pt"),
        (["--full", "--weights", "no/where.pt"], "there is no folder"),
        (["--full", "--epochs", "0"], "--epochs goes from 1 to 1000, not 0"),
    ],
)
def test_what_cannot_be_done_is_said(quick, capsys, arguments, sentence):
    assert main(["giants", "pictures", "--lang", "en", *arguments]) == 2
    assert sentence in capsys.readouterr().err
