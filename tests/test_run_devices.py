"""Devices say what they declare and what they measured, in numbers worked out by hand."""

import re
import threading
import time

import pytest
import torch
from torch import nn

from pipekit import plan, run
from pipekit.errors import DeviceError
from pipekit.plan import ModelShape, StageShape
from pipekit.plan.ops import B, F, I, R, W
from pipekit.run import cores
from pipekit.run import devices as devices_module
from pipekit.run.pace import declared_times

pytestmark = pytest.mark.alone

TWO_ON_EACH = plan.Schedule(  # stages 0 and 2 on device 0, 1 and 3 on device 1
    ["0F0 2F0 2B0 0B0", "1F0 3F0 3B0 1B0"], placement=[0, 1, 0, 1]
)


def linear_stages(num_stages, width=8):
    torch.manual_seed(0)
    return [nn.Sequential(nn.Linear(width, width)) for _ in range(num_stages)]


def half_square(output, target):
    return ((output - target) ** 2).mean()


def shape_of(flops, output=8.0):
    return ModelShape(
        tuple(
            StageShape(
                parameters=0, buffers=0, stash=0, internals=0, output=output, flops=f, name=f"stage {i}"
            )
            for i, f in enumerate(flops)
        )
    )


def seconds(devices, schedule, num_samples, shape=None):
    """Declared seconds of every op, by its text."""
    costs = devices.costs(schedule, num_samples, shape)
    sizes = plan.micro_batch_sizes(num_samples, schedule.num_micro_batches)
    declared, _ = declared_times(schedule, sizes, costs, devices.proportional)
    return {
        str(op): time
        for lane, times in zip(schedule.lanes, declared, strict=True)
        for op, time in zip(lane, times, strict=True)
    }


def links(devices, schedule, num_samples, shape):
    """Seconds that every op's message occupies its link."""
    costs = devices.costs(schedule, num_samples, shape)
    sizes = plan.micro_batch_sizes(num_samples, schedule.num_micro_batches)
    _, transfer = declared_times(schedule, sizes, costs, devices.proportional)
    return {
        str(op): time
        for lane, times in zip(schedule.lanes, transfer, strict=True)
        for op, time in zip(lane, times, strict=True)
    }


# -- declared durations


def test_batch_time_is_the_whole_mini_batch_forward_shared_out_by_samples():
    found = seconds(run.stand_ins(2, batch_time=0.16), plan.gpipe(2, 4, "always"), 9)  # 3, 2, 2, 2
    assert found["0F0"] == pytest.approx(0.16 * 3 / 9)
    assert found["1F3"] == pytest.approx(0.16 * 2 / 9)
    assert found["0R0"] == pytest.approx(0.16 * 3 / 9)
    assert found["0B0"] == pytest.approx(2 * 0.16 * 3 / 9)
    forwards = [found[f"0F{m}"] for m in range(4)]
    assert sum(forwards) == pytest.approx(0.16)


def test_the_lesson_pieces_of_a_batch_of_sixteen_ticks():
    """Four pieces of a batch that takes 160 ms forward on a device: 40 ms each; the uncut batch: 160."""
    devices = run.stand_ins(4, batch_time=0.16)
    assert seconds(devices, plan.gpipe(4, 4), 16)["2F1"] == pytest.approx(0.04)
    assert seconds(devices, plan.naive(4), 16)["2F0"] == pytest.approx(0.16)


@pytest.mark.parametrize(
    ("clock", "forward"),
    [({"batch_time": 0.16}, 0.16 / 2), ({"tick": 0.02}, 0.02 / 2), ({"per_sample": 0.01}, 0.01 * 8 / 2)],
)
def test_a_device_with_two_stages_gives_each_half(clock, forward):
    found = seconds(run.stand_ins(2, **clock), TWO_ON_EACH, 8)
    assert [found[f"{stage}F0"] for stage in range(4)] == pytest.approx([forward] * 4)
    assert [found[f"{stage}B0"] for stage in range(4)] == pytest.approx([2 * forward] * 4)


def test_uneven_devices_give_each_stage_its_own_share():
    """Device 0 has three stages, device 1 has one."""
    schedule = plan.Schedule(["0F0 1F0 2F0 2B0 1B0 0B0", "3F0 3B0"], placement=[0, 0, 0, 1])
    found = seconds(run.stand_ins(2, tick=0.03), schedule, 4)
    assert [found[f"{stage}F0"] for stage in range(4)] == pytest.approx([0.01, 0.01, 0.01, 0.03])


