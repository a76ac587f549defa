"""Values that cross a cut: a tensor, or tuples, lists and dicts of tensors, with None and other leaves between.

A tensor that crosses is copied into the receiver's memory; the stage then works on the output of an identity
function, so that a first layer that works in place, returns views or keeps its input is safe.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree


def tensors(value: Any) -> list[torch.Tensor]:
    """All tensors in `value`, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def nbytes(values: Iterable[torch.Tensor]) -> int:
    """Bytes of these tensors together; of a sparse one its indices and values."""
    return sum(v._indices().nbytes + v._values().nbytes if v.is_sparse else v.nbytes for v in values)


def holds_tensors(leaf: Any) -> bool:
    """Whether an object that torch can't look into (a dataclass, a class of one's own) has tensors inside."""
    inside = getattr(leaf, "__dict__", None)
    return isinstance(inside, dict) and any(isinstance(value, torch.Tensor) for value in inside.values())


def storage_key(tensor: torch.Tensor) -> int:
    """What identifies a tensor's storage while it lives; views of one tensor have the same."""
    return int(tensor.untyped_storage()._cdata)


class _Identity(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor) -> torch.Tensor:
        # Not `tensor` itself: autograd would make that a view of a leaf, which must not change in place.
        return tensor.detach()

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        return gradients[0]


@dataclass(slots=True)
class Parcel:
    """A value on its way to another stage: copies of its tensors, which of them want a gradient, its shape."""

    leaves: list[Any]
    wants_grad: list[bool]
    spec: pytree.TreeSpec | None  # None: the value is one tensor

    @property
    def nbytes(self) -> int:
        """Bytes of its tensors."""
        return sum(leaf.nbytes for leaf in self.leaves if isinstance(leaf, torch.Tensor))

    def want_gradients(self) -> None:
        """Of a value made without a graph: every tensor that could have a gradient may want one."""
        self.wants_grad = [
            isinstance(leaf, torch.Tensor) and (leaf.is_floating_point() or leaf.is_complex())
            for leaf in self.leaves
        ]

    def build(self, leaves: list[Any]) -> Any:
        """The value again, with these leaves."""
        return leaves[0] if self.spec is None else pytree.tree_unflatten(leaves, self.spec)


def _flatten(value: Any) -> tuple[list[Any], pytree.TreeSpec | None]:
    return ([value], None) if isinstance(value, torch.Tensor) else pytree.tree_flatten(value)


def given(value: Any, device: torch.device) -> Parcel:
    """A piece of the batch on `device`: the caller's own memory where that is there, and no gradient goes back."""
    leaves, spec = _flatten(value)
    moved = [
        leaf.to(device) if isinstance(leaf, torch.Tensor) and leaf.device != device else leaf
        for leaf in leaves
    ]
    return Parcel(moved, [False] * len(leaves), spec)


def roots_of(value: Any) -> list[torch.Tensor | None]:
    """Leaf by leaf, the tensors that a gradient is expected for."""
    leaves, _ = _flatten(value)
    return [leaf if isinstance(leaf, torch.Tensor) and leaf.requires_grad else None for leaf in leaves]


def pack(value: Any, device: torch.device) -> Parcel:
    """Copy `value` to `device`."""
    leaves, spec = _flatten(value)
    copies = [_copy(leaf, device) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    return Parcel(copies, [isinstance(leaf, torch.Tensor) and leaf.requires_grad for leaf in leaves], spec)


def _copy(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    detached = tensor.detach()
    return detached.clone() if detached.device == device else detached.to(device, non_blocking=True)


def open_parcel(
    parcel: Parcel, with_grad: bool, identity: bool = True
) -> tuple[Any, list[torch.Tensor | None]]:
    """The value a stage works on and, leaf by leaf, the leaf that will hold the gradient to send back.

    With `with_grad` the tensors that want a gradient become leaves, behind an identity unless the stage is known to
    leave its input as it is (the identity is Python, and takes the interpreter's lock in the middle of a backward);
    without, they are handed out as they are.
    """
    leaves = list(parcel.leaves)
    sources: list[torch.Tensor | None] = [None] * len(leaves)
    for index, wants in enumerate(parcel.wants_grad):
        if wants and with_grad:
            source = sources[index] = leaves[index].requires_grad_()
            leaves[index] = _Identity.apply(source) if identity else source
    return parcel.build(leaves), sources


def clone_leaves(parcel: Parcel) -> Parcel:
    """The same value in memory of its own."""
    copies = [leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in parcel.leaves]
    return Parcel(copies, parcel.wants_grad, parcel.spec)


def versions(parcel: Parcel) -> list[int]:
    """How often each tensor has been changed in place."""
    return [leaf._version for leaf in parcel.leaves if isinstance(leaf, torch.Tensor)]
