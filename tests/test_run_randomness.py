"""Randomness by key (contract 18): what a stage draws depends on the step, the stage and the piece, nothing else."""

import copy
import threading

import pytest
import torch
import torch.utils.checkpoint
from run_models import POLICIES, Do, is_real, mean_square, pipeline_of, same_bits, stepped
from torch import nn
from torch.nn import functional

from pipekit import plan, run
from pipekit.errors import StageError
from pipekit.run.keyed import Keyed, seed_of

WIDTH = 6


def data(num_samples=8, width=WIDTH):
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(num_samples, width, generator=generator) for _ in range(2))


KINDS = {
    "dropout": nn.Dropout(0.4),
    "alpha dropout": nn.AlphaDropout(0.4),
    "feature dropout": Do(lambda x: functional.dropout1d(x[:, :, None], 0.4)[:, :, 0]),
    "dropout in place": nn.Dropout(0.4, inplace=True),
    "rrelu": nn.RReLU(),
    "native dropout": Do(lambda x: torch.native_dropout(x, 0.4, True)[0]),
    "bernoulli": Do(lambda x: x * torch.bernoulli(torch.full_like(x, 0.6))),
    "rand": Do(lambda x: x * torch.rand(x.shape, device=x.device)),
    "rand_like": Do(lambda x: x * torch.rand_like(x)),
    "randn_like": Do(lambda x: x + torch.randn_like(x)),
    "normal": Do(lambda x: x + torch.normal(x.detach(), 1.0)),
    "normal_": Do(lambda x: x + torch.empty_like(x).normal_()),
    "randint": Do(lambda x: x * torch.randint(3, x.shape, device=x.device)),
    "randperm": Do(lambda x: x[:, torch.randperm(WIDTH, device=x.device)]),
    "multinomial": Do(lambda x: x * torch.multinomial(x.detach().abs() + 1, WIDTH)),
    "poisson": Do(lambda x: x + torch.poisson(x.detach().abs())),
    "exponential_": Do(lambda x: x + torch.empty_like(x).exponential_()),
    "gumbel softmax": Do(lambda x: functional.gumbel_softmax(x)),
    "gamma": Do(lambda x: x * torch._standard_gamma(x.detach().abs() + 1)),
    "attention": Do(
        lambda x: functional.scaled_dot_product_attention(*[x[:, None, :, None]] * 3, dropout_p=0.4)[
            :, 0, :, 0
        ]
    ),
}


def drawing_stages(kind="dropout"):
    torch.manual_seed(3)
    return [
        nn.Sequential(nn.Linear(WIDTH, WIDTH), copy.deepcopy(KINDS[kind]), nn.Linear(WIDTH, WIDTH))
        for _ in range(2)
    ]


def seeded_step(stages, schedule, seed=5, loss=mean_square):
    torch.manual_seed(seed)
    return stepped(stages, schedule, *data(), loss)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_recompute_draws_the_same_numbers_to_the_last_bit(kind):
    stages = drawing_stages(kind)
    never = seeded_step(stages, plan.gpipe(2, 3))
    for checkpoint, recompute in POLICIES[1:]:
        assert same_bits(seeded_step(stages, plan.gpipe(2, 3, checkpoint, recompute)), never)
    assert not same_bits(
        seeded_step(stages, plan.gpipe(2, 3), seed=6), never
    )  # so there is something to get wrong


def test_a_loss_that_draws_is_recomputed_with_the_same_numbers():
    def loss(output, target):
        return mean_square(functional.dropout(output, 0.5), target)

    stages = [nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)]
    bits = [
        seeded_step(stages, plan.gpipe(2, 3, checkpoint), loss=loss)
        for checkpoint in ("never", "always", "always", "except_last")
    ]
    assert all(same_bits(each, bits[0]) for each in bits)


def test_a_stage_that_draws_for_some_pieces_only_is_recomputed_with_the_same_numbers():
    stages = [
        nn.Sequential(nn.Linear(WIDTH, WIDTH), Do(lambda x: x if len(x) == 3 else functional.dropout(x, 0.5)))
        for _ in range(2)
    ]
    bits = []
    for checkpoint in ("never", "always"):
        with pipeline_of(copy.deepcopy(nn.ModuleList(stages))) as pipeline:
            for _ in range(2):
                torch.manual_seed(5)
                pipeline.step(plan.gpipe(2, 3, checkpoint), *data(), mean_square)  # 3, 3 and 2 samples
                bits.append(run.gradients(pipeline.stages))
                nn.ModuleList(pipeline.stages).zero_grad()
    assert all(same_bits(each, bits[0]) for each in bits)


@pytest.mark.parametrize(
    "drop",
    [lambda x: functional.dropout(x, 0.5), lambda x: torch.native_dropout(x, 0.5, True)[0]],
    ids=["takes a generator", "knows only the default one"],
)
def test_masks_of_two_stages_and_two_pieces_differ(drop):
    masks = {}

    def note(stage):
        def layer(x):
            kept = drop(torch.ones_like(x))
            if is_real(x):
                masks.setdefault(stage, []).append(kept)
            return x * kept

        return nn.Sequential(nn.Linear(WIDTH, WIDTH), Do(layer))

    stepped([note(0), note(1)], plan.gpipe(2, 2), *data())
    found = [*masks[0], *masks[1]]
    assert len(found) == 4
    assert all(not torch.equal(a, b) for i, a in enumerate(found) for b in found[:i])


