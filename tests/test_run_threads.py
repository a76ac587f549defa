"""Workers: one thread a device, the caller's modes inside, nothing held while they wait, none left behind."""

import faulthandler
import gc
import os
import threading
import time
import warnings
import weakref

import pytest
import torch
from torch import nn

from pipekit import plan, run
from pipekit.errors import Cancelled, PlacementError, StageError
from pipekit.run import devices as devices_module
from pipekit.run import engine

WIDTH = 5


def wait_until(done, seconds=10.0):
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.002)


@pytest.fixture(autouse=True)
def no_hang_and_no_worker_left(capfd):
    with capfd.disabled():
        stderr = os.fdopen(os.dup(2), "w")
    faulthandler.dump_traceback_later(60, exit=True, file=stderr)
    before, names = run.live_workers(), worker_threads()
    yield
    gc.collect()
    wait_until(lambda: run.live_workers() == before)
    wait_until(lambda: worker_threads() == names)
    faulthandler.cancel_dump_traceback_later()
    stderr.close()


@pytest.fixture(autouse=True)
def any_clock_will_do(monkeypatch):
    """These tests are not about time; a busy machine's sleep may be too coarse for their short ticks."""
    monkeypatch.setattr(devices_module, "sleep_grain", lambda clock, sleep: 0.0)


def worker_threads():
    return sum(thread.name.startswith("pipekit-worker") for thread in threading.enumerate())


