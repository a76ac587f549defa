"""Training for real: digits through a pipeline learn what the uncut model learns; `fit` and its history."""

import copy
import threading
import warnings

import pytest
import torch
from run_models import mean_square, mlp, pipeline_of
from torch import nn
from torch.nn import functional

from pipekit import learn, plan, run
from pipekit.errors import BatchError
from pipekit.plan import Schedule


def data(num_batches=5, num_samples=6, width=6):
    generator = torch.Generator().manual_seed(0)
    return [tuple(torch.randn(2, num_samples, width, generator=generator)) for _ in range(num_batches)]


# -- digits


def mini_batches(digits, epochs):
    order = torch.Generator().manual_seed(0)
    for _ in range(epochs):
        for chosen in torch.randperm(len(digits.train_labels), generator=order).split(96):
            yield digits.train_images[chosen], digits.train_labels[chosen]


def optimizer_of(model, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
    return optimizer, torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, total_iters=steps)


@pytest.mark.parametrize(
    ("make", "epochs"), [(lambda: learn.mlp(4), 8), (lambda: learn.convnet(4, 8), 6)], ids=["mlp", "conv"]
)
def test_digits_cut_in_four_are_read_as_well_as_uncut(make, epochs):
    digits = learn.digits()
    batches = list(mini_batches(digits, epochs))
    torch.manual_seed(0)
    cut = make()
    whole = copy.deepcopy(cut)
    optimizer, falling = optimizer_of(cut, len(batches))
    with pipeline_of(cut, 4) as pipeline:
        history = run.fit(
            pipeline,
            lambda m=4: plan.one_f_one_b(4, m, "except_last"),
            batches,
            functional.cross_entropy,
            optimizer,
            on_step=lambda number, result: falling.step(),
        )
    optimizer, falling = optimizer_of(whole, len(batches))
    losses = []
    for images, labels in batches:
        optimizer.zero_grad()
        loss = functional.cross_entropy(whole(images), labels)
        loss.backward()
        optimizer.step()
        falling.step()
        losses.append(loss.detach())
    ours, theirs = (learn.accuracy(model, digits.test_images, digits.test_labels) for model in (cut, whole))
    assert len(history.losses) == len(batches) and history.dropped == 0
    assert history.losses[:5] == pytest.approx([float(loss) for loss in losses[:5]], rel=1e-4)
    assert ours >= 0.95 and theirs >= 0.95
    # Rounding in float32 grows over hundreds of steps, so the weights drift apart; what they read does not.
    assert abs(ours - theirs) <= 0.01


def test_in_double_precision_two_epochs_lead_to_the_uncut_models_weights():
    digits = learn.digits()
    torch.manual_seed(0)
    cut = learn.mlp(8, width=16).double()
    whole = copy.deepcopy(cut)
    batches = [(images.double(), labels) for images, labels in mini_batches(digits, 2)][:40]
    ours, theirs = (torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9) for model in (cut, whole))
    with pipeline_of(cut, 4) as pipeline:
        run.fit(pipeline, lambda m=4: plan.gpipe(4, m), batches, functional.cross_entropy, ours)
    for images, labels in batches:
        theirs.zero_grad()
        functional.cross_entropy(whole(images), labels).backward()
        theirs.step()
    assert run.relative_difference(list(cut.parameters()), list(whole.parameters())) <= 1e-5


# -- fit


