"""A backward in two halves: I computes what goes back over the cut, W the weights' gradients; or it is said aloud."""

import copy
import gc
import statistics
import weakref

import pytest
import torch
from run_models import Do, Residual, mean_square, mlp, pipeline_of, same_bits, stepped, uncut
from run_zoo import WIDTH, ZOO, Attention, WithModules, WithWeights, between, linear, sequence
from test_run_memory import NAMES, Census, target_of, towers
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from pipekit import plan, run
from pipekit.errors import Cancelled, StageError
from pipekit.plan import Schedule
from pipekit.run.stage import Caller, StageRun, Traits
from pipekit.run.values import Parcel
from pipekit.show import i18n

M = 4


def split(num_stages, num_micro_batches=M, recomputed=(), full=()):
    """As early an I as can be, W when the first stage's would be done; some pieces recomputed, some whole."""
    lanes = []
    for stage in range(num_stages):
        wait, lane = num_stages - 1 - stage, []
        for time in range(num_micro_batches + 2 * num_stages):
            for kind, piece in (("F", time), ("I", time - wait), ("W", time - num_stages + 1)):
                if not 0 <= piece < num_micro_batches:
                    continue
                if kind == "I" and piece in recomputed:
                    lane.append(f"{stage}R{piece}")
                if piece not in full:
                    lane.append(f"{stage}{kind}{piece}")
                elif kind != "W":
                    lane.append(f"{stage}{'B' if kind == 'I' else 'F'}{piece}")
        lanes.append(lane)
    return Schedule(lanes)


def whole(schedule):
    """The same schedule with full backwards in the places of I."""
    lanes = [[str(op).replace("I", "B") for op in lane if op.kind.value != "W"] for lane in schedule.lanes]
    return Schedule(lanes, schedule.placement, schedule.recompute)


def dense(gradients):
    return [None if gradient is None else gradient.to_dense() for gradient in gradients]


# -- the zoo


def made(name):
    torch.manual_seed(0)
    body = ZOO[name]()
    with torch.no_grad():
        output = copy.deepcopy(nn.Sequential(*body.stages))(body.batch)
    return body, torch.randn_like(output)


def twice(stages, schedule, batch, target):
    """Gradients and result of a step that looks and counts, and of one that goes the short way."""
    stages = copy.deepcopy(nn.ModuleList(stages))
    with pipeline_of(stages) as pipeline:
        for _ in range(2):
            torch.manual_seed(5)
            stages.zero_grad()
            result = pipeline.step(schedule, batch, target, mean_square)
            yield dense(run.gradients(stages)), result


@pytest.mark.parametrize("name", ZOO)
@pytest.mark.filterwarnings(
    "ignore:None of the inputs have requires_grad:UserWarning"
)  # torch's, of its checkpoint
def test_every_body_gives_the_right_gradients_or_is_done_whole_and_says_so(name):
    body, target = made(name)
    schedule = split(3, recomputed={0, 3}, full={1})
    if body.against == "uncut":
        expected = dense(uncut(nn.Sequential(*body.stages), body.batch, target)[0])
    else:
        expected, _ = next(twice(body.stages, whole(schedule), body.batch, target))
    for ours, result in twice(body.stages, schedule, body.batch, target):
        tolerance = 1e-12 if body.dtype == torch.float64 else 1e-5
        assert run.relative_difference(ours, expected) <= tolerance
        assert {each.key for each in result.whole_backwards} == set(body.says)
        assert all(each.stage == 1 for each in result.whole_backwards)


@pytest.mark.parametrize("stage", [0, 2])
@pytest.mark.parametrize("name", ["Transformer layer", "tied weights", "in place first", "checkpoint"])
def test_a_body_can_stand_first_or_last(name, stage):
    body, target = made(name)
    order = [body.stages[1], *body.stages[::2]] if stage == 0 else [*body.stages[::2], body.stages[1]]
    expected, _ = uncut(nn.Sequential(*order), body.batch, target)
    ours, result = stepped(order, split(3), body.batch, target)
    assert run.relative_difference(ours, expected) <= 1e-12
    # The first stage receives nothing that wants a gradient: nothing needs to be split there.
    assert {each.key for each in result.whole_backwards} == (set(body.says) if stage else set())


