"""Every schedule trains: the uncut model's gradients, the predicted bubble, and never a deadlock."""

import random
from itertools import chain

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from run_models import QuietCpu, convnet, mean_square, mlp, uncut
from torch import nn

from pipekit import plan, run
from pipekit.errors import ScheduleError
from pipekit.plan import Schedule
from pipekit.plan.ops import Op

BUILDERS = {
    "gpipe": plan.gpipe,
    "1f1b": plan.one_f_one_b,
    "interleaved": lambda k, m: plan.interleaved_1f1b(k, m, 2, "except_last"),
    "looped": lambda k, m: plan.looped_bfs(k, m, 2, "always", "early"),
    "zb_h1": plan.zb_h1,
    "zb_h2": plan.zb_h2,
    "zb_v": plan.zb_v,
    "dualpipe": plan.dualpipe,
    "dualpipe_v": plan.dualpipe_v,
    "chimera": plan.chimera,
}
NUM_LAYERS, N = 8, 17


def transformer():
    layers = [nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True) for _ in range(NUM_LAYERS)]
    return nn.Sequential(*layers)


MODELS = {
    "mlp": (lambda: mlp(NUM_LAYERS), (6,), [(2, 4), (2, 10), (4, 16)]),
    "conv net": (lambda: convnet(NUM_LAYERS, 2).eval(), (2, 3, 3), [(2, 6), (4, 8)]),
    "Transformer": (transformer, (3, 4), [(2, 4), (4, 8)]),
}


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("name", MODELS)
def test_every_schedule_gives_the_uncut_models_gradients(name, builder):
    make, shape, sizes = MODELS[name]
    torch.manual_seed(1)
    model = make().double()
    batch, target = torch.randn(2, N, *shape, dtype=torch.float64)
    expected, loss = uncut(model, batch, target)
    for num_devices, num_micro_batches in sizes:
        schedule = BUILDERS[builder](num_devices, num_micro_batches)
        model.zero_grad()
        stages = run.partition(model, schedule.num_stages)
        with run.Pipeline(stages, QuietCpu(num_devices), schedule.placement) as pipeline:
            result = pipeline.step(schedule, batch, target, mean_square)
        assert run.relative_difference(run.gradients([model]), expected) <= 1e-12, (num_devices, schedule)
        assert float(result.loss) == pytest.approx(float(loss), rel=1e-12)
        assert result.whole_backwards == ()


# -- measured


def measured(schedule, batch_time=0.1):
    """(measured, predicted) timelines on stand-ins."""
    stages = run.partition(mlp(schedule.num_stages, 4), schedule.num_stages)
    devices = run.stand_ins(schedule.num_devices, batch_time=batch_time)
    batch, target = torch.randn(2, 16, 4)
    with run.Pipeline(stages, devices, schedule.placement) as pipeline:
        result = run.measure(pipeline, schedule, batch, target, mean_square, steps=1, late=0.003).median
        assert result.timeline.source == "measured"
        return result.timeline, pipeline.predict(schedule, batch)


@pytest.mark.alone
@pytest.mark.parametrize("builder", BUILDERS)
def test_the_measured_bubble_is_the_predicted_one(builder):
    schedule = BUILDERS[builder](4, 8)
    for attempt in range(2):
        ours, predicted = measured(schedule, batch_time=0.1 * (1 + 2 * attempt))
        pairs = [(f(ours), f(predicted)) for f in (plan.bubble_fraction, plan.span_bubble)]
        points = 100 * abs(pairs[0][0] - pairs[0][1])
        if points <= 1.5:
            break
        print(f"{builder}: {points:.2f} points off, so once more, three times slower")
    assert points <= 1.5
    # Who works when is the same; a plan's ops are the timeline's.
    assert sorted(str(span.op) for span in ours.spans) == sorted(map(str, chain(*schedule.lanes)))


