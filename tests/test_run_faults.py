"""Whatever goes wrong, the sentence says where; gradients and buffers are as before; the pipeline goes on."""

import faulthandler
import gc
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import weakref

import pytest
import torch
from torch import nn

from pipekit import plan, run
from pipekit.errors import (
    BatchError,
    Cancelled,
    DeviceError,
    LossError,
    MemoryBudgetError,
    PartitionError,
    PlacementError,
    ScheduleError,
    StageError,
    StageTimeout,
)
from pipekit.run import devices as devices_module
from pipekit.run import engine, workers

pytestmark = pytest.mark.alone

WIDTH = 6


class Trap(nn.Module):
    """Hands its input on, but fails in the kind of op it is armed for."""

    def __init__(self):
        super().__init__()
        self.armed = ""

    def forward(self, x):
        if self.armed == "F" or (self.armed == "R" and torch.is_grad_enabled()):
            raise ZeroDivisionError(f"trap in {self.armed}")
        if self.armed == "B" and x.requires_grad:
            x = x * 1.0
            x.register_hook(self.fail)
        return x

    def fail(self, gradient):
        raise ZeroDivisionError("trap in B")


class Calls(nn.Module):
    """Runs a function on the way through."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        out = self.function(x)
        return x if out is None else out


def is_real(tensor):
    """Whether it holds numbers: pipekit reads a model's shape off tensors that don't."""
    return type(tensor) is torch.Tensor and not tensor.is_meta


def on_cpu(function):
    """The same, but silent while torch only reads shapes off the model."""
    return lambda x: function(x) if is_real(x) else None


def make_stages(num_stages=3):
    torch.manual_seed(7)
    return [
        nn.Sequential(nn.Linear(WIDTH, WIDTH), Trap(), nn.BatchNorm1d(WIDTH), nn.Dropout(0.2), nn.Tanh())
        for _ in range(num_stages)
    ]


def data(num_samples=12):
    torch.manual_seed(8)
    return torch.randn(num_samples, WIDTH), torch.randn(num_samples, WIDTH)


def mean_square(output, target):
    return nn.functional.mse_loss(output, target)


class Picture:
    """Gradients, buffers and the default generator, bit by bit."""

    def __init__(self, stages):
        self.stages = stages
        self.taken = self.take()

    def take(self):
        modules = nn.ModuleList(self.stages)
        gradients = [None if p.grad is None else p.grad.clone() for p in modules.parameters()]
        return gradients, [b.clone() for b in modules.buffers()], torch.default_generator.get_state()

    def same(self):
        (grads, buffers, generator), (old_grads, old_buffers, old_generator) = self.take(), self.taken
        pairs = [*zip(grads, old_grads, strict=True), *zip(buffers, old_buffers, strict=True)]
        if not torch.equal(generator, old_generator):
            return False
        return all((a is None and b is None) or torch.equal(a, b) for a, b in pairs)


def wait_until(done, seconds=10.0):
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.002)


@pytest.fixture(autouse=True)
def workers_at_rest_and_none_left():
    before = run.live_workers()
    yield
    wait_until(lambda: run.working_workers() == 0)
    wait_until(lambda: run.live_workers() == before)


@pytest.fixture(autouse=True)
def no_hang(capfd):
    with capfd.disabled():
        stderr = os.fdopen(os.dup(2), "w")
    faulthandler.dump_traceback_later(120, exit=True, file=stderr)
    yield
    faulthandler.cancel_dump_traceback_later()
    stderr.close()


@pytest.fixture(autouse=True)
def any_clock_will_do(monkeypatch):
    """These tests are not about time; a busy machine's sleep may be too coarse for their short ticks."""
    monkeypatch.setattr(devices_module, "sleep_grain", lambda clock, sleep: 0.0)


@pytest.fixture
def a_look_first(monkeypatch):
    """Each kind of step is looked at before it runs, as a large one is."""
    monkeypatch.setattr(engine, "may_be_large", lambda *arguments: True)


@pytest.fixture
def devices():
    return run.stand_ins(3, tick=0.002)


