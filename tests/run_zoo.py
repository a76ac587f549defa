"""Stage bodies that a backward in two halves must get right, or do whole and say so."""

from dataclasses import dataclass, field
from typing import Any

import torch
from run_models import Do, Residual, mlp
from torch import nn
from torch.nn.utils import parametrizations
from torch.utils.checkpoint import checkpoint

WIDTH = 6


@dataclass
class Body:
    """Three stages, the body in the middle; what the engine has to say of it; how to compare.

    `against` is "uncut", or "full": the same schedule with full backwards, where each piece is treated for itself.
    """

    stages: list[nn.Module]
    batch: Any = None
    says: tuple[str, ...] = ()
    against: str = "uncut"
    dtype: torch.dtype = torch.float64
    names: list[str] = field(default_factory=list)

    def __post_init__(self):
        if self.batch is None:
            self.batch = torch.randn(7, WIDTH)
        self.batch = torch.utils._pytree.tree_map_only(
            torch.Tensor, lambda t: t.to(self.dtype) if t.is_floating_point() else t, self.batch
        )
        for stage in self.stages:
            stage.to(self.dtype)


def between(body, says=(), before=None, after=None, **more):
    """The body between two linear layers."""
    return Body(
        [before or nn.Linear(WIDTH, WIDTH), body, after or nn.Sequential(nn.Tanh(), nn.Linear(WIDTH, WIDTH))],
        says=says,
        **more,
    )


class WithWeights(nn.Module):
    """A function of the input and weights of its own."""

    def __init__(self, function, **shapes):
        super().__init__()
        self.function = function
        for name, shape in shapes.items():
            self.register_parameter(name, nn.Parameter(torch.randn(shape) / 2))

    def forward(self, x):
        return self.function(x, **{name: weight for name, weight in self._parameters.items()})


class WithModules(nn.Module):
    """A function of the input and modules of its own."""

    def __init__(self, function, **modules):
        super().__init__()
        self.function = function
        for name, module in modules.items():
            self.add_module(name, module)

    def forward(self, x):
        return self.function(x, **dict(self._modules))


def linear():
    return nn.Linear(WIDTH, WIDTH)