@pytest.mark.parametrize("num_stages", [1, 2, 4])
@pytest.mark.parametrize("num_micro_batches", [1, 2, 5])
def test_any_number_of_stages_and_pieces_gives_the_same_gradients(num_stages, num_micro_batches):
    torch.manual_seed(0)
    model = nn.Sequential(*(Residual(WIDTH) for _ in range(4))).double()
    batch, target = torch.randn(2, 7, WIDTH, dtype=torch.float64)
    expected, loss = uncut(model, batch, target)
    ours, result = stepped(
        run.partition(model, num_stages), split(num_stages, num_micro_batches), batch, target
    )
    assert run.relative_difference(ours, expected) <= 1e-12
    assert float(result.loss) == pytest.approx(float(loss), rel=1e-12)
    assert result.whole_backwards == ()


def test_every_w_may_wait_until_the_very_end():
    schedule = Schedule(["0F0 0F1 0I0 0I1 0W1 0W0", "1F0 1I0 1F1 1I1 1W0 1W1"])
    torch.manual_seed(0)
    model, (batch, target) = mlp().double(), torch.randn(2, 7, WIDTH, dtype=torch.float64)
    ours, _ = stepped(run.partition(model, 2), schedule, batch, target)
    assert run.relative_difference(ours, uncut(model, batch, target)[0]) <= 1e-12


def test_what_is_whole_is_said_in_every_step_and_in_both_languages():
    body, target = made("tied weights")
    with pipeline_of(body.stages) as pipeline:
        for _ in range(2):
            (told,) = pipeline.step(split(3), body.batch, target, mean_square).whole_backwards
            assert (told.stage, told.key, told.num_early, told.num_weights) == (1, "halves_reused", 1, 3)
        assert pipeline.step(whole(split(3)), body.batch, target, mean_square).whole_backwards == ()
    assert str(told).startswith("stage 1: 1 of 3 parameters get their gradients at I, not at W")
    assert "3 组参数里有 1 组" in i18n.ERRORS_ZH[told.key].format(**told.numbers)


# -- each half does its part and no more


def stage_run(module):
    """One stage alone, as it is from the second step on."""
    traits = Traits()
    traits.known = True
    return StageRun(module, 1, 0, None, frozenset(), traits, None, 1, Caller.now())


CPU = torch.device("cpu")


def flops(work):
    with FlopCounterMode(display=False) as counter:
        given = work()
    return counter.get_total_flops(), given


@pytest.mark.parametrize("name", ["linear", "mlp", "Transformer layer", "residual", "convolution"])
def test_the_two_halves_together_compute_what_one_whole_backward_does(name):
    body, _ = made(name)
    received = body.stages[0](body.batch).detach()
    stage = stage_run(body.stages[1])
    gradient = torch.randn_like(body.stages[1](received))
    stage.forward(0, Parcel([received.clone()], [True], None), CPU)
    stage.forward(1, Parcel([received.clone()], [True], None), CPU)
    full, (expected,) = flops(lambda: stage.backward(0, [gradient]))
    weights = run.gradients([body.stages[1]])
    body.stages[1].zero_grad()
    first, (sent,) = flops(lambda: stage.input_grad(1, [gradient]))
    assert all(parameter.grad is None for parameter in body.stages[1].parameters())
    second, _ = flops(lambda: stage.weight_grad(1))
    assert torch.equal(sent, expected)
    assert same_bits(run.gradients([body.stages[1]]), weights)
    assert first + second == full
    assert min(first, second) >= 0.4 * full  # a Transformer layer's attention itself has no weights


def test_the_first_stage_does_all_at_w():
    stage = stage_run(nn.Linear(WIDTH, WIDTH))
    stage.forward(0, Parcel([torch.randn(3, WIDTH)], [False], None), CPU)
    nothing, gradients = flops(lambda: stage.input_grad(0, [torch.ones(3, WIDTH)]))
    assert (nothing, gradients) == (0, [None])
    assert flops(lambda: stage.weight_grad(0))[0] > 0


def test_a_recomputation_is_paid_once():
    calls = []
    body = between(nn.Sequential(linear(), Do(lambda x: calls.append(torch.is_grad_enabled()) or x)))
    with pipeline_of(body.stages) as pipeline:
        schedule = split(3, recomputed={0, 3})
        pipeline.step(schedule, body.batch, torch.zeros_like(body.batch), mean_square)
    assert (calls.count(False), calls.count(True)) == (2, 4)