def fitted(schedule, batches, num_stages=2, **more):
    torch.manual_seed(1)
    model = mlp(4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pipeline_of(model, num_stages) as pipeline:
        history = run.fit(pipeline, schedule, batches, mean_square, optimizer, **more)
    return history, model


def by_hand(batches, epochs=1):
    torch.manual_seed(1)
    model = mlp(4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(epochs):
        for batch, target in batches:
            optimizer.zero_grad()
            loss = mean_square(model(batch), target)
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
    return losses, model


def test_history_has_one_loss_and_one_bubble_a_step():
    batches = data()
    history, model = fitted(plan.gpipe(2, 3), batches, epochs=2)
    losses, whole = by_hand(batches, epochs=2)
    assert history.losses == pytest.approx(losses, rel=1e-4)
    assert len(history.bubbles) == 10 and all(0 <= bubble < 1 for bubble in history.bubbles)
    assert history.last.num_samples == 6 and not history.cancelled and history.dropped == 0
    assert run.relative_difference(list(model.parameters()), list(whole.parameters())) <= 1e-4


def test_batches_that_can_be_read_once_serve_every_epoch():
    batches = data(3)
    once, _ = fitted(plan.gpipe(2, 3), iter(batches), epochs=3)
    assert once.losses == fitted(plan.gpipe(2, 3), batches, epochs=3)[0].losses
    assert len(once.losses) == 9


def test_gradients_of_before_do_not_count():
    torch.manual_seed(1)
    model = mlp(4)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 100.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = data(1)
    with pipeline_of(model, 2) as pipeline:
        run.fit(pipeline, plan.gpipe(2, 3), batches, mean_square, optimizer)
    _, whole = by_hand(batches)
    assert run.relative_difference(list(model.parameters()), list(whole.parameters())) <= 1e-4


def test_on_step_and_on_span_see_everything():
    steps, spans = [], []
    schedule = plan.gpipe(2, 3)
    fitted(schedule, data(4), on_step=lambda *seen: steps.append(seen), on_span=spans.append)
    assert [number for number, _ in steps] == [0, 1, 2, 3]
    assert all(result.num_samples == 6 for _, result in steps)
    assert len(spans) == 4 * schedule.num_ops


def short_last():
    return [*data(2), tuple(tensor[:2] for tensor in data(1)[0])]


def test_a_builder_cuts_a_short_last_batch_into_what_it_has():
    asked = []

    def build(m=4):
        asked.append(m)
        return plan.gpipe(2, m)

    history, model = fitted(build, short_last())
    losses, whole = by_hand(short_last())
    assert asked[-1] == 2 and 4 in asked and history.dropped == 0
    assert history.losses == pytest.approx(losses, rel=1e-4)
    assert run.relative_difference(list(model.parameters()), list(whole.parameters())) <= 1e-4


def test_a_builder_without_a_default_works_too():
    history, _ = fitted(lambda m: plan.gpipe(2, m), short_last())
    assert len(history.losses) == 3


def test_a_schedule_drops_a_short_batch_and_says_so_once():
    batches = [*short_last(), tuple(tensor[:1] for tensor in data(1)[0])]
    with pytest.warns(
        UserWarning, match=r"2 samples can't be cut into 4 micro-batches and is dropped.*builder"
    ) as said:
        history, _ = fitted(plan.gpipe(2, 4), batches)
    assert len(said) == 1
    assert history.dropped == 2 and len(history.losses) == 2


def test_the_weight_is_passed_on():
    def total(output, target):
        return (output - target).square().sum()

    torch.manual_seed(1)
    model = mlp(4)
    with pipeline_of(model, 2) as pipeline:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        history = run.fit(pipeline, plan.gpipe(2, 4), data(1), total, optimizer, weight="sum")
    batch, target = data(1)[0]
    assert history.losses[0] == pytest.approx(float(total(model(batch), target).detach()), rel=1e-5)


def test_the_stop_event_ends_training_after_the_step_that_runs():
    stop = threading.Event()
    history, model = fitted(
        plan.gpipe(2, 3), data(5), stop=stop, on_step=lambda number, _: stop.set() if number == 1 else None
    )
    assert len(history.losses) == 2 and history.cancelled
    _, whole = by_hand(data(5)[:2])
    assert run.relative_difference(list(model.parameters()), list(whole.parameters())) <= 1e-4


def test_cancel_ends_training_with_the_history_so_far():
    torch.manual_seed(1)
    model = mlp(4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = data(5)
    spans = []

    def cancel_in_the_third(span):
        spans.append(span)
        if len(spans) == 2 * schedule.num_ops + 3:
            pipeline.cancel()

    schedule = plan.gpipe(2, 3)
    with pipeline_of(model, 2) as pipeline:
        history = run.fit(pipeline, schedule, batches, mean_square, optimizer, on_span=cancel_in_the_third)
    assert history.cancelled and len(history.losses) == 2
    _, whole = by_hand(batches[:2])
    assert run.relative_difference(list(model.parameters()), list(whole.parameters())) <= 1e-4


def test_other_errors_come_through():
    with pytest.raises(BatchError, match="target has 5"):
        fitted(plan.gpipe(2, 3), [(torch.zeros(6, 6), torch.zeros(5, 6))])


def test_no_batch_is_no_step():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        history, _ = fitted(Schedule(["0F0 0B0", "1F0 1B0"]), [])
    assert history.losses == [] and history.last is None


def test_a_pipeline_is_used_by_ordinary_training_code():
    """Schedulers, clipping and state dicts are torch's own; nothing has to be wrapped."""
    torch.manual_seed(1)
    model = mlp(4)
    with pipeline_of(model, 2) as pipeline:
        optimizer = torch.optim.AdamW(pipeline.parameters(), lr=0.01)
        for batch, target in data(3):
            optimizer.zero_grad(set_to_none=False)
            pipeline.step(plan.gpipe(2, 3), batch, target, mean_square)
            nn.utils.clip_grad_norm_(pipeline.parameters(), 0.01)
            total = torch.stack([p.grad.norm() for p in pipeline.parameters()]).norm()
            assert float(total) == pytest.approx(0.01, rel=1e-3)
            optimizer.step()
    fresh = mlp(4)
    fresh.load_state_dict(model.state_dict())
    batch, _ = data(1)[0]
    assert torch.equal(fresh(batch), model(batch))
