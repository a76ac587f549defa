"""Every error pipekit raises on purpose, and the sentence it says.

    PipekitError                      key + numbers; str() is English
    |-- ScheduleError   (ValueError)  a schedule that cannot be built, or cannot run
    |-- CostsError      (ValueError)  costs that do not fit the schedule
    |-- PartitionError  (ValueError)  a model that cannot be cut as asked
    |-- PlacementError  (ValueError)  schedule and pipeline disagree about stages or devices
    |-- BatchError      (ValueError)  a batch, target or weight that cannot be cut into micro-batches
    |-- FileError       (ValueError)  a file that cannot be written as asked, or holds no timeline
    |-- SweepError      (ValueError)  a list of settings to try that cannot be read or run
    |-- DeviceError     (RuntimeError) devices that are not there, or a clock too coarse for them
    |-- MemoryBudgetError (RuntimeError) predicted memory is more than there is
    |-- LossError       (RuntimeError) the loss is not a finite number
    |-- StageError      (RuntimeError) a stage failed while running; names op, stage and device
    |   `-- StageTimeout               ... or did not come back in time; the pipeline is broken
    `-- Cancelled                     the step was cancelled and undone

A sentence says what was asked, what there is (both numbers) and what to do. `show.i18n` renders the same key in
Chinese; the numbers travel in `error.numbers`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

MESSAGES: dict[str, str] = {
    # -- schedules
    "num_pipelines": "cannot have {asked} pipelines; choose at least 1",
    "pipelines_share": "{pipelines} pipelines cannot share {devices} devices and {pieces} micro-batches equally; choose a number that"
    " divides both",
    "num_devices": "a pipeline needs at least 1 device, not {asked}; choose K >= 1",
    "num_stages": "a schedule needs at least 1 stage, not {asked}; choose K >= 1",
    "num_micro_batches": "a mini-batch is cut into at least 1 micro-batch, not {asked}; choose M >= 1",
    "num_chunks": "a device holds at least 1 model chunk, not {asked}; choose v >= 1",
    "too_many": "{name} can be at most {most}, not {asked}; choose less",
    "whole_number": "{name} must be a whole number, not {asked!r}",
    "policy": "unknown checkpoint policy {asked!r}; choose one of: {known}",
    "recompute": "unknown recompute time {asked!r}; choose one of: {known}",
    "schedule_name": "unknown schedule {asked!r}; choose one of: {known}",
    "no_policy": 'the schedule {name} has no recompute (asked: checkpoint={asked!r}); leave it at "never", or choose one of: {known}',
    "interleaved_rounds": "interleaved 1F1B takes the {num_micro_batches} micro-batches in {num_rounds} equal rounds of at least K = {num_devices}, which {num_micro_batches} does not divide into; choose M = {fewer} or {more}",
    "even_devices": "{name} feeds both ends, so every device has a partner opposite: K must be even, not {asked}; choose K = {more}",
    "few_micro_batches": "{name} needs at least 2 K = {least} micro-batches to fill K = {num_devices} devices from both sides, not {asked}; choose M >= {least}",
    "even_micro_batches": "{name} sends half of the micro-batches each way: M must be even, not {asked}; choose M = {more}",
    "chimera_units": "Chimera works in units of K = {num_devices} micro-batches, which {num_micro_batches} is not a multiple of; choose M = {fewer} or {more}, or at most {num_devices}",
    "op_text": "cannot read {text!r} as an op; write stage, kind and micro-batch like 2F0 (kinds: F B I W R)",
    "schedule_text": "device {device}, word {place}: cannot read {asked} as an op; write stage, kind and micro-batch like 2F0 (kinds: F B I W R), a space between ops, a | between devices",
    "op_range": "{op} is out of range: stages and micro-batches go from 0 to {last}",
    "empty_schedule": "a schedule needs at least one op; it has {num_devices} lanes and none holds an op",
    "missing_op": "{op} is missing: no lane runs it",
    "repeated_op": "{op} stands {count} times in the lanes; every op runs once",
    "both_backwards": "stage {stage}, micro-batch {micro_batch} has a full backward B and a split one (I, W); keep one of them",
    "wrong_device": "{op} stands in the lane of device {device}, but stage {stage} lives on device {expected}",
    "unplaced": "{op} names stage {stage}, but the placement has only {num_stages} stages",
    "placement_device": "the placement puts stage {stage} on device {device}, but there are only {num_lanes} lanes",
    "wrong_devices": "{op} stands in the lane of device {device}, but stage {stage} lives on devices {first} and {second}",
    "placement_homes": "the placement names {given} devices for stage {stage}; name one, or two for a stage that is there twice",
    "split_pair": "{earlier_op} runs on device {first}, but {op} on device {device}; one stage's ops on one micro-batch run on one device, which keeps what they need",
    "deadlock_cycle": "deadlock: {chain}",
    "memory_limit": "a memory limit of {asked} is too small: a device keeps at least 1 (stage, micro-batch) pair while it goes forward and back; choose memory_limit >= 1",
    # -- games
    "guess_number": "{asked!r} is not a number of minutes; write one, such as 100",
    "puzzle_count": "{asked!r} is not a whole number; write how many cells you count, such as 8",
    "puzzle_back_first": "{op} goes back, but device {device} has still to go forward on some; GPipe goes forward on all first",
    "puzzle_forward_order": "{op} is too soon: micro-batches go forward in the order of their numbers; on device {device} {earlier_op} is next",
    "puzzle_back_order": "{op} is too soon: GPipe goes back on the last micro-batch first; on device {device} {earlier_op} is next",
    "puzzle_late": "{op} would start too late: device {device} is idle in tick {tick}, and what it needs is done; don't let the device wait",
    "puzzle_there": "{op} is there already; choose another one",
    "puzzle_kind": "{op} is not in this puzzle; it has: {known}",
    # -- exchange with PyTorch
    "torch_recompute": "PyTorch's schedule CSV has no recomputation, but this schedule has {op}; build it with checkpoint='never', and wrap the stage's layers in torch.utils.checkpoint there",
    "torch_replicas": "PyTorch's schedule CSV has one rank a stage, but stage {stage} is there twice, on devices {first} and {second}; of the bidirectional schedules, dualpipe_v can be written: it needs no second copy",
    "torch_idle": "device {device} has no op, and PyTorch's runtime refuses a rank without work; leave that device out",
    "torch_loss_order": "{op} runs before {earlier_op}, but PyTorch's runtime finds a loss by how many came before it: on the last stage forwards must run in the order of micro-batches; number the micro-batches in that order",
    "torch_csv": "row {row} of the schedule can't be read as CSV ({cause}); write one row a rank, cells divided by commas",
    "torch_row": "row {row} of the schedule holds no op; every row is a rank and needs work: take the row out, or fill it",
    "torch_cell": "row {row}, cell {cell}: cannot read {asked} as an op; write stage, kind and micro-batch like 2F0 (kinds: F B I W), cells divided by commas",
    "torch_repeated": "row {row}, cell {cell}: {op} stands already in row {earlier_row}, cell {earlier_cell}; every op runs once: keep one of them",
    "torch_two_ranks": "row {row}, cell {cell}: {op} puts stage {stage} on a second rank, but row {earlier_row}, cell {earlier_cell} has it already; a stage has one rank: move {op} to row {earlier_row}",
    "torch_forward": "row {row}, cell {cell}: {op} needs {earlier_op}, which no row runs; if this is PyTorch's own 1F1B, its last rank counts forwards from 1: use plan.one_f_one_b instead",
    # -- the design board
    "board_needs": "{op} needs {earlier_op}, which ends at tick {end}; put it at tick {tick} or later",
    "board_needed": "{op} needs {earlier_op}, which would end at tick {end}; move {op} to tick {tick} or later first",
    "board_needs_missing": "{op} needs {earlier_op}, which is not on the board; put that there first",
    "board_taken": "{op} finds tick {tick} taken by {earlier_op}; choose a free tick, or move that first",
    "board_stays": "{op} needs {earlier_op}, so it has to stay; take {op} off first",
    "board_absent": "{op} is not on the board, so it can't be taken off",
    "board_micro_batch": "{op} names micro-batch {micro_batch}, but the board has only {num_micro_batches} of them; choose a larger M",
    "board_placement": "the board has one stage a device, but the schedule has {num_stages} stages on {num_devices} devices; build that one as text",
    "board_incomplete": "{count} ops are missing, the first is {op}; put them on the board, then it can train",
    # -- costs, timelines
    "costs_length": "{name} lists {given} numbers, but the schedule has {num_stages} stages; give one number, or one a stage",
    "costs_number": "{name} is one number for all stages, not {asked}; per stage, list forward, backward or recompute",
    "costs_negative": "{name} must be finite and at least 0, not {asked}",
    "costs_positive": "{name} must be finite and more than 0, not {asked}",
    "fit_points": "two unknowns need times of at least 2 different M, not {given}; measure some more",
    "costs_zero": "every op takes 0 time: there is nothing to draw; give forward or backward a positive time",
    "shape_stages": "the model's shape has {given} stages, but the schedule has {num_stages}; cut both alike",
    "sizes_length": "sizes lists {given} micro-batches, but the schedule has {num_micro_batches}",
    "sizes_positive": "every micro-batch needs at least one sample; sizes has {asked}",
    "picture_column": "one column must last longer than 0, not {asked}",
    "empty_timeline": "the timeline has no span, so there is nothing to measure",
    "labels": "unknown labels {asked!r}; choose one of: {known}",
    # -- files
    "file_missing": "there is no file {path}; look at its name, and into the folder {folder}",
    "file_no_folder": "cannot write {path}: there is no folder {folder}; make it first, or name another",
    "file_folder": "{path} is a folder; name a file in it",
    "file_irregular": "{path} is a pipe, a device or the like; name a regular file",
    "file_exists": "{path} exists already; choose another name, or say overwrite=True to replace it",
    "file_refused": "the system refuses {path} ({cause}); close it in other programs, or choose a shorter name or another folder",
    "file_suffix": "cannot tell from {name!r} what to write; let the name end in one of: {known}",
    "file_several": "{name} holds one timeline, not {given}; save them one by one, or as .png, .svg or .gif",
    "file_large": "{path} has more than {most_mb} MB, which no timeline needs; is it the right file?",
    "file_encoding": "{path} is not UTF-8 text (byte {position}); save it again as UTF-8 (in Excel: CSV UTF-8)",
    "file_json": "{path} is not readable as JSON ({cause}); it may be cut off: save it again",
    "font_missing": "there is no Chinese font here, and no file of empty boxes is written; install Noto Sans CJK, or pip install pylopdf-fonts-zh-cn, or ask for --lang en",
    "font_lacks": "the font {name} lacks {characters}; install Noto Sans CJK, or pip install pylopdf-fonts-zh-cn",
    "giant_file": "{path} holds no weights of this net ({cause}); name another file, or train it anew",
    "words_number": "cannot write {asked!r}: only whole numbers from {least} to {most}; choose one of them",
    "giant_other": "{path} holds a net of another seed or length; name another file with --weights, or ask for the same seed and rounds",
    "file_kind": "{path} holds no timeline of pipekit; give JSON, CSV or a Chrome trace that plan.write_timeline wrote",
    "file_version": "{path} has version {asked} of the format, this pipekit reads version {known}; update pipekit",
    "file_field": "{where}: {name} is missing; add it, or save the timeline again",
    "file_object": "{where}: must be an object in braces, not {asked}",
    "file_list": "{where}: {name} must be a list of the right length, not {asked}",
    "file_whole": "{where}: {name} must be a whole number from {least} to {most}, not {asked}",
    "file_number": "{where}: {name} must be a finite number, at most {most:g}, not {asked}",
    "file_text": "{where}: {name} must be one line of text, not {asked}",
    "file_choice": "{where}: {name} must be one of {known}, not {asked}",
    "file_op": "{where}: cannot read {asked} as an op; write stage, kind and micro-batch like 2F0 (kinds: F B I W R)",
    "file_device": "{where}: there is no device {asked}: num_devices is {num_devices}, so devices go from 0 to {last}",
    "file_order": "{where}: {op} starts at {start} and ends before that, at {end}; an op ends after its start",
    "file_repeated": "{where}: {op} runs from {start} to {end}, but {earlier} has it already, from {earlier_start} to {earlier_end}; an op runs once: keep one of them, or save the timeline again",
    "file_overlap": "{where}: {op} runs on device {device} from {start} to {end}, but {earlier_op} ({earlier}) runs there from {earlier_start} to {earlier_end}; a device runs one op at a time: correct the times, or save the timeline again",
    "file_columns": "{where}: the columns must be {wanted}, not {found}",
    # -- cutting models
    "cut_layers": "cannot cut {num_layers} layers into {num_stages} stages; choose K <= {num_layers}",
    "balance_costs": "cannot balance {num_layers} costs over {num_stages} stages; choose K <= {num_layers}",
    "balance_sum": "balance {balance} adds up to {total} layers, but the model has {num_layers}; make the sum {num_layers}",
    "balance_positive": "every stage needs at least one layer; balance {balance} has a stage with {smallest}",
    "balance_or_number": "say either num_stages={num_stages} or balance={balance} ({given} stages), not two different numbers",
    "balance_nothing": "say how to cut: num_stages=4, or balance=[2, 3, 3, 2]",
    "not_sequential": "cannot cut a {type}: give torch.nn.Sequential, or a list of modules that run one after the other",
    "empty_model": "cannot cut a model without layers; there are {num_layers}",
    "not_a_module": "layer {index} is a {type}, not a torch.nn.Module; wrap it in a module",
    "shared_module": "the same module ({type}) stands in stage {first} and stage {second}; make two modules that share their parameters",
    "lazy_parameter": "layer {index} ({type}) has parameters that are not made yet; run the model once on one batch before cutting",
    "batch_norm_type": "{name} is a {type}, which may gather its statistics in a way of its own; put a BatchNorm1d, BatchNorm2d or BatchNorm3d in its place to defer it",
    # -- pipelines
    "stage_count": "the schedule has {schedule_stages} stages, the pipeline {pipeline_stages}; write {line}",
    "device_count": "the schedule is for {schedule_devices} devices, the pipeline has {pipeline_devices}; write {line}",
    "placement": "the schedule places stages on devices {schedule_placement}, the pipeline on {pipeline_placement}; write {line}",
    "placement_shape": "placement {placement} must name a device for each of {num_stages} stages and use all {num_devices} devices",
    "replica_buffers": "stage {stage} lives on devices {first} and {second}, but its {type} changes its buffer {name} in a forward, and the two copies would disagree; put it in eval(), take a layer that keeps no statistics (LayerNorm, GroupNorm), or a schedule with one copy of each stage (dualpipe_v, zb_v)",
    "replica_compiled": "stage {stage} lives on devices {first} and {second}, but its {type} can't be copied; leave it uncompiled, or take a schedule with one copy of each stage (dualpipe_v, zb_v)",
    "too_many_devices": "{num_devices} devices for {num_stages} stages: {idle} would never work; choose K <= {num_stages}",
    "closed": "this pipeline is closed; make a new one with run.Pipeline(stages, devices)",
    "broken": "this pipeline is broken: {why}; make a new one with run.Pipeline(stages, devices)",
    "busy": "this pipeline is already running a step; wait for it, or make a second pipeline",
    "busy_model": "another pipeline is in the middle of a step with the same parameters; wait for it",
    "forked": "this pipeline's workers live in another process; make a new one with run.Pipeline(stages, devices) after the fork",
    "no_grad": "a training step needs gradients, but it was called under {mode}; leave that block first",
    # -- batches
    "batch_small": "cannot cut {num_samples} samples into {num_micro_batches} micro-batches; choose M <= {num_samples}",
    "batch_digits": "cannot take {asked} of {found} digits; choose a batch from 1 to {found}",
    "batch_no_tensor": "the batch holds no tensor to cut; give tensors whose first dimension counts samples",
    "batch_first": "{name} has {found} in its first dimension, but the batch has {num_samples} samples; wrap it in run.whole(...) if it must not be cut",
    "batch_scalar": "{name} is a tensor without dimensions and can't be cut; wrap it in run.whole(...)",
    "batch_object": "{name} is a {type}, which can't be cut into micro-batches; give tensors (torch.as_tensor), or wrap it in run.whole(...)",
    "weight_name": 'unknown weight {asked!r}; choose "samples", "sum" or a function target_piece -> number',
    "weight_zero": "the weights of all micro-batches add up to {total}; at least one sample must count",
    "weight_negative": "micro-batch {micro_batch} weighs {weight}; weights must be finite and not negative",
    "loss_shape": "the loss must be one number, but it has shape {shape}; use reduction='mean' (or weight=\"sum\" with reduction='sum')",
    "loss_type": "the loss must be a tensor, not a {type}",
    "loss_not_finite": "the loss of micro-batch {micro_batch} is {loss}; the step was undone: lower the learning rate or look at that batch",
    "loss_no_grad": "the loss does not depend on any parameter, so there is nothing to train",
    # -- sweeps
    "sweep_list": "cannot read {asked!r} in the list of {name}; write whole numbers, such as 1, 2, 4, 8 or 1-8",
    "sweep_range": "one range of {name} has {asked} numbers, at most {most} can be tried; choose a shorter one",
    "sweep_points": "these lists make {asked} combinations, at most {most} can be tried at once; shorten a list",
    "sweep_nothing": "nothing to try: {num_stages} values of K, {num_micro_batches} of M, {num_policies} checkpoint policies, {num_schedules} schedules; choose at least one of each",
    "sweep_empty": "there is no table to save: {found} points were measured; run the sweep first",
    # -- devices
    "number_range": "{name} goes from {least} to {most}, not {asked}; choose a number in between",
    "device_number": "cannot make {asked} devices; choose at least 1",
    "clock_choice": "choose exactly one clock: batch_time=, tick=, per_sample= or speed=; got {given}",
    "clock_positive": "{name} must be longer than 0, not {asked}",
    "clock_slow": "slow={asked}: name devices 0..{last} and factors above 0",
    "clock_slow_copies": "stage {stage} lives on devices {first} and {second}, which slow= makes unequally fast, and an op of a stage is declared one time; slow both of them, or take a schedule with one copy of each stage (dualpipe_v, zb_v)",
    "clock_coarse": "this machine's clock and sleep have a grain of {grain_ms:.1f} ms, too coarse for ops of {op_ms:.1f} ms; choose {advice}",
    "speed_zero": "stage {stage} counts 0 FLOP ({layers}), so speed= can't time it; use batch_time= or tick=, or balance the cut",
    "no_cuda": "asked for {asked} GPUs, but torch sees {found}; use run.stand_ins({asked}, batch_time=0.16)",
    "memory_budget": "device memory: predicted peak {predicted_mib:.0f} MiB, but only {available_mib:.0f} MiB (80 % of what is free) can be used; use checkpoint='always', more micro-batches or a smaller batch",
    "shape_unknown": "speed= and bandwidth= need FLOP and message sizes, which torch must read off the model and a batch; give the batch itself, or use batch_time=",
    "nothing_declared": "{devices}: real devices declare no times, so there is nothing to simulate; measure costs with run.profile",
    # -- running
    "stage_failed": "{op} failed (stage {stage}, device {device}): {cause}",
    "stage_none": "{op}: stage {stage} returned None; its last layer must return a tensor, or a tuple or dict with tensors",
    "stage_output": "{op}: stage {stage} returned a {type} without a tensor; return a tensor, or a tuple or dict with tensors",
    "stage_object": "{op}: stage {stage} returned a {type} that holds tensors; return them in a tuple or a dict, which can cross to the next stage",
    "stage_shape": "{op}: stage {stage} got {found} from stage {previous}, which does not fit: {cause}",
    "stage_inplace_input": "{op}: stage {stage} changed its input in place only this time; make that layer out-of-place",
    "stage_draws_back": "{op}: stage {stage} draws random numbers in its backward, which can't be those of its forward; use the schedule's checkpoint= instead of torch.utils.checkpoint",
    "stage_timeout": "{op} did not finish within {seconds:g} s (stage {stage}, device {device}); the pipeline is broken",
    "cancelled": "the step was cancelled; gradients and buffers are as before",
    # -- backwards that are not split in two, or not wholly; a result's `whole_backwards` says them, nothing is raised
    "halves_reused": "stage {stage}: {num_early} of {num_weights} parameters get their gradients at I, not at W: they are used again further down ({name}), where a W of their own would count them twice",
    "halves_function": "stage {stage}: {num_early} of {num_weights} parameters get their gradients at I, not at W: {name} is a function of your own, and nobody promises that its backward can run twice",
    "halves_checkpoint": "stage {stage}: {num_early} of {num_weights} parameters get their gradients at I, not at W: {name} stands in a torch.utils.checkpoint, which would compute again at W; use the schedule's checkpoint= instead",
    "halves_reentrant": "stage {stage}: its whole backward runs at I and nothing at W: {name} runs a backward of its own, which can't be asked for one half; use the schedule's checkpoint= instead of torch.utils.checkpoint",
    "halves_fused": "stage {stage}: {num_early} of {num_weights} parameters get their gradients at I, not at W: the kernel behind {name} computes both halves in one",
}


class PipekitError(Exception):
    """An error that teaches: `key` names the sentence in `MESSAGES`, `numbers` fills it."""

    def __init__(self, key: str, **numbers: Any) -> None:
        self.key = key
        self.numbers = numbers
        super().__init__(MESSAGES[key].format(**numbers))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(
            type(self), self.key, **self.numbers
        ), ()  # exceptions pickle by their sentence otherwise


class ScheduleError(PipekitError, ValueError):
    """A schedule that cannot be built, or cannot run."""


class CostsError(PipekitError, ValueError):
    """Costs, sizes or a timeline that do not fit."""


class PartitionError(PipekitError, ValueError):
    """A model that cannot be cut as asked."""


class PlacementError(PipekitError, ValueError):
    """Schedule and pipeline disagree about stages or devices."""


class BatchError(PipekitError, ValueError):
    """A batch, target or weight that cannot be cut into micro-batches."""


class FileError(PipekitError, ValueError):
    """A file that cannot be written as asked, or holds no timeline."""


class SweepError(PipekitError, ValueError):
    """A list of settings to try that cannot be read or run."""


class DeviceError(PipekitError, RuntimeError):
    """Devices that are not there, or a clock too coarse for them."""


class MemoryBudgetError(PipekitError, RuntimeError):
    """The predicted memory is more than there is."""


class LossError(PipekitError, RuntimeError):
    """The loss is not a finite number."""


class StageError(PipekitError, RuntimeError):
    """A stage failed; `numbers` names op, stage and device; gradients and buffers are as before."""


class StageTimeout(StageError):
    """A stage did not come back in time; this pipeline is broken."""


class Cancelled(PipekitError):
    """The step was cancelled; gradients and buffers are as before."""
