"""The engine: one worker a device walks its lane; the gradients that come out are the whole model's."""

from __future__ import annotations

import contextlib
import importlib
import os
import threading
import weakref
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any

import numpy as np
import torch
from torch import nn

from pipekit.errors import (
    Cancelled,
    DeviceError,
    PartitionError,
    PlacementError,
    StageTimeout,
)
from pipekit.plan import Costs, ModelShape, Schedule, Timeline, peak_activations, simulate
from pipekit.run.budget import Projection, may_be_large, refuse_over
from pipekit.run.cores import available_memory
from pipekit.run.devices import Cuda, Devices, StandIns
from pipekit.run.inspect import inspect
from pipekit.run.interrupts import InterruptGuard
from pipekit.run.inventory import Inventory
from pipekit.run.job import Job, LaneLog, MakePace, OnSpan
from pipekit.run.keyed import draw_key
from pipekit.run.lanes import Lanes, lanes_of
from pipekit.run.ledger import Ledger
from pipekit.run.microbatch import Weight, given_tensors, num_samples, sizes_of
from pipekit.run.pace import CudaPace, StandInPace, WallPace, declared_times
from pipekit.run.partition import check_stages
from pipekit.run.pieces import Loss, Pieces, cut_batch
from pipekit.run.replicas import Replica, refuse_what_cannot_be_copied
from pipekit.run.result import StepResult, read_result
from pipekit.run.stage import Caller, StageRun, Traits
from pipekit.run.transaction import Transaction
from pipekit.run.values import nbytes, storage_key
from pipekit.run.workers import CENSUS, Crew

TIMEOUT = 600.0  # seconds in one op before a step gives up


