"""Answers to every exercise: right ones written differently from the solution, and wrong ones with their misconception."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from pipekit import plan

# -- pencil and paper

RIGHT = {
    "count_cells": ["64 16 48", torch.tensor([64, 16, 48])],
    "cut_layers": [[range(1, 11), range(11, 21), range(21, 31), range(31, 41)], ((1, 10), [11, 20], (21, 30), (31, 40))],
    "fill_grid": [
        [[1, 2, 3, 4, 0, 0, 0], [0, 1, 2, 3, 4, 0, 0], [0, 0, 1, 2, 3, 4, 0], "0 0 0 1 2 3 4"],
        "１ ２ ３ ４ 。 。 。\n\n。 1 2 3 4 。 。\n． － 1 2 3 4 _\n　0 0 0 1 2 3 4\n",
    ],
    "predict_bubble": [(75, 43, 27, 16), ["75%", "42.9%", "27.3%", "15.8%"], "75，43，27，16"],
    "card_times": [[24, 36, 8, 20, 2, 14], {"1": (24, 36), "2": (8, 20), "3": (2, 14)}],
    "balance_stages": [[4, 4, 2, 2], "5 3 2 2"],
    "batch_norm": [["f", "c"], {"C", "F"}, "C, F", "ＣＦ", "C和F。", "c；f", ["Ｃ", "Ｆ"], ["C,F"]],
    "three_cells": [
        [*"12", "3*", *"45", "6*", "7*", *"898", "4*", "5", "1*", "2"],
        "1，2，3＊，4，5，6＊，7＊；８，９，8，4*、5、1*，2",
    ],
}  # fmt: skip

WRONG = {
    "count_cells": {
        "zeros": [0, 0, 0],
        "busy_idle_swapped": [64, 48, 16],
        "cut_grid_counted": [28, 16, 12],
        "slots_not_cells": [16, 4, 12],
        "all_work_at_once": [64, 64, 0],
        "wrong_count": [64, 16],
        "numbers_differ": [64, 16, 40],
    },
    "cut_layers": {
        "layers_from_zero": [(0, 9), (10, 19), (20, 29), (30, 39)],
        "border_twice": [(1, 10), (10, 20), (20, 30), (30, 40)],
        "counts_not_layers": [10, 10, 10, 10],
        "stages_unequal": [(1, 13), (14, 20), (21, 30), (31, 40)],
        "layers_missing": [(1, 10), (11, 20), (21, 30), (31, 39)],
        "stages_out_of_order": [(11, 20), (1, 10), (21, 30), (31, 40)],
        "not_consecutive": [range(start, 41, 4) for start in (1, 2, 3, 4)],
        "stage_without_layers": [(1, 20), (), (21, 30), (31, 40)],
        "not_pairs": [1, 11, 21, 31],
        "wrong_count": [(1, 20), (21, 40)],
    },
    "fill_grid": {
        "zeros": [[0] * 7] * 4,
        "all_start_at_once": ["1 2 3 4 . . ."] * 4,
        "grid_upside_down": [". . . 1 2 3 4", ". . 1 2 3 4 .", ". 1 2 3 4 . .", "1 2 3 4 . . ."],
        "grid_turned": ["1 . . .", "2 1 . .", "3 2 1 .", "4 3 2 1", ". 4 3 2", ". . 4 3", ". . . 4"],
        "grid_size": ["1 2 3 4", "1 2 3 4"],
        "not_there_yet": ["1 2 3 4 . . .", "2 1 3 4 . . .", ". . 1 2 3 4 .", ". . . 1 2 3 4"],
        "could_work": ["1 2 3 4 . . .", ". . 1 2 3 4 .", ". . . 1 2 3 4", ". . . . 1 2 3"],
        "piece_twice": ["1 1 2 3 4 . .", ". 1 2 3 4 . .", ". . 1 2 3 4 .", ". . . 1 2 3 4"],
        "no_such_piece": ["1 2 3 4 5 . .", ". 1 2 3 4 5 .", ". . 1 2 3 4 5", ". . . 1 2 3 4"],
        "piece_out_of_turn": ["4 3 2 1 . . .", ". 4 3 2 1 . .", ". . 4 3 2 1 .", ". . . 4 3 2 1"],
    },
    "predict_bubble": {
        "zeros": [0, 0, 0, 0],
        "busy_not_idle": [25, 57, 73, 84],
        "shares_not_percent": [0.75, 0.43, 0.27, 0.16],
        "idle_by_work": [300, 75, 37.5, 18.75],
        "bubble_stays": [75, 75, 75, 75],
        "bubble_by_pieces": [75, 18.75, 9.375, 4.6875],
        "numbers_differ": [75, 43, 30, 16],
        "not_a_number": ["?", 43, 27, 16],
    },
    "card_times": {
        "zeros": [(0, 0)] * 3,
        "first_card_done": [(36, 36), (12, 20), (3, 14)],
        "no_overlap": [(24, 36), (8, 36), (2, 36)],
        "only_one_person": [(24, 12), (8, 12), (2, 12)],
        "one_card_too_early": [(23, 35), (7, 19), (1, 13)],
        "pairs_swapped": [(36, 24), (20, 8), (14, 2)],
        "numbers_differ": [(24, 36), (8, 20), (2, 15)],
        "wrong_count": [(24, 36), (8, 20)],
    },
    "balance_stages": {
        "equal_counts": [3, 3, 3, 3],
        "loads_not_counts": [6, 6, 8, 8],
        "layers_missing": [4, 4, 2, 1],
        "stage_without_layers": [6, 4, 2, 0],
        "stage_too_heavy": [2, 2, 4, 4],
        "not_whole": [4.5, 3.5, 2, 2],
        "wrong_count": [8, 4],
    },
    "batch_norm": {
        "all_letters": "ABCDEF",
        "every_normalisation": "BCDEF",
        "frozen_counted": "CEF",
        "letter_missing": "C",
        "letters_inverted": "ABDE",
        "letter_too_many": "BCF",
        "no_letter": [],
        "no_such_letter": "CFG",
    },
    "three_cells": {
        "lesson_rule_played": "1 2 3* 4 5 6* 7 8 9 7* 8 4* 5 1* 2",
        "third_cell_unused": "1 2 3* 4 5 6* 7 8 9 7 8 7 4 5 4 1 2 1",
        "nothing_kept": " ".join(str(step) for last in range(9, 0, -1) for step in range(1, last + 1)),
        "more_than_needed": "1 2 3* 4 5 6* 7* 8 9 8 4 5 4 1 2 1",
        "no_cell_free": "1* 2* 3* 4* 5 6 7 8 9",
        "step_before_lost": "1 2 3 4 5 6 7 8 9 8",
        "questions_left": "1 2 3* 4 5 6* 7* 8 9",
        "no_such_step": "1 2 3* 4 5 6* 7* 8 9 10",
        "step_not_needed": "1 2 3* 4 5 6* 7* 8 9 8 8",
        "unreadable_move": "one two",
        "moves_left_over": "1 2 3* 4 5 6* 7* 8 9 8 4* 5 1* 2 1",
    },
}  # fmt: skip


# -- numbers as functions

RIGHT["slot"] = [lambda k, m: (k - 1) + m]
WRONG["slot"] = {
    "zeros": lambda k, m: 0,
    "slot_one_late": lambda k, m: k + m,
    "slot_one_early": lambda k, m: k + m - 2,
    "slot_product": lambda k, m: k * m,
    "slot_only_piece": lambda k, m: m,
    "slot_only_gpu": lambda k, m: k,
    "slot_relay": lambda k, m: 4 * (k - 1) + m,
    "only_one_case": lambda k, m: 1,
    "not_a_function": 7,
    "not_a_number": lambda k, m: "seven",
}

RIGHT["finish_time"] = [lambda times, M: sum(times) - max(times) + M * max(times)]
WRONG["finish_time"] = {
    "zeros": lambda times, M: 0,
    "finish_relay": lambda times, M: M * sum(times),
    "finish_no_fill": lambda times, M: M * max(times),
    "finish_all_slowest": lambda times, M: (M + len(times) - 1) * max(times),
    "finish_first_piece": lambda times, M: sum(times),
    "finish_last_gpu": lambda times, M: sum(times) + (M - 1) * times[-1],
    "finish_mean": lambda times, M: sum(times) * (1 + (M - 1) / len(times)),
    "finish_one_too_many": lambda times, M: sum(times) + M * max(times),
    "only_one_case": lambda times, M: len(times) + M - 1,
    "numbers_differ": lambda times, M: -1,
}


def brute_force(K, alpha, beta):
    return min(range(1, 60), key=lambda m: (m + K - 1) * (alpha + beta / m))


RIGHT["best_pieces"] = [brute_force]
WRONG["best_pieces"] = {
    "root_forgotten": lambda K, alpha, beta: round(beta * (K - 1) / alpha),
    "gpus_forgotten": lambda K, alpha, beta: max(1, round((beta / alpha) ** 0.5)),
    "upside_down": lambda K, alpha, beta: max(1, round((alpha * (K - 1) / beta) ** 0.5)),
    "always_four_k": lambda K, alpha, beta: 4 * K,
    "always_one": lambda K, alpha, beta: 1,
    "as_many_as_possible": lambda K, alpha, beta: 10**6,
    "no_pieces": lambda K, alpha, beta: int((beta * (K - 1) / alpha) ** 0.5),
    "not_whole": lambda K, alpha, beta: (beta * (K - 1) / alpha) ** 0.5,
    "not_the_best": lambda K, alpha, beta: 12,
}  # fmt: skip


# -- orders


def tuples(K, M):
    forward = [[f"{s}F{m}" for m in range(M)] for s in range(K)]
    return tuple(tuple(lane + [op.replace("F", "B") for op in lane[::-1]]) for lane in forward)


def text(K, M, ops):
    return [" ".join(f"{s}{op}" for op in ops(M)) for s in range(K)]


def hard_coded(K, M):
    lane = [f"F{m}" for m in range(4 if K == 4 else 2)]
    back = [op.replace("F", "B") for op in reversed(lane)]
    return text(min(K, 4), M, lambda M: lane + back)


RIGHT["gpipe_order"] = [plan.gpipe, tuples, lambda K, M: " | ".join(map(" ".join, tuples(K, M)))]
WRONG["gpipe_order"] = {
    "backwards_in_same_order": lambda K, M: text(K, M, lambda M: [f"{k}{m}" for k in "FB" for m in range(M)]),
    "forwards_only": lambda K, M: text(K, M, lambda M: [f"F{m}" for m in range(M)]),
    "piece_by_piece": lambda K, M: text(K, M, lambda M: [f"{k}{m}" for m in range(M) for k in "FB"]),
    "ops_from_one": lambda K, M: [[f"{op.stage + 1}{op.kind}{op.micro_batch + 1}" for op in lane] for lane in plan.gpipe(K, M).lanes],
    "everybody_stage_0": lambda K, M: [str(plan.gpipe(K, M).lanes[0])] * K,
    "one_f_one_b_given": plan.one_f_one_b,
    "only_one_case": hard_coded,
    "cannot_run": lambda K, M: text(K, M, lambda M: [f"{k}{m}" for k in "BF" for m in range(M)]),
    "another_order": lambda K, M: text(K, M, lambda M: [f"{k}{m}" for k in "FB" for m in reversed(range(M))]),
    "unreadable_lanes": lambda K, M: ["first forward, then back"] * K,
    "schedule_size": lambda K, M: plan.gpipe(K, M + 1),
}  # fmt: skip


def eager(K, M):
    """Up to one more in flight than 1F1B: still less than GPipe, and as quick."""
    lanes = []
    for s in range(K):
        ahead = min(M - 1, K - s + (s < K - 1))
        ops = [f"{s}F{m}" for m in range(ahead)]
        for m in range(M):
            ops += [f"{s}B{m}"] + ([f"{s}F{m + ahead}"] if m + ahead < M else [])
        lanes.append(" ".join(ops))
    return lanes


def two_ahead(K, M):
    """Two pieces ahead on every GPU: too few to keep those behind busy."""
    lanes = []
    for s in range(K):
        ahead = min(M, 2 if s < K - 1 else 1)
        ops = [f"{s}F{m}" for m in range(ahead)]
        for m in range(M):
            ops += [f"{s}B{m}"] + ([f"{s}F{m + ahead}"] if m + ahead < M else [])
        lanes.append(ops)
    return lanes


def even_then_odd(M):
    """All forwards first, as GPipe; only the backwards in another order."""
    return [f"F{m}" for m in range(M)] + [f"B{m}" for m in sorted(range(M), key=lambda m: m % 2)]


RIGHT["beat_gpipe"] = [plan.one_f_one_b, eager]
WRONG["beat_gpipe"] = {
    "still_gpipe": plan.gpipe,
    "piece_by_piece": lambda K, M: text(K, M, lambda M: [f"{k}{m}" for m in range(M) for k in "FB"]),
    "slower_than_gpipe": two_ahead,
    "keeps_as_much": lambda K, M: text(K, M, even_then_odd),
    "recompute_is_slower": lambda K, M: plan.one_f_one_b(K, M, "always"),
    "schedule_size": lambda K, M: plan.one_f_one_b(K, 1),
    "cannot_run": lambda K, M: ["0F0"] * K,
    "unreadable_lanes": lambda K, M: 3 * ["?"],
    "not_a_list": lambda K, M: 3,
}  # fmt: skip


# -- gradients


def by_autograd(model, loss, pieces):
    parameters = list(model.parameters())
    total = sum(len(target) for _, target in pieces)
    for batch, target in reversed(pieces):
        found = torch.autograd.grad(loss(model(batch), target), parameters)
        for parameter, gradient in zip(parameters, found, strict=True):
            before = 0 if parameter.grad is None else parameter.grad
            parameter.grad = before + gradient * len(target) / total


def each(weigh, chosen=slice(None), clear=False):
    def accumulate(model, loss, pieces):
        total = sum(len(target) for _, target in pieces)
        for batch, target in pieces[chosen]:
            if clear:
                model.zero_grad()
            (weigh(len(target), total, len(pieces)) * loss(model(batch), target)).backward()

    return accumulate


def zeros(model, loss, pieces):
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)


def steps(model, loss, pieces):
    each(lambda n, total, count: n / total)(model, loss, pieces)
    torch.optim.SGD(model.parameters(), lr=0.1).step()


def joined(model, loss, pieces):
    batch, target = (torch.cat(parts) for parts in zip(*pieces, strict=True))
    loss(model(batch), target).backward()


def forward_only(model, loss, pieces):
    for batch, target in pieces:
        loss(model(batch), target)


RIGHT["scale_gradients"] = [by_autograd]


def layer_by_layer(model, loss, pieces):
    batch, target = (torch.cat(parts) for parts in zip(*pieces, strict=True))
    for layer in model:
        batch = layer(batch)
    loss(batch, target).backward()


WRONG["scale_gradients"] = {
    "no_gradients": zeros,
    "m_times_too_large": each(lambda n, total, count: 1),
    "plain_mean": each(lambda n, total, count: 1 / count),
    "first_only": each(lambda n, total, count: 1, slice(1)),
    "last_only": each(lambda n, total, count: 1, clear=True),
    "n_times_too_large": each(lambda n, total, count: n),
    "m_times_too_small": each(lambda n, total, count: n / total / count),
    "wrong_sign": each(lambda n, total, count: -n / total),
    "weights_changed": steps,
    "pieces_joined": joined,
    "gradients_differ": each(lambda n, total, count: 0.3),
    "raised": lambda model, loss, pieces: model(pieces),
}
MORE_WRONG = [  # (task, answer, misconception): another way to the same one
    ("best_pieces", lambda *numbers: round(1.6 * brute_force(*numbers)), "not_the_best"),
    ("scale_gradients", forward_only, "no_gradients"),
    ("scale_gradients", each(lambda n, total, count: 1 / count, slice(1)), "first_only"),
    ("scale_gradients", each(lambda n, total, count: n / total, clear=True), "last_only"),
]


# -- recompute


def in_parts(size, reentrant=False):
    def forward(layers, x):
        for first in range(0, len(layers), size):
            x = checkpoint(nn.Sequential(*layers[first : first + size]), x, use_reentrant=reentrant)
        return x

    return forward


class Redone(torch.autograd.Function):
    """Recompute written by hand: nothing is kept but what enters."""

    @staticmethod
    def forward(ctx, part, values, *parameters):
        ctx.part = part
        ctx.save_for_backward(values)
        with torch.no_grad():
            return part(values)

    @staticmethod
    def backward(ctx, gradient):
        (values,) = ctx.saved_tensors
        with torch.enable_grad():
            again = values.detach().requires_grad_()
            result = ctx.part(again)
        return None, *torch.autograd.grad(result, [again, *ctx.part.parameters()], gradient)


def by_hand(layers, x):
    for first in (0, 3, 6):
        part = nn.Sequential(*layers[first : first + 3])
        x = Redone.apply(part, x, *part.parameters())
    return x


def ordinary(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def without_grad(layers, x):
    with torch.no_grad():
        return ordinary(layers, x)


def past_the_layers(layers, x):
    for layer in layers:
        x = torch.tanh(layer.linear(x))
    return x


def kept_in_copies(layers, x):
    with torch.autograd.graph.saved_tensors_hooks(torch.clone, lambda kept: kept):
        return ordinary(layers, x)


def desk_cleared(layers, x):
    for layer in layers:
        layer.desk.sheets.clear()
        x = layer(x)
    return x


def twice_over(layers, x):
    ordinary(layers, x)
    return in_parts(3)(layers, x)


RIGHT["recompute"] = [by_hand, in_parts(5), in_parts(3, reentrant=True)]
WRONG["recompute"] = {
    "no_recompute": ordinary,
    "no_way_back": without_grad,
    "all_at_once_again": in_parts(9),
    "recomputed_too_often": twice_over,
    "answer_differs": lambda layers, x: in_parts(3)(layers[1:], x),
    "answer_shape": lambda layers, x: torch.zeros(3),
    "gradients_differ": lambda layers, x: in_parts(3)(layers, x.detach() + 0 * x),
    "raised": lambda layers, x: layers[9](x),
}
MORE_WRONG += [
    ("recompute", in_parts(1), "no_recompute"),
    ("recompute", lambda layers, x: torch.zeros_like(x), "answer_differs"),
    ("recompute", lambda layers, x: ordinary(layers, x) * float("nan"), "answer_differs"),
    ("recompute", past_the_layers, "no_recompute"),
    ("recompute", kept_in_copies, "no_recompute"),
    ("recompute", desk_cleared, "no_recompute"),
]


# -- right by luck, or nearly

MORE_WRONG += [
    ("cut_layers", [[1, 1, 3, *range(4, 11)], (11, 20), (21, 30), (31, 40)], "not_consecutive"),
    ("cut_layers", [[1, 2, 2.5, *range(4, 11)], (11, 20), (21, 30), (31, 40)], "not_consecutive"),
    ("count_cells", {64, 16, 48}, "not_a_list"),  # a set has no order
    ("count_cells", [64, 16, float("nan")], "not_a_number"),
    ("balance_stages", [float("inf"), 3, 2, 2], "not_a_number"),
    ("fill_grid", [[float("nan")] * 7] * 4, "not_a_number"),
    ("fill_grid", "1e999 " * 7, "not_a_number"),
    ("fill_grid", [[1, 2, 3, 4, None, None, None]] * 4, "unanswered"),
    ("best_pieces", lambda K, alpha, beta: float("nan"), "not_a_number"),
    ("best_pieces", lambda K, alpha, beta: float("inf"), "not_a_number"),
    ("slot", lambda k, m: (k + m - 1 for _ in "x"), "not_a_number"),
    ("slot", lambda k, m: min(k + m - 1, 8), "only_one_case"),
    ("finish_time", lambda times, M: times.clear() or 10, "numbers_differ"),
    ("gpipe_order", lambda K, M: plan.gpipe(2, M), "schedule_size"),
    ("scale_gradients", layer_by_layer, "pieces_joined"),
    ("scale_gradients", each(lambda n, total, count: float("nan")), "gradients_differ"),
]
