"""Transparency: whatever the cut, the schedule and the policy, the gradients are the uncut model's."""

import copy

import pytest
import torch
from run_models import (
    POLICIES,
    Residual,
    convnet,
    mean_square,
    mlp,
    pipeline_of,
    residual,
    same_bits,
    stepped,
    uncut,
)
from torch import nn

from pipekit import plan, run
from pipekit.plan import Schedule

MODELS = {
    "mlp": (mlp, (6,)),
    "conv with BatchNorm in eval": (convnet, (3, 4, 4)),
    "residual": (residual, (6,)),
}
N = 9


def made(name, dtype=torch.float64):
    make, shape = MODELS[name]
    torch.manual_seed(1)
    model = make().to(dtype)
    if name.startswith("conv"):
        for module in model.modules():  # running statistics that are not 0 and 1
            if isinstance(module, nn.BatchNorm2d):
                module.running_mean.uniform_(-1, 1)
                module.running_var.uniform_(0.5, 2)
        model.eval()
    return model, torch.randn(N, *shape, dtype=dtype), torch.randn(N, *shape, dtype=dtype)


def schedules(num_stages, num_micro_batches):
    """All schedules and policies for one cut; naive takes one piece."""
    for checkpoint, recompute in POLICIES:
        yield plan.gpipe(num_stages, num_micro_batches, checkpoint, recompute)
        yield plan.one_f_one_b(num_stages, num_micro_batches, checkpoint, recompute)
    yield plan.naive(num_stages)


@pytest.mark.parametrize("num_stages", range(1, 7))
@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_the_uncut_models(name, num_stages):
    model, batch, target = made(name)
    expected, loss = uncut(model, batch, target)
    # Every K meets M = 1, dividing, not dividing, M > K and M = N; in turn, to keep the table affordable.
    with pipeline_of(model, num_stages) as pipeline:
        for num_micro_batches in {3: (2, 9), 4: (3, 4), 5: (4, 9)}.get(
            num_stages, (1, 3, 5, 9)[num_stages % 2 :: 2]
        ):
            for schedule in schedules(num_stages, num_micro_batches):
                model.zero_grad()
                result = pipeline.step(schedule, batch, target, mean_square)
                assert run.relative_difference(run.gradients([model]), expected) <= 1e-12, schedule
                assert float(result.loss) == pytest.approx(float(loss), rel=1e-12)


@pytest.mark.parametrize("num_micro_batches", range(1, N + 1))
def test_every_number_of_pieces_gives_the_same_gradients(num_micro_batches):
    model, batch, target = made("mlp")
    expected, _ = uncut(model, batch, target)
    with pipeline_of(model, 3) as pipeline:
        for schedule in (
            plan.gpipe(3, num_micro_batches, "except_last"),
            plan.one_f_one_b(3, num_micro_batches, "always"),
        ):
            model.zero_grad()
            pipeline.step(schedule, batch, target, mean_square)
            assert run.relative_difference(run.gradients([model]), expected) <= 1e-12


@pytest.mark.parametrize("name", MODELS)
def test_single_precision_agrees_to_1e_5(name):
    model, batch, target = made(name, torch.float32)
    expected, _ = uncut(model, batch, target)
    for schedule in (plan.gpipe(4, 4), plan.one_f_one_b(4, 5, "always")):
        ours, _ = stepped(run.partition(model, 4), schedule, batch, target)
        assert 0 < run.relative_difference(ours, expected) <= 1e-5


def test_nine_samples_in_four_pieces_are_3_2_2_2():
    seen = []

    def loss(output, target):
        seen.append(len(output))
        return mean_square(output, target)

    model, batch, target = made("mlp")
    with pipeline_of(model, 2) as pipeline:
        pipeline.step(plan.gpipe(2, 4), batch, target, mean_square)  # the shape is known from now on
        pipeline.step(plan.gpipe(2, 4), batch, target, loss)
    assert seen[-4:] == [3, 2, 2, 2]


