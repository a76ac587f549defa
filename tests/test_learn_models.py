"""Digits and models: real data, shapes, cuts, and learning the same whole or cut."""

import io
import sys
import zipfile

import pytest
import torch

from pipekit import run
from pipekit.learn import accuracy, convnet, data, digits, mlp, train


def test_the_digits_are_the_1797_scans():
    everything = digits()
    assert len(everything.train_labels) + len(everything.test_labels) == 1797
    assert everything.train_images.min() == 0 and everything.train_images.max() == 1
    assert torch.cat([everything.train_labels, everything.test_labels]).bincount().tolist() == [
        178, 182, 177, 183, 181, 182, 181, 179, 174, 180,
    ]  # fmt: skip


def test_the_digits_are_scikit_learns():
    """The source of the packaged file, where scikit-learn happens to be installed."""
    datasets = pytest.importorskip("sklearn.datasets")
    everything, theirs = digits(), torch.tensor(datasets.load_digits().images).float() / 16
    assert torch.equal(everything.test_images[:, 0], theirs[:: data.TEST_EVERY])


def test_the_split_never_changes():
    assert (
        digits().test_labels[:10].tolist()
        == digits().test_labels[:10].tolist()
        == [0, 5, 0, 5, 0, 5, 0, 5, 8, 3]
    )


def test_the_file_holds_plain_numbers():
    packed = (data.Path(data.__file__).with_name("digits.npz")).read_bytes()
    assert len(packed) < 60_000
    assert set(zipfile.ZipFile(io.BytesIO(packed)).namelist()) == {"images.npy", "labels.npy"}


@pytest.mark.parametrize("make", [mlp, convnet])
@pytest.mark.parametrize("num_stages", range(1, 9))
def test_models_can_be_cut_into_one_to_eight(make, num_stages):
    stages = run.partition(make(), num_stages)
    lengths = [len(stage) for stage in stages]
    assert sum(lengths) == 8 and max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize("make", [mlp, convnet])
@pytest.mark.parametrize("num_stages", [1, 4])
def test_a_model_learns_to_read_whole_or_cut(make, num_stages):
    torch.manual_seed(0)
    model, everything = make(), digits()
    losses = train(model, everything, num_stages=num_stages, epochs=15 if make is mlp else 5)
    right = accuracy(model, everything.test_images, everything.test_labels)
    print(f"{make.__name__} in {num_stages}: {right:.1%} of the test digits right", file=sys.stderr)
    assert losses[-1] < losses[0]
    assert right >= 0.95


def test_cut_training_gives_the_same_weights():
    torch.manual_seed(0)
    whole, cut = mlp(), mlp()
    cut.load_state_dict(whole.state_dict())
    train(whole, epochs=1)
    train(cut, num_stages=4, num_micro_batches=4, epochs=1)
    weights = [[parameter.detach() for parameter in model.parameters()] for model in (cut, whole)]
    assert run.relative_difference(*weights) < 1e-2
