"""Counted bytes (contracts 28, 29): equal to the prediction, and to what an independent census of storages finds."""

import gc
import weakref

import numpy as np
import pytest
import torch
from run_models import POLICIES, Do, Residual, convnet, is_real, mean_square, mlp, pipeline_of
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from pipekit import plan, run
from pipekit.errors import Cancelled, StageError

BUILDERS = {"gpipe": plan.gpipe, "1f1b": plan.one_f_one_b}


class FirstOf(nn.Module):
    """An LSTM without its states."""

    def __init__(self, width):
        super().__init__()
        self.lstm = nn.LSTM(width, width, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0]


def towers():
    """Name -> (model, batch of 10 samples)."""
    torch.manual_seed(0)
    return {
        "mlp": (mlp(4, 64), torch.randn(10, 64)),
        "conv with BatchNorm": (convnet(4, 4), torch.randn(10, 4, 12, 12)),
        "transformer": (
            nn.Sequential(*(nn.TransformerEncoderLayer(16, 2, 32, 0.1, batch_first=True) for _ in range(4))),
            torch.randn(10, 8, 16),
        ),
        "lstm": (nn.Sequential(*(FirstOf(64) for _ in range(4))), torch.randn(32, 16, 64)),
        "embedding": (
            nn.Sequential(
                nn.Embedding(11, 16), nn.Sequential(nn.Linear(16, 16), nn.ReLU(inplace=True)), mlp(2, 16)
            ),
            torch.randint(11, (10, 6)),
        ),
    }


NAMES = list(towers())
M = 4  # 10 samples: 3, 3, 2, 2


def target_of(model, batch):
    with torch.no_grad():
        return torch.randn_like(model.eval()(batch)), model.train()


def counted_and_predicted(name, builder, checkpoint, recompute, num_stages=2):
    model, batch = towers()[name]
    target, _ = target_of(model, batch)
    schedule = builder(num_stages, M, checkpoint, recompute)
    stages = run.partition(model, num_stages)
    shape = run.inspect(stages, batch, loss=mean_square, target=target)
    with pipeline_of(stages) as pipeline:
        result = pipeline.step(schedule, batch, target, mean_square)
    sizes = plan.micro_batch_sizes(len(batch), M)
    return result.memory, plan.peak_activations(schedule, shape, sizes)


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("name", NAMES)
def test_counted_bytes_are_the_predicted_ones(name, builder):
    for checkpoint, recompute in POLICIES:
        memory, predicted = counted_and_predicted(name, BUILDERS[builder], checkpoint, recompute)
        assert memory.peak_activation_bytes == pytest.approx(predicted, rel=0.02), (checkpoint, recompute)


def test_policies_change_the_peak_as_the_formula_says():
    """A tower of equal layers: never N i, always N a + n (i - a), except_last (N - n) a + n i."""
    counted = {
        checkpoint: run_once(checkpoint).memory.peak_activation_bytes[1] for checkpoint in plan.CHECKPOINTS
    }
    a, i, big, last = (
        32 * 4,
        4 * 32 * 4,
        8,
        2,
    )  # bytes a sample: input; input, two outputs of Tanh, the difference
    assert counted == {
        "never": big * i,
        "except_last": (big - last) * a + last * i,
        "always": big * a + last * (i - a),
    }


def run_once(checkpoint):
    torch.manual_seed(0)
    stages = run.partition(mlp(4, 32), 2)
    with pipeline_of(stages) as pipeline:
        return pipeline.step(plan.gpipe(2, 4, checkpoint), *torch.randn(2, 8, 32), mean_square)


def test_curves_have_one_row_an_op_in_time_order():
    schedule = plan.one_f_one_b(2, 4, "always")
    with pipeline_of(mlp(4, 32), 2) as pipeline:
        result = pipeline.step(schedule, *torch.randn(2, 8, 32), mean_square)
    for device, curve in enumerate(result.memory.curves):
        assert curve.shape == (len(schedule.lanes[device]), 3)  # seconds, kept, waiting
        assert (np.diff(curve[:, 0]) >= 0).all()
        assert curve[:, 1].max() == result.memory.peak_activation_bytes[device]
        assert curve[-1, 1] == 0  # all was let go


def test_a_second_step_of_the_same_kind_reports_the_same_bytes_without_counting():
    model = convnet(4)
    hooks = []
    model[2].append(
        Do(lambda x: hooks.append(torch._C._autograd._top_saved_tensors_default_hooks(False)) or x)
    )
    with pipeline_of(model, 2) as pipeline:
        batch, target = torch.randn(2, 6, 3, 5, 5)
        first, second = (pipeline.step(plan.gpipe(2, 3), batch, target, mean_square) for _ in range(2))
    assert [hook is not None for hook in hooks[-6:]] == [True] * 3 + [False] * 3
    for a, b in zip(first.memory.curves, second.memory.curves, strict=True):
        assert (a[:, 1] == b[:, 1]).all()
    assert first.memory.peak_activation_bytes == second.memory.peak_activation_bytes


