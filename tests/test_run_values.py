"""What goes in and what crosses a cut: pieces of a batch and weights of the loss, any structure, in-place layers."""

import copy
from collections import OrderedDict, namedtuple

import pytest
import torch
from run_models import POLICIES, Do, is_real, mean_square, mlp, pipeline_of, same_bits, stepped, uncut
from torch import nn
from torch.nn import functional

from pipekit import plan, run
from pipekit.errors import BatchError, LossError, PlacementError, StageError

Pair = namedtuple("Pair", ["state", "gate"])


def data(num_samples=7, width=6, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(num_samples, width, generator=generator, dtype=dtype) for _ in range(2))


def linear(width=6):
    return nn.Linear(width, width, dtype=torch.float64)


def assert_transparent(
    stages, batch, target, loss=mean_square, num_micro_batches=3, weight="samples", **more
):
    """Gradients equal the uncut model's under every policy, and the policies agree to the last bit."""
    expected, value = uncut(nn.Sequential(*stages), batch, target, loss, **more)
    for builder in (plan.gpipe, plan.one_f_one_b):
        bits = None
        for checkpoint, recompute in POLICIES:
            schedule = builder(len(stages), num_micro_batches, checkpoint, recompute)
            ours, result = stepped(stages, schedule, batch, target, loss, weight)
            assert run.relative_difference(ours, expected) <= 1e-12, schedule
            assert float(result.loss) == pytest.approx(float(value), rel=1e-12)
            assert bits is None or same_bits(ours, bits), schedule
            bits = ours


# -- weights of the loss (contract 15)


def tokens(lengths, num_words=5, length=6):
    """Token numbers (N, length): of each sample only the first so many count, the others are -100."""
    target = torch.randint(num_words, (len(lengths), length), generator=torch.Generator().manual_seed(3))
    for row, used in zip(target, lengths, strict=True):
        row[used:] = -100
    return target


def token_mean(output, target):
    return functional.cross_entropy(output.flatten(0, 1), target.flatten(), ignore_index=-100)


def masked_mean(output, target):
    """The same by hand; its gradient over no token is nan, and not only its value."""
    mask = (target != -100).flatten()
    losses = functional.cross_entropy(output.flatten(0, 1), target.clamp(min=0).flatten(), reduction="none")
    return (losses * mask).sum() / mask.sum()


def counted(target):
    return (target != -100).sum()


def reader(length=6, num_words=5):
    return [nn.Sequential(nn.Embedding(9, 4)).double(), nn.Linear(4, num_words, dtype=torch.float64)]


def sentences(num_samples, length=6):
    return torch.randint(9, (num_samples, length), generator=torch.Generator().manual_seed(4))


def test_a_sum_weighs_every_piece_by_one():
    def loss(output, target):
        return (output - target).square().sum()

    stages = [linear(), linear()]
    assert_transparent(stages, *data(), loss=loss, weight="sum")


def test_a_mean_over_tokens_weighs_by_the_tokens_that_count():
    batch, target = sentences(5), tokens([6, 1, 2, 6, 1])
    assert_transparent(reader(), batch, target, token_mean, weight=counted)


def test_weighing_a_mean_over_tokens_by_samples_is_wrong():
    batch, target, stages = sentences(5), tokens([6, 1, 2, 6, 1]), reader()
    expected, _ = uncut(nn.Sequential(*stages), batch, target, token_mean)
    ours, _ = stepped(stages, plan.gpipe(2, 3), batch, target, token_mean, "samples")
    assert run.relative_difference(ours, expected) > 0.05


def test_a_piece_in_which_nothing_counts_adds_nothing():
    batch, target = sentences(4), tokens([6, 3, 0, 0])  # the mean over no token is nan
    for loss in (token_mean, masked_mean):
        assert_transparent(reader(), batch, target, loss, num_micro_batches=2, weight=counted)


def test_a_batch_in_which_nothing_counts_is_an_error():
    with pytest.raises(BatchError, match=r"add up to 0.*at least one sample must count"):
        stepped(reader(), plan.gpipe(2, 2), sentences(4), tokens([0] * 4), token_mean, counted)


@pytest.mark.parametrize("number", [-1.0, float("nan"), float("inf")])
def test_weights_are_finite_and_not_negative(number):
    numbers = iter([1.0, number])
    with pytest.raises(BatchError, match=f"micro-batch 1 weighs {number}"):
        stepped([linear()], plan.gpipe(1, 2), *data(), weight=lambda target: next(numbers))