class Scaled(torch.autograd.Function):
    """x * w, written by hand; it refuses to go back twice."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        ctx.times = 0
        return x * weight

    @staticmethod
    def backward(ctx, gradient):
        ctx.times += 1
        assert ctx.times == 1, "went back twice"
        x, weight = ctx.saved_tensors
        return gradient * weight, (gradient * x).sum(0)


class Squashed(torch.autograd.Function):
    """tanh, written by hand; it refuses to go back twice."""

    @staticmethod
    def forward(ctx, x):
        y = x.tanh()
        ctx.save_for_backward(y)
        ctx.times = 0
        return y

    @staticmethod
    def backward(ctx, gradient):
        ctx.times += 1
        assert ctx.times == 1, "went back twice"
        (y,) = ctx.saved_tensors
        return gradient * (1 - y * y)


def overwritten(x, inner):
    y = inner(x).clone()
    y[:, 1:3] = y[:, 3:5] * 2
    y[:, 0].mul_(3)
    return y


def in_pieces(x, inner):
    a, b, c = inner(x).split(2, dim=1)
    return torch.cat([c, a * b, b], dim=1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.MultiheadAttention(WIDTH, 2, batch_first=True)

    def forward(self, x):
        return self.inner(x, x, x)[0]


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.inner = kind(WIDTH, WIDTH, batch_first=True)

    def forward(self, x):
        return self.inner(x)[0]


def sequence():
    return torch.randn(7, 4, WIDTH)


def image_body(*layers, **more):
    return Body(
        [nn.Conv2d(3, 4, 3), nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), *layers), nn.Conv2d(4, 2, 1)],
        torch.randn(7, 3, 6, 6),
        **more,
    )


def batch_norm(training):
    norm = nn.BatchNorm2d(4)
    norm.running_mean.uniform_(-1, 1)
    norm.running_var.uniform_(0.5, 2)
    return norm.train(training)


def frozen(module, *names):
    for name, parameter in module.named_parameters():
        parameter.requires_grad_(name not in names and bool(names))
    return module


def tied():
    model = nn.Sequential(linear(), nn.Tanh(), linear())
    model[2].weight = model[0].weight
    return model


def untied_twice():
    once = linear()
    return nn.Sequential(once, nn.Tanh(), once)


def parametrised():
    shared = parametrizations.weight_norm(linear())
    return WithModules(
        lambda x, inner: (
            torch.nn.functional.linear(x, inner.weight) * torch.nn.functional.linear(x, inner.weight)
        ),
        inner=shared,
    )


def once_made(x, inner):
    weight = inner.weight
    return torch.nn.functional.linear(x, weight).tanh() + torch.nn.functional.linear(x.sin(), weight)


def diamonds(x, a, b, c):
    """Weights that overlap without being all the same."""
    both = (a, b), (b, c), (c,)
    return sum(x @ torch.stack(pair).sum(0).tanh() for pair in both)


def chained(x, a, b, c):
    """As above, one behind the other."""
    for pair in ((a, b), (b, c), (c, a)):
        x = (x @ torch.stack(pair).sum(0).tanh()).tanh()
    return x


def ring(x, a, b, c, d):
    """Neighbours side by side share a weight, so all four belong together; yet one pair lies below another."""
    behind = (x @ (a + b).tanh()).tanh() @ (c + d).tanh()
    return behind + x.sin() @ (b + c).tanh()


ZOO = {
    "linear": lambda: between(linear()),
    "mlp": lambda: between(mlp(4, WIDTH)),
    "no bias": lambda: between(nn.Linear(WIDTH, WIDTH, bias=False)),
    "convolution": lambda: image_body(nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1)),
    "BatchNorm in eval": lambda: image_body(batch_norm(False), nn.ReLU()),
    "BatchNorm in training": lambda: image_body(batch_norm(True), nn.ReLU(), against="full"),
    "LayerNorm": lambda: between(
        nn.Sequential(nn.LayerNorm(WIDTH), linear(), nn.GELU(), nn.LayerNorm(WIDTH))
    ),
    "GroupNorm and pooling": lambda: image_body(nn.GroupNorm(2, 4), nn.MaxPool2d(2)),
    "residual": lambda: between(Residual(WIDTH)),
    "attention": lambda: between(Attention(), batch=sequence()),
    "Transformer layer": lambda: between(
        nn.TransformerEncoderLayer(WIDTH, 2, 8, dropout=0.0, batch_first=True), batch=sequence()
    ),
    "Transformer layer, norm first": lambda: between(
        nn.TransformerEncoderLayer(WIDTH, 2, 8, dropout=0.0, batch_first=True, norm_first=True),
        batch=sequence(),
    ),
    "LSTM": lambda: between(Recurrent(nn.LSTM), ("halves_reused",), batch=sequence()),
    "LSTM in one kernel": lambda: between(
        Recurrent(nn.LSTM), ("halves_fused",), batch=sequence(), dtype=torch.float32
    ),
    "GRU": lambda: between(Recurrent(nn.GRU), ("halves_reused",), batch=sequence()),
    "a cell in a loop": lambda: between(
        WithModules(lambda x, cell: cell(cell(cell(x).tanh()).tanh()), cell=linear()), ("halves_reused",)
    ),
    "output is a view": lambda: between(
        nn.Sequential(linear(), Do(lambda x: x.view(-1, 2, 3))),
        after=nn.Sequential(nn.Flatten(), linear()),
    ),
    "output is a slice": lambda: between(
        nn.Sequential(linear(), Do(lambda x: x[:, 1:4])), after=nn.Linear(3, WIDTH)
    ),
    "output is transposed": lambda: between(
        nn.Sequential(linear(), Do(lambda x: x.view(-1, 2, 3).transpose(1, 2))),
        after=nn.Sequential(nn.Flatten(), linear()),
    ),
    "output is expanded": lambda: between(
        nn.Sequential(nn.Linear(WIDTH, 1), Do(lambda x: x.expand(-1, WIDTH)))
    ),
    "input is sliced": lambda: between(nn.Sequential(Do(lambda x: x[:, ::2]), nn.Linear(3, WIDTH))),
    "in place first": lambda: between(nn.Sequential(nn.ReLU(inplace=True), linear())),
    "in place last": lambda: between(nn.Sequential(linear(), nn.ReLU(inplace=True))),
    "nothing but in place": lambda: between(nn.Sequential(nn.ReLU(inplace=True))),
    "in place on slices": lambda: between(WithModules(overwritten, inner=linear())),
    "a node with several outputs": lambda: between(WithModules(in_pieces, inner=linear())),
    "tied weights": lambda: between(tied(), ("halves_reused",)),
    "a module used twice": lambda: between(untied_twice(), ("halves_reused",)),
    "used twice side by side": lambda: between(
        WithModules(lambda x, inner: inner(x) * inner(x.sin()), inner=linear())
    ),
    "bias out of the weight": lambda: between(
        WithWeights(lambda x, w: torch.nn.functional.linear(x, w, w[:, 0]), w=(WIDTH, WIDTH))
    ),
    "both sides the same weight": lambda: between(
        WithWeights(lambda x, w: x.unsqueeze(1) * w @ w.T @ x.unsqueeze(2), w=(WIDTH, WIDTH)),
        ("halves_reused",),
        after=nn.Sequential(nn.Flatten(), linear()),
    ),
    "overlapping weights side by side": lambda: between(
        WithWeights(diamonds, a=(WIDTH, WIDTH), b=(WIDTH, WIDTH), c=(WIDTH, WIDTH))
    ),
    "overlapping weights in a row": lambda: between(
        WithWeights(chained, a=(WIDTH, WIDTH), b=(WIDTH, WIDTH), c=(WIDTH, WIDTH)), ("halves_reused",)
    ),
    "overlapping weights in a ring": lambda: between(
        WithWeights(ring, a=(WIDTH, WIDTH), b=(WIDTH, WIDTH), c=(WIDTH, WIDTH), d=(WIDTH, WIDTH)),
        ("halves_reused",),
    ),
    "weight of a normalised norm": lambda: between(
        nn.Sequential(parametrizations.weight_norm(linear()), nn.Tanh())
    ),
    "a normalised weight used twice side by side": lambda: between(parametrised()),
    "a weight made once and used twice": lambda: between(
        WithModules(once_made, inner=parametrizations.weight_norm(linear()))
    ),
    "spectral norm in eval": lambda: between(parametrizations.spectral_norm(linear()).eval()),
    "embedding first": lambda: Body(
        [nn.Embedding(11, WIDTH), linear(), nn.Sequential(nn.Tanh(), linear())], torch.randint(11, (7, 3))
    ),
    "sparse embedding": lambda: Body(
        [nn.Embedding(11, WIDTH, sparse=True), linear(), linear()], torch.randint(11, (7, 3))
    ),
    "learned position": lambda: between(WithWeights(lambda x, p: x + p, p=(4, WIDTH)), batch=sequence()),
    "scalar weights": lambda: between(WithWeights(lambda x, a, b: x * a + b, a=(), b=())),
    "PReLU": lambda: between(nn.Sequential(linear(), nn.PReLU())),
    "a weight is an output": lambda: between(
        WithWeights(lambda x, w, v: (x @ w, v), w=(WIDTH, WIDTH), v=(WIDTH,)),
        after=WithModules(lambda pair, inner: inner(pair[0] + pair[1]), inner=linear()),
    ),
    "nothing but weights are the output": lambda: between(
        WithWeights(lambda x, v: v.tanh().expand(len(x), -1), v=(WIDTH,))
    ),
    "weights beside the input's path": lambda: between(
        WithWeights(lambda x, w, v: x + (w @ v).tanh(), w=(WIDTH, WIDTH), v=(WIDTH,))
    ),
    "one output on the path, one beside it": lambda: between(
        WithWeights(lambda x, w, v: (x @ w, (v * v).expand(len(x), -1)), w=(WIDTH, WIDTH), v=(WIDTH,)),
        after=WithModules(lambda pair, inner: inner(pair[0] * pair[1]), inner=linear()),
    ),
    "a shared weight on the path and beside it": lambda: between(
        WithWeights(lambda x, w: (x @ w, (w * w).sum(0).expand(len(x), -1)), w=(WIDTH, WIDTH)),
        after=WithModules(lambda pair, inner: inner(pair[0] * pair[1]), inner=linear()),
    ),
    "a reused weight on the path and beside it": lambda: between(
        WithWeights(lambda x, w: ((x @ w).tanh() @ w, (w * w).sum(0).expand(len(x), -1)), w=(WIDTH, WIDTH)),
        ("halves_reused",),
        after=WithModules(lambda pair, inner: inner(pair[0] * pair[1]), inner=linear()),
    ),
    "an early and a late weight behind one node": lambda: between(
        WithWeights(lambda x, a, b: (x @ (a + b).tanh()).tanh() @ a, a=(WIDTH, WIDTH), b=(WIDTH, WIDTH)),
        ("halves_reused",),
    ),
    "tuple": lambda: between(
        WithModules(lambda x, a, b: (a(x), b(x)), a=linear(), b=linear()),
        after=WithModules(lambda pair, inner: inner(pair[0] * pair[1]), inner=linear()),
    ),
    "dict with None and a number": lambda: between(
        WithModules(lambda x, a, b: {"a": a(x), "none": None, "two": 2, "b": [b(x)]}, a=linear(), b=linear()),
        after=WithModules(lambda d, inner: inner(d["a"] * d["b"][0] * d["two"]), inner=linear()),
    ),
    "an output nobody uses": lambda: between(
        WithModules(lambda x, a, b: (a(x), b(x)), a=linear(), b=linear()),
        after=WithModules(lambda pair, inner: inner(pair[0]), inner=linear()),
    ),
    "several inputs": lambda: between(
        WithModules(lambda pair, a, b: a(pair[0]) * b(pair[1]).tanh(), a=linear(), b=linear()),
        before=WithModules(lambda x, a, b: (a(x), b(x)), a=linear(), b=linear()),
    ),
    "an input passed on": lambda: between(
        WithModules(lambda x, a: (x, a(x)), a=linear()),
        after=WithModules(lambda pair, inner: inner(pair[0] * pair[1]), inner=linear()),
    ),
    "an integer beside": lambda: between(
        WithModules(lambda x, a: (a(x), x.argmax(1)), a=linear()),
        after=WithModules(
            lambda pair, inner, table: inner(pair[0] + table(pair[1])),
            inner=linear(),
            table=nn.Embedding(WIDTH, WIDTH),
        ),
    ),
    "no weights": lambda: between(nn.Sequential(nn.Tanh(), nn.Softmax(1))),
    "output is the input": lambda: between(nn.Identity()),
    "frozen": lambda: between(frozen(mlp(2, WIDTH))),
    "partly frozen": lambda: between(frozen(mlp(2, WIDTH), "0.0.weight", "1.0.bias")),
    "a weight nobody uses": lambda: between(WithWeights(lambda x, w, v: x @ w, w=(WIDTH, WIDTH), v=(3,))),
    "part of it detached": lambda: between(
        WithModules(lambda x, a, b: a(x) + b(x.detach()), a=linear(), b=linear())
    ),
    "all of it detached": lambda: between(WithModules(lambda x, a: a(x.detach()), a=linear())),
    "a function of one's own, with a weight": lambda: between(
        WithWeights(lambda x, w, v: Scaled.apply(x @ v, w), w=(WIDTH,), v=(WIDTH, WIDTH)),
        ("halves_function",),
    ),
    "a function of one's own, without": lambda: between(
        nn.Sequential(linear(), Do(Squashed.apply), linear())
    ),
    "a function of one's own on a weight": lambda: between(
        WithWeights(lambda x, w: x @ Squashed.apply(w), w=(WIDTH, WIDTH))
    ),
    "a function of one's own on weights, one reused": lambda: between(
        WithWeights(lambda x, w, v: (x @ Scaled.apply(w, v)) @ w, w=(WIDTH, WIDTH), v=(WIDTH,)),
        ("halves_function", "halves_reused"),
    ),
    "checkpoint": lambda: between(
        WithModules(lambda x, a, b: b(checkpoint(a, x, use_reentrant=False)), a=mlp(2, WIDTH), b=linear()),
        ("halves_checkpoint",),
    ),
    "checkpoint on a weight": lambda: between(
        WithWeights(
            lambda x, w: x @ checkpoint(lambda w: w.tanh() * w, w, use_reentrant=False), w=(WIDTH, WIDTH)
        ),
        ("halves_checkpoint",),
    ),
    "reentrant checkpoint": lambda: between(
        WithModules(lambda x, a, b: b(checkpoint(a, x, use_reentrant=True)), a=mlp(2, WIDTH), b=linear()),
        ("halves_reentrant",),
    ),
    "Dropout": lambda: between(nn.Sequential(linear(), nn.Dropout(0.5), linear()), against="full"),
    "attention with Dropout": lambda: between(
        nn.TransformerEncoderLayer(WIDTH, 2, 8, dropout=0.2, batch_first=True),
        batch=sequence(),
        against="full",
    ),
    "complex numbers": lambda: between(
        WithWeights(lambda x, w: torch.fft.ifft(torch.fft.fft(x) * torch.complex(w, w * w)).real, w=(WIDTH,)),
    ),
    "complex numbers cross the cut": lambda: between(
        WithWeights(lambda x, w: torch.fft.fft(x * w), w=(WIDTH,)),
        after=nn.Sequential(Do(lambda z: z.abs()), linear()),
    ),
    "sums of an EmbeddingBag": lambda: between(
        WithModules(
            lambda x, bag: x + bag(torch.arange(8).view(1, -1).expand(len(x), -1)),
            bag=nn.EmbeddingBag(8, WIDTH),
        )
    ),
    "a weight indexed by the input": lambda: between(
        WithWeights(lambda x, w: x * w[x.argmax(1)], w=(WIDTH, WIDTH))
    ),
    "einsum": lambda: between(
        WithWeights(lambda x, w, v: torch.einsum("ni,ij,jk->nk", x, w, v), w=(WIDTH, 3), v=(3, WIDTH))
    ),
    "deep": lambda: between(mlp(40, WIDTH)),
}