def test_what_is_frozen_later_is_counted_afresh():
    stages = run.partition(mlp(4, 32), 2)
    batch, target = torch.randn(2, 8, 32)
    with pipeline_of(stages) as pipeline:
        all_train = pipeline.step(plan.gpipe(2, 2), batch, target, mean_square).memory
        stages[0].requires_grad_(False)
        frozen = pipeline.step(plan.gpipe(2, 2), batch, target, mean_square).memory
    assert all_train.peak_activation_bytes[0] > 0 == frozen.peak_activation_bytes[0]


def test_the_other_lines_are_parameters_buffers_and_gradients():
    model = convnet(4)
    model[0].requires_grad_(False)
    with pipeline_of(model, 2) as pipeline:
        memory = pipeline.step(plan.gpipe(2, 3), *torch.randn(2, 6, 3, 5, 5), mean_square).memory
    layer = sum(p.nbytes for p in model[0].parameters())
    assert memory.parameter_bytes == [2 * layer] * 2
    assert memory.gradient_bytes == [layer, 2 * layer]
    assert memory.buffer_bytes == [sum(b.nbytes for layer in model[:2] for b in layer.buffers())] * 2
    assert memory.peak_bytes == [
        memory.peak_activation_bytes[k]
        + memory.peak_waiting_bytes[k]
        + memory.parameter_bytes[k]
        + memory.buffer_bytes[k]
        + memory.gradient_bytes[k]
        for k in range(2)
    ]


def test_a_whole_value_of_the_batch_is_not_an_activation():
    class Look(nn.Module):
        def forward(self, pair):
            return pair[0] @ pair[1]

    table = torch.eye(32)
    stages = [nn.Sequential(Look(), nn.Linear(32, 32), nn.Tanh()), nn.Sequential(nn.Linear(32, 32))]
    x, y = torch.randn(2, 8, 32)
    shape = run.inspect(stages, (x, run.whole(table)), loss=mean_square, target=y)
    for checkpoint in plan.CHECKPOINTS:
        schedule = plan.gpipe(2, 2, checkpoint)
        with pipeline_of(stages) as pipeline:
            memory = pipeline.step(schedule, (x, run.whole(table)), y, mean_square).memory
        assert memory.peak_activation_bytes == plan.peak_activations(schedule, shape, [4, 4])


# -- an independent census


class Census(TorchDispatchMode):
    """Every storage that any operator made, by a weak reference; knows nothing of autograd or of the ledger."""

    def __init__(self, left_out):
        super().__init__()
        self.left_out = {tensor.untyped_storage()._cdata for tensor in left_out}
        self.found = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for tensor in torch.utils._pytree.tree_leaves(made):
            if isinstance(tensor, torch.Tensor) and tensor.untyped_storage()._cdata not in self.left_out:
                storage = tensor.untyped_storage()
                self.found[storage._cdata] = (
                    torch.multiprocessing.reductions.StorageWeakRef(storage),
                    storage.nbytes(),
                )
        return made

    def live(self, parameters):
        """Bytes that live now and are no gradients of parameters."""
        gradients = {p.grad.untyped_storage()._cdata for p in parameters if p.grad is not None}
        return sum(
            size for key, (ref, size) in self.found.items() if key not in gradients and not ref.expired()
        )


ONE_LANE = {
    "never": "0F0 1F0 0F1 1F1 0F2 1F2 0F3 1F3 1B3 0B3 1B2 0B2 1B1 0B1 1B0 0B0",
    "1f1b": "0F0 0F1 1F0 1B0 0B0 0F2 1F1 1B1 0B1 0F3 1F2 1B2 0B2 1F3 1B3 0B3",
    "except_last": "0F0 1F0 0F1 1F1 0F2 1F2 0F3 1F3 1B3 0B3 1R2 1B2 0R2 0B2 1R1 1B1 0R1 0B1 1R0 1B0 0R0 0B0",
    "always": "0F0 1F0 0F1 1F1 0F2 1F2 0F3 1F3 1R3 1B3 0R3 0B3 1R2 1B2 0R2 0B2 1R1 1B1 0R1 0B1 1R0 1B0 0R0 0B0",
    "always early": "early 0F0 0R0 0F1 0F2 0F3 1F0 1R0 1F1 1F2 1F3 1B0 0B0 1R1 0R1 1B1 0B1 1R2 1B2 0R2 0B2 1R3 1B3 0R3 0B3",
}


