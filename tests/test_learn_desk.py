"""The desk: what lies in a GPU's memory, predicted and counted; giants on torch's meta device; the panel; the chart."""

import pytest
import torch
from torch import nn

from pipekit import plan, run, show
from pipekit.errors import PartitionError
from pipekit.learn import DeskPanel, Experiment, desk, mlp
from pipekit.learn.experiment import seeded
from pipekit.learn.giants import num_parameters

LAB = Experiment()


def both(num_layers, num_devices, checkpoint="never"):
    """Predicted and counted desks of a tower."""
    stages = run.partition(seeded(lambda: mlp(num_layers)), num_devices)
    asked = stages, plan.gpipe(num_devices, 4, checkpoint), LAB.batch, LAB.target, LAB.loss
    return desk.predict_desks(*asked), desk.count_desks(*asked)


@pytest.fixture(scope="module")
def panel():
    return DeskPanel(lang="en")


@pytest.fixture
def fresh(panel):
    """The panel as it begins."""
    panel.lang, panel.num_devices, panel.num_layers = "en", 1, 8
    return panel


# -- bytes


@pytest.mark.parametrize("shape", [(8, 1), (8, 2, "always"), (12, 4, "except_last")])
def test_what_is_counted_in_a_real_step_is_what_was_predicted(shape):
    for predicted, counted in zip(*both(*shape), strict=True):
        assert predicted[:3] == counted[:3]
        assert predicted.activations == pytest.approx(counted.activations, rel=0.02)


def test_knobs_changes_and_notes_are_four_shares():
    ((predicted,), _) = both(8, 1)
    assert predicted.parameters == 4 * num_parameters(mlp(8))
    assert sum(predicted[:3]) == 4 * predicted.parameters
    assert predicted.total == sum(predicted)


def test_forty_layers_on_four_gpus():
    assert desk.layers_of(run.partition(mlp(40), 4)) == [(1, 10), (11, 20), (21, 30), (31, 40)]
    assert desk.layers_of(run.partition(mlp(5), balance=[1, 3, 1])) == [(1, 1), (2, 4), (5, 5)]


# -- giants


def test_the_translator_has_a_hundred_times_alexnets_knobs():
    assert 6e9 / 6e7 == 100
    giant, alexnet = desk.translator(), desk.alexnet()
    assert len(giant) == 128
    assert num_parameters(giant) == pytest.approx(6e9, rel=0.001)
    assert num_parameters(alexnet) == 60_965_224
    assert all(parameter.is_meta for model in (giant, alexnet) for parameter in model.parameters())


def test_six_billion_knobs_need_96_gb_before_the_first_sheet_of_scratch_paper():
    giant = desk.translator()
    (alone,) = desk.weigh([giant])
    assert alone.total == pytest.approx(96 * desk.GB, rel=0.001) and alone.activations == 0
    eighths = desk.weigh(run.partition(giant, 8))
    assert sum(each.total for each in eighths) == pytest.approx(alone.total)
    assert max(each.total for each in eighths) < 16 * desk.GB < alone.total / 5


# -- the panel


def test_sixteen_layers_fit_and_twenty_do_not(fresh):
    fits = {}
    for fresh.num_layers in (8, 12, 16, 20):
        fits[fresh.num_layers] = fresh.fits
    assert fits == {8: True, 12: True, 16: True, 20: False}


def test_four_desks_hold_what_one_does_not(fresh):
    fresh.num_layers = 40
    assert not fresh.fits and "does not fit: GPU 1 needs 4.09 MB" in fresh.said.value
    fresh.num_devices = 4
    assert fresh.fits and "the fullest desk holds 1.05 MB of 2 MB" in fresh.said.value
    assert "GPU 1: layers 1 to 10" in fresh.cut.value and "GPU 4: layers 31 to 40" in fresh.cut.value


def test_a_tower_is_said_to_be_counted_only_after_it_was_trained(fresh):
    fresh.num_layers, fresh.num_devices = 4, 2
    assert "(predicted)" in fresh.picture_text()
    counted = fresh.count()
    assert "(counted in a real training step)" in fresh.picture_text()
    fresh.num_devices = 1
    assert "(predicted)" in fresh.picture_text()
    assert len(counted) == 2


def test_what_does_not_fit_is_not_trained(fresh):
    fresh.num_layers = 40
    fresh.count()
    assert "nothing was trained" in fresh.said.value and "(predicted)" in fresh.picture_text()


def test_the_button_counts(fresh):
    fresh.train.click()
    assert "(counted in a real training step)" in fresh.picture_text()


def test_more_gpus_than_layers_is_said_and_not_drawn(fresh):
    fresh.num_layers = 4
    fresh.num_devices = 5
    assert "cannot cut 4 layers into 5 stages" in fresh.said.value and fresh.train.disabled
    assert "cannot cut 4 layers into 5 stages" in fresh.picture_text()
    assert (fresh.chart.value, fresh.chart.layout.display, fresh.cut.value) == (b"", "none", "")
    assert fresh.picture_png().startswith(b"\x89PNG")
    with pytest.raises(PartitionError):
        fresh.count()
    fresh.num_devices = 4
    assert fresh.picture_png() == fresh.chart.value and fresh.chart.layout.display is None


def test_a_knob_that_moves_moves_the_picture(fresh):
    before = fresh.chart.value
    fresh.layers.value = 12
    assert fresh.num_layers == 12 and fresh.chart.value != before
    fresh.devices.value = 2
    assert fresh.num_devices == 2 and "layers 7 to 12" in fresh.cut.value


def test_the_panel_speaks_chinese(fresh):
    fresh.lang = "zh"
    assert fresh.train.description == "真的训练一次，数一数"
    assert "显卡 1：第 1 到 8 层" in fresh.picture_text()
    assert fresh.picture_text().endswith(show.say("still_line", "zh"))


# -- the chart, and its words


def test_a_still_carries_its_words_for_who_cannot_see_it():
    still = show.desk_chart([(1e6, 1e6, 2e6, 5e5)], 2e6, "desk_predicted", "en")
    data, metadata = still._repr_mimebundle_()
    assert still.png.startswith(b"\x89PNG")
    assert data["text/plain"] == metadata["image/png"]["alt"] == still.words
    assert "in all 4.50 MB" in still.words and "GPU 1 needs 4.50 MB, the desk has 2 MB" in still.words


def test_a_loss_of_a_model_with_a_float64_weight_is_weighed_by_its_own_bytes():
    stages = [nn.Sequential(nn.Flatten(), nn.Linear(64, 10, dtype=torch.float64))]
    (predicted,) = desk.predict_desks(stages, plan.gpipe(1, 1), LAB.batch.double(), LAB.target, LAB.loss)
    assert predicted.parameters == 8 * 650
