"""A step is a transaction: all of its gradients are added at the end, or nothing has happened.

`.grad` is set aside at the start and the step fills new ones; success adds them, failure puts the old back. Buffers
are restored from clones of the step's start, and so is the default generator. What a module changes in Python
(an attribute that counts calls) is not restored. Deferred BatchNorms move their running statistics at commit.

A stage that lives on two devices has a replica with parameters of its own, added in the same way after all others.

Parameters that two stages share, and parameters with hooks, work through aliases: leaves of their own over the same
memory. Threads adding into one leaf gave two bit patterns in a hundred runs; aliases are added at commit in the
order of the stages, and hooks fire there, once a step.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from pipekit.run.inventory import Inventory, ParameterSlot
from pipekit.run.replicas import Replica


def _has_hooks(parameter: nn.Parameter) -> bool:
    return bool(parameter._backward_hooks) or bool(getattr(parameter, "_post_accumulate_grad_hooks", None))


class Transaction:
    """What a step may change, and how to put it back.

    Args:
        inventory: what the stages are made of. places: the torch device of each stage.
        replicas: copies of stages on a second device, in the order of the stages.
    """

    def __init__(
        self, inventory: Inventory, places: Sequence[torch.device], replicas: Sequence[Replica] = ()
    ) -> None:
        self.replicas = replicas
        self.slots = inventory.parameter_slots
        self.parameters = {id(slot.parameter): slot.parameter for slot in self.slots}
        self.old_grads = {key: parameter.grad for key, parameter in self.parameters.items()}
        self.buffers = [
            (slot, None if slot.buffer is None else slot.buffer.detach().clone())
            for slot in inventory.buffer_slots
        ]
        self.deferred = inventory.deferred
        self.generator = torch.default_generator.get_state()
        self.aliases: dict[int, dict[int, nn.Parameter]] = {}  # parameter -> stage -> its alias
        self._find_aliases(places)

    def _find_aliases(self, places: Sequence[torch.device]) -> None:
        first: dict[int, int] = {}
        for slot in self.slots:
            key = id(slot.parameter)
            home = first.setdefault(key, slot.stage)
            if home != slot.stage or _has_hooks(slot.parameter):
                self._alias(slot, places[slot.stage])

    def _alias(self, slot: ParameterSlot, place: torch.device) -> None:
        of_parameter = self.aliases.setdefault(id(slot.parameter), {})
        if slot.stage not in of_parameter:
            of_parameter[slot.stage] = nn.Parameter(
                slot.parameter.detach().to(place), requires_grad=slot.parameter.requires_grad
            )

    def begin(self) -> None:
        """Set the gradients aside and put the aliases in place."""
        for parameter in self.parameters.values():
            parameter.grad = None
        for slot in self.slots if self.aliases else []:
            alias = self.aliases.get(id(slot.parameter), {}).get(slot.stage)
            if alias is not None:
                setattr(slot.module, slot.name, alias)  # recurrent layers keep a list beside _parameters
        for layer in self.deferred:
            layer.begin()

    def commit(self) -> None:
        """Add the step's gradients to what was there before; hooks fire now."""
        self._refuse_changed_buffers()
        self._take_aliases_out()
        for layer in self.deferred:  # before the hooks, which may fail: buffers can still be put back
            layer.commit()
        # What has nothing to be added to holds its new gradient already.
        copied = {key for replica in self.replicas for key in replica.parameters}
        rest = [
            key
            for key, old in self.old_grads.items()
            if old is not None or key in self.aliases or key in copied
        ]
        # Hooks are the only part that can fail, so they come first: until they are done all can be put back.
        rest.sort(key=lambda key: not _has_hooks(self.parameters[key]))
        with torch.no_grad():
            for key in rest:
                parameter = self.parameters[key]
                new = self._new_grad(key, parameter)
                parameter.grad = None
                if _has_hooks(parameter):
                    self._accumulate_with_hooks(key, parameter, new)
                else:
                    parameter.grad = _added(self.old_grads[key], new)

    def rollback(self) -> None:
        """Gradients, buffers and the default generator as they were."""
        self._take_aliases_out()
        for layer in self.deferred:
            layer.drop()
        for key, parameter in self.parameters.items():
            parameter.grad = self.old_grads[key]
        self.restore_buffers()
        torch.default_generator.set_state(self.generator)

    def restore_buffers(self) -> None:
        """Put changed buffers back; only after every graph is dropped, since copying raises their versions."""
        with torch.no_grad():
            for slot, before in self.buffers:
                slot.module._buffers[slot.name] = slot.buffer
                if slot.buffer is not None and before is not None and not torch.equal(slot.buffer, before):
                    slot.buffer.copy_(before)

    def _take_aliases_out(self) -> None:
        for slot in self.slots if self.aliases else []:
            if id(slot.parameter) in self.aliases:
                setattr(slot.module, slot.name, slot.parameter)

    def _new_grad(self, key: int, parameter: nn.Parameter) -> torch.Tensor | None:
        """The step's gradient: the parameter's own, its aliases', its replicas', each in the order of the stages."""
        others = [alias for _, alias in sorted(self.aliases.get(key, {}).items())]
        others += [replica.parameters[key] for replica in self.replicas if key in replica.parameters]
        total = parameter.grad
        for other in others:
            if other.grad is not None:
                total = _added(total, other.grad.to(parameter.device))
        return total

    def _refuse_changed_buffers(self) -> None:
        before = (
            {(id(slot.module), slot.name): buffer for slot, buffer in self.buffers} if self.replicas else {}
        )
        for replica in self.replicas:
            replica.refuse_changed_buffers(before)

    def _accumulate_with_hooks(self, key: int, parameter: nn.Parameter, new: torch.Tensor | None) -> None:
        old = self.old_grads[key]
        if new is None:
            parameter.grad = old
            return
        parameter.grad = None if old is None else old.clone()
        with torch.enable_grad():
            torch.autograd.backward(parameter, new)


def _added(old: torch.Tensor | None, new: torch.Tensor | None) -> torch.Tensor | None:
    """Gradients add up in place, as autograd does it."""
    if old is None or new is None:
        return new if old is None else old
    if old.is_sparse and not new.is_sparse:
        return new.add_(old)
    return old.add_(new)