def test_an_unknown_weight_names_those_there_are():
    with pytest.raises(BatchError, match=r"'mean'.*\"samples\", \"sum\" or a function"):
        stepped([linear()], plan.gpipe(1, 2), *data(), weight="mean")


def test_weights_are_known_before_any_stage_runs():
    order = []
    stages = [nn.Sequential(linear(), Do(lambda x: order.append("stage") or x)), linear()]
    schedule = plan.one_f_one_b(2, 3)
    with pipeline_of(stages) as pipeline:
        pipeline.step(schedule, *data(), mean_square, weight=len)
        order.clear()
        pipeline.step(schedule, *data(), mean_square, weight=lambda t: order.append("weight") or len(t))
    assert order == ["weight"] * 3 + ["stage"] * 3


def test_a_loss_that_is_not_one_number_is_refused():
    stages, schedule, (batch, target) = [linear()], plan.gpipe(1, 2), data()
    for loss, words in [
        (lambda o, t: (o - t).square(), r"one number, but it has shape \(4, 6\)"),
        (lambda o, t: 3.0, "must be a tensor, not a float"),
        (lambda o, t: (o - t).detach().sum(), "does not depend on any parameter"),
    ]:
        with pytest.raises(StageError, match=words):
            stepped(stages, schedule, batch, target, loss)


def test_a_loss_that_is_not_finite_undoes_the_step():
    model, (batch, target) = nn.Sequential(linear(), linear()), data()
    target[-1, 0] = float("nan")
    with pipeline_of(model, 2) as pipeline:
        with pytest.raises(LossError, match="micro-batch 2 is nan"):
            pipeline.step(plan.gpipe(2, 3), batch, target, mean_square)
        assert run.gradients([model]) == [None] * 4


# -- cutting (contract 16)


def test_every_tensor_of_batch_and_target_is_cut_along_its_first_dimension():
    x, y = data()

    class Add(nn.Module):
        def forward(self, given):
            return given["x"] * given["scale"][1] + given["more"][0], given["word"]

    def loss(output, target):
        assert output[1] == target["word"] == "same" and len(output[0]) == len(target["y"][0])
        return mean_square(output[0], target["y"][0])

    batch = {"x": x, "more": [y], "scale": (None, 3), "word": "same"}
    seen = []
    model = nn.Sequential(Add(), WithWord(linear()), WithWord(linear()))
    expected, _ = uncut(model, batch, {"y": (y,), "word": "same"}, loss)
    ours, _ = stepped(
        run.partition(model, 3),
        plan.gpipe(3, 3),
        batch,
        {"y": (y,), "word": "same"},
        lambda o, t: seen.append(len(o[0])) or loss(o, t),
    )
    assert run.relative_difference(ours, expected) <= 1e-12
    assert seen[-3:] == [3, 2, 2]