@pytest.mark.parametrize("lane", ONE_LANE)
@pytest.mark.parametrize("name", NAMES)
def test_counted_bytes_are_what_a_census_of_storages_finds(name, lane, monkeypatch):
    model, batch = towers()[name]
    target, _ = target_of(model, batch)
    stages = run.partition(model, 2)
    schedule = plan.Schedule.from_text(ONE_LANE[lane])
    census = Census([*model.parameters(), *model.buffers(), batch, target])
    found = []

    def start_here(crew, works):  # one device: its lane can be walked in this thread, under the census
        with census:
            for work in works:
                work()

    with pipeline_of(stages, num_devices=1, placement=(0, 0)) as pipeline:
        pipeline.step(
            plan.Schedule.from_text(ONE_LANE[lane]), batch, target, mean_square, keep_gradients=False
        )
        monkeypatch.setattr("pipekit.run.workers.Crew.start", start_here)
        result = pipeline.step(
            schedule,
            batch,
            target,
            mean_square,
            on_span=lambda span: found.append(census.live(model.parameters())),
        )
    counted = result.memory.curves[0][:, 1:].sum(axis=1)  # kept, and received but not yet used
    assert len(found) == len(counted)
    compared, flying = 0, False
    for op, count, live in zip(map(str, schedule.lanes[0]), counted, found, strict=True):
        flying = op.startswith("1B") or (flying and not op.startswith("0B"))
        if not flying:  # else the gradient on its way to stage 0 lives too, and that is no activation
            assert abs(count - live) <= 0.01 * counted.max(), (op, count, live)
            compared += 1
    assert compared >= 12


# -- nothing leaks, nothing is silently wrong


def test_changing_a_saved_tensor_in_place_raises_even_while_counting():
    def spoil(x):
        y = x.tanh()  # saves its output
        y.mul_(2)
        return y

    stages = [nn.Sequential(nn.Linear(6, 6), Do(spoil)), nn.Linear(6, 6)]
    with pipeline_of(stages) as pipeline:
        for checkpoint in plan.CHECKPOINTS:
            with pytest.raises(StageError, match=r"0B\d failed.*modified by an inplace operation"):
                pipeline.step(plan.gpipe(2, 2, checkpoint), *torch.randn(2, 8, 6), mean_square)


class Witness(nn.Module):
    """Remembers every activation that passes, weakly; at a given call something happens."""

    def __init__(self, event=None):
        super().__init__()
        self.storages, self.event = [], event

    def forward(self, x):
        if is_real(x):
            self.storages.append(torch.multiprocessing.reductions.StorageWeakRef(x.untyped_storage()))
            if self.event is not None:
                self.event()
        return x


@pytest.mark.parametrize("how", ["failed", "cancelled", "whole"])
def test_two_hundred_steps_leave_nothing_behind(how):
    calls = []

    def event():
        calls.append(1)
        if len(calls) % 3 == 0 and how == "failed":
            raise ValueError("on purpose")
        if len(calls) % 3 == 0 and how == "cancelled":
            pipeline.cancel()

    layers = [nn.Sequential(nn.Linear(6, 6), nn.Tanh(), Witness()) for _ in range(2)]
    stages = [*layers, nn.Sequential(Residual(6), Witness(event))]
    batch, target = torch.randn(2, 8, 6)
    counts = []
    with pipeline_of(stages) as pipeline:
        for step in range(200):
            try:
                pipeline.step(plan.one_f_one_b(3, 4, plan.CHECKPOINTS[step % 3]), batch, target, mean_square)
            except (StageError, Cancelled):
                assert how != "whole"
            if step in (49, 199):
                gc.collect()
                counts.append(sum(issubclass(type(thing), torch.Tensor) for thing in gc.get_objects()))
        del event
    witnesses = [module for stage in stages for module in stage.modules() if isinstance(module, Witness)]
    gc.collect()
    assert len(witnesses[0].storages) > 200
    assert all(storage.expired() for witness in witnesses for storage in witness.storages)
    assert counts[0] == counts[1]


def test_a_stage_lets_go_of_a_micro_batch_when_its_backward_is_done():
    """In 1F1B the last stage never holds two pieces, so the first piece's tensors die before the step ends."""
    dead = []
    first = []

    def note(x):
        if is_real(x):
            first.append(weakref.ref(x))
            dead.append([ref() is None for ref in first])
        return x * 2

    stages = [nn.Linear(6, 6), nn.Sequential(nn.Linear(6, 6), Do(note), nn.Linear(6, 6))]
    with pipeline_of(stages) as pipeline:
        pipeline.step(plan.one_f_one_b(2, 4), *torch.randn(2, 8, 6), mean_square)
    assert dead[-1] == [True, True, True, False]


def test_inspecting_takes_no_memory_and_computes_nothing():
    """A model of 4 TB, on tensors without numbers, in no time."""
    with torch.device("meta"):
        huge = [nn.Sequential(nn.Linear(2**19, 2**19), nn.ReLU()) for _ in range(4)]
        batch = torch.empty(1024, 2**19)
    shape = run.inspect(huge, batch)
    assert [stage.parameters for stage in shape.stages] == [4 * (2**38 + 2**19)] * 4
    assert [stage.flops for stage in shape.stages] == [2 * 2**38] * 4
    assert [stage.internals for stage in shape.stages] == [4 * 2**19, *[8 * 2**19] * 3]