def test_a_tick_is_a_tick_whatever_the_size():
    found = seconds(run.stand_ins(2, tick=0.02), plan.gpipe(2, 4, "always"), 9)
    assert {found[f"1F{m}"] for m in range(4)} == {0.02}
    assert {found[f"1R{m}"] for m in range(4)} == {0.02}
    assert {found[f"1B{m}"] for m in range(4)} == {0.04}


def test_per_sample_follows_the_samples():
    found = seconds(run.stand_ins(2, per_sample=0.01), plan.gpipe(2, 2), 5)
    assert (found["0F0"], found["0F1"], found["0B0"]) == pytest.approx((0.03, 0.02, 0.06))


def test_speed_divides_the_flop_of_a_stage():
    shape = shape_of([1e6, 3e6])
    found = seconds(run.stand_ins(2, speed=1e9), plan.gpipe(2, 2), 4, shape)
    assert (found["0F0"], found["1F0"], found["1B1"]) == pytest.approx((0.002, 0.006, 0.012))


def test_speed_counts_the_flop_of_a_real_stage():
    """A linear layer of 8 x 8 needs 2 x 64 FLOP a sample."""
    with run.Pipeline(linear_stages(2), run.stand_ins(2, speed=1e4)) as pipeline:
        costs = pipeline.costs(plan.gpipe(2, 2), torch.randn(4, 8))
    assert costs.forward == pytest.approx([128 / 1e4] * 2)


def test_overhead_is_added_to_every_op_once():
    plain = seconds(run.stand_ins(2, batch_time=0.16), plan.gpipe(2, 4, "always"), 9)
    slow = seconds(run.stand_ins(2, batch_time=0.16, overhead=0.003), plan.gpipe(2, 4, "always"), 9)
    assert {op: slow[op] - plain[op] for op in plain} == pytest.approx(dict.fromkeys(plain, 0.003))


def test_a_slow_device_takes_longer_for_all_its_ops_and_nobody_else_does():
    found = seconds(run.stand_ins(3, tick=0.02, slow={2: 1.5}), plan.gpipe(3, 2, "always"), 4)
    assert (found["1F0"], found["2F0"], found["2B0"], found["2R0"]) == pytest.approx((0.02, 0.03, 0.06, 0.03))


def test_both_halves_of_a_split_backward_take_one_forward_each():
    table = run.stand_ins(2, tick=0.02).costs(plan.gpipe(2, 2), 4, None).table(2)
    assert table[[F, B, I, W, R], 0] == pytest.approx([0.02, 0.04, 0.02, 0.02, 0.02])


def test_bandwidth_divides_what_a_micro_batch_sends():
    """8 bytes a sample over the cut behind each stage, 3 and 2 samples, 100 bytes a second."""
    found = links(run.stand_ins(3, per_sample=1, bandwidth=100), plan.gpipe(3, 2), 5, shape_of([1] * 3))
    assert (found["0F0"], found["0F1"], found["1F0"]) == pytest.approx((0.24, 0.16, 0.24))
    assert (found["1B0"], found["2B1"]) == pytest.approx((0.24, 0.16)), "a gradient is as large as its value"


def test_bandwidth_on_a_tick_clock_sends_a_mean_micro_batch_not_one_sample():
    found = links(run.stand_ins(2, tick=1, bandwidth=100), plan.gpipe(2, 4), 12, shape_of([1] * 2))
    assert found["0F0"] == pytest.approx(8 * 3 / 100)


def test_latency_is_declared_as_given():
    assert run.stand_ins(2, tick=1, latency=0.25).costs(plan.gpipe(2, 2), 4, None).latency == 0.25


def test_a_prediction_is_the_simulation_of_what_isdeclared_times():
    devices = run.stand_ins(3, batch_time=0.3, slow={1: 2.0}, overhead=0.002, latency=0.004)
    schedule = plan.one_f_one_b(3, 4, "always", "early")
    with run.Pipeline(linear_stages(3), devices) as pipeline:
        predicted = pipeline.predict(schedule, torch.randn(10, 8))
        by_number = pipeline.predict(schedule, 10)
        costs = pipeline.costs(schedule, 10)
    assert costs.forward == pytest.approx([0.03, 0.06, 0.03])
    simulated = plan.simulate(schedule, costs, [3, 3, 2, 2])
    for timeline in (predicted, by_number):
        assert timeline.source == "predicted"
        assert timeline.spans.ends.tolist() == pytest.approx(simulated.spans.ends.tolist())


