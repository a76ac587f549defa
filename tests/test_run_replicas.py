"""Bidirectional placements (contract 23): a stage on two devices works on a copy there; the model stays one."""

import contextlib
import copy
import gc
import weakref

import pytest
import torch
from run_models import (
    Do,
    Residual,
    convnet,
    is_real,
    mean_square,
    mlp,
    pipeline_of,
    same_bits,
    stepped,
    uncut,
)
from torch import nn
from torch.nn.utils import parametrizations

from pipekit import plan, run
from pipekit.errors import Cancelled, DeviceError, PlacementError, StageError
from pipekit.plan import Schedule
from pipekit.run.workers import working_workers

# Two stages, each on both devices: the pieces 0 and 1 go one way, 2 and 3 the other.
BOTH_WAYS = Schedule(
    [
        "0F0 1F2 0F1 1B2 1F3 0B0 1B3 0B1",
        "0F2 1F0 0F3 1B0 1F1 0B2 1B1 0B3",
    ],
    [(0, 1), (1, 0)],
)
HALVED = Schedule(
    [
        "0F0 1F2 0F1 1R2 1I2 1F3 0I0 1W2 1R3 1I3 0W0 0I1 1W3 0W1",
        "0F2 1F0 0F3 1R0 1I0 1F1 0I2 1W0 1R1 1I1 0W2 0I3 1W1 0W3",
    ],
    [(0, 1), (1, 0)],
)
BOTH = pytest.mark.parametrize("schedule", [BOTH_WAYS, HALVED], ids=["B", "R, I, W"])


def data(num_samples=9, width=6):
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(num_samples, width, generator=generator, dtype=torch.float64) for _ in range(2))


def two_stages(*more):
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Sequential(nn.Linear(6, 6), nn.Tanh(), *more), nn.Sequential(Residual(6), nn.LayerNorm(6))
    ).double()


@BOTH
def test_gradients_are_the_uncut_models(schedule):
    model = two_stages()
    expected, loss = uncut(model, *data())
    ours, result = stepped(model, schedule, *data())
    assert run.relative_difference(ours, expected) <= 1e-12
    assert float(result.loss) == pytest.approx(float(loss), rel=1e-12)


@BOTH
def test_a_copy_follows_every_optimizer_step(schedule):
    model = two_stages()
    whole = copy.deepcopy(model)
    ours, theirs = (torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (model, whole))
    with pipeline_of(model, placement=schedule.placement, num_devices=2) as pipeline:
        assert pipeline.placement == schedule.placement
        assert {id(p) for p in pipeline.parameters()} == {id(p) for p in model.parameters()}
        for _ in range(5):
            ours.zero_grad()
            pipeline.step(schedule, *data(), mean_square)
            ours.step()
            theirs.zero_grad()
            mean_square(whole(data()[0]), data()[1]).backward()
            theirs.step()
    assert run.relative_difference(list(model.parameters()), list(whole.parameters())) <= 1e-11


def test_fifty_steps_give_the_same_bits():
    model = two_stages()
    with pipeline_of(model, placement=BOTH_WAYS.placement, num_devices=2) as pipeline:
        pipeline.step(BOTH_WAYS, *data(), mean_square)
        first = run.gradients([model])
        for _ in range(50):
            model.zero_grad()
            pipeline.step(BOTH_WAYS, *data(), mean_square)
            assert same_bits(run.gradients([model]), first)


def test_gradients_of_two_steps_add_up_in_the_same_tensors():
    model = two_stages()
    expected, _ = uncut(model, *data())
    with pipeline_of(model, placement=BOTH_WAYS.placement, num_devices=2) as pipeline:
        pipeline.step(BOTH_WAYS, *data(), mean_square)
        tensors = [parameter.grad for parameter in model.parameters()]
        pipeline.step(HALVED, *data(), mean_square)
        pipeline.step(HALVED, *data(), mean_square, keep_gradients=False)
    assert all(p.grad is tensor for p, tensor in zip(model.parameters(), tensors, strict=True))
    assert run.relative_difference(run.gradients([model]), [2 * each for each in expected]) <= 1e-12


def test_one_stage_with_two_homes_beside_one_with_one():
    """As two replicas of the first stage would feed one second stage."""
    schedule = Schedule(["0F0 0B0", "1F0 1F1 1B0 1B1", "0F1 0B1"], [(0, 2), 1])
    model = two_stages()
    ours, _ = stepped(model, schedule, *data())
    assert run.relative_difference(ours, uncut(model, *data())[0]) <= 1e-12


