"""Everything of one step: its lanes, inboxes, first error, and the loop that walks a lane.

A job is made afresh for every step and thrown away whole, so a failed one leaves nothing behind in a queue.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from pipekit.errors import Cancelled, PipekitError, StageError
from pipekit.plan import Op, Span
from pipekit.plan.ops import F, I, R, W
from pipekit.run.budget import Projection
from pipekit.run.channels import Inbox, Message, Stopped
from pipekit.run.lanes import Lanes, Task
from pipekit.run.pace import CudaPace, WallPace
from pipekit.run.stage import Kept, StageFault, StageRun
from pipekit.run.values import Parcel
from pipekit.run.workers import CENSUS

OnSpan = Callable[[Span], None]
MakePace = Callable[[int, float], WallPace]  # from a device and when the step begins


@dataclass(slots=True)
class LaneLog:
    """What a worker wrote down on its lane at each op's end: bytes that its stages keep, that wait to be used, and
    of gradients that wait for a W."""

    kept_bytes: list[int] = field(default_factory=list)
    waiting_bytes: list[int] = field(default_factory=list)
    pending_bytes: list[int] = field(default_factory=list)


class Job:
    """One step.

    Args:
        lanes: the schedule, ready. stage_runs: one for each stage and each of its devices.
        pieces: stage 0's inputs, one a micro-batch. places: the torch device of each device.
        paces: a lane's clock, made in its worker. known_logs: kept and pending bytes at each op's end of each lane,
            from an earlier step of the same kind, or None: then they are counted, and `projection` watches them.
    """

    def __init__(
        self,
        lanes: Lanes,
        stage_runs: dict[tuple[int, int], StageRun],
        pieces: list[Parcel],
        places: list[torch.device],
        make_pace: MakePace,
        known_logs: list[LaneLog] | None,
        projection: Projection | None,
        on_span: OnSpan | None,
    ) -> None:
        self.lanes, self.stage_runs, self.pieces, self.places = lanes, stage_runs, pieces, places
        self.make_pace, self.known_logs, self.on_span = make_pace, known_logs, on_span
        self.projection = projection
        num_devices = len(lanes.tasks)
        self.inboxes = [Inbox() for _ in range(num_devices)]
        self.paces: list[WallPace] = [WallPace() for _ in range(num_devices)]
        self.logs = [LaneLog() for _ in range(num_devices)]
        self.current: list[tuple[Task, float] | None] = [None] * num_devices
        self.at_rest = [False] * num_devices
        self.stopping = False
        self.error: BaseException | None = None
        self.origin = 0.0  # when the step begins, by the devices' clock; set when the workers are set going
        self._lock = threading.RLock()  # an interrupt may cancel in the thread that is just stopping the step

    # -- stopping: the first error wins, one poison message wakes each worker

    def stop(self, error: BaseException) -> None:
        """End the step with this error, unless another came first or all lanes are done."""
        with self._lock:
            if self.stopping or all(self.at_rest):
                return
            self.error, self.stopping = error, True
        for inbox in self.inboxes:
            inbox.put(None)

    def cancel(self) -> None:
        """Stop between two ops."""
        self.stop(Cancelled("cancelled"))

    # -- a worker's part

    def work(self, device: int) -> Callable[[], None]:
        """The work of one device, to be run in its worker."""

        def walk() -> None:
            try:
                with torch.enable_grad():  # whatever a stage of an earlier step left behind
                    self._walk(device)
            except Stopped:
                pass
            except BaseException as error:
                self.stop(error)
            finally:
                self.current[device] = None
                self.at_rest[device] = True
                if all(self.at_rest):
                    CENSUS.wake()

        return walk

    def _walk(self, device: int) -> None:
        inbox, pace, log = self.inboxes[device], self.make_pace(device, self.origin), self.logs[device]
        self.paces[device] = pace
        runs = [run for (_, home), run in self.stage_runs.items() if home == device]
        if self.known_logs is not None:
            log.kept_bytes, log.pending_bytes = (
                self.known_logs[device].kept_bytes,
                self.known_logs[device].pending_bytes,
            )
        for place, task in enumerate(self.lanes.tasks[device]):
            pace.begin([inbox.wait_for(code) for code in task.waits])
            if self.stopping:
                raise Stopped
            self.current[device] = (task, time.perf_counter())
            self._perform(device, place, task, inbox, pace)
            inbox.look()
            log.waiting_bytes.append(inbox.waiting_bytes)
            if self.known_logs is None:
                log.kept_bytes.append(sum(run.ledger.nbytes for run in runs if run.ledger))
                log.pending_bytes.append(sum(sum(run.pending.values()) for run in runs))
            end = pace.finish()
            if self.on_span is not None:
                self._tell(Span(task.op, device, pace.began - self.origin, end - self.origin))
            self.current[device] = None
        pace.close()

    def _tell(self, span: Span) -> None:
        assert self.on_span is not None
        try:
            self.on_span(span)
        except BaseException as cause:
            raise named(cause, span.op, span.device)  # noqa: B904 -- chained there

    def _perform(self, device: int, place: int, task: Task, inbox: Inbox, pace: WallPace) -> None:
        """Run one op and send what it made. Nothing of it stays in a local variable while the worker waits."""
        try:
            sent = self._run(device, task, inbox)
        except Stopped:
            raise
        except BaseException as cause:
            kept = self.stage_runs[task.stage, device].kept.get(task.micro_batch)
            raise named(cause, task.op, device, kept)  # noqa: B904 -- chained there
        pace.computed(place)
        if sent is not None and task.target >= 0:
            message = Message(task.code, sent)
            pace.stamp(message, device, task.target, place)
            self.inboxes[task.target].put(message)

    def _run(self, device: int, task: Task, inbox: Inbox) -> Any:
        run = self.stage_runs[task.stage, device]
        if task.kind in (F, R):
            sent = None
            if task.kind == F:
                parcel = inbox.take(task.waits[0]) if task.waits else self.pieces[task.micro_batch]
                sent = run.forward(task.micro_batch, parcel, self.places[max(task.target, 0)])
            else:
                run.recompute(task.micro_batch)
            if self.projection is not None and run.ledger is not None:
                self.projection.note(task, run.ledger.bytes_of(task.micro_batch))
            return sent
        if task.kind == W:
            run.weight_grad(task.micro_batch)
            return None
        gradients = inbox.take(task.waits[0]) if task.waits else []
        place = self.places[device]
        if place.type != "cpu":
            gradients = [None if each is None else each.to(place, non_blocking=True) for each in gradients]
        go_back = run.input_grad if task.kind == I else run.backward
        return go_back(task.micro_batch, gradients)

    # -- the caller's part

    def resting(self) -> bool:
        """Whether every worker has reported rest."""
        return all(self.at_rest)

    def stuck(self, seconds: float) -> tuple[int, Task] | None:
        """A device and the op it has been in for longer than `seconds`, if there is one."""
        for device, current in enumerate(self.current):
            if current is not None and time.perf_counter() - current[1] > seconds:
                return device, current[0]
        return None

    def drop_graphs(self) -> None:
        """Let go of every tensor of the step."""
        for run in self.stage_runs.values():
            run.kept.clear()
        self.inboxes = []
        self.pieces = []

    @property
    def losses(self) -> dict[int, torch.Tensor]:
        """The loss of each micro-batch, not weighted."""
        runs = self.stage_runs.values()
        return {piece: loss for run in runs if run.head is not None for piece, loss in run.losses.items()}

    def is_cuda(self) -> bool:
        """Whether a GPU keeps the time."""
        return isinstance(self.paces[0], CudaPace)


def named(cause: BaseException, op: Op, device: int, kept: Kept | None = None) -> BaseException:
    """The error that says in which op, stage and device `cause` happened, chained to it.

    Args:
        kept: what the stage had received.
    """
    if isinstance(cause, PipekitError | KeyboardInterrupt):
        return cause
    key, numbers = _sentence(cause, op, kept)
    error = StageError(key, op=op, stage=op.stage, device=device, **numbers)
    error.__cause__ = cause
    return error


def _sentence(cause: BaseException, op: Op, kept: Kept | None) -> tuple[str, dict[str, Any]]:
    if isinstance(cause, StageFault):
        return cause.key, cause.numbers
    text = f"{type(cause).__name__}: {cause}"
    found = "" if kept is None else ", ".join(str(tuple(tensor.shape)) for tensor in _received(kept))
    if op.stage > 0 and op.kind.value in "FR" and found and _is_shape_error(text):
        return "stage_shape", {"previous": op.stage - 1, "found": found, "cause": text}
    return "stage_failed", {"cause": text}


def _received(kept: Kept) -> list[torch.Tensor]:
    """What came over the cut, stashed or opened."""
    leaves = kept.sources if kept.stash is None else kept.stash.leaves
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def _is_shape_error(text: str) -> bool:
    return any(word in text for word in ("shape", "size", "dimension", "channels"))