class WithWord(nn.Module):
    """A layer that lets a word pass beside the tensor."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, pair):
        return self.layer(pair[0]), pair[1]


def test_a_whole_value_reaches_every_piece_uncut():
    (x, y), table = data(), torch.eye(6, dtype=torch.float64) * 2
    shapes = []

    class Look(nn.Module):
        def forward(self, pair):
            shapes.append((len(pair[0]), tuple(pair[1].shape)))
            return pair[0] @ pair[1]

    stages = [nn.Sequential(Look(), linear()), linear()]
    expected, _ = uncut(nn.Sequential(*stages), (x, table), y)
    ours, _ = stepped(stages, plan.gpipe(2, 3), (x, run.whole(table)), y)
    assert run.relative_difference(ours, expected) <= 1e-12
    assert shapes[-3:] == [(3, (6, 6)), (2, (6, 6)), (2, (6, 6))]


def test_a_tensor_of_another_length_is_named():
    x, y = data()
    for batch, target, words in [
        ({"a": x, "b": [y[:5]]}, y, r"batch\['b'\]\[0\] has 5 in its first dimension, but the batch has 7"),
        (x, y[:6], r"target has 6 in its first dimension, but the batch has 7 .*run.whole"),
        ((x, torch.tensor(1.0)), y, r"batch\[1\] is a tensor without dimensions.*run.whole"),
        (x, {"t": torch.tensor(1)}, r"target\['t'\] is a tensor without dimensions"),
        (torch.tensor(1.0), y, "batch is a tensor without dimensions"),
        ({"a": 3}, y, "the batch holds no tensor to cut"),
        (run.whole(x), y, "the batch holds no tensor to cut"),
    ]:
        with pytest.raises(BatchError, match=words):
            stepped([linear()], plan.gpipe(1, 2), batch, target)


def test_fewer_samples_than_micro_batches_is_an_error_with_both_numbers():
    with pytest.raises(BatchError, match="cannot cut 7 samples into 8 micro-batches; choose M <= 7"):
        stepped([linear()], plan.gpipe(1, 8), *data())


def test_without_a_target_the_loss_gets_the_output_alone():
    x, _ = data()
    stages = [linear(), linear()]
    ours, _ = stepped(stages, plan.gpipe(2, 3), x, None, lambda output: output.square().mean())
    expected, _ = uncut(nn.Sequential(*stages), x, None, lambda output, _: output.square().mean())
    assert run.relative_difference(ours, expected) <= 1e-12


# -- structures between stages (contract 20)


class Split(nn.Module):
    """A tensor becomes a structure: tensors, an integer tensor, None, a word, a number."""

    def __init__(self):
        super().__init__()
        self.layer = linear()

    def forward(self, x):
        h = self.layer(x)
        pair = Pair(h.tanh(), x.argmax(dim=1))
        return {"pair": pair, "skip": (x, None), "word": "w", "number": 3, "list": [h]}


class Mix(nn.Module):
    """Reads everything Split made and makes the same structure again."""

    def __init__(self):
        super().__init__()
        self.layer, self.table = linear(), nn.Embedding(6, 6, dtype=torch.float64)

    def forward(self, given):
        assert given["word"] == "w" and given["skip"][1] is None and isinstance(given["pair"], Pair)
        assert not given["pair"].gate.is_floating_point()
        h = self.layer(given["pair"].state) + self.table(given["pair"].gate) * given["number"]
        return {**given, "pair": Pair(h.tanh() + given["skip"][0], given["pair"].gate), "list": [h]}


class Join(nn.Module):
    """The structure becomes one tensor."""

    def forward(self, given):
        return given["pair"].state * given["list"][0]


def test_structures_with_integers_none_and_words_cross_a_cut():
    torch.manual_seed(0)
    assert_transparent([Split(), Mix(), Mix(), nn.Sequential(Join(), linear())], *data())


def test_ordered_dicts_and_lists_arrive_as_what_they_were():
    kinds = []
    stages = [
        nn.Sequential(linear(), Do(lambda x: OrderedDict(b=[x], a=(x, None)))),
        nn.Sequential(Do(lambda v: kinds.append((type(v), list(v), type(v["b"]))) or v["a"][0]), linear()),
    ]
    assert_transparent(stages, *data())
    assert all(kind == (OrderedDict, ["b", "a"], list) for kind in kinds)


def test_one_tensor_sent_twice_collects_both_gradients():
    class Use(nn.Module):
        def forward(self, pair):
            return pair[0] * 2 + pair[1].sin()

    stages = [nn.Sequential(linear(), Do(lambda x: (x, x))), nn.Sequential(Use(), linear())]
    assert_transparent(stages, *data())


def test_a_stage_may_return_what_it_was_given():
    assert_transparent([linear(), nn.Identity(), nn.Sequential(Do(lambda x: x)), linear()], *data())
    assert_transparent([nn.Identity(), linear(), Do(lambda x: x)], *data())


def test_a_stage_may_return_a_view():
    views = [
        lambda x: x[:, 1:],
        lambda x: x.t().t(),
        lambda x: x.view(-1, 6),
        lambda x: x.flip(1)[:, :5],
        torch.squeeze,
    ]
    for view in views:
        width = view(data()[0]).shape[1]
        later = [nn.ReLU(inplace=True), nn.Linear(width, 6, dtype=torch.float64)]
        assert_transparent([nn.Sequential(linear(), Do(view)), nn.Sequential(*later)], *data())


def test_an_expanded_value_may_be_changed_in_place_behind_the_cut():
    def stages(change):
        return [
            nn.Sequential(first, Do(lambda x: x[:, :1].expand(-1, 6))),
            nn.Sequential(Do(lambda x: change(x, torch.arange(6, device=x.device))), last),
        ]

    first, last = linear(), linear()
    expected, _ = uncut(nn.Sequential(*stages(torch.mul)), *data())
    for checkpoint in plan.CHECKPOINTS:
        ours, _ = stepped(stages(torch.Tensor.mul_), plan.gpipe(2, 3, checkpoint), *data())
        assert run.relative_difference(ours, expected) <= 1e-12


@pytest.mark.parametrize(
    "change",
    [
        nn.ReLU(inplace=True),
        Do(lambda x: x.mul_(2)),
        Do(lambda x: x.view(-1).mul_(2).view(-1, 6)),
        Do(lambda x: x[:, 0].zero_() is not None and x),
    ],
    ids=["relu", "mul", "view", "slice"],
)
def test_in_place_layers_at_any_stage_leave_the_callers_batch_alone(change):
    batch, target = data()
    before = batch.clone()
    model = [
        nn.Sequential(copy.deepcopy(change), linear()),
        nn.Sequential(copy.deepcopy(change), linear()),
        nn.Sequential(linear(), copy.deepcopy(change)),
    ]
    expected, _ = uncut(nn.Sequential(*model), batch.clone(), target)
    for checkpoint, recompute in POLICIES:
        stages = copy.deepcopy(nn.ModuleList(model))
        with pipeline_of(stages) as pipeline:
            for _ in range(2):  # the first step finds out what the second one knows
                stages.zero_grad()
                pipeline.step(plan.one_f_one_b(3, 3, checkpoint, recompute), batch, target, mean_square)
                assert run.relative_difference(run.gradients(stages), expected) <= 1e-12
                assert torch.equal(batch, before)


def test_a_whole_model_input_changed_in_place_in_a_structure_stays_as_it_was():
    x, y = data()
    table = torch.ones(6, dtype=torch.float64)
    kept = x.clone(), table.clone()
    stages = [nn.Sequential(Do(lambda v: v[0].mul_(2) + v[1].add_(1)), linear()), linear()]
    for checkpoint in plan.CHECKPOINTS:
        stepped(stages, plan.gpipe(2, 1, checkpoint), (x, run.whole(table)), y)
        assert torch.equal(x, kept[0]) and torch.equal(table, kept[1])


def test_a_receivers_copy_is_its_own():
    """A sender that changes what it sent, after sending it, and a receiver that keeps what it got."""
    kept = []

    class Reuses(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = linear()
            self.page = torch.zeros(8, 6, dtype=torch.float64)

        def forward(self, x):
            with torch.no_grad():
                page = self.page[: len(x)].copy_(x)  # one piece of memory for every micro-batch
            return self.layer(x), page

    def keep(pair):
        kept.append(pair[1])
        return pair[0] + pair[1]

    x, y = data(8)
    stepped([Reuses(), nn.Sequential(Do(keep), linear())], plan.gpipe(2, 4), x, y)
    assert torch.equal(torch.cat([piece for piece in kept if is_real(piece)][-4:]), x)


# -- which gradients flow


def test_a_frozen_stage_gets_no_gradient_and_lets_others_have_theirs():
    for frozen in range(3):
        torch.manual_seed(0)
        stages = [nn.Sequential(linear(), nn.Tanh()) for _ in range(3)]
        stages[frozen].requires_grad_(False)
        assert_transparent(stages, *data())


def test_a_stage_whose_input_gets_no_gradient_trains_nothing_before_it():
    for cut in (Do(torch.detach), Do(lambda x: x.round().long().double()), Do(lambda x: x > 0)):
        later = nn.Sequential(Do(lambda x: x.double()), linear())
        assert_transparent([nn.Sequential(linear(), cut), later], *data())


def test_a_value_that_only_some_pieces_use_gets_its_gradient_from_those():
    class Sometimes(nn.Module):
        def forward(self, pair):
            return pair[0] + pair[1] if len(pair[0]) == 3 else pair[0]

    x, y = data()
    stages = [nn.Sequential(linear(), Do(lambda x: (x, x.sin()))), nn.Sequential(Sometimes(), linear())]
    bits = [stepped(stages, plan.gpipe(2, 3, policy), x, y)[0] for policy in plan.CHECKPOINTS]
    assert same_bits(bits[0], bits[1]) and same_bits(bits[0], bits[2])


def test_functions_with_a_backward_of_their_own_work():
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 3

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return gradient * 3 + 0 * x

    assert_transparent(
        [nn.Sequential(Do(Scaled.apply), linear()), nn.Sequential(Do(Scaled.apply), linear())], *data()
    )


def test_complex_values_cross_a_cut():
    stages = [
        nn.Sequential(linear(), Do(torch.fft.fft)),
        nn.Sequential(Do(lambda x: torch.fft.ifft(x * 2).real), linear()),
    ]
    assert_transparent(stages, *data())


# -- layers people have


def test_an_lstm_with_its_tuple_crosses_a_cut():
    class Read(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(4, 4, batch_first=True, dtype=torch.float64)

        def forward(self, x):
            out, (state, cell) = self.lstm(x)
            return out, (state.transpose(0, 1), cell.transpose(0, 1))

    class Close(nn.Module):
        def forward(self, value):
            out, (state, cell) = value
            return out + state + cell.mean(dim=1, keepdim=True)

    torch.manual_seed(0)
    x, y = (torch.randn(5, 3, 4, dtype=torch.float64) for _ in range(2))
    assert_transparent(
        [Read(), nn.Sequential(Close(), nn.Linear(4, 4, dtype=torch.float64)), Read(), Close()], x, y
    )


def test_transformer_layers_cross_a_cut():
    torch.manual_seed(0)
    x, y = (torch.randn(5, 3, 8, dtype=torch.float64) for _ in range(2))
    layers = [
        nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, dtype=torch.float64)
        for _ in range(3)
    ]
    assert_transparent(layers, x, y)


# -- the caller's modes (contract 25)


def test_stages_run_under_the_callers_autocast():
    torch.manual_seed(0)
    types = set()
    stages = [
        nn.Sequential(nn.Linear(6, 6), Do(lambda x: types.add((is_real(x), x.dtype)) or x)),
        nn.Linear(6, 6),
    ]
    x, y = data(dtype=torch.float32)
    got = {}
    for checkpoint in plan.CHECKPOINTS:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            got[checkpoint], _ = stepped(stages, plan.gpipe(2, 3, checkpoint), x, y)
    assert {dtype for real, dtype in types if real} == {torch.bfloat16}
    assert same_bits(got["never"], got["always"]) and same_bits(got["never"], got["except_last"])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expected, _ = uncut(nn.Sequential(*stages), x, y)
    exact, _ = uncut(nn.Sequential(*stages), x, y)
    assert run.relative_difference(got["never"], expected) < 0.02 < 1
    assert run.relative_difference(got["never"], exact) > 1e-5


def test_the_loss_keeps_its_precision_under_autocast():
    x, y = data(dtype=torch.float32)
    parts = []

    def loss(output, target):
        value = mean_square(output.float(), target)
        parts.append(value.detach())
        return value

    with pipeline_of([nn.Linear(6, 6)]) as pipeline, torch.autocast("cpu", dtype=torch.bfloat16):
        result = pipeline.step(plan.gpipe(1, 2), x, y, loss)
    assert result.loss.dtype == torch.float32
    exact = (4 * float(parts[-2]) + 3 * float(parts[-1])) / 7
    assert float(result.loss) == pytest.approx(exact, rel=1e-6)


def test_autocast_ends_with_the_callers_block():
    types = set()
    stages = [nn.Sequential(nn.Linear(6, 6), Do(lambda x: types.add((is_real(x), x.dtype)) or x))]
    x, y = data(dtype=torch.float32)
    with pipeline_of(stages) as pipeline:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            pipeline.step(plan.gpipe(1, 2), x, y, mean_square)
        types.clear()
        pipeline.step(plan.gpipe(1, 2), x, y, mean_square)
    assert {dtype for real, dtype in types if real} == {torch.float32}


def test_deterministic_and_anomaly_modes_reach_the_workers():
    seen = []

    def look(x):
        seen.append(
            (
                torch.are_deterministic_algorithms_enabled(),
                torch.is_anomaly_enabled(),
                torch.is_grad_enabled(),
            )
        )
        return x

    stages, (x, y) = [nn.Sequential(linear(), Do(look))], data()
    with pipeline_of(stages) as pipeline:
        pipeline.step(plan.gpipe(1, 1), x, y, mean_square)
        assert seen[-1] == (False, False, True)
        torch.use_deterministic_algorithms(True)
        try:
            with pytest.warns(UserWarning, match="Anomaly"), torch.autograd.detect_anomaly():
                pipeline.step(plan.gpipe(1, 1), x, y, mean_square)
        finally:
            torch.use_deterministic_algorithms(False)
        assert seen[-1] == (True, True, True)


def test_a_step_without_gradients_is_refused():
    for mode in (torch.no_grad, torch.inference_mode):
        with mode(), pytest.raises(PlacementError, match="needs gradients"):
            stepped(mlp(2).double(), plan.gpipe(2, 2), *data())