class Pipeline:
    """A model's stages on K devices, with one worker a device; close it, or use it in a `with` block.

    Args:
        stages: modules that run one after the other, from `run.partition`; shared with your model, not copied.
        devices: from `run.stand_ins`, `run.cpu`, `run.cuda` or `run.auto`.
        placement: stage -> device, or the two devices that each keep a copy of it (a bidirectional schedule's
            `placement`); left out: stage modulo K. Weights are put on the (first) device once; a copy is made at
            the start of each step and its gradients are added at the end, so `parameters()` are the originals.
        timeout: seconds that one op may take before the step gives up.

    Raises:
        PartitionError: something that is not a module, or one module in two stages.
        PlacementError: more devices than stages, or a placement that doesn't fit.
    """

    def __init__(
        self,
        stages: Sequence[nn.Module],
        devices: Devices,
        placement: Sequence[int | Sequence[int]] | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        self.stages = list(stages)
        self.devices = devices
        self.timeout = timeout
        self._check_stages()
        num_devices = devices.num_devices
        round_robin = [stage % num_devices for stage in range(len(self.stages))]
        self.homes = tuple([_home(given) for given in (round_robin if placement is None else placement)])
        self._check_placement()
        self._first_layers = np.cumsum(
            [0, *(max(1, len(list(stage.children()))) for stage in self.stages)]
        ).tolist()
        self._place_weights()
        self._traits: dict[Any, Traits] = {}
        self._shapes: dict[Any, ModelShape | None] = {}
        self._known_logs: dict[Any, list[LaneLog]] = {}
        self._inventory: Inventory | None = None
        self._job: Job | None = None
        self._cancel_asked = False  # while a step is prepared there is no job to cancel yet
        self._broken = ""
        self._closed = False
        self._process = os.getpid()
        self._stepping = threading.Lock()
        _load_compiler()
        self._crew = Crew(num_devices)
        self._farewell = weakref.finalize(self, self._crew.dismiss)

    # -- life

    @property
    def num_devices(self) -> int:
        """K."""
        return self.devices.num_devices

    @property
    def num_stages(self) -> int:
        """S."""
        return len(self.stages)

    @property
    def placement(self) -> tuple[int | tuple[int, ...], ...]:
        """Stage -> its device, or its two devices, as `Schedule.placement` has it."""
        return tuple([home[0] if len(home) == 1 else home for home in self.homes])

    def close(self) -> None:
        """Send the workers away; a step that runs in another thread is cancelled first."""
        self._closed = True
        self.cancel()
        CENSUS.wait(lambda: not self._stepping.locked())
        self._farewell()
        if not self._broken:
            CENSUS.wait(self._crew.gone)

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def parameters(self) -> list[nn.Parameter]:
        """All parameters, each once, for an optimizer."""
        return list(nn.ModuleList(self.stages).parameters())

    def cancel(self) -> None:
        """From any thread: the running `step` raises `Cancelled` and is undone. Nothing runs: nothing happens."""
        self._cancel_asked = True
        job = self._job
        if job is not None:
            job.cancel()

    # -- one step

    def step(
        self,
        schedule: Schedule,
        batch: Any,
        target: Any,
        loss: Loss,
        weight: Weight = "samples",
        *,
        on_span: OnSpan | None = None,
        keep_gradients: bool = True,
    ) -> StepResult:
        """Run one mini-batch forward and backward; gradients add up in `.grad`.

        Args:
            batch: a tensor (N, ...), or tuples and dicts of such tensors; micro-batches differ by at most one sample.
            target: cut like the batch; None: the loss is called with the output alone.
            loss: loss(output, target) -> a number; by default a mean over the samples it is given.
            weight: "samples" if the loss is a mean over samples, "sum" if it is a sum, or a function
                target_piece -> what that piece counts.
            on_span: called with each `Span` (seconds since the step began) from worker threads; keep it short.
            keep_gradients: False undoes the step after measuring it.

        Returns:
            Loss, measured timeline in seconds, memory, overruns, slip.

        Raises:
            ScheduleError, PlacementError, BatchError, MemoryBudgetError: before anything starts.
            StageError: a stage failed; names the op. LossError: not finite. Cancelled: by `cancel`.
            In each case gradients, buffers and the default generator are as before and the pipeline can be used on.
        """
        guard = InterruptGuard(self.cancel)  # outside of all else: an interrupt may leave nothing half done
        with guard:
            if not self._stepping.acquire(blocking=False):
                raise PlacementError("busy")
            try:
                self._check_usable()
                self._cancel_asked = False
                result = self._step(guard, schedule, batch, target, loss, weight, on_span, keep_gradients)
            except BaseException:
                if not guard.hit:
                    raise
                result = None
            finally:
                self._job = None
                self._stepping.release()
        if result is None:
            guard.deliver()
            raise Cancelled("cancelled")
        guard.deliver_after_return()
        return result

    def _check_usable(self) -> None:
        if self._closed:
            raise PlacementError("closed")
        if self._broken:
            raise PlacementError("broken", why=self._broken)
        if os.getpid() != self._process:
            raise PlacementError("forked")
        if not torch.is_grad_enabled() or torch.is_inference_mode_enabled():
            raise PlacementError("no_grad", mode="torch.no_grad() or torch.inference_mode()")

    def _step(
        self,
        guard: InterruptGuard,
        schedule: Schedule,
        batch: Any,
        target: Any,
        loss: Loss,
        weight: Weight,
        on_span: OnSpan | None,
        keep_gradients: bool,
    ) -> StepResult:
        lanes = self._fit(schedule)
        refuse_what_cannot_be_copied(self.stages, self.homes)
        places = [self.devices.torch_device(device) for device in range(self.num_devices)]
        pieces = cut_batch(schedule, batch, target, loss, weight, places)
        inventory, caller = self._take_inventory(loss), Caller.now()
        signature = _signature(schedule, batch, target, loss, inventory, caller)
        shape = self._shape(signature, batch, loss, target)
        self._check_memory(signature, schedule, pieces, shape)
        costs = self.devices.costs(schedule, pieces.total, self._needed_shape(shape))
        replicas = self._make_replicas(inventory, places, loss)
        transaction = Transaction(inventory, [places[home[0]] for home in self.homes], replicas)
        stepping = _claim(transaction.parameters.keys())
        try:
            self._job = job = self._make_job(
                lanes, schedule, pieces, signature, inventory, replicas, caller, costs, on_span
            )
            if self._cancel_asked:
                job.cancel()
            transaction.begin()
            mark = torch.default_generator.get_state()
            self._run(job)
            if not torch.equal(mark, torch.default_generator.get_state()):
                self._traits.clear()  # a stage that never drew may have begun to: look at all of them again
            result = read_result(job, schedule, pieces, self.devices, inventory, self.homes, replicas)
            if signature not in self._known_logs:
                self._known_logs[signature] = job.logs
            job.drop_graphs()
            if guard.hit:
                raise Cancelled("cancelled")
            if keep_gradients:
                transaction.commit()
            else:
                transaction.rollback()
            return result
        except BaseException:
            if self._job is not None:
                self._job.drop_graphs()
            transaction.rollback()
            raise
        finally:
            _IN_STEP.difference_update(stepping)

    def _run(self, job: Job) -> None:
        """Set the workers going and wait until every one of them reports rest."""
        job.origin = self.devices.starting_time()
        self._crew.start([job.work(device) for device in range(self.num_devices)])
        while not CENSUS.wait(job.resting, seconds=1.0):
            stuck = job.stuck(self.timeout)
            if stuck is not None:
                device, task = stuck
                timeout = StageTimeout(
                    "stage_timeout", op=task.op, seconds=self.timeout, stage=task.stage, device=device
                )
                job.stop(timeout)
                self._broken = str(timeout)
                raise timeout
        error, job.error = job.error, None  # the error's traceback holds the job: kept, it would be a circle
        try:
            if error is not None:
                raise error
        finally:
            del error

    # -- before a step

    def _check_stages(self) -> None:
        if not self.stages:
            raise PartitionError("empty_model", num_layers=0)
        for index, stage in enumerate(self.stages):
            if not isinstance(stage, nn.Module):
                raise PartitionError("not_a_module", index=index, type=type(stage).__name__)
        check_stages(self.stages)

    def _check_placement(self) -> None:
        num_homes = sum(map(len, self.homes))
        if self.num_devices > num_homes:
            raise PlacementError(
                "too_many_devices",
                num_devices=self.num_devices,
                num_stages=self.num_stages,
                idle=self.num_devices - num_homes,
            )
        used = {device for home in self.homes for device in home}
        if len(self.homes) != self.num_stages or used != set(range(self.num_devices)):
            raise PlacementError(
                "placement_shape",
                placement=self.placement,
                num_stages=self.num_stages,
                num_devices=self.num_devices,
            )

    def _place_weights(self) -> None:
        for stage, home in zip(self.stages, self.homes, strict=True):
            if isinstance(self.devices, Cuda):
                stage.to(self.devices.torch_device(home[0]))

    def _fit(self, schedule: Schedule) -> Lanes:
        """The schedule ready for this pipeline, or an error with both sides and the line to write."""
        if schedule.num_stages != self.num_stages:
            raise PlacementError(
                "stage_count",
                schedule_stages=schedule.num_stages,
                pipeline_stages=self.num_stages,
                line=f"run.partition(model, num_stages={schedule.num_stages})",
            )
        if schedule.num_devices != self.num_devices:
            raise PlacementError(
                "device_count",
                schedule_devices=schedule.num_devices,
                pipeline_devices=self.num_devices,
                line=f"run.stand_ins({schedule.num_devices}, batch_time=0.16)",
            )
        if list(map(sorted, schedule.homes)) != list(map(sorted, self.homes)):
            raise PlacementError(
                "placement",
                schedule_placement=schedule.placement,
                pipeline_placement=self.placement,
                line="run.Pipeline(stages, devices, placement=schedule.placement)",
            )
        return lanes_of(schedule)

    def _take_inventory(self, loss: Loss) -> Inventory:
        """What the stages and the loss are made of now: the last step's inventory, if that still holds."""
        if self._inventory is None or not self._inventory.holds(loss):
            self._inventory = Inventory(self.stages, loss)
        return self._inventory

    def _make_replicas(self, inventory: Inventory, places: list[torch.device], loss: Loss) -> list[Replica]:
        """The copies of the stages that live on two devices, as the originals are now."""
        last = self.num_stages - 1
        return [
            Replica(
                stage, self.stages[stage], loss if stage == last else None, home, places[home[1]], inventory
            )
            for stage, home in enumerate(self.homes)
            if len(home) > 1
        ]

    def _shape(self, signature: Any, batch: Any, loss: Loss, target: Any) -> ModelShape | None:
        """The model's shape for this kind of step, where the clock or caution asks for it.

        None where nobody asks (a look calls the modules' own code once more), or where torch cannot tell without
        running it.
        """
        if signature not in self._shapes:
            if len(self._shapes) > 256:
                self._shapes.clear()
                self._known_logs.clear()
            self._shapes[signature] = None
            clock_asks = isinstance(self.devices, StandIns) and self.devices.needs_shape
            if clock_asks or may_be_large(
                given_tensors(batch), nbytes(self.parameters()), available_memory()
            ):
                # An op that fake tensors can't run, or a look at a value: then the step itself will tell.
                with contextlib.suppress(Exception):
                    self._shapes[signature] = inspect(self.stages, batch, loss=loss, target=target)
        return self._shapes[signature]

    def _needed_shape(self, shape: ModelShape | None) -> ModelShape | None:
        devices = self.devices
        if shape is None and isinstance(devices, StandIns) and devices.needs_shape:
            raise DeviceError("shape_unknown")
        return shape

    def _check_memory(
        self, signature: Any, schedule: Schedule, pieces: Pieces, shape: ModelShape | None
    ) -> None:
        """Refuse, before it starts, what would be killed half-way."""
        if shape is None or signature in self._known_logs:
            return
        peaks = peak_activations(schedule, shape, pieces.sizes)
        gradients = [0.0] * self.num_devices
        for stage, home in zip(shape.stages, self.homes, strict=True):
            gradients[home[0]] += stage.parameters
            for device in home[1:]:  # a copy of the weights, and its gradients
                gradients[device] += 2 * stage.parameters
        needed = [a + g for a, g in zip(peaks, gradients, strict=True)]
        for device, (predicted, available) in enumerate(self._budgets(needed)):
            refuse_over(predicted, available, device)

    def _budgets(self, needed: list[float]) -> list[tuple[float, float | None]]:
        if isinstance(self.devices, Cuda):
            return [(bytes_, torch.cuda.mem_get_info(device)[0]) for device, bytes_ in enumerate(needed)]
        return [(sum(needed), available_memory())]  # all devices of one machine share its memory

    def _make_job(
        self,
        lanes: Lanes,
        schedule: Schedule,
        pieces: Pieces,
        signature: Any,
        inventory: Inventory,
        replicas: list[Replica],
        caller: Caller,
        costs: Costs | None,
        on_span: OnSpan | None,
    ) -> Job:
        known, key = self._known_logs.get(signature), draw_key()
        runs = {}
        twice = {replica.stage: replica for replica in replicas}
        for stage, home in enumerate(self.homes):
            for copy, device in enumerate(home):
                own = [*inventory.parameters[stage], *inventory.buffers[stage]]
                module, head = self.stages[stage], pieces.head if stage == self.num_stages - 1 else None
                if copy:
                    replica = twice[stage]
                    own, module = [*replica.parameters.values(), *replica.buffers], replica.module
                    head = None if head is None else replace(head, loss=replica.loss)
                ledger = None
                if known is None:
                    ledger = Ledger({storage_key(tensor) for tensor in own} | pieces.outside())
                runs[stage, device] = StageRun(
                    module,
                    stage,
                    self._first_layers[stage],
                    head,
                    lanes.recomputed[stage],
                    self._traits.setdefault((stage, copy, inventory.training[stage]), Traits()),
                    ledger,
                    key,
                    caller,
                )
        make_pace = self._paces(lanes, schedule, pieces, costs)
        projection = None
        if known is None and not isinstance(self.devices, Cuda):
            copies = [each for replica in replicas for each in replica.parameters.values()]
            weights = nbytes([*self.parameters(), *copies])
            projection = Projection(schedule, pieces.sizes, weights, available_memory())
        places = [self.devices.torch_device(device) for device in range(self.num_devices)]
        return Job(lanes, runs, pieces.inputs, places, make_pace, known, projection, on_span)

    def _paces(self, lanes: Lanes, schedule: Schedule, pieces: Pieces, costs: Costs | None) -> MakePace:
        """How each worker makes its lane's clock."""
        devices = self.devices
        if isinstance(devices, Cuda):
            return lambda device, _: CudaPace(devices.torch_device(device), torch.cuda.current_stream(device))
        if not isinstance(devices, StandIns) or costs is None:
            return lambda device, _: WallPace()
        declared, transfer = declared_times(schedule, pieces.sizes, costs, devices.proportional)
        devices.check_grain(min(min(times) for times in declared if times))

        def stopped() -> bool:
            job = self._job
            return job is None or job.stopping

        return lambda device, origin: StandInPace(
            devices, declared[device], transfer[device], stopped, origin
        )

    # -- prediction

    def costs(self, schedule: Schedule, batch: Any) -> Costs:
        """What these devices declare for this schedule and batch (a number of samples is enough for most clocks).

        Raises:
            DeviceError: real devices declare nothing (use `run.profile`), or the clock needs the batch itself.
        """
        self._fit(schedule)
        total = batch if isinstance(batch, int) else num_samples(batch)
        shape = None
        if isinstance(self.devices, StandIns) and self.devices.needs_shape:
            if isinstance(batch, int):
                raise DeviceError("shape_unknown")
            shape = inspect(self.stages, batch)
        costs = self.devices.costs(schedule, total, shape)
        if costs is None:
            raise DeviceError("nothing_declared", devices=self.devices.label())
        return costs

    def predict(self, schedule: Schedule, batch: Any) -> Timeline:
        """What these devices should do: `plan.simulate` of what they declare; source "predicted"."""
        costs = self.costs(schedule, batch)
        total = batch if isinstance(batch, int) else num_samples(batch)
        proportional = isinstance(self.devices, StandIns) and self.devices.proportional
        sizes = sizes_of(total, schedule.num_micro_batches)
        return simulate(schedule, costs, sizes if proportional else None)


def _home(given: int | Sequence[int]) -> tuple[int, ...]:
    """The devices of one stage, each once."""
    return tuple(dict.fromkeys(given)) if isinstance(given, Sequence) else (given,)


_IN_STEP: set[int] = set()  # parameters that a pipeline of this process is stepping with
_CLAIMING = threading.Lock()


def _claim(parameters: Iterable[int]) -> set[int]:
    """Take the parameters for one step; two pipelines adding to the same gradients would lose some of them."""
    wanted = set(parameters)
    with _CLAIMING:
        if wanted & _IN_STEP:
            raise PlacementError("busy_model")
        _IN_STEP.update(wanted)
    return wanted


def _load_compiler() -> None:
    """Have torch import its compiler now: the first layer that runs under a mode does, for over a second, and that
    would be in the middle of a timed op."""
    importlib.import_module("torch._dynamo")


def _signature(
    schedule: Schedule, batch: Any, target: Any, loss: Loss, inventory: Inventory, caller: Caller
) -> Any:
    """What decides a step's memory: schedule, shapes, training flags, what is frozen, autocast."""
    given = [*given_tensors(batch), *given_tensors(target)]
    shapes = tuple([(tuple(tensor.shape), tensor.dtype) for tensor in given])
    rest: tuple[Any, ...] = ()
    if not (isinstance(batch, torch.Tensor) and isinstance(target, torch.Tensor)):
        rest = tuple([leaf for leaf in torch.utils._pytree.tree_leaves((batch, target)) if _is_plain(leaf)])
    stages = (inventory.training, inventory.trained, inventory.made_of)
    return schedule, shapes, rest, stages, caller.autocasts, _same_loss(loss)


def _is_plain(leaf: Any) -> bool:
    return leaf is None or isinstance(leaf, bool | int | float | str)


def _same_loss(loss: Loss) -> Any:
    """Equal for losses that keep the same: a lambda written once is another object in every call."""
    plain = not (getattr(loss, "__closure__", None) or getattr(loss, "__defaults__", None))
    kind = getattr(loss, "__code__", loss) if plain and not hasattr(loss, "__self__") else loss
    return kind if isinstance(kind, Hashable) else id(loss)
