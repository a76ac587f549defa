"""Count the bytes a stage keeps for its way back: on a CPU too, storage by storage.

What is counted for a micro-batch is every distinct storage that autograd saved, the kept stage input, and what was
received and not yet used; parameters, buffers, batch and target are left out. Counting costs time in small stages, so
it is done once for each kind of step, and its curve is used again.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from pipekit.run.values import storage_key, tensors


class Packed:
    """A tensor that autograd saved, while the ledger watches; without the tensor once nobody needs it."""

    __slots__ = ("tensor", "version")

    def __init__(self, tensor: torch.Tensor, version: int) -> None:
        self.tensor: torch.Tensor | None = tensor
        self.version = version


class Ledger:
    """The storages that one stage keeps, by micro-batch."""

    def __init__(self, left_out: Iterable[int]) -> None:
        self.left_out = frozenset(left_out)
        self.kept: dict[
            int, dict[int, tuple[int, StorageWeakRef]]
        ] = {}  # storage -> its bytes, and itself, weakly

    def keep(self, micro_batch: int, value: Any) -> None:
        """Count the tensors of `value` as kept for this micro-batch."""
        entry = self.kept.setdefault(micro_batch, {})
        for tensor in tensors(value):
            if (key := storage_key(tensor)) not in self.left_out:
                storage = tensor.untyped_storage()
                entry[key] = storage.nbytes(), StorageWeakRef(storage)

    def leave_out(self, micro_batch: int, value: Any) -> None:
        """Don't count the tensors of `value` for this micro-batch after all."""
        for tensor in tensors(value):
            self.kept.get(micro_batch, {}).pop(storage_key(tensor), None)

    def forget(self, micro_batch: int) -> None:
        """Its backward is done."""
        self.kept.pop(micro_batch, None)

    def recount(self, micro_batch: int) -> None:
        """Half of its backward is done: leave out what has been let go."""
        entry = self.kept.get(micro_batch, {})
        for key in [key for key, (_, storage) in entry.items() if storage.expired()]:
            del entry[key]

    def watching(self, micro_batch: int) -> AbstractContextManager[Any]:
        """Count all that autograd saves inside, for this micro-batch."""

        def pack(tensor: torch.Tensor) -> Packed:
            self.keep(micro_batch, tensor)
            # Detached, or the tensor would keep its own graph alive for ever if it is never unpacked.
            return Packed(tensor.detach(), tensor._version)

        return torch.autograd.graph.saved_tensors_hooks(pack, unpack)

    def bytes_of(self, micro_batch: int) -> int:
        """Bytes kept for one micro-batch."""
        return sum([size for size, _ in self.kept.get(micro_batch, {}).values()])

    @property
    def nbytes(self) -> int:
        """Bytes kept now, each storage once however many micro-batches keep it."""
        together: dict[int, tuple[int, StorageWeakRef]] = {}
        for entry in self.kept.values():
            together.update(entry)
        return sum([size for size, _ in together.values()])


def unpack(packed: Packed) -> torch.Tensor:
    """Hand a saved tensor back; hooks switch autograd's own in-place check off, so it is made here."""
    tensor, version = packed.tensor, packed.version
    assert tensor is not None, "a tensor that was let go is asked for"
    if tensor._version != version:
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"a {list(tensor.shape)} tensor is at version {tensor._version}; expected version {version} instead"
        )
    return tensor