def test_the_same_stages_run_one_after_the_other_with_the_same_keys_give_the_same():
    stages, schedule, (batch, target) = drawing_stages(), plan.gpipe(2, 3, "always"), data()
    ours = seeded_step(stages, schedule)
    torch.manual_seed(5)
    key = int(torch.randint(2**62, ()))  # what the caller draws at a step's start
    first_layers = [0, 3]
    for stage in stages:
        stage.zero_grad()
    for index in reversed(range(3)):
        value = batch.tensor_split(3)[index]
        for stage, layer in zip(stages, first_layers, strict=True):
            with Keyed(seed_of(key, layer, index)):
                value = stage(value)
        goal = target.tensor_split(3)[index]
        (mean_square(value, goal) * len(goal) / len(target)).backward()
    assert same_bits(ours, run.gradients(stages))


def test_fifty_repeats_are_equal_while_other_threads_draw():
    kinds = ["dropout", "rrelu", "rand_like"]
    torch.manual_seed(3)
    stages = [nn.Sequential(nn.Linear(WIDTH, WIDTH), copy.deepcopy(KINDS[kind])) for kind in kinds]
    done = threading.Event()

    def draw():
        while not done.wait(0.0002):
            torch.rand(100)

    others = [threading.Thread(target=draw) for _ in range(2)]
    schedules = [plan.gpipe(3, 4), plan.gpipe(3, 4, "always")]
    key = torch.tensor(123456789)
    results = []
    with pipeline_of(stages) as pipeline, pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "pipekit.run.engine.draw_key", lambda: int(key)
        )  # drawn by the caller, among the others
        for other in others:
            other.start()
        try:
            for repeat in range(50):
                for stage in stages:
                    stage.zero_grad()
                pipeline.step(schedules[repeat % 2], *data(), mean_square)
                results.append(run.gradients(stages))
        finally:
            done.set()
            for other in others:
                other.join()
    assert all(same_bits(each, results[0]) for each in results)


@pytest.mark.parametrize("kind", ["dropout", "rand", "native dropout"])
def test_manual_seed_decides_a_step(kind):
    with pipeline_of(drawing_stages(kind)) as pipeline:
        bits, after = [], []
        for schedule in (plan.gpipe(2, 3), plan.gpipe(2, 3), plan.gpipe(2, 3, "always")):
            nn.ModuleList(pipeline.stages).zero_grad()
            torch.manual_seed(11)
            pipeline.step(schedule, *data(), mean_square)
            bits.append(run.gradients(pipeline.stages))
            after.append(torch.get_rng_state())
        assert same_bits(bits[0], bits[1]) and same_bits(bits[0], bits[2])
        assert torch.equal(after[0], after[1]) and torch.equal(after[0], after[2])
        nn.ModuleList(pipeline.stages).zero_grad()
        pipeline.step(plan.gpipe(2, 3), *data(), mean_square)  # the next step draws new numbers
        assert not same_bits(run.gradients(pipeline.stages), bits[0])


@pytest.mark.parametrize("kind", ["dropout", "native dropout"])
def test_a_failed_step_puts_the_default_generator_back(kind):
    def fail(x):
        if is_real(x) and failing:
            raise ValueError("on purpose")
        return x

    failing = True
    stages = drawing_stages(kind)
    stages[1].append(Do(fail))
    with pipeline_of(stages) as pipeline:
        torch.manual_seed(7)
        before = torch.get_rng_state()
        with pytest.raises(StageError, match="on purpose"):
            pipeline.step(plan.gpipe(2, 3, "always"), *data(), mean_square)
        assert torch.equal(torch.get_rng_state(), before)
        failing = False
        pipeline.step(
            plan.gpipe(2, 3), *data(), mean_square
        )  # the step repeated is the step that would have been
    stages[1].pop(-1)
    assert same_bits(run.gradients(stages), seeded_step(stages, plan.gpipe(2, 3), seed=7))


def test_switching_training_on_is_noticed():
    stages = drawing_stages()
    for stage in stages:
        stage.eval()
    with pipeline_of(stages) as pipeline:
        pipeline.step(plan.gpipe(2, 3), *data(), mean_square)  # nothing draws
        bits = []
        for checkpoint in ("never", "always"):
            for stage in stages:
                stage.train()
                stage.zero_grad()
            torch.manual_seed(5)
            pipeline.step(plan.gpipe(2, 3, checkpoint), *data(), mean_square)
            bits.append(run.gradients(stages))
    assert same_bits(*bits)
    assert same_bits(bits[0], seeded_step(stages, plan.gpipe(2, 3)))


def test_a_generator_of_the_stages_own_is_left_alone():
    own = torch.Generator()

    def layer(x):
        return x * torch.rand(x.shape, generator=own if is_real(x) else None, device=x.device)

    stages = [nn.Sequential(nn.Linear(WIDTH, WIDTH), Do(layer))]
    expected = torch.Generator().manual_seed(1)
    with pipeline_of(stages) as pipeline:
        own.manual_seed(1)
        pipeline.step(plan.gpipe(1, 2), *data(), mean_square)
    torch.rand(4, WIDTH, generator=expected), torch.rand(4, WIDTH, generator=expected)
    assert torch.equal(own.get_state(), expected.get_state())


def test_a_checkpoint_inside_a_stage_that_draws_is_refused_not_silently_wrong():
    """Its recomputation would run in the backward, where this step's key is over."""
    inner = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Dropout(0.5))
    layer = Do(lambda x: torch.utils.checkpoint.checkpoint(inner, x, use_reentrant=False))
    layer.inner = inner
    with pytest.raises(StageError, match=r"0B\d.*draws random numbers in its backward.*checkpoint="):
        seeded_step([nn.Sequential(nn.Linear(WIDTH, WIDTH), layer)], plan.gpipe(1, 2))
    inner[1].p = 0.0
    inner.eval()
    seeded_step(
        [nn.Sequential(nn.Linear(WIDTH, WIDTH), layer)], plan.gpipe(1, 2)
    )  # without drawing it is fine