def test_pipeline_and_schedule_may_name_the_two_homes_in_another_order():
    turned = Schedule(BOTH_WAYS.lanes, [(1, 0), (0, 1)])
    model = two_stages()
    with pipeline_of(model, placement=turned.placement, num_devices=2) as pipeline:
        pipeline.step(BOTH_WAYS, *data(), mean_square)
    assert run.relative_difference(run.gradients([model]), uncut(two_stages(), *data())[0]) <= 1e-12


@pytest.mark.parametrize(
    ("placement", "sentence"),
    [
        ([0, 1], r"the schedule places stages on devices \(\(0, 1\), \(1, 0\)\), the pipeline on \(0, 1\)"),
        ([(0, 1), 1], r"placement=schedule\.placement"),
    ],
)
def test_another_placement_is_refused_with_the_line_to_write(placement, sentence):
    with pipeline_of(two_stages(), placement=placement, num_devices=2) as pipeline:
        with pytest.raises(PlacementError, match=sentence):
            pipeline.step(BOTH_WAYS, *data(), mean_square)
        with pytest.raises(PlacementError, match=r"use all 2 devices"):
            run.Pipeline(pipeline.stages, pipeline.devices, placement=[(0, 0), 0])


# -- the model stays one


def test_parameters_that_stages_share_frozen_ones_and_hooks():
    fired = []
    model = two_stages()
    model[1][0].inner[0].weight = model[0][0].weight
    model[1][0].inner[2].bias.requires_grad_(False)
    model[0][0].bias.register_hook(lambda gradient: fired.append(gradient.clone()))
    expected, _ = uncut(model, *data())
    fired.clear()
    with pipeline_of(model, placement=HALVED.placement, num_devices=2) as pipeline:
        pipeline.step(HALVED, *data(), mean_square)
    assert run.relative_difference(run.gradients([model]), expected) <= 1e-12
    assert len(fired) == 1
    assert torch.equal(fired[0], model[0][0].bias.grad)


