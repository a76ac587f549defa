"""A step is a transaction (contracts 17, 21, 22): buffers, hooks, tied parameters, sparse gradients."""

import copy

import pytest
import torch
from run_models import (
    POLICIES,
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
from pipekit.errors import StageError


def data(num_samples=6, width=6, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(num_samples, width, generator=generator, dtype=dtype) for _ in range(2))


def linear(width=6):
    return nn.Linear(width, width, dtype=torch.float64)


class Fails(nn.Module):
    """Works for some calls, then raises."""

    def __init__(self, calls):
        super().__init__()
        self.calls = calls

    def forward(self, x):
        if is_real(x):
            self.calls -= 1
            if self.calls < 0:
                raise ValueError("on purpose")
        return x


# -- buffers


class Counts(nn.Module):
    """Changes its buffers in both ways: in place, and by putting a new tensor there."""

    def __init__(self):
        super().__init__()
        self.register_buffer("in_place", torch.zeros(2))
        self.register_buffer("replaced", torch.zeros(2))
        self.register_buffer("later", None)

    def forward(self, x):
        self.in_place.add_(1)
        self.replaced = self.replaced + 1
        self.later = self.in_place * 1
        return x * self.in_place[0].clone() * self.replaced[1]


@pytest.mark.parametrize(("checkpoint", "recompute"), POLICIES)
def test_buffers_count_forwards_and_not_recomputations(checkpoint, recompute):
    stages = [nn.Sequential(linear(), Counts()), nn.Sequential(Counts(), linear())]
    first, second = stages[0][1], stages[1][0]
    with pipeline_of(stages) as pipeline:
        in_place = first.in_place
        for steps in (1, 2):
            pipeline.step(plan.one_f_one_b(2, 3, checkpoint, recompute), *data(), mean_square)
            for counts in (first, second):
                assert counts.in_place.tolist() == counts.replaced.tolist() == [3.0 * steps] * 2
        assert first.in_place is in_place


@pytest.mark.parametrize("checkpoint", plan.CHECKPOINTS)
def test_a_failed_step_puts_buffers_and_gradients_back(checkpoint):
    torch.manual_seed(0)
    model = convnet(4).double()
    batch, target = (torch.randn(6, 3, 4, 4, dtype=torch.float64) for _ in range(2))
    model.append(nn.Sequential(Counts(), Fails(5)))
    with pipeline_of(model, 3) as pipeline:
        schedule = plan.one_f_one_b(3, 3, checkpoint)
        if checkpoint != "never":
            model[-1][1].calls += 2
        pipeline.step(plan.gpipe(3, 3), batch, target, mean_square)
        grads = [parameter.grad for parameter in model.parameters()]
        before = {name: value.clone() for name, value in model.state_dict().items()}
        places = {name: value for name, value in model.named_buffers()}
        gradients = run.gradients([model])
        with pytest.raises(StageError, match="on purpose"):
            pipeline.step(schedule, batch, target, mean_square)
        after = model.state_dict()
        assert before.keys() == after.keys() and all(
            torch.equal(before[name], after[name]) for name in before
        )
        assert all(value is places[name] for name, value in model.named_buffers())
        assert all(p.grad is grad for p, grad in zip(model.parameters(), grads, strict=True))
        assert same_bits(run.gradients([model]), gradients)
        model[-1][1].calls = 99
        pipeline.step(schedule, batch, target, mean_square)  # and it can be used on


def test_a_buffer_first_made_in_a_failed_step_is_gone_again():
    stages = [nn.Sequential(linear(), Counts()), nn.Sequential(linear(), Fails(0))]
    with pipeline_of(stages) as pipeline:
        with pytest.raises(StageError):
            pipeline.step(plan.gpipe(2, 3), *data(), mean_square)
        assert stages[0][1].later is None


def test_inspecting_a_model_leaves_no_trace_of_it():
    """The engine reads the shape off the model before its first step: no call is counted, no number drawn."""

    class Remembers(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls, self.last = 0, None
            self.register_buffer("seen", torch.zeros(1))
            self.register_buffer("later", None)

        def forward(self, x):
            self.calls += 1
            self.last = x
            self.seen = self.later = self.seen + 1
            return x + torch.rand(1, dtype=x.dtype)

    model = nn.Sequential(linear(), Remembers(), nn.LSTM(6, 6, dtype=torch.float64))
    fired = []
    model[1].register_forward_hook(lambda *_: fired.append("after"))
    model[1].register_forward_pre_hook(lambda *_: fired.append("before"))
    torch.nn.utils.spectral_norm(model[0])  # a forward hook of torch's own that has to run
    parameters, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    state = torch.get_rng_state()
    shape = run.inspect(model, data()[0])
    assert torch.equal(torch.get_rng_state(), state)
    assert fired == [] and model[1].calls == 0 and model[1].last is None
    assert all(parameter is parameters[name] for name, parameter in model.named_parameters())
    assert all(buffer is buffers[name] for name, buffer in model.named_buffers())
    assert model[1].later is None and shape.stages[0].internals > 0
    assert all(a is b for a, b in zip(model[2]._flat_weights, model[2].parameters(), strict=True))


# -- hooks


@pytest.mark.parametrize(("checkpoint", "times"), [("never", 4), ("except_last", 7), ("always", 8)])
def test_forward_hooks_fire_for_each_piece_and_again_in_recompute(checkpoint, times):
    fired = []
    model = mlp().double()
    for layer in (model[0], model[-1][0]):
        layer.register_forward_hook(lambda module, args, output: fired.append("forward"))
        layer.register_forward_pre_hook(lambda module, args: fired.append("pre"))
    with pipeline_of(model, 3) as pipeline:
        for _ in range(2):
            fired.clear()
            pipeline.step(plan.gpipe(3, 4, checkpoint), *data(), mean_square)
            assert (fired.count("forward"), fired.count("pre")) == (2 * times, 2 * times)


@pytest.mark.parametrize("checkpoint", plan.CHECKPOINTS)
def test_module_backward_hooks_fire_once_a_piece(checkpoint):
    fired = []
    model = mlp().double()
    model[2][0].register_full_backward_hook(lambda module, into, out: fired.append(out[0].shape))
    expected, _ = uncut(mlp_without_hooks(model), *data())
    with pipeline_of(model, 3) as pipeline:
        pipeline.step(plan.gpipe(3, 4, checkpoint), *data(), mean_square)
    assert sorted(fired) == [(1, 6), (1, 6), (2, 6), (2, 6)]
    assert run.relative_difference(run.gradients([model]), expected) <= 1e-12


def mlp_without_hooks(model):
    plain = mlp().double()
    plain.load_state_dict(model.state_dict())
    return plain


@pytest.mark.parametrize("checkpoint", plan.CHECKPOINTS)
def test_post_accumulate_hooks_fire_once_a_step_with_the_accumulated_gradient(checkpoint):
    model, (batch, target) = mlp().double(), data()
    expected, _ = uncut(model, batch, target)
    seen = []
    weight = model[1][0].weight
    place = [id(p) for p in model.parameters()].index(id(weight))
    weight.register_post_accumulate_grad_hook(
        lambda parameter: seen.append((parameter, parameter.grad.clone()))
    )
    with pipeline_of(model, 3) as pipeline:
        for steps in (1, 2):
            pipeline.step(plan.one_f_one_b(3, 4, checkpoint), batch, target, mean_square)
            assert len(seen) == steps
            assert seen[-1][0] is weight
            assert run.relative_difference([seen[-1][1]], [expected[place] * steps]) <= 1e-12
    assert run.relative_difference(run.gradients([model]), [grad * 2 for grad in expected]) <= 1e-12


def test_tensor_hooks_on_parameters_change_the_steps_gradient_once():
    model, (batch, target) = mlp().double(), data()
    expected, _ = uncut(model, batch, target)
    model[4][0].bias.register_hook(lambda gradient: gradient + 1)
    with pipeline_of(model, 3) as pipeline:
        pipeline.step(plan.gpipe(3, 4), batch, target, mean_square)
    place = [id(p) for p in model.parameters()].index(id(model[4][0].bias))
    expected[place] += 1
    assert run.relative_difference(run.gradients([model]), expected) <= 1e-12


def test_an_optimizer_in_a_hook_trains():
    """The usual way to save memory: step and drop each gradient as it arrives."""
    torch.manual_seed(0)
    model, (batch, target) = mlp().double(), data()
    whole = copy.deepcopy(model)
    for parameter in model.parameters():
        optimizer = torch.optim.SGD([parameter], lr=0.1)

        def apply(parameter, optimizer=optimizer):
            optimizer.step()
            parameter.grad = None

        parameter.register_post_accumulate_grad_hook(apply)
    mean_square(whole(batch), target).backward()
    torch.optim.SGD(whole.parameters(), lr=0.1).step()
    with pipeline_of(model, 3) as pipeline:
        pipeline.step(plan.gpipe(3, 4), batch, target, mean_square)
    assert run.relative_difference(list(model.parameters()), list(whole.parameters())) <= 1e-12
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_hook_that_fails_undoes_the_step():
    model, (batch, target) = mlp().double(), data()

    def fail(parameter):
        raise ValueError("in a hook")

    with pipeline_of(model, 3) as pipeline:
        pipeline.step(plan.gpipe(3, 4), batch, target, mean_square)
        before = run.gradients([model])
        handle = model[3][0].weight.register_post_accumulate_grad_hook(fail)
        with pytest.raises(ValueError, match="in a hook"):
            pipeline.step(plan.gpipe(3, 4), batch, target, mean_square)
        assert same_bits(run.gradients([model]), before)
        handle.remove()
        pipeline.step(plan.gpipe(3, 4), batch, target, mean_square)
    assert run.relative_difference(run.gradients([model]), [grad * 2 for grad in before]) <= 1e-12


# -- tied parameters


class Decoder(nn.Module):
    """Words' scores by the embedding's own table."""

    def __init__(self, table):
        super().__init__()
        self.table = table

    def forward(self, x):
        return x @ self.table.t()


def language_model(middle=False):
    torch.manual_seed(0)
    embedding = nn.Embedding(7, 6, dtype=torch.float64)
    between = Decoder(embedding.weight) if middle else nn.Identity()
    back = nn.Linear(7 if middle else 6, 6, dtype=torch.float64)
    stages = [embedding, nn.Sequential(between, back, nn.Tanh()), Decoder(embedding.weight)]
    return [nn.Sequential(stage) for stage in stages]


WORDS = torch.randint(7, (9,), generator=torch.Generator().manual_seed(1))
NEXT = torch.randint(7, (9,), generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("middle", [False, True], ids=["two stages", "three stages"])
def test_tied_parameters_get_the_uncut_models_gradient(middle):
    stages = language_model(middle)
    expected, _ = uncut(nn.Sequential(*stages), WORDS, NEXT, nn.functional.cross_entropy)
    for builder in (plan.gpipe, plan.one_f_one_b):
        for checkpoint, recompute in POLICIES:
            ours, _ = stepped(
                stages, builder(3, 4, checkpoint, recompute), WORDS, NEXT, nn.functional.cross_entropy
            )
            assert run.relative_difference(ours, expected) <= 1e-12
    assert stages[0][0].weight is stages[2][0].table


def test_tied_parameters_stay_tied_and_repeat_to_the_last_bit():
    stages = language_model(middle=True)
    table, bits = stages[0][0].weight, []
    with pipeline_of(stages) as pipeline:
        for _ in range(30):
            for stage in stages:
                stage.zero_grad()
            pipeline.step(plan.gpipe(3, 9), WORDS, NEXT, nn.functional.cross_entropy)
            bits.append(run.gradients(stages))
    assert all(same_bits(each, bits[0]) for each in bits)
    assert stages[0][0].weight is table and stages[1][0][0].table is table and stages[2][0].table is table


def test_tied_parameters_are_trained_as_one():
    stages = language_model()
    whole = nn.Sequential(*copy.deepcopy(nn.ModuleList(stages)))
    assert whole[0][0].weight is whole[2][0].table
    with pipeline_of(stages) as pipeline:
        assert len(pipeline.parameters()) == 3
        ours = torch.optim.Adam(pipeline.parameters(), lr=0.05)
        theirs = torch.optim.Adam(whole.parameters(), lr=0.05)
        for _ in range(10):
            ours.zero_grad()
            pipeline.step(plan.one_f_one_b(3, 4), WORDS, NEXT, nn.functional.cross_entropy)
            ours.step()
            theirs.zero_grad()
            nn.functional.cross_entropy(whole(WORDS), NEXT).backward()
            theirs.step()
    assert run.relative_difference(list(pipeline.parameters()), list(whole.parameters())) <= 1e-9


def test_hooks_of_a_tied_parameter_see_all_stages_together():
    stages = language_model()
    expected, _ = uncut(nn.Sequential(*stages), WORDS, NEXT, nn.functional.cross_entropy)
    seen = []
    stages[0][0].weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    with pipeline_of(stages) as pipeline:
        pipeline.step(plan.gpipe(3, 4), WORDS, NEXT, nn.functional.cross_entropy)
    assert len(seen) == 1
    assert run.relative_difference(seen, [expected[0]]) <= 1e-12


def test_a_failed_step_leaves_tied_parameters_tied():
    stages = language_model()
    table = stages[0][0].weight
    stages[2].append(Fails(2))
    with pipeline_of(stages) as pipeline, pytest.raises(StageError, match="on purpose"):
        pipeline.step(plan.gpipe(3, 4), WORDS, NEXT, nn.functional.cross_entropy)
    assert stages[0][0].weight is table and stages[2][0].table is table and table.grad is None


# -- other gradients


def test_sparse_gradients_stay_sparse_and_add_up():
    def stages(sparse):
        torch.manual_seed(0)
        return [
            nn.Sequential(nn.Embedding(7, 6, sparse=sparse, dtype=torch.float64)),
            nn.Sequential(linear()),
        ]

    target = torch.randn(9, 6, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    dense, _ = uncut(nn.Sequential(*stages(False)), WORDS, target)
    for checkpoint in plan.CHECKPOINTS:
        ours = stages(True)
        with pipeline_of(ours) as pipeline:
            for steps in (1, 2):
                pipeline.step(plan.gpipe(2, 4, checkpoint), WORDS, target, mean_square)
                gradient = ours[0][0].weight.grad
                assert gradient.is_sparse
                assert run.relative_difference([gradient.to_dense()], [dense[0] * steps]) <= 1e-12


def test_a_dense_old_gradient_takes_a_sparse_new_one():
    torch.manual_seed(0)
    stages = [nn.Sequential(nn.Embedding(7, 6, sparse=True, dtype=torch.float64)), nn.Sequential(linear())]
    target = torch.randn(9, 6, dtype=torch.float64)
    old = stages[0][0].weight.grad = torch.ones(7, 6, dtype=torch.float64)
    with pipeline_of(stages) as pipeline:
        pipeline.step(plan.gpipe(2, 3), WORDS, target, mean_square)
    gradient = stages[0][0].weight.grad
    assert gradient is old and not gradient.is_sparse and not torch.equal(gradient, torch.ones_like(gradient))


@pytest.mark.parametrize(
    "norm",
    [
        parametrizations.weight_norm,
        lambda layer: parametrizations.spectral_norm(layer).eval(),
        parametrizations.orthogonal,
    ],
    ids=["weight norm", "spectral norm in eval", "orthogonal"],
)
def test_parametrized_weights_get_the_uncut_models_gradient(norm):
    torch.manual_seed(0)
    stages = [nn.Sequential(norm(linear()), nn.Tanh()) for _ in range(3)]
    expected, _ = uncut(nn.Sequential(*stages), *data())
    for checkpoint, recompute in POLICIES:
        ours, _ = stepped(stages, plan.one_f_one_b(3, 4, checkpoint, recompute), *data())
        assert run.relative_difference(ours, expected) <= 1e-12


@pytest.mark.parametrize(
    "norm", [parametrizations.spectral_norm, torch.nn.utils.spectral_norm], ids=["new", "old"]
)
def test_recompute_sees_the_buffers_its_forward_saw(norm):
    """Spectral norm in training works with its buffers and moves them on in every forward."""
    torch.manual_seed(0)
    bits = []
    for checkpoint, recompute in POLICIES:
        torch.manual_seed(0)
        stages = [nn.Sequential(norm(linear()), nn.Tanh()) for _ in range(2)]
        with pipeline_of(stages) as pipeline:
            for _ in range(2):
                pipeline.step(plan.gpipe(2, 3, checkpoint, recompute), *data(), mean_square)
        bits.append([*run.gradients(stages), *(b.clone() for stage in stages for b in stage.buffers())])
    assert all(same_bits(each, bits[0]) for each in bits)
