"""One stage at work: forward, recompute and backward of its micro-batches; no threads, no time, no devices here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.utils import _pytree as pytree

from pipekit.run.batch_norm import DEFERRED
from pipekit.run.halves import Call, Root, WholeBackward, input_half, run_backward
from pipekit.run.keyed import Keyed, seed_of
from pipekit.run.ledger import Ledger
from pipekit.run.values import (
    Parcel,
    clone_leaves,
    holds_tensors,
    open_parcel,
    pack,
    roots_of,
    storage_key,
    tensors,
    versions,
)


class StageFault(Exception):
    """A stage misbehaved in a way that has a sentence of its own; the engine adds op and device."""

    def __init__(self, key: str, **numbers: Any) -> None:
        super().__init__(key)
        self.key, self.numbers = key, numbers


@dataclass(slots=True)
class Caller:
    """The thread-local modes of the thread that called `step`, entered again around every op."""

    autocasts: tuple[tuple[str, torch.dtype], ...]
    cache: bool

    @classmethod
    def now(cls) -> Caller:
        """Those of this thread."""
        on = [kind for kind in ("cpu", "cuda") if torch.is_autocast_enabled(kind)]
        return cls(
            tuple((kind, torch.get_autocast_dtype(kind)) for kind in on), torch.is_autocast_cache_enabled()
        )

    def enter(self) -> AbstractContextManager[Any]:
        """The same modes in another thread."""
        if not self.autocasts:
            return nullcontext()
        stack = ExitStack()
        for kind, dtype in self.autocasts:
            stack.enter_context(torch.autocast(kind, dtype=dtype, cache_enabled=self.cache))
        return stack


_Slot = tuple[nn.Module, str]  # where a buffer is: the module that has it, and its name


@dataclass(slots=True)
class Kept:
    """What a stage keeps of one micro-batch until its backward."""

    stash: Parcel | None = None  # only the input: an R will run the forward again
    buffers: dict[_Slot, torch.Tensor | None] = field(default_factory=dict)  # ... with these, as they were
    # Both have one entry a leaf of the value that crosses, None where no gradient does.
    sources: list[torch.Tensor | None] = field(
        default_factory=list
    )  # received; their .grad goes back over the cut
    edges: list[GradientEdge | None] = field(default_factory=list)  # sent; where the backward starts
    late: list[Call] = field(default_factory=list)  # what W will run, once I has been


@dataclass(slots=True)
class Head:
    """What the last stage needs on top: a loss for each micro-batch, and its weight."""

    loss: Callable[..., torch.Tensor]
    targets: list[Any]
    weights: list[float]
    has_target: bool


class Traits:
    """What was found out about a stage when it first ran in one way (shapes, training flags)."""

    __slots__ = ("alters_input", "draws", "known")

    def __init__(self) -> None:
        self.known = False
        self.draws = False
        self.alters_input = False


class StageRun:
    """One stage during one step.

    Args:
        module: the stage. index: its number. first_layer: the key of its randomness.
        head: for the last stage, else None.
        recomputed: micro-batches that an R will run again.
        traits: what is known of the stage; found out in its first forward.
        ledger: counts kept bytes, or None where they are known already.
    """

    def __init__(
        self,
        module: nn.Module,
        index: int,
        first_layer: int,
        head: Head | None,
        recomputed: frozenset[int],
        traits: Traits,
        ledger: Ledger | None,
        key: int,
        caller: Caller,
    ) -> None:
        self.module, self.index, self.first_layer = module, index, first_layer
        self.head, self.recomputed, self.traits, self.ledger = head, recomputed, traits, ledger
        self.key, self.caller = key, caller
        self.kept: dict[int, Kept] = {}
        self.losses: dict[int, torch.Tensor] = {}
        # micro-batch -> bytes of gradients that wait for its W, while counting
        self.pending: dict[int, int] = {}
        self.whole_backwards: dict[str, WholeBackward] = {}
        self._starts: dict[tuple[float, torch.dtype, torch.Size], torch.Tensor] = {}

    # -- ops

    def forward(self, micro_batch: int, parcel: Parcel, send_to: torch.device) -> Parcel | None:
        """F: returns the copy that goes to the next stage, on the device `send_to`; None on the last."""
        kept = self.kept[micro_batch] = Kept()
        if micro_batch in self.recomputed:
            kept.stash = parcel
            self._count(micro_batch, parcel)
            with self._keeping_buffers(micro_batch, kept) if self._slots else nullcontext():
                return self._forward_for_value(micro_batch, parcel, send_to)
        return self._forward_for_graph(micro_batch, parcel, kept, send_to)

    def recompute(self, micro_batch: int) -> None:
        """R: the forward again, with a graph this time; it sees the buffers that its F saw and leaves no trace."""
        kept = self.kept[micro_batch]
        assert kept.stash is not None
        parcel, kept.stash = kept.stash, None
        if self.ledger is not None:
            self.ledger.forget(micro_batch)
        with _throw_away_buffers(self._slots, kept.buffers):
            self._forward_for_graph(micro_batch, parcel, kept, send_to=None)
        kept.buffers = {}

    def backward(self, micro_batch: int, gradients: list[torch.Tensor | None]) -> list[torch.Tensor | None]:
        """B: adds to the parameters' gradients; returns the gradients of what the stage received.

        Args:
            gradients: of what F sent, in order; on the last stage the loss's weight is used instead.
        """
        kept = self.kept.pop(micro_batch)
        roots = self._roots(micro_batch, kept, gradients)
        if roots:
            edges, grads = zip(*roots, strict=True)
            with nullcontext() if self._is_plain() else self._refusing_draws(micro_batch):
                run_backward(edges, grads, False, False, (), allow_unreachable=True, accumulate_grad=True)
        if self.ledger is not None:
            self.ledger.forget(micro_batch)
        return [None if source is None else source.grad for source in kept.sources]

    def input_grad(self, micro_batch: int, gradients: list[torch.Tensor | None]) -> list[torch.Tensor | None]:
        """I: the first half of a backward; takes and returns what `backward` does, and leaves the parameters to W."""
        kept = self.kept.pop(micro_batch)
        roots = self._roots(micro_batch, kept, gradients)
        with nullcontext() if self._is_plain() else self._refusing_draws(micro_batch):
            halved = input_half(roots, kept.sources)
        for key, num_early, num_weights, name in halved.early:
            self.whole_backwards[key] = WholeBackward(self.index, key, num_early, num_weights, name)
        self.kept[micro_batch] = Kept(late=halved.late)
        if self.ledger is not None:
            del kept, roots
            self.ledger.recount(micro_batch)
            storages = {storage_key(each): each.untyped_storage().nbytes() for each in halved.kept}
            self.pending[micro_batch] = sum(storages.values())
        return halved.gradients

    def weight_grad(self, micro_batch: int) -> None:
        """W: the second half; adds to the parameters' gradients what I left."""
        late = self.kept.pop(micro_batch).late
        with nullcontext() if self._is_plain() else self._refusing_draws(micro_batch):
            while late:
                late.pop(0).run()
        self.pending.pop(micro_batch, None)
        if self.ledger is not None:
            self.ledger.forget(micro_batch)

    # -- inside

    def _roots(self, micro_batch: int, kept: Kept, gradients: list[torch.Tensor | None]) -> list[Root]:
        """Where a backward starts, and with what."""
        if self.head is not None:
            gradients = [self._start(self.losses[micro_batch], self.head.weights[micro_batch])]
        return [
            (edge, grad)
            for edge, grad in zip(kept.edges, gradients, strict=True)
            if edge is not None and grad is not None
        ]

    def _start(self, loss: torch.Tensor, weight: float) -> torch.Tensor | None:
        """What a backward starts from; made once for pieces that weigh the same. A mean over nothing is nan, and so
        is its gradient: a piece that doesn't count doesn't go back."""
        if not weight:
            return None
        key = (weight, loss.dtype, loss.shape)
        if key not in self._starts:
            self._starts[key] = torch.full_like(loss, weight)
        return self._starts[key]

    def _forward_for_value(self, micro_batch: int, parcel: Parcel, send_to: torch.device) -> Parcel | None:
        """F of a micro-batch that will be recomputed: no graph, and the kept input must stay as it is."""
        alters = self.traits.alters_input or not self.traits.known
        given = clone_leaves(parcel) if alters else parcel
        before = versions(given)
        with torch.no_grad(), self._modes(micro_batch) as mode:
            value, _ = open_parcel(given, with_grad=False)
            output = self.module(value)
        self._learn(mode, versions(given) != before)
        if versions(given) != before and not alters:
            raise StageFault("stage_inplace_input")
        if self.head is not None:
            return None
        sent = pack(self._checked(output), send_to)
        sent.want_gradients()
        return sent

    def _forward_for_graph(
        self, micro_batch: int, parcel: Parcel, kept: Kept, send_to: torch.device | None
    ) -> Parcel | None:
        if self._is_plain() and micro_batch not in self.recomputed:
            return self._send(self._compute_plain(micro_batch, parcel, kept), kept, send_to)
        trying = self.index == 0 and not self.traits.known
        if trying or (self.index == 0 and self.traits.alters_input):
            parcel = clone_leaves(parcel)  # an in-place first layer must not alter the caller's batch
        self._count(micro_batch, parcel)
        watching = nullcontext() if self.ledger is None else self.ledger.watching(micro_batch)
        before = versions(parcel)
        with self._modes(micro_batch) as mode, watching:
            output = self._compute(micro_batch, parcel, kept, identity=True)
        self._learn(mode, versions(parcel) != before)
        if trying and not self.traits.alters_input and self.ledger is not None:
            # from now on this stage works on the batch itself
            self.ledger.leave_out(micro_batch, parcel.leaves)
        return self._send(output, kept, send_to)

    def _is_plain(self) -> bool:
        """Nothing to watch, count, key or protect: the short way, taken from the second step on."""
        traits = self.traits
        return (
            traits.known
            and not (traits.draws or traits.alters_input)
            and self.ledger is None
            and not self.caller.autocasts
        )

    def _compute_plain(self, micro_batch: int, parcel: Parcel, kept: Kept) -> Any:
        """Without watching; a stage that only now begins to work in place on its input is refused, not believed."""
        before = versions(parcel)
        try:
            output = self._compute(micro_batch, parcel, kept, identity=False)
        except RuntimeError as error:
            self.traits.alters_input = "a leaf Variable that requires grad" in str(error)
            if not self.traits.alters_input:
                raise
            raise StageFault("stage_inplace_input") from error
        if versions(parcel) != before:
            self.traits.alters_input = True
            raise StageFault("stage_inplace_input")
        return output

    def _compute(self, micro_batch: int, parcel: Parcel, kept: Kept, identity: bool) -> Any:
        """The stage's output with its graph; on the last stage its loss, where the backward will start."""
        value, kept.sources = open_parcel(parcel, with_grad=True, identity=identity)
        output = self.module(value)
        if self.head is not None:
            kept.edges = [get_gradient_edge(self._loss(micro_batch, output))]
        return output

    def _send(self, output: Any, kept: Kept, send_to: torch.device | None) -> Parcel | None:
        """The copy for the next stage, if there is one and it has none yet; and where the backward will start."""
        if self.head is not None:
            return None
        roots = roots_of(self._checked(output))
        kept.edges = [None if root is None else get_gradient_edge(root) for root in roots]
        return None if send_to is None else pack(output, send_to)

    @contextmanager
    def _keeping_buffers(self, micro_batch: int, kept: Kept) -> Iterator[None]:
        """Keep, for its R, the buffers that a forward changes: found by value, batch_norm leaves no other mark."""
        clones = {
            (owner, name): None if buffer is None else buffer.clone()
            for owner, name in self._slots
            if not _only_writes(owner)
            for buffer in (owner._buffers[name],)
        }
        yield
        kept.buffers = {
            (owner, name): clone
            for (owner, name), clone in clones.items()
            if not _equal(clone, owner._buffers[name])
        }
        if self.ledger is not None:
            self.ledger.keep(micro_batch, list(kept.buffers.values()))

    @cached_property
    def _slots(self) -> list[_Slot]:
        return [(owner, name) for owner in self.module.modules() for name, _ in owner._buffers.items()]

    def _loss(self, micro_batch: int, output: Any) -> torch.Tensor:
        head = self.head
        assert head is not None
        self._checked(output)
        loss = head.loss(output, head.targets[micro_batch]) if head.has_target else head.loss(output)
        if not isinstance(loss, torch.Tensor):
            raise StageFault("loss_type", type=type(loss).__name__)
        if loss.numel() != 1:
            raise StageFault("loss_shape", shape=tuple(loss.shape))
        if not loss.requires_grad:
            raise StageFault("loss_no_grad")
        self.losses[micro_batch] = loss.detach()
        return loss

    def _checked(self, output: Any) -> Any:
        if output is None:
            raise StageFault("stage_none")
        if not tensors(output):
            raise StageFault("stage_output", type=type(output).__name__)
        if not isinstance(output, torch.Tensor):
            for leaf in pytree.tree_leaves(output):
                if not isinstance(leaf, torch.Tensor) and holds_tensors(leaf):
                    raise StageFault("stage_object", type=type(leaf).__name__)
        return output

    @contextmanager
    def _modes(self, micro_batch: int) -> Iterator[Keyed | None]:
        """The caller's modes, and this micro-batch's random key if the stage draws (or may: a step that is counted
        looks at every piece, since the loss or a smaller piece may draw where the first one didn't)."""
        mode = None
        watched = self.ledger is not None or not self.traits.known
        if self.traits.draws or watched or micro_batch in self.recomputed:
            mode = Keyed(seed_of(self.key, self.first_layer, micro_batch))
        with self.caller.enter(), mode or nullcontext():
            yield mode

    @contextmanager
    def _refusing_draws(self, micro_batch: int) -> Iterator[None]:
        """A checkpoint inside a stage would draw other numbers than its forward, silently; looked for once."""
        if self.ledger is None or not self.traits.draws:
            yield
            return
        with Keyed(seed_of(self.key, self.first_layer, micro_batch)) as mode:
            yield
        if mode.draws:
            raise StageFault("stage_draws_back")

    def _learn(self, mode: Keyed | None, altered: bool) -> None:
        """The first run of a stage, under the mode that sees everything, tells what it does."""
        traits = self.traits
        traits.alters_input = traits.alters_input or altered
        traits.draws = traits.draws or (mode is not None and mode.draws)
        traits.known = True

    def _count(self, micro_batch: int, parcel: Parcel) -> None:
        if self.ledger is not None:
            self.ledger.keep(micro_batch, [leaf for leaf in parcel.leaves if isinstance(leaf, torch.Tensor)])


@contextmanager
def _throw_away_buffers(slots: list[_Slot], saw: dict[_Slot, torch.Tensor | None]) -> Iterator[None]:
    """Run on what the forward saw of the buffers it changes, so that a BatchNorm counts each micro-batch once.

    Swapped in, never copied back: autograd checks the versions of what it saved.
    """
    originals = [(owner, name, owner._buffers[name]) for owner, name in slots]
    try:
        for owner, name, buffer in originals:
            fresh = None if buffer is None else buffer.clone()
            owner._buffers[name] = saw.get((owner, name), fresh)
        yield
    finally:
        for owner, name, buffer in originals:
            owner._buffers[name] = buffer


def _equal(before: torch.Tensor | None, now: torch.Tensor | None) -> bool:
    return before is now or (before is not None and now is not None and torch.equal(before, now))


# Not what is derived from them: that may read.
_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, *DEFERRED)


def _only_writes(module: nn.Module) -> bool:
    """A BatchNorm in training writes its statistics and doesn't read them: any clone does for its R."""
    return type(module) in _BATCH_NORMS and module.training and not module._forward_pre_hooks
