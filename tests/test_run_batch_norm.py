"""A deferred BatchNorm: its running statistics move once a step, by the whole mini-batch, whatever becomes of the step."""

import copy

import pytest
import torch
from run_models import POLICIES, convnet, is_real, mean_square, pipeline_of, same_bits
from torch import nn

from pipekit import plan, run
from pipekit.errors import Cancelled, PartitionError, StageError
from pipekit.run.stage import _only_writes

NORMS = {1: nn.BatchNorm1d, 2: nn.BatchNorm2d, 3: nn.BatchNorm3d}
CHANNELS = 3


def data(num_samples=13, dims=1, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    shape = (num_samples, CHANNELS, *[4] * (dims if dims > 1 else 0))
    return 5 + 3 * torch.randn(shape, generator=generator, dtype=dtype)


def normalised_first(norm=nn.BatchNorm1d, dtype=torch.float64, **options):
    """A model whose first layer normalises the batch itself: it receives the same, cut or uncut, step after step."""
    torch.manual_seed(0)
    layers = [norm(CHANNELS, **options), nn.Tanh(), nn.Sequential(nn.Tanh(), nn.Identity())]
    return nn.Sequential(*layers).to(dtype)


def tower(norm=nn.BatchNorm1d):
    torch.manual_seed(0)
    blocks = [nn.Sequential(nn.Linear(CHANNELS, CHANNELS), norm(CHANNELS), nn.Tanh()) for _ in range(3)]
    return nn.Sequential(*blocks).double()


def norms(model):
    return [layer for layer in model.modules() if isinstance(layer, nn.modules.batchnorm._BatchNorm)]


def statistics(model):
    """What a model's `state_dict` says of running statistics."""
    return [
        value.clone() for name, value in model.state_dict().items() if "running" in name or "num_" in name
    ]


def train(model, schedule, batches, num_devices=None):
    """Steps of the cut model, its parameters changing."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pipeline_of(model, schedule.num_stages, schedule.num_devices, schedule.placement) as pipeline:
        for batch in batches:
            optimizer.zero_grad()
            pipeline.step(schedule, batch, torch.zeros_like(batch), mean_square)
            optimizer.step()


def train_whole(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches:
        optimizer.zero_grad()
        mean_square(model(batch), torch.zeros_like(batch)).backward()
        optimizer.step()


def assert_equal_statistics(ours, theirs, most=1e-12):
    for a, b in zip(statistics(ours), statistics(theirs), strict=True):
        assert a.dtype == b.dtype and run.relative_difference([a.double()], [b.double()]) <= most


SCHEDULES = [
    *[plan.gpipe(3, m) for m in (1, 2, 5)],
    *[build(3, 4, *policy) for build in (plan.gpipe, plan.one_f_one_b) for policy in POLICIES],
    plan.zb_h1(3, 5),
    plan.interleaved_1f1b(1, 4, 3),
]


def test_a_mean_over_steps_weighs_them_alike():
    batches = [data() + step for step in range(3)]
    ours, theirs = normalised_first(momentum=None), normalised_first(momentum=None)
    train(run.defer_batch_norm(ours), plan.gpipe(3, 4, "always"), batches)
    train_whole(theirs, batches)
    assert_equal_statistics(ours, theirs)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"{s.name} {s.num_micro_batches} {s.recompute}")
def test_running_statistics_after_cut_training_are_the_uncut_models(schedule):
    batches = [data() + step for step in range(3)]
    ours, theirs = (normalised_first() for _ in range(2))
    train(run.defer_batch_norm(ours), schedule, batches)
    train_whole(theirs, batches)
    assert_equal_statistics(ours, theirs)
    assert int(ours[0].num_batches_tracked) == 3


@pytest.mark.parametrize("dims", NORMS)
@pytest.mark.parametrize(("dtype", "most"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_images_and_volumes_count_every_pixel(dims, dtype, most):
    batches = [data(dims=dims, dtype=dtype) for _ in range(2)]
    ours, theirs = (normalised_first(NORMS[dims], dtype) for _ in range(2))
    train(run.defer_batch_norm(ours), plan.gpipe(3, 4, "always"), batches)
    train_whole(theirs, batches)
    assert_equal_statistics(ours, theirs, most)


def test_sequences_count_every_place():
    batches = [torch.randn(13, CHANNELS, 7, dtype=torch.float64)]
    ours, theirs = normalised_first(), normalised_first()
    train(run.defer_batch_norm(ours), plan.gpipe(3, 4), batches)
    train_whole(theirs, batches)
    assert_equal_statistics(ours, theirs)


def test_half_precision_loses_nothing_between_pieces():
    """The sums stay in float64, whatever the layer becomes: 300 pieces of two would be lost in bfloat16."""
    batch = data(600, dtype=torch.bfloat16)
    model = run.defer_batch_norm(normalised_first()).to(torch.bfloat16)
    assert model[0].gathered.dtype == torch.float64
    train(model, plan.gpipe(1, 300), [batch])
    variance, mean = torch.var_mean(batch.double(), 0)
    assert model[0].running_mean.dtype == torch.bfloat16
    assert run.relative_difference([model[0].running_mean.double()], [mean * 0.1]) <= 2**-8
    assert run.relative_difference([model[0].running_var.double()], [variance * 0.1 + 0.9]) <= 2**-8


def test_every_layer_gathers_what_it_received_itself():
    """Deeper layers receive what earlier ones normalised piece by piece: of that, the statistics are the mini-batch's."""
    model = run.defer_batch_norm(tower())
    received = [[] for _ in norms(model)]
    for layer, values in zip(norms(model), received, strict=True):
        layer.register_forward_pre_hook(
            lambda layer, given, values=values: values.append(given[0].detach().clone())
        )
    train(model, plan.one_f_one_b(3, 4), [data()])
    for layer, values in zip(norms(model), received, strict=True):
        plain = nn.BatchNorm1d(CHANNELS, dtype=torch.float64)
        plain(torch.cat([value for value in values if is_real(value)]))
        assert_equal_statistics(layer, plain)


def test_the_gradients_stay_those_of_pieces_that_are_normalised_by_themselves():
    ours, plain, batch = run.defer_batch_norm(tower()), tower(), data()
    for model in (ours, plain):
        with pipeline_of(model, 3) as pipeline:
            pipeline.step(plan.gpipe(3, 4), batch, torch.zeros_like(batch), mean_square)
    assert run.relative_difference(run.gradients([ours]), run.gradients([plain])) <= 1e-12
    whole = tower()
    mean_square(whole(batch), torch.zeros_like(batch)).backward()
    assert run.relative_difference(run.gradients([ours]), run.gradients([whole])) > 1e-2


def test_a_plain_batch_norm_counts_pieces_and_a_deferred_one_steps():
    plain, ours = tower(), run.defer_batch_norm(tower())
    for model in (plain, ours):
        train(model, plan.gpipe(3, 4, "always"), [data()] * 2)
    assert [int(layer.num_batches_tracked) for layer in norms(plain)] == [8] * 3
    assert [int(layer.num_batches_tracked) for layer in norms(ours)] == [2] * 3


# -- a step that isn't


class Fails(nn.Module):
    def __init__(self, calls):
        super().__init__()
        self.calls = calls

    def forward(self, x):
        if is_real(x):
            self.calls -= 1
            if self.calls < 0:
                raise ValueError("on purpose")
        return x


@pytest.mark.parametrize("checkpoint", plan.CHECKPOINTS)
def test_a_failed_step_leaves_no_trace_and_the_next_counts_its_own(checkpoint):
    ours, theirs, batch = run.defer_batch_norm(tower()), run.defer_batch_norm(tower()), data()
    fails = Fails(4)
    schedule = plan.gpipe(3, 4, checkpoint)
    with pipeline_of([ours[0], ours[1], nn.Sequential(ours[2], fails)]) as pipeline:
        pipeline.step(plan.gpipe(3, 4), batch, torch.zeros_like(batch), mean_square)
        before, fails.calls = [buffer.clone() for buffer in ours.buffers()], 2
        with pytest.raises(StageError, match="on purpose"):
            pipeline.step(schedule, batch + 9, torch.zeros_like(batch), mean_square)
        assert same_bits(list(ours.buffers()), before)
        assert not any(layer.gathering for layer in norms(ours))
        fails.calls = 99
        pipeline.step(schedule, batch, torch.zeros_like(batch), mean_square)
    with pipeline_of(theirs, 3) as pipeline:
        for _ in range(2):
            pipeline.step(schedule, batch, torch.zeros_like(batch), mean_square)
    assert_equal_statistics(ours, theirs)


def test_a_cancelled_step_leaves_no_trace():
    model, batch = run.defer_batch_norm(tower()), data()
    with pipeline_of(model, 3) as pipeline:
        pipeline.step(plan.gpipe(3, 4), batch, torch.zeros_like(batch), mean_square)
        before = [buffer.clone() for buffer in model.buffers()]
        with pytest.raises(Cancelled):
            pipeline.step(
                plan.gpipe(3, 4), batch, torch.zeros_like(batch), mean_square,
                on_span=lambda span: pipeline.cancel(),
            )  # fmt: skip
    assert same_bits(list(model.buffers()), before)


def test_a_hook_that_fails_at_the_very_end_leaves_no_trace():
    model, batch = run.defer_batch_norm(tower()), data()
    before = [buffer.clone() for buffer in model.buffers()]

    def fail(parameter):
        raise ValueError("in a hook")

    model[2][0].weight.register_post_accumulate_grad_hook(fail)
    with pipeline_of(model, 3) as pipeline, pytest.raises(ValueError, match="in a hook"):
        pipeline.step(plan.gpipe(3, 4), batch, torch.zeros_like(batch), mean_square)
    assert same_bits(list(model.buffers()), before)


def test_measuring_moves_nothing():
    model, batch = run.defer_batch_norm(tower()), data()
    before = [buffer.clone() for buffer in model.buffers()]
    with pipeline_of(model, 3) as pipeline:
        run.measure(
            pipeline, plan.gpipe(3, 4, "always"), batch, torch.zeros_like(batch), mean_square, steps=1
        )
    assert same_bits(list(model.buffers()), before)


# -- memory: a recomputation needs no copy of what is only written


def test_a_recomputed_piece_keeps_no_more_than_with_a_plain_batch_norm():
    peaks = []
    for model in (convnet(3), run.defer_batch_norm(convnet(3))):
        batch = torch.randn(8, 3, 4, 4)
        with pipeline_of(model, 3) as pipeline:
            result = pipeline.step(plan.gpipe(3, 4, "always"), batch, batch, mean_square)
        peaks.append(result.memory.peak_activation_bytes)
        assert all(map(_only_writes, norms(model)))
    assert all(ours <= plain for plain, ours in zip(*peaks, strict=True))


# -- outside a pipeline, and what is left alone


def test_outside_a_pipeline_it_is_a_plain_batch_norm_to_the_last_bit():
    ours, theirs = run.defer_batch_norm(tower()), tower()
    for model in (ours, theirs):
        train_whole(model, [data(), data(5)])
    assert same_bits(list(ours.state_dict().values()), list(theirs.state_dict().values()))
    ours.eval(), theirs.eval()
    assert torch.equal(ours(data()), theirs(data()))


def test_in_eval_a_step_uses_the_running_statistics_and_moves_nothing():
    model, batch = run.defer_batch_norm(tower()), data()
    train_whole(model, [batch])
    before, whole = statistics(model), copy.deepcopy(model).eval()
    mean_square(whole(batch), torch.zeros_like(batch)).backward()
    model.eval().zero_grad()
    with pipeline_of(model, 3) as pipeline:
        pipeline.step(plan.gpipe(3, 4), batch, torch.zeros_like(batch), mean_square)
    assert same_bits(statistics(model), before)
    assert run.relative_difference(run.gradients([model]), run.gradients([whole])) <= 1e-12


def test_some_frozen_in_eval_stay_and_the_others_move():
    model = run.defer_batch_norm(tower())
    norms(model)[1].eval()
    train(model, plan.gpipe(3, 4), [data()])
    assert [int(layer.num_batches_tracked) for layer in norms(model)] == [1, 0, 1]


class Unused(nn.Module):
    """Has a layer that its forward passes by."""

    def __init__(self):
        super().__init__()
        self.spare = nn.BatchNorm1d(CHANNELS, dtype=torch.float64)

    def forward(self, x):
        return x * 1.0


def test_a_layer_that_saw_nothing_in_a_step_stays_as_it_is():
    model = run.defer_batch_norm(nn.Sequential(*tower(), Unused()))
    train(model, plan.gpipe(4, 3), [data()])
    assert [int(layer.num_batches_tracked) for layer in norms(model)] == [1, 1, 1, 0]
    assert torch.equal(model[3].spare.running_var, torch.ones(CHANNELS).double())


def test_the_layers_stay_the_same_objects_with_the_same_state():
    plain = tower()
    layers, keys, fired = norms(plain), list(plain.state_dict()), []
    layers[0].register_forward_hook(lambda *_: fired.append(1))
    model = run.defer_batch_norm(plain)
    assert model is plain and all(a is b for a, b in zip(norms(model), layers, strict=True))
    assert run.defer_batch_norm(model) is model
    model(data())
    assert fired == [1] and list(model.state_dict()) == keys
    assert "DeferredBatchNorm1d(3, eps=1e-05" in repr(model)
    tower().load_state_dict(model.state_dict())


def test_a_copy_gathers_for_itself():
    model = run.defer_batch_norm(tower())
    other = copy.deepcopy(model)
    train(model, plan.gpipe(3, 4), [data()])
    assert [int(layer.num_batches_tracked) for layer in norms(other)] == [0] * 3
    train(other, plan.gpipe(3, 4), [data()])
    assert same_bits(statistics(other), statistics(model))


def test_without_running_statistics_there_is_nothing_to_defer():
    model = run.defer_batch_norm(nn.Sequential(nn.BatchNorm1d(3, track_running_stats=False)))
    assert type(model[0]) is nn.BatchNorm1d


def test_a_layer_whose_statistics_were_taken_away_is_a_plain_one():
    layer = nn.BatchNorm1d(3)
    layer.running_mean = layer.running_var = None
    assert type(run.defer_batch_norm(layer)) is nn.BatchNorm1d


@pytest.mark.parametrize("momentum", [0.1, None])
def test_a_layer_that_counts_no_steps_moves_as_the_plain_one(momentum):
    """The counter may be None in torch, too."""
    models = [tower(lambda channels: nn.BatchNorm1d(channels, momentum=momentum)) for _ in range(2)]
    for layer in [*norms(models[0]), *norms(models[1])]:
        layer.num_batches_tracked = None
    train(run.defer_batch_norm(models[0]), plan.gpipe(3, 1), [data()])
    train_whole(models[1], [data()])
    assert_equal_statistics(*models)


class Own(nn.BatchNorm1d):
    pass


@pytest.mark.parametrize("norm", [nn.SyncBatchNorm, Own, nn.LazyBatchNorm1d])
def test_one_that_may_gather_in_its_own_way_is_refused_and_nothing_is_changed(norm):
    spoiled = norm() if norm is nn.LazyBatchNorm1d else norm(3)
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Sequential(spoiled))
    with pytest.raises(PartitionError, match=f"1.0 is a {norm.__name__}"):
        run.defer_batch_norm(model)
    assert type(model[0]) is nn.BatchNorm1d


def test_a_piece_of_one_value_a_channel_is_refused_as_by_a_plain_one():
    model = run.defer_batch_norm(tower())
    with pipeline_of(model, 3) as pipeline, pytest.raises(StageError, match="more than 1 value"):
        pipeline.step(plan.gpipe(3, 3), data(3), data(3), mean_square)