class Calls(nn.Module):
    """Runs a function on the way through, unless torch only reads shapes."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        if type(x) is torch.Tensor and not x.is_meta:
            self.function(x)
        return x


def make_stages(num_stages=2, function=None):
    torch.manual_seed(0)
    stages = [nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()) for _ in range(num_stages)]
    for stage in stages if function else []:
        stage.append(Calls(function))
    return stages


def data(num_samples=8, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(num_samples, WIDTH, generator=generator), torch.randn(
        num_samples, WIDTH, generator=generator
    )


def mean_square(output, target):
    return nn.functional.mse_loss(output, target)


def stand_ins(num_devices=2, tick=0.002):
    return run.stand_ins(num_devices, tick=tick)


def uncut_gradients(stages, x, y):
    whole = nn.Sequential(*stages)
    return torch.autograd.grad(mean_square(whole(x), y), list(whole.parameters()))


def in_a_thread(function):
    """What `function` returns or raises in a thread of its own."""
    found = []

    def work():
        try:
            found.append((function(), None))
        except BaseException as error:
            found.append((None, error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert found, "the thread hangs"
    result, error = found[0]
    if error is not None:
        raise error
    return result


# -- one intra-op thread a worker, and the caller's number untouched


@pytest.fixture
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def test_a_worker_computes_with_one_thread(three_threads):
    found = []
    with run.Pipeline(
        make_stages(2, lambda x: found.append(torch.get_num_threads())), stand_ins()
    ) as pipeline:
        pipeline.step(plan.gpipe(2, 2, "always"), *data(), mean_square)
    assert set(found) == {1}
    assert len(found) == 8


def test_the_callers_number_of_threads_stays_and_is_that_of_later_threads(three_threads):
    with run.Pipeline(make_stages(), stand_ins()) as pipeline:
        assert torch.get_num_threads() == 3
        assert in_a_thread(torch.get_num_threads) == 3
        pipeline.step(plan.gpipe(2, 2), *data(), mean_square)
        assert torch.get_num_threads() == 3
        assert in_a_thread(torch.get_num_threads) == 3
    assert in_a_thread(torch.get_num_threads) == 3


def test_a_pipeline_made_in_a_thread_leaves_that_number_alone_too(three_threads):
    def make():
        with run.Pipeline(make_stages(), stand_ins()):
            return torch.get_num_threads()

    assert in_a_thread(make) == 3
    assert in_a_thread(torch.get_num_threads) == 3


def test_a_cut_by_time_and_a_probe_leave_it_alone_as_well(three_threads):
    run.partition(nn.Sequential(*make_stages(3)), 2, example=data()[0])
    assert torch.get_num_threads() == 3
    assert in_a_thread(torch.get_num_threads) == 3


# -- how many workers there are


def test_a_pipeline_has_one_worker_a_device_until_it_is_closed():
    before = run.live_workers()
    pipeline = run.Pipeline(make_stages(4), stand_ins(2))
    assert run.live_workers() == before + 2
    assert run.working_workers() == 0
    pipeline.close()
    assert run.live_workers() == before
    pipeline.close()
    assert run.live_workers() == before


def test_workers_work_in_a_step_and_rest_after_it():
    seen = []
    stages = make_stages(2, lambda x: seen.append(run.working_workers()))
    with run.Pipeline(stages, stand_ins()) as pipeline:
        pipeline.step(plan.gpipe(2, 2), *data(), mean_square)
        assert max(seen) == 2
        wait_until(lambda: run.working_workers() == 0)


def test_an_exception_in_the_with_block_sends_the_workers_away():
    before = run.live_workers()
    with pytest.raises(KeyError), run.Pipeline(make_stages(), stand_ins()):
        raise KeyError
    assert run.live_workers() == before


def test_nested_pipelines_have_workers_of_their_own():
    before = run.live_workers()
    with run.Pipeline(make_stages(), stand_ins()) as outer:
        with run.Pipeline(make_stages(3), stand_ins(3)) as inner:
            assert run.live_workers() == before + 5
            inner.step(plan.gpipe(3, 2), *data(), mean_square)
            outer.step(plan.gpipe(2, 2), *data(), mean_square)
        assert run.live_workers() == before + 2
        outer.step(plan.gpipe(2, 2), *data(), mean_square)
    assert run.live_workers() == before


def test_a_pipeline_may_run_in_a_stage_of_another():
    x, y = data()
    with run.Pipeline(make_stages(), stand_ins()) as inner:
        losses = []
        stages = make_stages(
            2, lambda x: losses.append(float(inner.step(plan.gpipe(2, 2), *data(), mean_square).loss))
        )
        with run.Pipeline(stages, run.stand_ins(2, tick=0.001, slow={0: 5})) as outer:
            outer.step(plan.gpipe(2, 1), x, y, mean_square)
    assert len(losses) == 2


def cancel_a_step(pipeline):
    pipeline.step(plan.gpipe(2, 2), *data(), mean_square, on_span=lambda span: pipeline.cancel())


@pytest.mark.parametrize("how", ["unused", "after a step", "after a failed step", "after a cancelled step"])
def test_a_pipeline_that_is_forgotten_is_collected_with_its_workers(how):
    before = run.live_workers()
    stages = make_stages()
    pipeline = run.Pipeline(stages, stand_ins())
    x, y = data()
    if how == "after a step":
        pipeline.step(plan.gpipe(2, 2), x, y, mean_square)
    if how == "after a failed step":
        stages[0].append(Calls(lambda x: 1 / 0))
        with pytest.raises(StageError):
            pipeline.step(plan.gpipe(2, 2), x, y, mean_square)
    if how == "after a cancelled step":
        with pytest.raises(Cancelled):
            cancel_a_step(pipeline)
    del pipeline
    wait_until(lambda: gc.collect() >= 0 and run.live_workers() == before)


def test_without_an_exception_no_garbage_collection_is_needed():
    before = run.live_workers()
    pipeline = run.Pipeline(make_stages(), stand_ins())
    pipeline.step(plan.gpipe(2, 2), *data(), mean_square)
    gc.collect()
    gc.disable()
    try:
        del pipeline
        wait_until(lambda: run.live_workers() == before)
    finally:
        gc.enable()


def test_a_pipeline_that_could_not_be_made_starts_no_worker():
    before = run.live_workers()
    with pytest.raises(PlacementError):
        run.Pipeline(make_stages(), stand_ins(3))
    assert run.live_workers() == before


# -- callers


def test_two_pipelines_in_two_threads_at_once_are_both_right():
    def train(seed):
        stages = [nn.Sequential(*stage) for stage in make_stages(3)]
        x, y = data(12, seed)
        expected = uncut_gradients(stages, x, y)
        with run.Pipeline(stages, stand_ins(3)) as pipeline:
            for _ in range(6):
                for parameter in pipeline.parameters():
                    parameter.grad = None
                pipeline.step(plan.one_f_one_b(3, 4), x, y, mean_square)
                ours = [p.grad for p in pipeline.parameters()]
                assert run.relative_difference(ours, expected) < 1e-5
        return True

    found = []
    threads = [threading.Thread(target=lambda s=seed: found.append(train(s))) for seed in (3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [True, True]


def test_a_step_may_be_taken_in_any_thread():
    stages, (x, y) = make_stages(), data()
    expected = uncut_gradients(stages, x, y)
    with run.Pipeline(stages, stand_ins()) as pipeline:
        result = in_a_thread(lambda: pipeline.step(plan.gpipe(2, 4), x, y, mean_square))
        assert torch.isfinite(result.loss)
        assert run.relative_difference([p.grad for p in pipeline.parameters()], expected) < 1e-5


def test_a_step_in_a_thread_does_not_touch_the_interrupts(monkeypatch):
    import signal

    seen = []
    before = signal.getsignal(signal.SIGINT)
    stages = make_stages(2, lambda x: seen.append(signal.getsignal(signal.SIGINT)))
    with run.Pipeline(stages, stand_ins()) as pipeline:
        in_a_thread(lambda: pipeline.step(plan.gpipe(2, 2), *data(), mean_square))
    assert set(seen) == {before}


def test_a_step_while_another_runs_is_told_that_the_pipeline_is_busy():
    started, go_on = threading.Event(), threading.Event()

    def hold(x):
        started.set()
        go_on.wait(10)

    x, y = data()
    with run.Pipeline(make_stages(2, hold), run.cpu(2)) as pipeline:
        results = []
        first = threading.Thread(
            target=lambda: results.append(pipeline.step(plan.gpipe(2, 2), x, y, mean_square))
        )
        first.start()
        assert started.wait(10)
        with pytest.raises(PlacementError, match="already running a step; wait for it, or make a second"):
            pipeline.step(plan.gpipe(2, 2), x, y, mean_square)
        go_on.set()
        first.join(10)
        assert len(results) == 1, "the first step was disturbed"
        pipeline.step(plan.gpipe(2, 2), x, y, mean_square)


def test_a_step_inside_on_span_is_busy_too_and_ends_the_outer_step():
    x, y = data()
    with run.Pipeline(make_stages(), stand_ins()) as pipeline:
        with pytest.raises(PlacementError, match="already running a step") as caught:
            pipeline.step(
                plan.gpipe(2, 2),
                x,
                y,
                mean_square,
                on_span=lambda span: pipeline.step(plan.gpipe(2, 2), x, y, mean_square),
            )
        assert caught.value.__cause__ is not caught.value
        assert all(p.grad is None for p in pipeline.parameters())
        pipeline.step(plan.gpipe(2, 2), x, y, mean_square)


def test_a_closed_pipeline_says_so():
    pipeline = run.Pipeline(make_stages(), stand_ins())
    pipeline.close()
    with pytest.raises(PlacementError, match=r"closed; make a new one with run\.Pipeline"):
        pipeline.step(plan.gpipe(2, 2), *data(), mean_square)
    pipeline.cancel()


def test_closing_while_another_thread_steps_cancels_that_step():
    started = threading.Event()
    pipeline = run.Pipeline(make_stages(2, lambda x: started.set()), stand_ins(2, tick=0.05))
    outcome = []

    def step():
        try:
            pipeline.step(plan.gpipe(2, 8), *data(), mean_square)
        except Cancelled:
            outcome.append("cancelled")

    thread = threading.Thread(target=step)
    thread.start()
    assert started.wait(10)
    began = time.monotonic()
    pipeline.close()
    assert time.monotonic() - began < 1
    thread.join(10)
    assert outcome == ["cancelled"]


# -- the caller's modes


def types_inside(pipeline, found):
    found.clear()
    pipeline.step(plan.gpipe(2, 2, "always"), *data(), lambda output, y: mean_square(output.float(), y))
    return set(found)


def test_autocast_of_the_caller_is_that_of_the_workers():
    found = []
    stages = [
        nn.Sequential(nn.Linear(WIDTH, WIDTH), Calls(lambda x: found.append(x.dtype))) for _ in range(2)
    ]
    with run.Pipeline(stages, stand_ins()) as pipeline:
        assert types_inside(pipeline, found) == {torch.float32}
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert types_inside(pipeline, found) == {torch.bfloat16}
        with torch.autocast("cpu", dtype=torch.float16):
            assert types_inside(pipeline, found) == {torch.float16}
        assert types_inside(pipeline, found) == {torch.float32}
        with torch.autocast("cpu", dtype=torch.bfloat16), torch.autocast("cpu", enabled=False):
            assert types_inside(pipeline, found) == {torch.float32}


def test_autocast_gives_the_uncut_models_gradients():
    stages, (x, y) = make_stages(), data()
    with run.Pipeline(stages, stand_ins()) as pipeline, torch.autocast("cpu", dtype=torch.bfloat16):
        whole = nn.Sequential(*stages)
        expected = torch.autograd.grad(mean_square(whole(x), y.bfloat16()), list(whole.parameters()))
        pipeline.step(plan.gpipe(2, 1, "always"), x, y.bfloat16(), mean_square)
    assert run.relative_difference([p.grad for p in pipeline.parameters()], expected) < 0.01


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, lambda: torch.set_grad_enabled(False)])
def test_a_step_without_gradients_is_refused_and_nothing_starts(mode):
    calls = []
    with run.Pipeline(make_stages(2, calls.append), stand_ins()) as pipeline:
        with mode(), pytest.raises(PlacementError, match="a training step needs gradients"):
            pipeline.step(plan.gpipe(2, 2), *data(), mean_square)
        assert not calls
        pipeline.step(plan.gpipe(2, 2), *data(), mean_square)


def test_deterministic_and_anomaly_mode_hold_in_the_workers():
    found = []

    def look(x):
        found.append((torch.are_deterministic_algorithms_enabled(), torch.is_anomaly_enabled()))

    with run.Pipeline(make_stages(2, look), stand_ins()) as pipeline:
        pipeline.step(plan.gpipe(2, 2), *data(), mean_square)
        assert set(found) == {(False, False)}
        found.clear()
        torch.use_deterministic_algorithms(True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch warns that anomaly mode is slow
                with torch.autograd.set_detect_anomaly(True):
                    pipeline.step(plan.gpipe(2, 2), *data(), mean_square)
        finally:
            torch.use_deterministic_algorithms(False)
    assert set(found) == {(True, True)}


def test_a_stage_that_switches_gradients_off_for_itself_does_not_do_so_for_its_worker():
    def switch_off(x):
        torch.set_grad_enabled(False)

    stages, (x, y) = make_stages(), data()
    expected = uncut_gradients(stages, x, y)
    stages[1].append(Calls(switch_off))
    with run.Pipeline(stages, stand_ins()) as pipeline:
        with pytest.raises(StageError):
            pipeline.step(plan.gpipe(2, 2), x, y, mean_square)
        del stages[1][-1]
        pipeline.step(plan.gpipe(2, 2), x, y, mean_square)
        assert run.relative_difference([p.grad for p in pipeline.parameters()], expected) < 1e-5


# -- nothing is held while a worker waits


def test_a_stages_output_is_gone_while_its_worker_waits_for_the_gradient():
    outputs, checked = [], []
    stages = [nn.Sequential(nn.Linear(WIDTH, WIDTH)), nn.Sequential(nn.Linear(WIDTH, WIDTH))]
    stages[0].register_forward_hook(
        lambda module, given, output: (
            outputs.append(weakref.ref(output)) if type(output) is torch.Tensor else None
        )
    )

    def check(x):
        if len(checked) == 1:  # the second micro-batch: stage 0 has no forward left to do
            wait_until(lambda: all(ref() is None for ref in outputs), seconds=3)
        checked.append(len(outputs))

    stages[1].append(Calls(check))
    with run.Pipeline(stages, stand_ins()) as pipeline:
        pipeline.step(plan.gpipe(2, 2), *data(), mean_square)
    assert checked == [1, 2] or checked == [2, 2]


def test_a_gradient_is_gone_while_its_worker_waits_for_the_next_one():
    gradients, checked = [], []

    def watch(x):
        x.register_hook(lambda gradient: gradients.append(weakref.ref(gradient)))

    def check_later(x):
        if x.requires_grad:
            x.register_hook(check)

    def check(gradient):
        if len(checked) == 1:  # the second backward of stage 1: stage 0 has had the first one's gradient
            wait_until(lambda: len(gradients) == 1 and gradients[0]() is None, seconds=3)
        checked.append(len(gradients))

    stages = [
        nn.Sequential(nn.Linear(WIDTH, WIDTH), Calls(watch)),
        nn.Sequential(nn.Linear(WIDTH, WIDTH), Calls(check_later)),
    ]
    with run.Pipeline(stages, stand_ins()) as pipeline:
        pipeline.step(plan.gpipe(2, 2), *data(), mean_square)
    assert checked == [0, 1]


def test_a_received_value_is_gone_after_its_backward():
    received, checked = [], []

    def remember(x):
        received.append(weakref.ref(x))

    def check(gradient):
        if len(checked) == 1:
            wait_until(lambda: received[-1]() is None, seconds=3)
        checked.append(1)

    stages = [
        nn.Sequential(nn.Linear(WIDTH, WIDTH), Calls(lambda x: x.register_hook(check))),
        nn.Sequential(Calls(remember), nn.Linear(WIDTH, WIDTH)),
    ]
    with run.Pipeline(stages, stand_ins()) as pipeline:
        pipeline.step(plan.gpipe(2, 2), *data(), mean_square)
    assert len(checked) == 2


def test_every_step_has_queues_of_its_own(monkeypatch):
    jobs = []

    class Watched(engine.Job):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            jobs.append(list(self.inboxes))

    monkeypatch.setattr(engine, "Job", Watched)
    with run.Pipeline(make_stages(), stand_ins()) as pipeline:
        for _ in range(3):
            pipeline.step(plan.gpipe(2, 2), *data(), mean_square)
    inboxes = [inbox for job in jobs for inbox in job]
    assert len({id(inbox) for inbox in inboxes}) == 6
    assert len({id(inbox._queue) for inbox in inboxes}) == 6


def test_nothing_of_a_cancelled_step_reaches_the_next_one():
    """It leaves values in the inboxes and poison behind them; twenty times."""
    stages, (x, y) = make_stages(3), data(12)
    expected = uncut_gradients(stages, x, y)
    with run.Pipeline(stages, run.cpu(3)) as pipeline:
        for cancel_at in range(1, 21):
            spans = []

            def on_span(span, spans=spans, cancel_at=cancel_at):
                spans.append(span)
                if len(spans) == cancel_at:
                    pipeline.cancel()

            with pytest.raises(Cancelled):
                pipeline.step(plan.gpipe(3, 4), x, y, mean_square, on_span=on_span)
            for parameter in pipeline.parameters():
                parameter.grad = None
            pipeline.step(plan.gpipe(3, 4), x, y, mean_square)
            assert run.relative_difference([p.grad for p in pipeline.parameters()], expected) < 1e-5