@pytest.fixture
def interrupts():
    """Python's own handler, whatever the test runner has set."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "the handler was not put back"
    signal.signal(signal.SIGINT, before)


# -- a stage fails


@pytest.mark.parametrize("schedule", [plan.gpipe, plan.one_f_one_b])
@pytest.mark.parametrize("stage", [0, 1, 2])
@pytest.mark.parametrize("kind", ["F", "B", "R"])
def test_a_failing_op_is_named_with_stage_device_and_cause_and_nothing_has_happened(
    kind, stage, schedule, devices
):
    stages, (x, y) = make_stages(), data()
    lanes = schedule(3, 4, checkpoint="always")
    with run.Pipeline(stages, devices) as pipeline:
        pipeline.step(lanes, x, y, mean_square)
        before = Picture(stages)
        stages[stage][1].armed = kind
        with pytest.raises(StageError) as caught:
            pipeline.step(lanes, x, y, mean_square)
        assert before.same()
        error = caught.value
        assert error.numbers["op"].kind.value == kind
        assert (error.numbers["op"].stage, error.numbers["stage"], error.numbers["device"]) == (stage,) * 3
        assert isinstance(error.__cause__, ZeroDivisionError)
        assert f"{error.numbers['op']} failed (stage {stage}, device {stage}): ZeroDivisionError" in str(
            error
        )
        assert not threading.current_thread().name.startswith("pipekit")
        stages[stage][1].armed = ""
        assert torch.isfinite(pipeline.step(lanes, x, y, mean_square).loss)
        assert not before.same()


def test_a_first_step_that_fails_leaves_no_gradient_at_all(devices):
    stages, (x, y) = make_stages(), data()
    stages[2][1].armed = "B"
    with run.Pipeline(stages, devices) as pipeline:
        with pytest.raises(StageError):
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
        assert all(p.grad is None for p in pipeline.parameters())


def test_the_gradient_tensors_of_before_are_the_same_objects_after_a_failure(devices):
    stages, (x, y) = make_stages(), data()
    with run.Pipeline(stages, devices) as pipeline:
        pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
        grads = [p.grad for p in pipeline.parameters()]
        stages[0][1].armed = "B"
        with pytest.raises(StageError):
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
        assert all(p.grad is old for p, old in zip(pipeline.parameters(), grads, strict=True))


def test_a_loss_that_fails_names_the_last_forward(devices):
    stages, (x, y) = make_stages(), data()
    before = Picture(stages)

    def loss(output, target):
        raise KeyError("no such class")

    with run.Pipeline(stages, devices) as pipeline, pytest.raises(StageError, match=r"2F0 failed .*KeyError"):
        pipeline.step(plan.gpipe(3, 4), x, y, loss)
    assert before.same()


def test_on_span_that_fails_ends_the_step_and_names_the_op(devices):
    stages, (x, y) = make_stages(), data()
    before = Picture(stages)

    def on_span(span):
        if str(span.op) == "1B2":
            raise OverflowError("the screen is full")

    with run.Pipeline(stages, devices) as pipeline:
        with pytest.raises(StageError, match=r"1B2 failed \(stage 1, device 1\): OverflowError") as caught:
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square, on_span=on_span)
        assert isinstance(caught.value.__cause__, OverflowError)
        assert before.same()
        pipeline.step(plan.gpipe(3, 4), x, y, mean_square)


def test_the_first_error_wins(devices):
    first_is_out = threading.Event()

    def second(x):
        first_is_out.wait(5)
        time.sleep(0.05)
        raise ValueError("second")

    def first(x):
        first_is_out.set()
        raise ValueError("first")

    calls = []

    def second_from_its_second_call(x):
        calls.append(x)
        if len(calls) > 1:
            second(x)

    stages = [
        nn.Sequential(nn.Linear(WIDTH, WIDTH), Calls(on_cpu(second_from_its_second_call))),
        nn.Sequential(nn.Linear(WIDTH, WIDTH), Calls(on_cpu(first))),
    ]
    x, y = data()
    with (
        run.Pipeline(stages, run.stand_ins(2, tick=0.002)) as pipeline,
        pytest.raises(StageError, match="first"),
    ):
        pipeline.step(plan.gpipe(2, 4), x, y, mean_square)


def test_an_error_holds_no_tensor_of_the_step_alive_once_it_is_handled():
    """Without a garbage collection: a row of failing steps would otherwise pile up activations."""
    held = []

    def remember(x):
        held.append(weakref.ref(x))
        if len(held) == 3:
            raise ValueError("enough")

    stages = [nn.Sequential(nn.Linear(WIDTH, WIDTH), Calls(on_cpu(remember)))]
    x, y = data()
    with run.Pipeline(stages, run.cpu(1)) as pipeline:
        gc.collect()
        gc.disable()
        try:
            with pytest.raises(StageError) as caught:
                pipeline.step(plan.gpipe(1, 4), x, y, mean_square)
            traceback.clear_frames(caught.tb)
            del caught
            wait_until(lambda: run.working_workers() == 0)
            handled = 0
            try:
                held.clear()
                pipeline.step(plan.gpipe(1, 4), x, y, mean_square)
            except StageError:
                handled += 1
            wait_until(lambda: run.working_workers() == 0)
            time.sleep(0.01)
            assert handled == 1
            assert len(held) == 3
            assert [ref() for ref in held] == [None] * 3
        finally:
            gc.enable()


# -- values that do not fit


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        (lambda x: 3, "stage 1 returned a int without a tensor"),
        (lambda x: {"a": None}, "stage 1 returned a dict without a tensor"),
    ],
)
def test_a_stage_without_a_tensor_to_send_is_named(returned, sentence, devices):
    stages, (x, y) = make_stages(), data()
    stages[1].append(Calls(returned))
    before = Picture(stages)
    with run.Pipeline(stages, devices) as pipeline, pytest.raises(StageError, match=sentence):
        pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
    assert before.same()


class Nothing(nn.Module):
    def forward(self, x):
        return None


@pytest.mark.parametrize("stage", [0, 2])
def test_a_stage_that_returns_none_is_told_to_return_a_tensor(stage, devices):
    stages, (x, y) = make_stages(), data()
    stages[stage].append(Nothing())
    before = Picture(stages)
    with (
        run.Pipeline(stages, devices) as pipeline,
        pytest.raises(StageError, match=f"{stage}F0: stage {stage} returned None; its last layer must"),
    ):
        pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
    assert before.same()


@pytest.mark.parametrize("checkpoint", ["never", "always"])
def test_shapes_that_do_not_fit_name_both_stages_and_what_arrived(checkpoint, devices):
    stages, (x, y) = make_stages(), data()
    stages[1][0] = nn.Linear(5, WIDTH)
    before = Picture(stages)
    with run.Pipeline(stages, devices) as pipeline:
        with pytest.raises(StageError) as caught:
            pipeline.step(plan.gpipe(3, 4, checkpoint), x, y, mean_square)
        assert caught.value.key == "stage_shape"
        assert caught.value.numbers["op"].stage == 1
        sentence = str(caught.value)
        assert "1F0: stage 1 got (3, 6) from stage 0, which does not fit" in sentence
        assert "mat1 and mat2" in sentence
    assert before.same()


def test_a_wrong_shape_into_the_first_stage_blames_no_stage_before_it(devices):
    stages, (_, y) = make_stages(), data()
    with run.Pipeline(stages, devices) as pipeline, pytest.raises(StageError, match="0F0 failed") as caught:
        pipeline.step(plan.gpipe(3, 4), torch.randn(12, 5), y, mean_square)
    assert caught.value.key == "stage_failed"


def test_a_target_that_does_not_fit_the_output_is_an_error_of_the_last_stage(devices):
    stages, (x, _) = make_stages(), data()
    before = Picture(stages)
    with run.Pipeline(stages, devices) as pipeline, pytest.raises(StageError, match="2F0"):
        pipeline.step(
            plan.gpipe(3, 4), x, torch.zeros(12, dtype=torch.long) + 99, nn.functional.cross_entropy
        )
    assert before.same()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_loss_that_is_not_finite_names_the_micro_batch_and_undoes_the_step(bad, devices):
    stages, (x, y) = make_stages(), data()
    y[8] = bad  # micro-batch 2 of 4
    before = Picture(stages)
    with run.Pipeline(stages, devices) as pipeline:
        with pytest.raises(LossError, match=r"the loss of micro-batch 2 is (nan|inf); the step was undone"):
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
        assert before.same()
        pipeline.step(plan.gpipe(3, 4), *data(), mean_square)


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        (
            lambda output, target: (output - target) ** 2,
            r"the loss must be one number, but it has shape \(3, 6\)",
        ),
        (lambda output, target: 0.5, "the loss must be a tensor, not a float"),
        (lambda output, target: mean_square(output.detach(), target), "does not depend on any parameter"),
    ],
)
def test_a_loss_that_cannot_be_used_says_what_it_is_and_what_to_give(loss, sentence, devices):
    stages, (x, y) = make_stages(), data()
    before = Picture(stages)
    with run.Pipeline(stages, devices) as pipeline:
        with pytest.raises(StageError, match=sentence):
            pipeline.step(plan.gpipe(3, 4), x, y, loss)
        assert before.same()


# -- what does not fit together


def test_more_stages_than_layers_says_both_numbers():
    with pytest.raises(PartitionError, match="cannot cut 3 layers into 4 stages; choose K <= 3"):
        run.partition(nn.Sequential(*[nn.Linear(2, 2) for _ in range(3)]), 4)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"num_stages": 0}, "at least 1 stage, not 0"),
        ({"num_stages": 1.5}, "num_stages must be a whole number, not 1.5"),
        ({"balance": [1, 1]}, "adds up to 2 layers, but the model has 3"),
        ({"balance": [3, 0]}, "every stage needs at least one layer"),
        ({}, "say how to cut"),
    ],
)
def test_a_cut_that_cannot_be_says_what_there_is(arguments, sentence):
    with pytest.raises((PartitionError, ScheduleError), match=sentence):
        run.partition(nn.Sequential(*[nn.Linear(2, 2) for _ in range(3)]), **arguments)


def test_more_micro_batches_than_samples_is_refused_before_training(devices):
    stages, few = make_stages(), data(3)
    before = Picture(stages)
    with run.Pipeline(stages, devices) as pipeline:
        with pytest.raises(BatchError, match="cannot cut 3 samples into 4 micro-batches; choose M <= 3"):
            pipeline.step(plan.gpipe(3, 4), *few, mean_square)
        assert before.same()


def test_a_target_of_another_length_is_named(devices):
    x, y = data()
    with (
        run.Pipeline(make_stages(), devices) as pipeline,
        pytest.raises(BatchError, match="target has 11 in its first dimension, but the batch has 12"),
    ):
        pipeline.step(plan.gpipe(3, 4), x, y[:11], mean_square)


@pytest.mark.parametrize(
    ("schedule", "line"),
    [
        (plan.gpipe(2, 4), "run.partition(model, num_stages=2)"),
        (plan.Schedule(["0F0 1F0 2F0 2B0 1B0 0B0"]), "run.stand_ins(1, batch_time=0.16)"),
        (
            plan.Schedule(["1F0 1B0", "0F0 0B0", "2F0 2B0"]),
            "run.Pipeline(stages, devices, placement=schedule.placement)",
        ),
    ],
)
def test_a_schedule_for_another_pipeline_gets_the_line_to_write(schedule, line, devices):
    stages, batch = make_stages(), data()
    before = Picture(stages)
    with run.Pipeline(stages, devices) as pipeline:
        with pytest.raises(PlacementError) as caught:
            pipeline.step(schedule, *batch, mean_square)
        assert line in str(caught.value)
        assert before.same()


def test_a_placement_that_leaves_a_device_idle_is_refused():
    with pytest.raises(PlacementError, match="4 devices for 3 stages: 1 would never work; choose K <= 3"):
        run.Pipeline(make_stages(), run.stand_ins(4, tick=0.01))
    with pytest.raises(PlacementError, match="must name a device for each of 3 stages and use all 2"):
        run.Pipeline(make_stages(), run.stand_ins(2, tick=0.01), placement=[0, 0, 0])
    with pytest.raises(PlacementError, match="must name a device for each of 3 stages"):
        run.Pipeline(make_stages(), run.stand_ins(2, tick=0.01), placement=[0, 1])


def test_something_that_is_no_module_is_named_with_its_type():
    with pytest.raises(PartitionError, match=r"layer 1 is a int, not a torch.nn.Module"):
        run.Pipeline([nn.Linear(2, 2), 3], run.cpu(2))
    with pytest.raises(PartitionError, match="cannot cut a model without layers"):
        run.Pipeline([], run.cpu(1))


def test_memory_over_what_is_there_is_refused_before_training_with_both_numbers(monkeypatch, devices):
    stages, calls, batch = make_stages(), [], data()
    stages[0].append(Calls(lambda x: calls.append(is_real(x))))
    before = Picture(stages)
    monkeypatch.setattr(engine, "available_memory", lambda: 2**10)
    with run.Pipeline(stages, devices) as pipeline:
        with pytest.raises(MemoryBudgetError) as caught:
            pipeline.step(plan.gpipe(3, 4), *batch, mean_square)
        numbers = caught.value.numbers
        assert numbers["available_mib"] == pytest.approx(0.8 * 2**10 / 2**20)
        assert numbers["predicted_mib"] > numbers["available_mib"]
        assert "use checkpoint='always', more micro-batches or a smaller batch" in str(caught.value)
        assert not any(calls), "it ran before it was refused"
        assert before.same()
        monkeypatch.setattr(engine, "available_memory", lambda: 2**30)
        pipeline.step(plan.gpipe(3, 4), *batch, mean_square)


def test_memory_is_compared_with_eighty_percent_of_what_is_free(monkeypatch, devices):
    with run.Pipeline(make_stages(), devices) as pipeline:
        monkeypatch.setattr(engine, "available_memory", lambda: 1)
        with pytest.raises(MemoryBudgetError) as caught:
            pipeline.step(plan.gpipe(3, 4), *data(), mean_square)
        needed = round(caught.value.numbers["predicted_mib"] * 2**20)
        monkeypatch.setattr(engine, "available_memory", lambda: needed)
        with pytest.raises(MemoryBudgetError):
            pipeline.step(plan.gpipe(3, 4), *data(), mean_square)
        monkeypatch.setattr(engine, "available_memory", lambda: needed / 0.79)
        pipeline.step(plan.gpipe(3, 4), *data(), mean_square)


def test_a_machine_that_does_not_say_its_memory_is_believed(monkeypatch, devices):
    monkeypatch.setattr(engine, "available_memory", lambda: None)
    with run.Pipeline(make_stages(), devices) as pipeline:
        pipeline.step(plan.gpipe(3, 4), *data(), mean_square)


def test_a_refused_step_has_not_spent_a_random_number(monkeypatch):
    monkeypatch.setattr(devices_module, "sleep_grain", lambda clock, sleep: 0.01)
    stages, (x, y) = make_stages(), data()
    before = Picture(stages)
    with run.Pipeline(stages, run.stand_ins(3, tick=0.001)) as pipeline:
        with pytest.raises(DeviceError, match="too coarse"):
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
        assert before.same()


# -- cancel


def cancelled_once(reached, stages, devices, cancel, on_span=None):
    """Cancel a step once `reached` is set; how long the step took from then."""
    x, y = data()
    with run.Pipeline(stages, devices) as pipeline:
        before = Picture(stages)
        took = []

        def canceller():
            assert reached.wait(10)
            took.append(time.monotonic())
            cancel(pipeline)

        thread = threading.Thread(target=canceller)
        thread.start()
        with pytest.raises(Cancelled, match="gradients and buffers are as before"):
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square, on_span=on_span)
        took.append(time.monotonic())
        thread.join()
        assert before.same()
        wait_until(lambda: run.working_workers() == 0)
        return took[1] - took[0]


def test_a_step_is_cancelled_between_two_ops_while_it_computes():
    def slowly(x):
        time.sleep(0.02)

    stages, reached = make_stages(), threading.Event()
    for stage in stages:
        stage.append(Calls(on_cpu(slowly)))
    took = cancelled_once(reached, stages, run.cpu(3), lambda p: p.cancel(), lambda span: reached.set())
    assert took < 1.0


def test_a_step_is_cancelled_while_its_stand_ins_sleep_in_a_long_op():
    """An op of 8 s is left within a slice of sleep, not at its end."""
    reached = threading.Event()
    stages = make_stages()
    stages[2].append(Calls(on_cpu(lambda x: reached.set())))
    devices = run.stand_ins(3, tick=0.02, slow={2: 400})

    def once_it_sleeps(pipeline):
        time.sleep(0.2)
        pipeline.cancel()

    assert cancelled_once(reached, stages, devices, once_it_sleeps) < 1.5


def test_cancelling_twice_and_from_two_threads_is_cancelling_once():
    def twice(pipeline):
        threads = [threading.Thread(target=pipeline.cancel) for _ in range(2)]
        for thread in threads:
            thread.start()
        pipeline.cancel()
        for thread in threads:
            thread.join()

    reached = threading.Event()
    cancelled_once(reached, make_stages(), run.stand_ins(3, tick=0.01), twice, lambda span: reached.set())


def test_cancel_without_a_step_or_after_it_does_nothing(devices):
    x, y = data()
    with run.Pipeline(make_stages(), devices) as pipeline:
        pipeline.cancel()
        pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
        pipeline.cancel()
        pipeline.cancel()
        pipeline.step(plan.gpipe(3, 4), x, y, mean_square)


def test_cancel_while_a_step_is_being_prepared_is_not_lost(monkeypatch, devices, a_look_first):
    stages, (x, y) = make_stages(), data()
    before = Picture(stages)
    with run.Pipeline(stages, devices) as pipeline:
        prepare = engine.inspect

        def cancelled_meanwhile(*arguments, **named):
            pipeline.cancel()
            return prepare(*arguments, **named)

        monkeypatch.setattr(engine, "inspect", cancelled_meanwhile)
        with pytest.raises(Cancelled):
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
        assert before.same()
        pipeline.step(plan.gpipe(3, 4), x, y, mean_square)


def test_closing_from_another_thread_while_a_step_is_being_prepared_ends_it(
    monkeypatch, devices, a_look_first
):
    stages, (x, y) = make_stages(), data()
    pipeline = run.Pipeline(stages, devices)
    prepare, closers = engine.inspect, []

    def closed_meanwhile(*arguments, **named):
        closers.append(threading.Thread(target=pipeline.close))
        closers[0].start()
        time.sleep(0.05)
        return prepare(*arguments, **named)

    monkeypatch.setattr(engine, "inspect", closed_meanwhile)
    outcome = []

    def step():
        try:
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
        except Exception as error:
            outcome.append(type(error))

    thread = threading.Thread(target=step, daemon=True)
    thread.start()
    thread.join(5)
    assert not thread.is_alive(), "the step hangs: its workers were sent away"
    closers[0].join(5)
    assert outcome == [Cancelled]


def test_fit_returns_its_history_when_it_is_cancelled(devices):
    stages, batches = make_stages(), [data() for _ in range(5)]
    with run.Pipeline(stages, devices) as pipeline:
        optimizer = torch.optim.SGD(pipeline.parameters(), 0.1)
        spans = []

        def on_span(span):
            spans.append(span)
            if len(spans) == 60:  # in the third step of 24 ops
                pipeline.cancel()

        history = run.fit(pipeline, plan.gpipe(3, 4), batches, mean_square, optimizer, on_span=on_span)
    assert history.cancelled
    assert len(history.losses) == 2


# -- a stage that does not come back


def test_a_stage_that_does_not_come_back_is_named_and_the_pipeline_is_broken(interrupts):
    before_workers = run.live_workers()
    stages, (x, y) = make_stages(), data()
    release = threading.Event()
    pipeline = run.Pipeline(stages, run.stand_ins(3, tick=0.002))
    pipeline.step(plan.gpipe(3, 4), x, y, mean_square, keep_gradients=False)  # torch's first op may take long
    pipeline.timeout = 0.5
    stages[1].append(Calls(on_cpu(lambda x: release.wait(30) and None)))
    try:
        before = Picture(stages)
        began = time.monotonic()
        with pytest.raises(StageTimeout) as caught:
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
        assert time.monotonic() - began < 10
        assert "1F0 did not finish within 0.5 s (stage 1, device 1)" in str(caught.value)
        assert before.same()
        with pytest.raises(PlacementError, match=r"broken: 1F0 did not finish .* make a new one"):
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
        pipeline.close()
        wait_until(lambda: run.live_workers() <= before_workers + 1)
        time.sleep(0.05)
        assert run.live_workers() == before_workers + 1, "only the stuck worker may remain"
        left = [thread for thread in threading.enumerate() if thread.name.startswith("pipekit-worker")]
        assert all(thread.daemon for thread in left)
    finally:
        release.set()
        pipeline.close()
    wait_until(lambda: run.live_workers() == before_workers)
    assert before.same(), "the late worker changed something"


def test_an_on_span_that_does_not_come_back_is_a_timeout_too(devices):
    stages, (x, y) = make_stages(), data()
    release, before_workers = threading.Event(), run.live_workers()
    pipeline = run.Pipeline(stages, devices)
    pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
    pipeline.timeout = 0.5
    try:
        with pytest.raises(StageTimeout, match=r"0F0 did not finish within 0\.5 s"):
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square, on_span=lambda span: release.wait(30))
    finally:
        release.set()
        pipeline.close()
    wait_until(lambda: run.live_workers() == before_workers)


# -- interrupts


def test_an_interrupt_undoes_the_step_and_goes_on_as_keyboard_interrupt(interrupts):
    stages, (x, y), many = make_stages(), data(), data(48)
    with run.Pipeline(stages, run.stand_ins(3, tick=0.02)) as pipeline:
        pipeline.step(plan.gpipe(3, 16), *many, mean_square)
        before = Picture(stages)
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            pipeline.step(plan.gpipe(3, 16), *many, mean_square)
        assert time.monotonic() - began < 0.9, "it waited for the end of the step"
        assert before.same()
        pipeline.step(plan.gpipe(3, 4), x, y, mean_square)


def test_an_interrupt_between_the_last_op_and_the_commit_undoes_the_step_too(interrupts, monkeypatch):
    """The step may not come back as if it had been added."""
    stages, (x, y) = make_stages(), data()
    with run.Pipeline(stages, run.stand_ins(3, tick=0.002)) as pipeline:
        before = Picture(stages)
        real = engine.read_result

        def interrupted(*arguments):
            signal.raise_signal(signal.SIGINT)
            return real(*arguments)

        monkeypatch.setattr(engine, "read_result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
        assert before.same()


def test_an_interrupt_while_gradients_are_added_lets_the_step_count_and_follows_it(interrupts, monkeypatch):
    stages, (x, y) = make_stages(), data()
    with run.Pipeline(stages, run.stand_ins(3, tick=0.002)) as pipeline:
        real = engine.Transaction.commit

        def interrupted(self):
            signal.raise_signal(signal.SIGINT)
            real(self)

        monkeypatch.setattr(engine.Transaction, "commit", interrupted)
        result, returned = None, time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            result = pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
            returned = time.monotonic()
            time.sleep(5)
        assert result is not None
        assert time.monotonic() - returned < 2, "a long sleep kept the interrupt waiting"
        assert all(p.grad is not None for p in pipeline.parameters())


def test_an_interrupt_while_a_step_is_prepared_leaves_the_model_as_it_was(interrupts, a_look_first):
    """Tensors without numbers stand in for its weights then; breaking in would leave them there."""
    stages, (x, y) = make_stages(), data()
    parameters = [id(p) for stage in stages for p in stage.parameters()]
    stages[1].append(Calls(lambda x: None if is_real(x) else signal.raise_signal(signal.SIGINT)))
    with run.Pipeline(stages, run.stand_ins(3, tick=0.01)) as pipeline:
        before = Picture(stages)
        with pytest.raises(KeyboardInterrupt):
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
        assert [id(p) for stage in stages for p in stage.parameters()] == parameters
        assert before.same()
        del stages[1][-1]
        pipeline.step(plan.gpipe(3, 4), x, y, mean_square)


def test_a_handler_of_your_own_is_called_once_and_put_back(devices):
    stages, (x, y) = make_stages(), data()
    heard = []

    def mine(number, frame):
        heard.append(number)

    before_handler = signal.signal(signal.SIGINT, mine)
    try:
        with run.Pipeline(stages, run.stand_ins(3, tick=0.01)) as pipeline:
            pipeline.step(plan.gpipe(3, 6), x, y, mean_square)
            before = Picture(stages)
            threading.Timer(0.03, os.kill, (os.getpid(), signal.SIGINT)).start()
            with pytest.raises(Cancelled):
                pipeline.step(plan.gpipe(3, 6), x, y, mean_square)
            assert heard == [signal.SIGINT]
            assert signal.getsignal(signal.SIGINT) is mine
            assert before.same()
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
    finally:
        signal.signal(signal.SIGINT, before_handler)


def test_an_ignored_interrupt_stays_ignored(devices):
    stages, (x, y) = make_stages(), data()
    before_handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with run.Pipeline(stages, devices) as pipeline:
            threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
            pipeline.step(plan.gpipe(3, 6), x, y, mean_square)
    finally:
        signal.signal(signal.SIGINT, before_handler)


def interrupted_steps(num_steps, seed):
    """Interrupt steps at random moments; (how many were undone, how many counted)."""
    draw = random.Random(seed)
    stages, (x, y) = make_stages(), data()
    undone = counted = 0
    with run.Pipeline(stages, run.stand_ins(3, tick=0.002)) as pipeline:
        pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
        for _ in range(num_steps):
            before, fired, result = Picture(stages), threading.Event(), None
            delay = draw.uniform(0, 0.045)

            def fire(delay=delay, fired=fired):
                time.sleep(delay)
                fired.set()
                os.kill(os.getpid(), signal.SIGINT)

            thread = threading.Thread(target=fire)
            try:
                thread.start()
                result = pipeline.step(plan.gpipe(3, 4, "always"), x, y, mean_square)
                time.sleep(2)
                raise AssertionError("the interrupt was lost")
            except KeyboardInterrupt:
                pass
            thread.join()
            if result is None:
                undone += 1
                assert before.same(), "interrupted, but not undone"
            else:
                counted += 1
                assert not before.same()
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
    return undone, counted


def test_sixty_interrupts_at_random_moments_each_end_or_follow_a_whole_step(interrupts):
    undone, counted = interrupted_steps(60, seed=1)
    assert undone + counted == 60
    assert undone > 10


def test_a_program_without_a_test_runner_survives_interrupts_and_ends():
    here = os.path.dirname(os.path.abspath(__file__))
    program = textwrap.dedent(
        f"""
        import faulthandler, sys
        faulthandler.dump_traceback_later(60, exit=True)
        sys.path.insert(0, {here!r})
        from test_run_faults import interrupted_steps
        from pipekit import run
        from pipekit.run import devices
        devices.sleep_grain = lambda clock, sleep: 0.0
        print(*interrupted_steps(20, seed=2), run.live_workers())
        """
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(here), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=90, env=environment
    )
    assert done.returncode == 0, done.stderr
    undone, counted, left = map(int, done.stdout.split())
    assert (undone + counted, left) == (20, 0)


def test_a_program_interrupted_in_a_step_ends_with_the_usual_traceback():
    program = textwrap.dedent(
        """
        import os, signal, threading, torch
        from torch import nn
        from pipekit import plan, run
        stages = [nn.Linear(4, 4), nn.Linear(4, 4)]
        pipeline = run.Pipeline(stages, run.stand_ins(2, tick=0.05))
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        pipeline.step(plan.gpipe(2, 40), torch.randn(40, 4), torch.randn(40, 4), nn.functional.mse_loss)
        """
    )
    here = os.path.dirname(os.path.abspath(__file__))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(here), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=environment
    )
    assert done.returncode != 0
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")


def test_an_interrupt_while_workers_start_leaves_none(interrupts, monkeypatch):
    before = run.live_workers()
    threads = torch.get_num_threads()
    real = workers.CENSUS.wait

    def interrupted(*arguments):
        real(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(workers.CENSUS, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run.Pipeline(make_stages(), run.cpu(3))
    monkeypatch.undo()
    wait_until(lambda: run.live_workers() == before)
    assert torch.get_num_threads() == threads