@pytest.mark.parametrize(
    "make", [lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), lambda p: torch.optim.Adam(p, lr=0.01)]
)
@pytest.mark.parametrize("name", ["mlp", "conv with BatchNorm in eval"])
def test_twenty_optimizer_steps_lead_to_the_same_weights(name, make):
    model, _, _ = made(name)
    whole = copy.deepcopy(model)
    ours, theirs = make(model.parameters()), make(whole.parameters())
    schedule = plan.one_f_one_b(4, 4, "except_last")
    with pipeline_of(model, 4) as pipeline:
        for _ in range(20):
            batch, target = (torch.randn(N, *MODELS[name][1], dtype=torch.float64) for _ in range(2))
            ours.zero_grad()
            pipeline.step(schedule, batch, target, mean_square)
            ours.step()
            theirs.zero_grad()
            mean_square(whole(batch), target).backward()
            theirs.step()
    pairs = list(model.parameters()), list(whole.parameters())
    assert run.relative_difference(*pairs) <= 1e-9  # Adam divides by small numbers, so 1e-12 grows
    start, _, _ = made(name)
    assert run.relative_difference(list(start.parameters()), list(model.parameters())) > 0.01


# -- BatchNorm while it trains


def serial_micro_batches(model, batch, target, num_micro_batches):
    """What one process would do: piece after piece, weighted by samples."""
    model = copy.deepcopy(model)
    for piece, goal in zip(
        batch.tensor_split(num_micro_batches), target.tensor_split(num_micro_batches), strict=True
    ):
        (mean_square(model(piece), goal) * len(piece) / len(batch)).backward()
    return model


@pytest.mark.parametrize("builder", [plan.gpipe, plan.one_f_one_b])
@pytest.mark.parametrize(("checkpoint", "recompute"), POLICIES)
def test_batch_norm_counts_each_micro_batch_once(builder, checkpoint, recompute):
    torch.manual_seed(2)
    model = convnet().double()
    batch, target = (torch.randn(N, 3, 4, 4, dtype=torch.float64) for _ in range(2))
    serial = serial_micro_batches(model, batch, target, 4)
    with pipeline_of(model, 3) as pipeline:
        pipeline.step(builder(3, 4, checkpoint, recompute), batch, target, mean_square)
    for ours, theirs in zip(model.buffers(), serial.buffers(), strict=True):
        assert torch.equal(ours, theirs)  # num_batches_tracked, running mean and variance
    assert int(next(b for b in model.buffers() if b.dtype == torch.int64)) == 4
    assert run.relative_difference(run.gradients([model]), run.gradients([serial])) <= 1e-12


def test_batch_norm_switched_to_training_after_a_step_in_eval_still_counts_once():
    torch.manual_seed(2)
    model = convnet().double().eval()
    batch, target = (torch.randn(N, 3, 4, 4, dtype=torch.float64) for _ in range(2))
    with pipeline_of(model, 3) as pipeline:
        pipeline.step(plan.gpipe(3, 4, "always"), batch, target, mean_square, keep_gradients=False)
        model.train()
        serial = serial_micro_batches(model, batch, target, 4)
        pipeline.step(plan.gpipe(3, 4, "always"), batch, target, mean_square)
    assert all(
        torch.equal(ours, theirs) for ours, theirs in zip(model.buffers(), serial.buffers(), strict=True)
    )


# -- several stages on one device


def looped(num_devices, num_stages, num_micro_batches):
    """All forwards, then all backwards, stages dealt round-robin to the devices."""
    lanes = []
    for device in range(num_devices):
        mine = range(device, num_stages, num_devices)
        forward = [f"{s}F{m}" for s in mine for m in range(num_micro_batches)]
        backward = [f"{s}B{m}" for s in reversed(mine) for m in range(num_micro_batches)]
        lanes.append(forward + backward)
    return Schedule(lanes)


def test_stages_dealt_round_robin_give_the_same_gradients():
    model, batch, target = made("residual")
    expected, _ = uncut(model, batch, target)
    ours, _ = stepped(run.partition(model, 6), looped(2, 6, 4), batch, target)
    assert run.relative_difference(ours, expected) <= 1e-12