def test_a_function_of_ones_own_goes_back_once_and_a_checkpoint_computes_once_more():
    calls = []
    inner = nn.Sequential(linear(), Do(lambda x: calls.append(1) or x.tanh()), linear())
    body = between(
        WithModules(
            lambda x, a, b: b(torch.utils.checkpoint.checkpoint(a, x, use_reentrant=False)),
            a=inner,
            b=linear(),
        )
    )
    with pipeline_of(body.stages) as pipeline:
        result = pipeline.step(split(3), body.batch, torch.zeros_like(body.batch), mean_square)
    assert len(calls) == 2 * M
    assert "computed" not in str(result.whole_backwards[0])
    assert "stands in a torch.utils.checkpoint" in str(result.whole_backwards[0])


# -- a step stays a transaction


class Refuses(torch.autograd.Function):
    """Works forward, raises on the way back."""

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("on purpose")


@pytest.mark.parametrize(
    ("function", "kind"),
    [(lambda x, w: Refuses.apply(x @ w), "I"), (lambda x, w: x @ Refuses.apply(w), "W")],
)
def test_a_half_that_fails_is_named_and_nothing_has_happened(function, kind):
    body = between(WithWeights(function, w=(WIDTH, WIDTH)))
    with pipeline_of(body.stages) as pipeline:
        for parameter in pipeline.parameters():
            parameter.grad = torch.ones_like(parameter)
        with pytest.raises(StageError, match=rf"1{kind}0 failed \(stage 1, device 1\).*on purpose") as caught:
            pipeline.step(split(3), body.batch, torch.zeros_like(body.batch), mean_square)
        assert caught.value.numbers["op"].kind.value == kind
        assert all(torch.equal(p.grad, torch.ones_like(p)) for p in pipeline.parameters())
        body.stages[1].function = lambda x, w: x @ w
        pipeline.step(split(3), body.batch, torch.zeros_like(body.batch), mean_square)


def test_forty_steps_that_fail_are_cancelled_or_succeed_leave_nothing_behind():
    seen, alive, ends = [], [], []

    def event(x):
        seen.append(weakref.ref(x))
        if len(seen) % 5 == 0:
            raise ValueError("on purpose")
        if len(seen) % 7 == 0:
            pipeline.cancel()
        return x

    stages = [linear(), nn.Sequential(linear(), Do(event), nn.Tanh(), linear()), linear()]
    batch, target = torch.randn(2, 7, WIDTH)
    with pipeline_of(stages) as pipeline:
        for step in range(40):
            try:
                pipeline.step(split(3, recomputed={1} if step % 2 else ()), batch, target, mean_square)
                ends.append("whole")
            except (StageError, Cancelled) as error:
                ends.append(error.key)
            if step in (9, 39):
                gc.collect()
                alive.append(sum(issubclass(type(each), torch.Tensor) for each in gc.get_objects()))
        del event
        stages[1][1].function = abs
    gc.collect()
    assert set(ends) == {"whole", "stage_failed", "cancelled"}
    assert alive[0] == alive[1]
    assert not any(reference() is not None for reference in seen)


def test_hooks_on_parameters_fire_once_a_step_and_module_hooks_once_a_piece():
    fired = {"parameter": 0, "post": 0, "module": 0, "back": 0}

    def count(what):
        fired[what] += 1

    body = between(nn.Sequential(linear(), nn.Tanh(), linear()))
    inner = body.stages[1][2]
    inner.weight.register_hook(lambda gradient: count("parameter"))
    inner.bias.register_post_accumulate_grad_hook(lambda parameter: count("post"))
    inner.register_forward_hook(lambda *_: count("module"))
    inner.register_full_backward_hook(lambda *_: count("back"))
    expected, _ = uncut(nn.Sequential(*body.stages), body.batch, torch.zeros_like(body.batch))
    fired.update(dict.fromkeys(fired, 0))
    with pipeline_of(body.stages) as pipeline:
        pipeline.step(split(3), body.batch, torch.zeros_like(body.batch), mean_square)
    assert fired == {"parameter": 1, "post": 1, "module": M, "back": M}
    assert run.relative_difference(run.gradients(body.stages), expected) <= 1e-12


def test_a_hook_on_an_activation_changes_the_gradients_as_in_the_uncut_model():
    """It fires at I and, where weights hang on that very node, again at W; each time on the same gradient."""

    def doubled(x):
        if x.requires_grad:
            x.register_hook(lambda gradient: gradient * 2)
        return x

    body = between(nn.Sequential(linear(), Do(doubled), nn.Tanh(), Do(doubled), linear(), Do(doubled)))
    target = torch.zeros_like(body.batch)
    ours, _ = stepped(body.stages, split(3), body.batch, target)
    assert run.relative_difference(ours, uncut(nn.Sequential(*body.stages), body.batch, target)[0]) <= 1e-12