def test_real_devices_declare_nothing_and_say_what_to_do():
    with (
        run.Pipeline(linear_stages(1), run.cpu(1)) as pipeline,
        pytest.raises(DeviceError, match=r"declare no times.* measure costs with run\.profile"),
    ):
        pipeline.predict(plan.gpipe(1, 2), 4)


def test_speed_from_a_number_of_samples_says_that_it_needs_the_batch():
    with (
        run.Pipeline(linear_stages(2), run.stand_ins(2, speed=1e6)) as pipeline,
        pytest.raises(DeviceError, match="give the batch itself, or use batch_time="),
    ):
        pipeline.predict(plan.gpipe(2, 2), 4)


def test_a_stage_without_flop_is_refused_under_speed_with_the_way_out():
    stages = [nn.Sequential(nn.Linear(8, 8)), nn.Sequential(nn.ReLU(), nn.LayerNorm(8)), nn.Linear(8, 8)]
    x = torch.randn(4, 8)
    with run.Pipeline(stages, run.stand_ins(3, speed=1e6)) as pipeline:
        with pytest.raises(DeviceError) as caught:
            pipeline.step(plan.gpipe(3, 2), x, x, half_square)
        assert all(p.grad is None for p in pipeline.parameters())
    sentence = str(caught.value)
    assert "stage 1 counts 0 FLOP" in sentence
    assert "ReLU, LayerNorm" in sentence
    assert "use batch_time= or tick=, or balance the cut" in sentence


# -- what cannot be


@pytest.mark.parametrize("make", [run.cpu, run.cuda, run.auto, lambda n: run.stand_ins(n, tick=0.1)])
@pytest.mark.parametrize("asked", [0, -1, 1.5, True, "two", None])
def test_a_number_of_devices_that_is_none_is_refused(make, asked):
    with pytest.raises(DeviceError, match=f"cannot make {re.escape(str(asked))} devices; choose at least 1"):
        make(asked)


@pytest.mark.parametrize(
    ("clocks", "given"),
    [
        ({}, "got none"),
        ({"batch_time": 1, "tick": 1}, "got batch_time, tick"),
        ({"per_sample": 1, "speed": 1}, "got per_sample, speed"),
    ],
)
def test_stand_ins_need_exactly_one_clock(clocks, given):
    with pytest.raises(DeviceError, match=f"choose exactly one clock: .*; {given}"):
        run.stand_ins(2, **clocks)


@pytest.mark.parametrize("name", ["batch_time", "tick", "per_sample", "speed"])
@pytest.mark.parametrize("asked", [0, -0.1, float("nan"), float("inf")])
def test_a_time_that_is_none_is_named(name, asked):
    with pytest.raises(DeviceError, match=f"{name} must be longer than 0, not {asked}"):
        run.stand_ins(2, **{name: asked})


@pytest.mark.parametrize(("name", "asked"), [("overhead", -1), ("latency", -0.001), ("bandwidth", 0)])
def test_an_extra_that_is_negative_is_named(name, asked):
    with pytest.raises(DeviceError, match=f"{name} must be longer than 0, not {asked}"):
        run.stand_ins(2, tick=1, **{name: asked})


@pytest.mark.parametrize("slow", [{4: 1.5}, {-1: 2.0}, {0: 0.0}, {1: -2.0}, {1: float("inf")}])
def test_slow_for_a_device_that_is_not_there_names_those_that_are(slow):
    with pytest.raises(DeviceError, match=r"name devices 0\.\.3 and factors above 0"):
        run.stand_ins(4, tick=1, slow=slow)