def test_a_v_of_stages_from_text_gives_the_same_gradients():
    text = "0F0 3F0 3R0 3B0 0F1 3F1 3B1 0B0 0B1 | 1F0 2F0 2B0 1R0 1B0 1F1 2F1 2B1 1B1"
    schedule = Schedule.from_text(text)
    assert schedule.placement == (0, 1, 1, 0)
    model, batch, target = made("mlp")
    expected, _ = uncut(model, batch, target)
    ours, _ = stepped(run.partition(model, 4), schedule, batch, target)
    assert run.relative_difference(ours, expected) <= 1e-12


def test_an_early_schedule_from_text_gives_the_same_gradients():
    schedule = Schedule.from_text("early 0F0 0F1 0R0 0B0 0R1 0B1 | 1F0 1R0 1B0 1F1 1B1")
    model, batch, target = made("mlp")
    expected, _ = uncut(model, batch, target)
    ours, _ = stepped(run.partition(model, 2), schedule, batch, target)
    assert run.relative_difference(ours, expected) <= 1e-12


# -- accumulation


def test_gradients_of_two_steps_add_up_in_the_same_tensors():
    model, batch, target = made("mlp")
    more_batch, more_target = torch.randn_like(batch), torch.randn_like(target)
    first, second = uncut(model, batch, target)[0], uncut(model, more_batch, more_target)[0]
    with pipeline_of(model, 3) as pipeline:
        pipeline.step(plan.gpipe(3, 4), batch, target, mean_square)
        tensors = [parameter.grad for parameter in model.parameters()]
        pipeline.step(plan.gpipe(3, 4, "always"), more_batch, more_target, mean_square)
    assert all(p.grad is tensor for p, tensor in zip(model.parameters(), tensors, strict=True))
    both = [a + b for a, b in zip(first, second, strict=True)]
    assert run.relative_difference(run.gradients([model]), both) <= 1e-12


def test_measuring_without_keeping_changes_no_gradient():
    model, batch, target = made("mlp")
    with pipeline_of(model, 3) as pipeline:
        pipeline.step(plan.gpipe(3, 4), batch, target, mean_square)
        before = run.gradients([model])
        pipeline.step(plan.gpipe(3, 4), batch, target, mean_square, keep_gradients=False)
    assert same_bits(run.gradients([model]), before)


def test_a_parameter_that_nothing_uses_keeps_no_gradient():
    model, batch, target = made("mlp")
    model[2].register_parameter("idle", nn.Parameter(torch.ones(2)))
    with pipeline_of(model, 3) as pipeline:
        pipeline.step(plan.gpipe(3, 2), batch, target, mean_square)
        assert model[2].idle.grad is None
        model[2].idle.grad = torch.ones(2)
        pipeline.step(plan.gpipe(3, 2), batch, target, mean_square)
    assert torch.equal(model[2].idle.grad, torch.ones(2))


# -- the measure itself (contract 19)


def test_relative_difference_is_taken_parameter_by_parameter():
    b = [torch.tensor([100.0, 1e-6]), torch.tensor([1e-3])]
    assert run.relative_difference([b[0] + torch.tensor([0, 1e-6]), b[1]], b) == pytest.approx(1e-8, rel=0.01)
    assert run.relative_difference([b[0], b[1] * 1.5], b) == pytest.approx(0.5)


def test_relative_difference_forgives_noise_on_a_zero_gradient_and_no_more():
    eps = torch.finfo(torch.float64).eps
    b = [torch.tensor([8.0], dtype=torch.float64), torch.zeros(1, dtype=torch.float64)]
    assert run.relative_difference([b[0], b[1] + 8 * eps], b) == pytest.approx(1.0)
    assert run.relative_difference([b[0], b[1] + 1e-3 * eps], b) < 1e-3


def test_relative_difference_counts_none_as_zeros_and_nan_as_infinite():
    one = torch.ones(2)
    assert run.relative_difference([None], [one]) == 1
    assert run.relative_difference([None], [None]) == 0
    assert run.relative_difference([one * float("nan")], [one]) == float("inf")


def test_a_residual_block_is_cut_around_not_through():
    stages = run.partition([Residual(4), Residual(4)], 2)
    assert [type(layer) for stage in stages for layer in stage] == [Residual, Residual]
