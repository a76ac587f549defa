"""Cutting a model into stages: by count, by a given balance, by measured time; and what can't be cut."""

import time

import pytest
import torch
from run_models import Do, mean_square, mlp, pipeline_of
from torch import nn

from pipekit import plan, run
from pipekit.errors import PartitionError, PlacementError
from pipekit.run.partition import layer_times


def lengths(stages):
    return [len(stage) for stage in stages]


def test_layers_are_spread_evenly_the_longer_stages_first():
    assert lengths(run.partition(mlp(6), 4)) == [2, 2, 1, 1]
    assert lengths(run.partition(mlp(8), 4)) == [2, 2, 2, 2]
    assert lengths(run.partition(mlp(7), 1)) == [7]


def test_a_given_balance_is_kept():
    assert lengths(run.partition(mlp(10), balance=[2, 3, 3, 2])) == [2, 3, 3, 2]


def test_layers_are_shared_with_the_model_and_stay_in_order():
    model = mlp(5)
    stages = run.partition(model, 2)
    assert [layer for stage in stages for layer in stage] == list(model)
    assert all(isinstance(stage, nn.Sequential) for stage in stages)


def test_a_list_of_modules_or_a_module_list_can_be_cut():
    layers = [nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2)]
    for model in (layers, nn.ModuleList(layers), iter(layers)):
        assert lengths(run.partition(model, 2)) == [2, 1]


def test_cutting_leaves_training_and_evaluating_as_they_were():
    model = mlp(4).eval()
    assert not any(stage.training for stage in run.partition(model, 2))
    assert all(stage.training for stage in run.partition(mlp(4), 2))
    assert not model.training and not model[0][0].training


class Slow(nn.Module):
    """Takes so many milliseconds, and some more backward."""

    def __init__(self, milliseconds):
        super().__init__()
        self.seconds = milliseconds / 1e3
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        time.sleep(self.seconds)
        return x * self.scale


def test_with_an_example_the_cut_follows_measured_time():
    layers = [Slow(ms) for ms in (1, 1, 1, 1, 1, 25, 1)]
    assert lengths(run.partition(layers, 2)) == [4, 3]
    assert lengths(run.partition(layers, 3, example=torch.ones(2))) == [5, 1, 1]


def test_measuring_layers_leaves_them_as_they_were():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(4, 4)
    )
    example = torch.randn(6, 4)
    kept, random = example.clone(), torch.get_rng_state()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    threads = torch.get_num_threads()
    times = layer_times(list(model), example, repeats=1)
    assert len(times) == 5 and all(seconds > 0 for seconds in times)
    assert torch.equal(torch.get_rng_state(), random) and torch.equal(example, kept)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert torch.get_num_threads() == threads


def test_layers_that_pass_tuples_and_whole_numbers_can_be_measured():
    layers = [
        nn.Embedding(5, 4),
        Do(lambda x: (x, x.argmax(dim=-1), None)),
        Do(lambda value: value[0].relu_()),
        nn.Linear(4, 4),
    ]
    assert len(run.partition(layers, 2, example=torch.randint(5, (3, 2)))) == 2


class Branches(nn.Module):
    """Not a row of layers."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x):
        return self.one(x) + self.two(x)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((mlp(6), 8), "cannot cut 6 layers into 8 stages; choose K <= 6"),
        ((mlp(6), None, [2, 3]), r"balance \[2, 3\] adds up to 5 layers, but the model has 6"),
        ((mlp(6), None, [6, 0]), r"balance \[6, 0\] has a stage with 0"),
        ((mlp(6), None, [7, -1]), r"balance \[7, -1\] has a stage with -1"),
        ((mlp(6), 3, [3, 3]), r"either num_stages=3 or balance=\[3, 3\] \(2 stages\)"),
        ((mlp(6),), "say how to cut: num_stages=4, or balance"),
        ((Branches(), 2), "cannot cut a Branches: give torch.nn.Sequential, or a list"),
        ((3, 2), "cannot cut a int"),
        ((nn.Sequential(), 1), "a model without layers; there are 0"),
        (([nn.ReLU(), torch.relu], 2), "layer 1 is a builtin_function_or_method, not a torch.nn.Module"),
        (
            ([nn.Linear(2, 2), nn.LazyLinear(2)], 2),
            r"layer 1 \(LazyLinear\) has parameters that are not made yet",
        ),
    ],
)
def test_what_cannot_be_cut_is_said_with_both_numbers(arguments, words):
    with pytest.raises(PartitionError, match=words):
        run.partition(*arguments)


@pytest.mark.parametrize("number", [0, -2])
def test_fewer_than_one_stage_is_refused(number):
    with pytest.raises(ValueError, match=f"at least 1 .*not {number}"):
        run.partition(mlp(6), number)


def test_one_module_in_two_stages_is_refused_by_name():
    shared = nn.Linear(2, 2)
    words = r"the same module \(Linear\) stands in stage 0 and stage 1; make two modules that share their parameters"
    with pytest.raises(PartitionError, match=words):
        run.partition([shared, nn.ReLU(), nn.Sequential(nn.ReLU(), shared)], 2)
    assert lengths(run.partition([shared, shared, nn.ReLU()], 2)) == [2, 1]  # twice in one stage is fine


def test_two_modules_may_share_their_parameters():
    one, two = nn.Linear(2, 2), nn.Linear(2, 2)
    two.weight = one.weight
    assert lengths(run.partition([one, two], 2)) == [1, 1]


def test_a_schedule_for_another_cut_names_the_line_to_write():
    x, y = torch.randn(2, 6, 6)
    with pipeline_of(mlp(6), 3) as pipeline:
        for schedule, words in [
            (plan.gpipe(4, 2), r"has 4 stages, the pipeline 3; write run.partition\(model, num_stages=4\)"),
            (
                plan.Schedule(["0F0 1F0 2F0 2B0 1B0 0B0"]),
                r"for 1 devices, the pipeline has 3; write run.stand_ins\(1",
            ),
        ]:
            with pytest.raises(PlacementError, match=words):
                pipeline.step(schedule, x, y, mean_square)
    with pipeline_of(mlp(6), 3, num_devices=2) as pipeline:
        schedule = plan.Schedule(["0F0 0B0", "1F0 2F0 2B0 1B0"])
        with pytest.raises(
            PlacementError, match=r"\(0, 1, 1\), the pipeline on \(0, 1, 0\).*schedule.placement"
        ):
            pipeline.step(schedule, x, y, mean_square)