def test_parameters_that_two_stages_share_give_the_same_bits_every_time():
    torch.manual_seed(0)
    model = mlp(6).double()
    model[5][0].weight = model[2][0].weight = model[0][0].weight
    batch, target = torch.randn(2, 9, WIDTH, dtype=torch.float64)
    expected, _ = uncut(model, batch, target)
    first, _ = stepped(run.partition(model, 3), split(3), batch, target)
    assert run.relative_difference(first, expected) <= 1e-12
    for _ in range(10):
        assert same_bits(stepped(run.partition(model, 3), split(3), batch, target)[0], first)


def test_dropout_draws_the_same_whether_halved_recomputed_or_whole():
    torch.manual_seed(0)
    layers = [nn.TransformerEncoderLayer(WIDTH, 2, 8, dropout=0.3, batch_first=True) for _ in range(3)]
    batch, target = torch.randn(2, 8, 4, WIDTH)
    answers = []
    for schedule in (split(3), split(3, recomputed={0, 1, 2, 3}), whole(split(3))):
        torch.manual_seed(7)
        answers.append(stepped(layers, schedule, batch, target)[0])
    assert same_bits(answers[0], answers[1])
    assert run.relative_difference(answers[0], answers[2]) <= 1e-5


def test_gradients_of_two_steps_add_up_and_a_piece_that_weighs_nothing_stays_out():
    torch.manual_seed(0)
    model = mlp().double()
    batch, target = torch.randn(2, 8, WIDTH, dtype=torch.float64)
    target[:2] = 0

    def weight(piece):
        return float(bool(piece.any()))

    with pipeline_of(model, 3) as pipeline:
        for _ in range(2):
            pipeline.step(split(3), batch, target, mean_square, weight)
    expected, _ = uncut(model, batch[2:], target[2:])
    assert run.relative_difference(run.gradients([model]), [2 * each for each in expected]) <= 1e-12


def test_the_callers_autocast_reaches_both_halves():
    torch.manual_seed(0)
    stages = [linear(), nn.Sequential(linear(), nn.Tanh(), linear()), linear()]
    batch, target = torch.randn(2, 8, WIDTH)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        ours, _ = stepped(stages, split(3), batch, target)
        theirs, _ = stepped(stages, whole(split(3)), batch, target)
    assert run.relative_difference(ours, theirs) <= 1e-6
    assert run.relative_difference(ours, stepped(stages, split(3), batch, target)[0]) > 1e-6


# -- memory


ONE_LANE = """
    0F0 1F0 0F1 1F1 1I1 0R1 0I1 1I0 0I0 0F2 1F2 1W1 0W1 1R2 1I2 0I2 0W0 1W0 0F3 1F3 1I3 1W2 0I3 0W3 0W2 1W3
"""


@pytest.mark.parametrize("name", NAMES)
def test_counted_bytes_are_what_a_census_of_storages_finds(name, monkeypatch):
    """In the second step, which does not count any more: what was counted is what is really kept, and let go at I."""
    model, batch = towers()[name]
    target, _ = target_of(model, batch)
    schedule = Schedule.from_text(ONE_LANE)
    census = Census([*model.parameters(), *model.buffers(), batch, target])
    found = []

    def start_here(crew, works):
        with census:
            for work in works:
                work()

    with pipeline_of(run.partition(model, 2), num_devices=1, placement=(0, 0)) as pipeline:
        pipeline.step(schedule, batch, target, mean_square, keep_gradients=False)
        monkeypatch.setattr("pipekit.run.workers.Crew.start", start_here)
        memory = pipeline.step(
            schedule,
            batch,
            target,
            mean_square,
            on_span=lambda span: found.append(census.live(model.parameters())),
        ).memory
    counted = memory.curves[0][:, 1:].sum(axis=1) + memory.logs[0].pending_bytes
    compared, flying = 0, 0
    for op, count, live in zip(map(str, schedule.lanes[0]), counted, found, strict=True):
        flying += (op[:2] == "1I") - (op[:2] == "0I")  # a gradient on its way is neither kept nor pending
        if not flying:
            assert abs(count - live) <= 0.01 * counted.max(), (op, count, live)
            compared += 1
    assert compared >= 12