class Made(nn.Module):
    """What modules keep in Python: a list of their layers, a bound method, settings; and hooks of their own."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)
        self.layers = [self.a, self.b]
        self.settings = {"power": 1}
        self.how = self.apply_all
        self.scale = 1.0
        self.a.register_forward_hook(self.watch)
        self.seen = []

    def watch(self, module, inputs, output):
        self.seen.append((module is self.a, id(self)))

    def apply_all(self, x):
        assert self.layers[0] is self.a
        for layer in self.layers:
            x = layer(x).tanh() ** self.settings["power"]
        return x * self.scale

    def forward(self, x):
        return self.how(x)


def test_a_copy_works_with_its_own_layers_and_with_the_settings_of_now():
    model = two_stages(Made())
    made = model[0][2]
    with pipeline_of(model, placement=BOTH_WAYS.placement, num_devices=2) as pipeline:
        for scale, power in ((1.0, 1), (0.5, 3)):
            made.scale, made.settings["power"] = scale, power
            made.train(scale < 1)
            model.zero_grad()
            expected, _ = uncut(model, *data())
            made.seen.clear()
            pipeline.step(BOTH_WAYS, *data(), mean_square)
            assert run.relative_difference(run.gradients([model]), expected) <= 1e-12
            assert [own for own, _ in made.seen] == [True] * 4
            assert len({who for _, who in made.seen}) == 2


@pytest.mark.parametrize(
    "layer",
    [
        lambda: parametrizations.weight_norm(nn.Linear(6, 6)),
        lambda: nn.Sequential(
            nn.Unflatten(1, (1, 6)), nn.GRU(6, 6, batch_first=True), Do(lambda pair: pair[0][:, 0])
        ),
        lambda: nn.ParameterList([nn.Parameter(torch.ones(6))]),
    ],
)
def test_layers_with_state_of_their_own_are_copied_whole(layer):
    class Holds(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = layer()

        def forward(self, x):
            return x * self.inner[0] if isinstance(self.inner, nn.ParameterList) else self.inner(x)

    model = two_stages(Holds())
    expected, _ = uncut(model, *data())
    for schedule in (BOTH_WAYS, HALVED):
        assert run.relative_difference(stepped(model, schedule, *data())[0], expected) <= 1e-12


def test_a_loss_with_weights_of_its_own_is_copied_too():
    asked = set()

    class Weighted(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.full((6,), 2.0, dtype=torch.float64))

        def forward(self, output, target):
            asked.add(id(self))
            return mean_square(output * self.scale, target)

    model, loss = two_stages(), Weighted()
    for how in (loss, loss.forward):
        whole = copy.deepcopy(nn.ModuleList([model, loss]))
        whole[1](whole[0](data()[0]), data()[1]).backward()
        model.zero_grad()
        loss.zero_grad()
        asked.clear()
        with pipeline_of(model, placement=BOTH_WAYS.placement, num_devices=2) as pipeline:
            pipeline.step(BOTH_WAYS, *data(), how)
        assert len(asked) == 2
        assert run.relative_difference(run.gradients([model, loss]), run.gradients([whole])) <= 1e-12


def test_random_numbers_are_those_of_one_copy():
    """A piece draws by its number, wherever its stage runs."""
    model = two_stages(nn.Dropout(0.5))
    once = Schedule(["0F0 0F1 0F2 0F3 0B0 0B1 0B2 0B3", "1F0 1B0 1F1 1B1 1F2 1B2 1F3 1B3"])
    answers = []
    for schedule in (once, BOTH_WAYS, HALVED):
        torch.manual_seed(3)
        answers.append(stepped(model, schedule, *data())[0])
    assert all(run.relative_difference(each, answers[0]) <= 1e-12 for each in answers[1:])


# -- buffers


@pytest.mark.parametrize("stage", [0, 1])
def test_a_batch_norm_that_trains_is_refused_before_anything_starts(stage):
    calls = []
    model = two_stages(Do(lambda x: calls.append(1) or x))
    model[stage].append(nn.BatchNorm1d(6).double())
    with pipeline_of(model, placement=BOTH_WAYS.placement, num_devices=2) as pipeline:
        sentence = (
            rf"stage {stage} lives on devices {stage} and {1 - stage}, but its BatchNorm1d changes .*eval\(\)"
        )
        with pytest.raises(PlacementError, match=sentence):
            pipeline.step(BOTH_WAYS, *data(), mean_square)
        assert not calls
        model.eval()
        pipeline.step(BOTH_WAYS, *data(), mean_square)
    assert run.relative_difference(run.gradients([model]), uncut(model, *data())[0]) <= 1e-12


class Counts(nn.Module):
    """Changes a buffer in one of three ways, in the pieces it is told."""

    def __init__(self, how, pieces):
        super().__init__()
        self.register_buffer("count", None if how == "made" else torch.zeros(2))
        self.how, self.pieces, self.calls = how, pieces, []

    def forward(self, x):
        if is_real(x):
            self.calls.append(1)
            if len(self.calls) in self.pieces:
                if self.how == "in place":
                    self.count.add_(1)
                else:
                    self.count = torch.ones(2)
        return x


@pytest.mark.parametrize("pieces", [{1}, {4}, {1, 2, 3, 4}])
@pytest.mark.parametrize("how", ["in place", "replaced", "made"])
def test_a_buffer_that_changes_in_either_copy_undoes_the_step_and_says_so(how, pieces):
    model = two_stages(Counts(how, pieces))
    counts = model[0][2]
    with pipeline_of(model, placement=BOTH_WAYS.placement, num_devices=2) as pipeline:
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        before = counts.count
        with pytest.raises(
            PlacementError, match=r"stage 0 lives on devices 0 and 1, but its Counts .*buffer count"
        ):
            pipeline.step(BOTH_WAYS, *data(), mean_square)
        assert counts.count is before
        assert before is None or before.tolist() == [0, 0]
        assert all(torch.equal(p.grad, torch.ones_like(p)) for p in model.parameters())
        counts.pieces = set()
        pipeline.step(BOTH_WAYS, *data(), mean_square)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # torch's own, of its compiler
def test_a_compiled_stage_is_refused():
    model = two_stages()
    model[0] = nn.Sequential(torch.compile(model[0]))
    refused = pytest.raises(
        PlacementError, match=r"stage 0 .*OptimizedModule can't be copied; leave it uncompiled"
    )
    with pipeline_of(model, placement=BOTH_WAYS.placement, num_devices=2) as pipeline, refused:
        pipeline.step(BOTH_WAYS, *data(), mean_square)


# -- failures, memory, time


@pytest.mark.parametrize("device", [0, 1])
@pytest.mark.parametrize("cancels", [True, False])
def test_a_failure_in_either_copy_puts_everything_back(device, cancels):
    def event(x):
        name = __import__("threading").current_thread().name
        if is_real(x) and name.endswith(str(device)):
            if cancels:
                pipeline.cancel()
            else:
                raise ValueError("on purpose")
        return x

    model = two_stages(Do(event))
    with pipeline_of(model, placement=BOTH_WAYS.placement, num_devices=2) as pipeline:
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        state = torch.default_generator.get_state()
        with pytest.raises(Cancelled if cancels else StageError) as caught:
            pipeline.step(BOTH_WAYS, *data(), mean_square)
        if not cancels:
            assert caught.value.numbers["device"] == device
        assert torch.equal(torch.default_generator.get_state(), state)
        assert all(torch.equal(p.grad, torch.ones_like(p)) for p in model.parameters())
        model[0][2].function = abs
        model.zero_grad()
        pipeline.step(BOTH_WAYS, *data(), mean_square)
    assert working_workers() == 0


def test_forty_steps_leave_no_copy_and_no_tensor_behind():
    seen, alive = [], []

    def event(x):
        if is_real(x):
            seen.append(weakref.ref(x))
            if len(seen) % 7 == 0:
                raise ValueError("on purpose")
        return x

    model = two_stages(Do(event))
    with pipeline_of(model, placement=BOTH_WAYS.placement, num_devices=2) as pipeline:
        for step in range(40):
            with contextlib.suppress(StageError):
                pipeline.step((BOTH_WAYS, HALVED)[step % 2], *data(), mean_square)
            if step in (9, 39):
                gc.collect()
                alive.append(
                    sum(issubclass(type(each), torch.Tensor | nn.Module) for each in gc.get_objects())
                )
    gc.collect()
    assert len(seen) > 100
    assert alive[0] == alive[1]
    assert not any(reference() is not None for reference in seen)


def test_both_copies_count_on_their_devices():
    model = two_stages().append(nn.Sequential(nn.Linear(6, 6)).double())
    schedule = Schedule(["0F0 0F1 1F1 0B0 1B1 0B1", "1F0 2F0 2B0 1B0 2F1 2B1"], [0, (1, 0), 1])
    ours, result = stepped(model, schedule, *data())
    sizes = [sum(p.nbytes for p in stage.parameters()) for stage in model]
    assert result.memory.parameter_bytes == [sizes[0] + sizes[1], sizes[1] + sizes[2]]
    assert result.memory.gradient_bytes == result.memory.parameter_bytes
    assert run.relative_difference(ours, uncut(model, *data())[0]) <= 1e-12
    shape = run.inspect(list(model), data()[0], loss=mean_square, target=data()[1])
    assert result.memory.peak_activation_bytes == pytest.approx(
        plan.peak_activations(schedule, shape, [5, 4]), rel=0.02
    )


def test_a_device_with_two_half_used_stages_has_the_lessons_time():
    """An op takes batch_time n / N: each of a device's two stages sees half of the samples."""
    devices = run.stand_ins(2, batch_time=0.08)
    costs = devices.costs(BOTH_WAYS, 8, None)
    assert costs.forward == pytest.approx([0.01, 0.01])
    with pytest.raises(
        DeviceError, match=r"stage 0 lives on devices 0 and 1, which slow= makes unequally fast"
    ):
        run.stand_ins(2, batch_time=0.08, slow={1: 2.0}).costs(BOTH_WAYS, 8, None)
    assert run.stand_ins(2, batch_time=0.08, slow={0: 2.0, 1: 2.0}).costs(
        BOTH_WAYS, 8, None
    ).forward == pytest.approx([0.02, 0.02])


