"""A backward in two halves: what `I` computes of a stage's graph, and what it leaves for `W`.

A node is on the *input path* if a received tensor lies below it. `I` walks that path only. Where a node of it also has
weights below on another side (the node of a linear layer: its input on one side, its weight on the other), `I` keeps
the gradient that arrives there, and `W` runs that node once more for its weights alone. The two runs compute the two
halves: autograd computes of a node only what is asked for.

Such a node runs twice, so some weights get their gradients at `I` already (a `WholeBackward` says which and why):

    reused        weights that are found again further down the path (a layer used twice, tied weights): the run for
                  the first use would come by the second one and count it once more
    function      weights below a function of Python's: nobody promises that its backward can run twice
    checkpoint    weights below something that is computed again whenever it is looked at
    reentrant     all weights of a stage with a checkpoint that runs a backward of its own
    fused         weights of a recurrent layer whose kernel computes both halves in one

Zero Bubble Pipeline Parallelism (Qi et al., 2024), section 2, splits backwards so; PyTorch's own split looks at
parameters by their shared intermediates instead, and counts tied ones twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction
from torch.autograd.graph import GradientEdge

from pipekit.errors import MESSAGES
from pipekit.run.ledger import Packed

# torch.autograd.backward's Python wrapper is 40 % of a tiny step under a contested GIL; this is what it calls.
run_backward = torch.autograd.Variable._execution_engine.run_backward

Root = tuple[GradientEdge, torch.Tensor]  # where a backward starts, and with which gradient
_RECEIVED = (
    1  # bit 0 of a mask: a received tensor lies below; the other bits: weights, in the order they are found
)
_FUSED = ("MkldnnRnnLayerBackward", "CudnnRnnBackward", "MiopenRnnBackward", "ThnnFused")
_REENTRANT = "CheckpointFunctionBackward"  # runs a backward of its own, which can't be asked for a part


@dataclass(frozen=True, slots=True)
class WholeBackward:
    """Weights of a stage that get their gradients at `I`: `num_early` of `num_weights`, and why (`key`).

    Args:
        name: what stands in the way, as autograd calls it.
    """

    stage: int
    key: str
    num_early: int
    num_weights: int
    name: str

    @property
    def numbers(self) -> dict[str, Any]:
        """What fills the sentence `key`."""
        return {
            "stage": self.stage,
            "num_early": self.num_early,
            "num_weights": self.num_weights,
            "name": self.name,
        }

    def __str__(self) -> str:
        return MESSAGES[self.key].format(**self.numbers)


@dataclass(slots=True)
class Call:
    """One run of autograd that `W` makes: from these roots to these leaves (none: to all that lie below)."""

    roots: list[Root] = field(default_factory=list)
    leaves: tuple[GradientEdge, ...] = ()

    def run(self) -> None:
        """Add to the gradients of the leaves; what the graph kept is let go."""
        if self.roots:
            edges, gradients = zip(*self.roots, strict=True)
            run_backward(
                edges, gradients, False, False, self.leaves, allow_unreachable=True, accumulate_grad=True
            )


@dataclass(slots=True)
class Halved:
    """What `I` gives: the gradients to send back, what is left for `W`, and what could not wait.

    `early` is (key, num_early, num_weights, name), as a `WholeBackward` has them.
    """

    gradients: list[torch.Tensor | None]
    late: list[Call]
    early: list[tuple[str, int, int, str]] = field(default_factory=list)

    @property
    def kept(self) -> list[torch.Tensor]:
        """The gradients that wait for W."""
        return [gradient for call in self.late for _, gradient in call.roots]


def input_half(roots: list[Root], sources: Sequence[torch.Tensor | None]) -> Halved:
    """Compute the gradients of what a stage received, and as little else as can be.

    Args:
        roots: one a tensor that was sent, with its gradient.
        sources: the leaves that were received; None where no gradient goes back.
    """
    received = {id(source) for source in sources if source is not None}
    if not roots or not received:
        return Halved([None] * len(sources), [Call(roots)] if roots else [])
    graph = _Graph([edge for edge, _ in roots], received)
    if not any(graph.below[edge.node] & _RECEIVED for edge, _ in roots):
        return Halved([None] * len(sources), [Call(roots)])
    division = _Division(graph, [edge for edge, _ in roots])
    early = division.told()
    if not division.groups:  # nothing may wait: an ordinary backward
        Call(roots).run()
        return Halved([None if each is None else each.grad for each in sources], [], early)
    return _divided(graph, division, roots, sources, early)


def _divided(
    graph: _Graph,
    division: _Division,
    roots: list[Root],
    sources: Sequence[torch.Tensor | None],
    early: list[tuple[str, int, int, str]],
) -> Halved:
    seats = division.entries()
    now = graph.leaves_of(division.early)
    places = [
        (index, graph.received[id(each)]) for index, each in enumerate(sources) if id(each) in graph.received
    ]
    wanted = [GradientEdge(node, 0) for _, node in places]
    edges, gradients = zip(*roots, strict=True)
    found = run_backward(
        edges, gradients, True, False, (*wanted, *now, *seats), allow_unreachable=True, accumulate_grad=False
    )
    back: list[torch.Tensor | None] = [None] * len(sources)
    for (index, _), gradient in zip(places, found, strict=False):
        back[index] = gradient
    weights, captured = found[len(wanted) : len(wanted) + len(now)], found[len(wanted) + len(now) :]
    Call([root for root in zip(now, weights, strict=True) if root[1] is not None]).run()
    arrived = [
        (seat, gradient) for seat, gradient in zip(seats, captured, strict=True) if gradient is not None
    ]
    late = division.calls(arrived, roots)
    graph.let_go(division.late)
    return Halved(back, late, early)


class _Graph:
    """The nodes of a stage's graph below its roots.

    Args:
        received: ids of the received leaves.
    """

    def __init__(self, roots: Iterable[GradientEdge], received: set[int]) -> None:
        self.children: dict[Any, list[tuple[Any, int]]] = {}
        self.order: list[Any] = []  # children first
        self._walk([edge.node for edge in roots])
        self.received: dict[int, Any] = {}  # id of a received leaf -> its node
        self.leaves: list[Any] = []  # the weights' nodes; the one at place p has bit p + 1
        self.below: dict[Any, int] = {}  # node -> mask
        for node in self.order:
            edges = self.children[node]
            mask = 0
            for child, _ in edges:
                mask |= self.below[child]
            self.below[node] = mask if edges else self._leaf(node, received)

    def _walk(self, stack: list[Any]) -> None:
        children, done = self.children, set()
        while stack:
            node = stack[-1]
            if node not in children:
                edges = children[node] = [edge for edge in node.next_functions if edge[0] is not None]
                stack.extend([child for child, _ in edges if child not in children])
            else:
                stack.pop()
                if node not in done:
                    done.add(node)
                    self.order.append(node)

    def _leaf(self, node: Any, received: set[int]) -> int:
        leaf = getattr(node, "variable", None)
        if leaf is None:
            return 0  # a node that asks nothing of anybody
        if id(leaf) in received:
            self.received[id(leaf)] = node
            return _RECEIVED
        self.leaves.append(node)
        return 1 << len(self.leaves)

    @property
    def all(self) -> int:
        """The mask of all weights."""
        return (2 << len(self.leaves)) - 2

    def leaves_of(self, mask: int) -> tuple[GradientEdge, ...]:
        """The weights of a mask, as ends for autograd."""
        return tuple([GradientEdge(leaf, 0) for bit, leaf in enumerate(self.leaves, 1) if mask >> bit & 1])

    def let_go(self, late: set[Any]) -> None:
        """Empty what the nodes that no W will run have saved."""
        for node in self.order:
            if node not in late:
                for saved in _saved(node):
                    _empty(saved)


@dataclass(slots=True)
class _Seat:
    """A node of the input path with weights on another side: `off` of them there, `on` further down the path."""

    node: Any
    off: int
    on: int


class _Division:
    """Which weights wait for W, and from where W starts for them.

    W makes one call a group: seats whose weights overlap, and roots aside of the path. No call may come by another
    seat of the path, so weights for which one would are early.
    """

    def __init__(self, graph: _Graph, roots: list[GradientEdge]) -> None:
        self.graph, self.roots = graph, roots
        self.early = 0
        self.groups: list[tuple[int, list[_Seat]]] = []  # mask of weights, seats; roots aside have none
        self.late: set[Any] = set()  # the nodes that W runs
        self._why: dict[str, tuple[int, str]] = {}  # key -> mask of weights, name
        self._seats = self._find_seats()
        self._obey()

    def _find_seats(self) -> list[_Seat]:
        below, seats = self.graph.below, []
        for node in self.graph.order:
            if below[node] & _RECEIVED and below[node] != _RECEIVED:
                on = off = 0
                for child, _ in self.graph.children[node]:
                    if below[child] & _RECEIVED:
                        on |= below[child]
                    else:
                        off |= below[child]
                if off:
                    seats.append(_Seat(node, off, on & ~_RECEIVED))
        return seats

    def _obey(self) -> None:
        """Make weights early until no rule is broken."""
        for node in self.graph.order:
            if _is_python(node) and node.name() == _REENTRANT:
                self._hasten("halves_reentrant", self.graph.all, node)
        for seat in self._seats:
            self._hasten("halves_reused", seat.off & seat.on, seat.node)
            if key := _obstacle(seat.node):
                self._hasten(key, seat.off, seat.node)
        aside = [
            node for node in self.graph.order if self.graph.below[node] > 0 and not self.graph.below[node] & 1
        ]
        once = [(node, _obstacle(node)) for node in aside if self.graph.children[node]]
        for node, key in once:
            if key == "halves_checkpoint":
                self._hasten(key, self.graph.below[node], node)
        before = -1
        while before != self.early:
            before = self.early
            for node, key in once:
                if key == "halves_function" and self.graph.below[node] & self.early:
                    self._hasten(key, self.graph.below[node], node)
            self._group()
            for mask, seats in self.groups:
                for seat in seats:
                    if seat.on & mask:
                        self._hasten("halves_reused", mask, seat.node)
        self._note_late(aside)

    def _hasten(self, key: str, mask: int, node: Any) -> None:
        new = mask & ~self.early
        if new or key == "halves_reentrant":  # what is inside a reentrant checkpoint can't be seen from here
            known, name = self._why.get(key, (0, node.name()))
            self._why[key] = (known | new, name)
            self.early |= new

    def _group(self) -> None:
        members: list[tuple[int, list[_Seat]]] = [
            (seat.off & ~self.early, [seat]) for seat in self._seats if seat.off & ~self.early
        ]
        below = self.graph.below
        members += [
            (below[root.node] & ~self.early, []) for root in self.roots if not below[root.node] & _RECEIVED
        ]
        groups: list[tuple[int, list[_Seat]]] = []
        for mask, seats in members:
            apart = []
            for group in groups:
                if group[0] & mask:
                    mask, seats = mask | group[0], seats + group[1]
                else:
                    apart.append(group)
            groups = [*apart, (mask, seats)] if mask else apart
        self.groups = groups

    def _note_late(self, aside: list[Any]) -> None:
        waiting = 0
        for mask, seats in self.groups:
            waiting |= mask
            self.late.update([seat.node for seat in seats])
        self.late.update([node for node in aside if self.graph.below[node] & waiting])

    def told(self) -> list[tuple[str, int, int, str]]:
        """What is early, and why."""
        total = len(self.graph.leaves)
        return [(key, mask.bit_count(), total, name) for key, (mask, name) in self._why.items()]

    def entries(self) -> list[GradientEdge]:
        """Where the gradients arrive that W starts from."""
        wanted: dict[Any, set[int]] = {seat.node: set() for _, seats in self.groups for seat in seats}
        for edges in self.graph.children.values():
            for child, number in edges:
                if child in wanted:
                    wanted[child].add(number)
        for root in self.roots:
            if root.node in wanted:
                wanted[root.node].add(root.output_nr)
        return [GradientEdge(node, number) for node, numbers in wanted.items() for number in sorted(numbers)]

    def calls(self, arrived: list[Root], roots: list[Root]) -> list[Call]:
        """What W will run, given the gradients that arrived at `entries`."""
        below = self.graph.below
        calls = []
        for mask, seats in self.groups:
            nodes = {seat.node for seat in seats}
            starts = [(edge, gradient) for edge, gradient in arrived if edge.node in nodes]
            starts += [(e, g) for e, g in roots if not below[e.node] & _RECEIVED and below[e.node] & mask]
            calls.append(Call(starts, self.graph.leaves_of(mask)))
        return calls


def _is_python(node: Any) -> bool:
    return isinstance(node, BackwardCFunction)


_HARMLESS: set[type] = set()  # kinds of nodes that save nothing and may run twice
_NAMES: dict[type, tuple[str, ...]] = {}  # a kind of node -> the attributes with what it saved


def _saved(node: Any) -> Iterable[Any]:
    """What a node of torch's own has saved; nothing where it doesn't say."""
    if _is_python(node):  # a class for every function: not to be remembered
        yield from node._raw_saved_tensors
        return
    kind = type(node)
    if kind not in _NAMES:
        _NAMES[kind] = tuple([name for name in dir(node) if name.startswith("_raw_saved_")])
    for name in _NAMES[kind]:
        found = getattr(node, name)
        yield from found if isinstance(found, tuple) else (found,)


def _obstacle(node: Any) -> str:
    """Why a node should not run twice; "" if it may."""
    if _is_python(node):
        return "halves_function"
    if type(node) in _HARMLESS:
        return ""
    name = node.name()
    if name.startswith(_FUSED):
        return "halves_fused"
    if "CppNode" in name:
        return "halves_function"
    if any(_looked_after(saved) for saved in _saved(node)):
        return "halves_checkpoint"
    if not _NAMES[type(node)]:
        _HARMLESS.add(type(node))
    return ""


def _looked_after(saved: Any) -> bool:
    """Whether somebody else's hook hands this tensor out: a checkpoint computes it again every time."""
    return saved.unpack_hook is not None and not isinstance(saved.data, Packed)


def _empty(saved: Any) -> None:
    """Let a saved tensor go; what somebody else's hook looks after is theirs."""
    packed = saved.data
    if isinstance(packed, Packed):
        packed.tensor = None
    elif packed is not None and saved.unpack_hook is None:
        saved.register_hooks(_nothing, _nothing)


def _nothing(_: Any) -> None:
    return None