@pytest.mark.parametrize("name", ["mlp", "conv with BatchNorm", "transformer"])
def test_no_more_is_counted_than_predicted(name):
    """The prediction lets a micro-batch keep all of it until its W."""
    model, batch = towers()[name]
    target, _ = target_of(model, batch)
    stages = run.partition(model, 2)
    shape = run.inspect(stages, batch, loss=mean_square, target=target)
    sizes = plan.micro_batch_sizes(len(batch), M)
    with pipeline_of(stages) as pipeline:
        for schedule in (split(2), split(2, recomputed={0, 1, 2})):
            memory = pipeline.step(schedule, batch, target, mean_square).memory
            predicted = plan.peak_activations(schedule, shape, sizes)
            assert all(
                0.3 * most < found <= 1.02 * most
                for found, most in zip(memory.peak_activation_bytes, predicted, strict=True)
            )
            assert memory.peak_bytes[1] == (
                memory.peak_activation_bytes[1]
                + memory.peak_waiting_bytes[1]
                + memory.peak_pending_bytes[1]
                + memory.parameter_bytes[1]
                + memory.buffer_bytes[1]
                + memory.gradient_bytes[1]
            )


def test_between_i_and_w_an_attention_keeps_less():
    """What only I needed is let go there: the scores, for one; what W needs stays, with the gradients it starts from."""
    schedule = Schedule(["0F0 0I0 0W0", "1F0 1I0 1W0"])
    stages = [nn.Linear(WIDTH, WIDTH), nn.Sequential(Attention(), nn.GELU(), nn.Softmax(2))]
    with pipeline_of(stages) as pipeline:
        for _ in range(2):
            memory = pipeline.step(schedule, sequence(), sequence(), mean_square).memory
            forward, between_halves, after = memory.curves[1][:, 1]
            assert 0 < between_halves < 0.6 * forward
            assert memory.logs[1].pending_bytes[0] == memory.logs[1].pending_bytes[2] == after == 0
            assert memory.peak_pending_bytes[1] == memory.logs[1].pending_bytes[1] > 0


def test_a_saved_tensor_changed_in_place_between_the_halves_is_noticed():
    """Hooks switch autograd's own check off, and letting go hooks in: what W still needs must stay looked after."""
    kept = []

    def keep(x):
        kept.append(x)
        return x

    def spoil(x):
        if len(kept) > 1:
            with torch.no_grad():
                kept[0].mul_(2)
        return x

    stages = [linear(), nn.Sequential(nn.Tanh(), Do(keep), linear(), Do(spoil))]
    schedule = Schedule(["0F0 0F1 0I0 0W0 0I1 0W1", "1F0 1I0 1F1 1W0 1I1 1W1"])
    refused = pytest.raises(StageError, match=r"1W0 failed.*modified by an inplace operation")
    with pipeline_of(stages) as pipeline, refused:
        pipeline.step(schedule, *torch.randn(2, 8, WIDTH), mean_square)


# -- time


def test_each_half_takes_the_declared_time_and_a_timeline_shows_it():
    model = mlp(4, WIDTH)
    with run.Pipeline(run.partition(model, 2), run.stand_ins(2, batch_time=0.08)) as pipeline:
        batch, target = torch.randn(2, 8, WIDTH)
        result = run.measure(pipeline, split(2), batch, target, mean_square, steps=1, late=0.002).median
        predicted = pipeline.predict(split(2), batch)
    for kind in "FIW":
        seconds = [span.duration for span in result.timeline.spans if span.op.kind.value == kind]
        assert len(seconds) == 2 * M
        assert statistics.median(seconds) == pytest.approx(0.02, rel=0.1)
    assert result.timeline.makespan == pytest.approx(predicted.makespan, rel=0.1)


def test_a_profile_reads_each_half():
    """The first stage's I has nothing to do; two matrices each way take their time on a later one."""
    stages = [nn.Linear(256, 256), nn.Sequential(nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 256))]
    x = torch.randn(256, 256)
    for attempt in range(2):
        costs = run.profile(stages, x, x, mean_square, repeats=5)
        share = (costs.input_grad[1] + costs.weight_grad[1]) / costs.backward[1]
        good = costs.input_grad[0] < 0.3 * costs.weight_grad[0] and 0.5 < share < 2
        if good:
            break
        print(f"I and W took {share:.2f} of B, so once more ({attempt})")
    assert good, costs