@pytest.mark.alone
def test_zero_bubble_schedules_beat_1f1b_by_what_theory_says():
    """K = 4, M = 8, f = b = w: 33, 27 and 25.5 slots."""
    for attempt in range(2):
        spans = {
            name: measured(BUILDERS[name](4, 8), 0.1 * (1 + 2 * attempt))[0].makespan
            for name in ("1f1b", "zb_h1", "zb_v")
        }
        ratios = spans["zb_h1"] / spans["1f1b"], spans["zb_v"] / spans["1f1b"]
        good = ratios == (pytest.approx(27 / 33, abs=0.02), pytest.approx(25.5 / 33, abs=0.02))
        if good:
            break
        print(f"1F1B : ZB-H1 : ZB-V = {spans}, so once more, three times slower")
    assert good, ratios


# -- any schedule


@st.composite
def valid_schedules(draw):
    """Any placement (also two homes), any kind of backward and recomputation a pair, any order the law allows."""
    num_devices, num_micro_batches = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    num_stages = draw(st.integers(num_devices, 2 * num_devices))
    rng = random.Random(draw(st.integers(0, 2**32)))
    homes = [(s % num_devices, rng.randrange(num_devices)) for s in range(num_stages)]
    homes = [home if draw(st.booleans()) else home[:1] for home in homes]
    lane_of, ops = {}, []
    for stage in range(num_stages):
        for piece in range(num_micro_batches):
            kinds = "F" + rng.choice(["", "", "R"]) + rng.choice(["B", "IW", "IW"])
            ops += [Op.parse(f"{stage}{kind}{piece}") for kind in kinds]
            lane_of[stage, piece] = rng.choice(homes[stage])
    for stage, home in enumerate(homes):  # every device has something to do
        lane_of[stage, 0] = home[0]
    recompute = rng.choice(["late", "early"])

    def scheduled(order):
        lanes = [[op for op in order if lane_of[op.stage, op.micro_batch] == d] for d in range(num_devices)]
        return Schedule(lanes, homes, recompute)

    law, order, left = scheduled(ops), [], list(ops)
    while left:
        able = [op for op in left if not set(plan.needs(op, law)) & set(left)]
        order.append(rng.choice(able))
        left.remove(order[-1])
    return scheduled(order)


def trained(schedule):
    """Relative difference to the uncut model, and the order of ops on each device as it was measured."""
    torch.manual_seed(0)
    model = mlp(schedule.num_stages, 3).double()
    batch, target = torch.randn(2, 5, 3, dtype=torch.float64)
    expected, _ = uncut(model, batch, target)
    stages = run.partition(model, schedule.num_stages)
    devices = QuietCpu(schedule.num_devices)
    with run.Pipeline(stages, devices, schedule.placement, timeout=20.0) as pipeline:
        timeline = pipeline.step(schedule, batch, target, mean_square).timeline
    return run.relative_difference(run.gradients([model]), expected), timeline


@pytest.mark.alone
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(valid_schedules())
def test_a_random_valid_schedule_never_deadlocks_and_goes_as_predicted(schedule):
    plan.validate(schedule)
    predicted = plan.simulate(schedule, plan.Costs())
    difference, timeline = trained(schedule)
    assert difference <= 1e-12
    ends = {str(span.op): span.end for span in timeline.spans}
    for device in range(schedule.num_devices):
        ours, theirs = (
            [span.op for span in sorted(each.spans, key=lambda s: s.start) if span.device == device]
            for each in (timeline, predicted)
        )
        assert ours == theirs == list(schedule.lanes[device])
    for span in timeline.spans:
        for needed in plan.needs(span.op, schedule):
            assert (
                span.start >= ends[str(needed)] - 0.05
            )  # a receiver may start before its sender has noted its end


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(valid_schedules(), st.randoms(use_true_random=False))
def test_a_shuffled_schedule_trains_or_is_refused_before_it_starts(schedule, rng):
    lanes = [list(lane) for lane in schedule.lanes]
    lane = rng.choice(lanes)
    first, second = rng.randrange(len(lane)), rng.randrange(len(lane))
    lane[first], lane[second] = lane[second], lane[first]
    if rng.random() < 0.3:
        del lane[first]
    shuffled = Schedule(lanes, schedule.placement, schedule.recompute)
    try:
        plan.validate(shuffled)
    except ScheduleError as error:
        with pytest.raises(ScheduleError) as refused:
            trained(shuffled)
        assert str(refused.value) == str(error)
    else:
        assert trained(shuffled)[0] <= 1e-12