def test_gpus_that_are_not_there_are_counted_and_the_way_out_is_a_line(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(DeviceError) as caught:
        run.cuda(4)
    assert str(caught.value) == ("asked for 4 GPUs, but torch sees 1; use run.stand_ins(4, batch_time=0.16)")


def test_auto_takes_gpus_if_there_are_enough_and_else_the_lessons_stand_ins(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert run.auto(2) == run.cuda(2)
    assert run.auto(3) == run.stand_ins(3, batch_time=0.16)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert isinstance(run.auto(1), run.StandIns)


# -- words


def test_a_label_says_the_clock_and_what_is_declared_and_what_is_measured():
    devices = run.stand_ins(4, batch_time=0.16, overhead=0.001, latency=0.002, bandwidth=5e6, slow={2: 1.5})
    assert devices.label() == (
        "4 stand-ins, 160 ms a mini-batch forward, device 2 1.5 x slower, 1 ms overhead an op, 2 ms a hop, "
        "links 5 MB/s; durations declared, order and waiting measured"
    )
    assert run.stand_ins(1, tick=0.02).label().startswith("1 stand-in, 20 ms a tick;")
    assert run.stand_ins(2, per_sample=0.001).label().startswith("2 stand-ins, 1 ms a sample forward;")
    assert run.stand_ins(2, speed=1e9).label().startswith("2 stand-ins, 1e+09 FLOP/s;")


def test_a_measured_timeline_says_where_its_times_come_from():
    x = torch.randn(4, 8)
    devices = run.stand_ins(2, tick=0.005)
    with run.Pipeline(linear_stages(2), devices) as pipeline:
        timeline = pipeline.step(plan.gpipe(2, 2), x, x, half_square).timeline
    assert timeline.source == "measured"
    assert timeline.devices == devices.label()
    assert timeline.devices.endswith("durations declared, order and waiting measured")


# -- cores


def with_files(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def quota_v1(folder, quota, period=100_000):
    files = {"cpu__cpu_dot_cfs_quota_us": f"{quota}\n", "cpu__cpu_dot_cfs_period_us": f"{period}\n"}
    return with_files(folder, **files)


@pytest.fixture
def eight_cores(monkeypatch):
    monkeypatch.setattr(cores.os, "cpu_count", lambda: 8)
    monkeypatch.setattr(cores.os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)


@pytest.mark.parametrize(
    ("text", "usable"),
    [("200000 100000\n", 2.0), ("50000 100000\n", 0.5), ("max 100000\n", 8.0), ("1600000 100000\n", 8.0)],
)
def test_a_quota_of_cgroup_version_2_counts_and_may_be_below_one(tmp_path, eight_cores, text, usable):
    assert run.usable_cores(with_files(tmp_path, cpu_dot_max=text)) == usable


@pytest.mark.parametrize(("quota", "usable"), [(150_000, 1.5), (25_000, 0.25), (-1, 8.0)])
def test_a_quota_of_cgroup_version_1_counts_too(tmp_path, eight_cores, quota, usable):
    assert run.usable_cores(quota_v1(tmp_path, quota)) == usable


def test_without_a_cgroup_the_cores_are_what_affinity_leaves(tmp_path, eight_cores, monkeypatch):
    assert run.usable_cores(tmp_path / "none") == 8.0
    monkeypatch.setattr(cores.os, "sched_getaffinity", lambda pid: {0, 3}, raising=False)
    assert run.usable_cores(tmp_path / "none") == 2.0


def test_a_system_without_affinity_counts_its_cores(tmp_path, eight_cores, monkeypatch):
    monkeypatch.delattr(cores.os, "sched_getaffinity")
    assert run.usable_cores(tmp_path) == 8.0


@pytest.mark.parametrize("text", ["", "nonsense here", "1"])
def test_a_quota_file_that_cannot_be_read_limits_nothing(tmp_path, eight_cores, text):
    assert run.usable_cores(with_files(tmp_path, cpu_dot_max=text)) == 8.0


def test_free_memory_is_the_least_of_the_machines_and_the_cgroups(tmp_path, monkeypatch):
    free = run.available_memory()
    assert free is None or free > 2**20
    monkeypatch.setattr(
        cores, "CGROUP", with_files(tmp_path, memory_dot_max=f"{2**21}\n", memory_dot_current=f"{2**20}\n")
    )
    if free is not None:
        assert run.available_memory() == 2**20


# -- real time is called measured only where it is


def cpu_devices(monkeypatch, num_devices, usable, alone, together):
    monkeypatch.setattr(devices_module, "usable_cores", lambda: usable)
    monkeypatch.setattr(devices_module, "slowdown_together", lambda n: (alone, together))
    return run.cpu(num_devices)


def test_real_time_on_cores_of_their_own_is_measured(monkeypatch):
    devices = cpu_devices(monkeypatch, 2, usable=2.0, alone=100e-6, together=109e-6)
    assert devices.source == "measured"
    assert devices.label() == "2 CPU threads, real time"


@pytest.mark.parametrize(("usable", "together"), [(2.0, 111e-6), (1.0, 100e-6), (1.9, 100e-6)])
def test_real_time_on_shared_cores_is_no_bubble_measurement_and_both_numbers_say_so(
    monkeypatch, usable, together
):
    devices = cpu_devices(monkeypatch, 2, usable, alone=100e-6, together=together)
    assert devices.source == "shared"
    assert devices.label() == (
        "2 CPU threads, real time, shared cores: not a bubble measurement "
        f"(a piece of work takes 100 us alone, {together * 1e6:.0f} us together)"
    )


def test_a_step_on_shared_cores_carries_that_word(monkeypatch):
    devices = cpu_devices(monkeypatch, 2, usable=1.0, alone=100e-6, together=200e-6)
    x = torch.randn(4, 8)
    with run.Pipeline(linear_stages(2), devices) as pipeline:
        timeline = pipeline.step(plan.gpipe(2, 2), x, x, half_square).timeline
    assert timeline.source == "shared"
    assert "not a bubble measurement" in timeline.devices


def test_the_probe_is_made_once(monkeypatch):
    probes = []
    monkeypatch.setattr(devices_module, "usable_cores", lambda: 2.0)
    monkeypatch.setattr(devices_module, "slowdown_together", lambda n: probes.append(n) or (1.0, 1.0))
    devices = run.cpu(2)
    assert (devices.source, devices.label(), devices.source) == (
        "measured",
        "2 CPU threads, real time",
        "measured",
    )
    assert probes == [2]


def test_the_probe_sees_threads_that_share_a_core(monkeypatch):
    """Played by work under one lock: together, each gets half."""
    lock = threading.Lock()

    def work(a, b):
        with lock:
            time.sleep(0.0005)

    monkeypatch.setattr(cores.torch, "mm", work)
    alone, together = cores.slowdown_together(2)
    assert together > alone * 1.5


def test_the_probe_sees_threads_that_do_not():
    work_alone = cores._piece_time(1, 0.05)
    assert 0 < work_alone < 1


def test_the_probe_leaves_the_number_of_threads_as_it_was():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        cores.slowdown_together(2, seconds=0.03)
        assert torch.get_num_threads() == 2
        later = []
        thread = threading.Thread(target=lambda: later.append(torch.get_num_threads()))
        thread.start()
        thread.join()
        assert later == [2]
    finally:
        torch.set_num_threads(before)


# -- a clock too coarse


def coarse(grain):
    """A clock and a sleep that only know multiples of `grain` seconds, as on an old Windows."""

    def clock():
        return time.perf_counter() // grain * grain

    def sleep(seconds):
        end = time.perf_counter() + seconds
        time.sleep(max(0.0, -(-end // grain) * grain - time.perf_counter()))

    return {"clock": clock, "sleep": sleep}


def test_ticks_that_a_coarse_clock_cannot_show_are_refused_with_both_numbers_and_a_longer_one():
    x = torch.randn(4, 8)
    devices = run.stand_ins(2, tick=0.010, **coarse(0.0156))
    with run.Pipeline(linear_stages(2), devices) as pipeline:
        with pytest.raises(DeviceError) as caught:
            pipeline.step(plan.gpipe(2, 2), x, x, half_square)
        assert all(p.grad is None for p in pipeline.parameters())
    numbers = caught.value.numbers
    assert numbers["op_ms"] == pytest.approx(10)
    assert 10 < numbers["grain_ms"] < 16
    advised = float(re.search(r"choose tick=([0-9.]+) or longer", str(caught.value)).group(1))
    assert advised == pytest.approx(2 * numbers["grain_ms"] / 1e3, rel=0.01)
    run.stand_ins(2, tick=advised, **coarse(0.0156)).check_grain(0.0313)


def test_ticks_that_a_coarse_clock_can_show_are_accepted():
    x = torch.randn(4, 8)
    devices = run.stand_ins(2, tick=0.06, **coarse(0.0156))
    with run.Pipeline(linear_stages(2), devices) as pipeline:
        result = pipeline.step(plan.gpipe(2, 2), x, x, half_square)
    assert result.slip.worst < 0.06


def test_the_smallest_op_decides_and_a_slower_speed_is_advised():
    devices = run.stand_ins(2, speed=1e6, clock=iter_clock(0.005), sleep=lambda seconds: None)
    with pytest.raises(DeviceError, match=r"too coarse for ops of 4\.0 ms; choose speed=(5e\+05|4\.)"):
        devices.check_grain(0.004)


def iter_clock(step):
    """A clock that goes on by `step` whenever it is read."""
    now = [0.0]

    def clock():
        now[0] += step
        return now[0]

    return clock


def test_the_grain_of_a_machine_is_what_a_millisecond_of_sleep_overshoots():
    assert cores.sleep_grain(iter_clock(0.004), lambda seconds: None) == pytest.approx(0.003)
    assert cores.sleep_grain(iter_clock(0.0005), lambda seconds: None) == 0.0
