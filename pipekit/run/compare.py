"""How different two sets of gradients or weights are, as one number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import nn


def relative_difference(
    ours: Sequence[torch.Tensor | None], reference: Sequence[torch.Tensor | None]
) -> float:
    """Max over parameters of max|a - b| / max(max|b|, eps of the dtype x max over all parameters of |b|).

    Element by element would say 6e-3 in float32 where nothing is wrong. A gradient that is None counts as zeros.
    """
    pairs = [(a, b) for a, b in zip(ours, reference, strict=True) if a is not None or b is not None]
    filled = [(_numbers(a, b), _numbers(b, a)) for a, b in pairs]
    largest = max((float(b.abs().max()) for _, b in filled if b.numel()), default=0.0)
    worst = 0.0
    for a, b in filled:
        if not a.numel():
            continue
        floor = torch.finfo(b.dtype).eps * largest
        scale = max(float(b.abs().max()), floor)
        apart = float((a.to(b.device) - b).abs().max())
        if not apart <= float("inf"):  # nan
            return float("inf")
        if apart:
            worst = max(worst, apart / scale if scale else float("inf"))
    return worst


def _numbers(tensor: torch.Tensor | None, other: torch.Tensor | None) -> torch.Tensor:
    if tensor is not None:
        return tensor.detach()
    assert other is not None
    return torch.zeros_like(other)


def gradients(modules: Iterable[nn.Module]) -> list[torch.Tensor | None]:
    """Copies of the gradients of all parameters, each once, in order."""
    seen: dict[int, nn.Parameter] = {id(p): p for module in modules for p in module.parameters()}
    return [None if p.grad is None else p.grad.detach().clone() for p in seen.values()]
