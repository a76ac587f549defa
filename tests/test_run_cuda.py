"""GPUs: the same gradients, times by events. What needs no GPU is tested with events that are only pretended."""

import pytest
import torch
from torch import nn

from pipekit import plan, run
from pipekit.errors import MemoryBudgetError
from pipekit.run import pace as pace_module
from pipekit.run.channels import Message
from pipekit.run.pace import CudaPace

FOUND = torch.cuda.device_count()
needs_a_gpu = pytest.mark.skipif(FOUND < 1, reason=f"needs 1 GPU, but torch sees {FOUND}")
needs_two_gpus = pytest.mark.skipif(FOUND < 2, reason=f"needs 2 GPUs, but torch sees {FOUND}")


# -- pretended events


class Stream:
    """Remembers what it was told to wait for."""

    def __init__(self):
        self.waited = []

    def wait_event(self, event):
        self.waited.append(event)


class Event:
    """An event at a time that the test sets, in ms, as torch counts."""

    gpu_now = 0.0

    def __init__(self, enable_timing=False):
        assert enable_timing

    def record(self, stream):
        self.time, self.stream = Event.gpu_now, stream

    def synchronize(self):
        pass

    def elapsed_time(self, later):
        return later.time - self.time


@pytest.fixture
def pretended(monkeypatch):
    synchronised = []
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "synchronize", synchronised.append)
    host = iter([100.0, 101.0, 102.0, 103.0, 104.0])
    monkeypatch.setattr(pace_module.time, "perf_counter", lambda: next(host))
    Event.gpu_now = 5000.0
    return synchronised


def test_spans_are_the_host_time_of_the_base_event_plus_what_elapsed_on_the_device(pretended):
    pace = CudaPace(torch.device("cuda", 0), Stream())
    assert len(pretended) == 1, "the base event needs a device at rest"
    for begin, end in ((5010.0, 5030.0), (5040.0, 5045.0)):
        Event.gpu_now = begin
        pace.begin([])
        Event.gpu_now = end
        pace.computed(0)
        pace.finish()
    pace.close()
    assert pace.starts == pytest.approx([100.010, 100.040])
    assert pace.ends == pytest.approx([100.030, 100.045])


def test_a_receiver_waits_for_the_event_behind_what_was_sent(pretended):
    sender, receiver = (
        CudaPace(torch.device("cuda", 0), Stream()),
        CudaPace(torch.device("cuda", 1), Stream()),
    )
    sender.begin([])
    sender.computed(0)
    message = Message(0, [])
    sender.stamp(message, 0, 1, 0)
    receiver.begin([message])
    assert receiver.stream.waited == [message.ready]
    assert message.ready is sender.events[-1][1]


def test_a_gpus_op_can_be_told_while_it_still_computes(pretended):
    """`on_span` needs a beginning before the events are read back: the host's."""
    pace = CudaPace(torch.device("cuda", 0), Stream())
    pace.begin([])
    assert pace.began == 101.0
    assert pace.finish() == 102.0


# -- real ones


def make_stages(num_stages):
    torch.manual_seed(0)
    return [nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.0), nn.Tanh()).double() for _ in range(num_stages)]


def mean_square(output, target):
    return nn.functional.mse_loss(output, target)


def gradients_equal_the_uncut_models(num_devices, schedule):
    stages = make_stages(schedule.num_stages)
    x, y = torch.randn(2, 12, 8, dtype=torch.double).unbind()
    whole = nn.Sequential(*stages)
    expected = torch.autograd.grad(mean_square(whole(x), y), list(whole.parameters()))
    told = []
    with run.Pipeline(stages, run.cuda(num_devices)) as pipeline:
        assert all(p.is_cuda for p in pipeline.parameters())
        result = pipeline.step(schedule, x, y, mean_square, on_span=told.append)
        ours = [p.grad.cpu() for p in pipeline.parameters()]
    assert run.relative_difference(ours, expected) < 1e-12
    assert len(told) == schedule.num_ops
    return result


@pytest.mark.cuda
@needs_a_gpu
@pytest.mark.parametrize("checkpoint", ["never", "always"])
def test_one_gpu_trains_the_uncut_models_gradients(checkpoint):
    result = gradients_equal_the_uncut_models(1, plan.gpipe(1, 4, checkpoint))
    assert result.timeline.source == "measured"
    assert (result.timeline.spans.durations > 0).all()
    assert "1 x" in result.timeline.devices


@pytest.mark.cuda
@needs_two_gpus
@pytest.mark.parametrize("schedule", [plan.gpipe(2, 4), plan.one_f_one_b(2, 4, "always")])
def test_two_gpus_train_the_uncut_models_gradients(schedule):
    gradients_equal_the_uncut_models(2, schedule)


@pytest.mark.cuda
@needs_a_gpu
def test_ops_of_one_gpu_follow_each_other():
    spans = gradients_equal_the_uncut_models(1, plan.gpipe(1, 6)).timeline.spans
    assert (spans.starts[1:] >= spans.ends[:-1] - 1e-4).all()


@pytest.mark.cuda
@needs_a_gpu
def test_memory_of_a_gpu_is_compared_before_it_runs(monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (1, 1))
    monkeypatch.setattr("pipekit.run.engine.may_be_large", lambda *arguments: True)
    x = torch.randn(4, 8, dtype=torch.double)
    with run.Pipeline(make_stages(1), run.cuda(1)) as pipeline, pytest.raises(MemoryBudgetError):
        pipeline.step(plan.gpipe(1, 2), x, x, mean_square)


@pytest.mark.cuda
@needs_a_gpu
def test_a_gpu_names_itself():
    assert torch.cuda.get_device_name(0) in run.cuda(1).label()