def test_convolutions_work_both_ways():
    model = convnet(2, norm=lambda channels: nn.GroupNorm(1, channels)).double()
    batch, target = torch.randn(2, 9, 3, 4, 4, dtype=torch.float64)
    ours, _ = stepped(model, HALVED, batch, target)
    assert run.relative_difference(ours, uncut(model, batch, target)[0]) <= 1e-12


# -- several stages on a device


def test_a_value_goes_from_a_device_to_itself():
    """The bottom of a V: stages 1 and 2 are neighbours on one device."""
    schedule = Schedule(
        ["0F0 0F1 3F0 3I0 3W0 0I0 0W0 3F1 3B1 0B1", "1F0 2F0 1F1 2F1 2I0 1I0 2W0 1W0 2B1 1B1"]
    )
    assert schedule.placement == (0, 1, 1, 0)
    model = mlp(8).double()
    ours, _ = stepped(run.partition(model, 4), schedule, *data())
    assert run.relative_difference(ours, uncut(model, *data())[0]) <= 1e-12


def test_a_neighbour_on_the_same_device_costs_no_latency():
    schedule = Schedule(["0F0 1F0 1B0 0B0"], [0, 0])
    with run.Pipeline(
        run.partition(mlp(4), 2), run.stand_ins(1, batch_time=0.04, latency=0.5), placement=[0, 0]
    ) as pipeline:
        result = pipeline.step(schedule, *torch.randn(2, 4, 6), mean_square)
    assert result.timeline.makespan < 0.4
