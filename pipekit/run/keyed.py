"""Randomness by key: what a stage draws for a micro-batch depends on nothing but the step, the stage and the piece.

The CPU's default generator is one object for all threads; saving and restoring it around a recomputation gave wrong
masks in 2 to 8 of 300 steps, silently. So nothing is restored: each (first layer of the stage, micro-batch) has a
generator of its own, seeded from one number that the caller draws a step, and `F` and `R` start it afresh.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

_SWAP_LOCK = threading.Lock()


def draw_key() -> int:
    """One number from the default generator, so that `torch.manual_seed` decides a step's randomness."""
    return int(torch.randint(2**62, ()))


def seed_of(key: int, layer: int, micro_batch: int) -> int:
    """The seed for one stage (by its first layer) and micro-batch."""
    return int(
        np.random.SeedSequence([key, layer, micro_batch]).generate_state(1, np.uint64)[0] >> np.uint64(1)
    )


def draws_random(function: Any) -> bool:
    """Whether an operator draws random numbers."""
    return torch.Tag.nondeterministic_seeded in function.tags


class Keyed(TorchDispatchMode):
    """Hands every random operator a generator that starts from `seed`; thread-local like every mode."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed
        self.draws = False  # has it been asked? stages that never draw go without this mode, which costs time
        self.generators: dict[torch.device, torch.Generator] = {}

    def generator(self, device: torch.device) -> torch.Generator:
        """This key's generator on `device`."""
        if device not in self.generators:
            self.generators[device] = torch.Generator(device).manual_seed(self.seed)
        return self.generators[device]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operator; a random one with this key's generator."""
        kwargs = dict(kwargs or {})
        if not draws_random(func) or kwargs.get("generator") is not None:
            return func(*args, **kwargs)
        self.draws = True
        generator = self.generator(_device_of(args, kwargs))
        keyed = _with_generator(func)
        if keyed is None:
            return _with_default_swapped(generator, lambda: func(*args, **kwargs))
        names = [argument.name for argument in keyed._schema.arguments]
        if "generator" in names[: len(args)]:  # given by position: the caller chose it
            return func(*args, **kwargs)
        return keyed(*args, **kwargs, generator=generator)


def _device_of(args: Any, kwargs: dict[str, Any]) -> torch.device:
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.Tensor):
            return value.device
    return torch.device(kwargs.get("device") or "cpu")


def _with_generator(func: Any) -> Any:
    """The overload of this operator that takes a generator, or None."""
    if any(argument.name == "generator" for argument in func._schema.arguments):
        return func
    overload = func._overloadname
    name = "generator" if overload == "default" else f"{overload}_generator"
    packet = func.overloadpacket
    return getattr(packet, name) if name in packet.overloads() else None


def _with_default_swapped(generator: torch.Generator, call: Callable[[], Any]) -> Any:
    """For operators that only know the default generator: lend it this key's state, under one lock."""
    with _SWAP_LOCK:
        default = torch.default_generator
        before = default.get_state()
        default.set_state(generator.get_state())
        try:
            return call()
        finally:
            generator.set_state(default.get_state())
            default.set_state(before)
