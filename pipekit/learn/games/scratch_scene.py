"""What the scratch-paper game shows and says: pure functions of where it is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from pipekit.learn.games.scratch import Move, Scratch, new_game
from pipekit.learn.games.scratch_best import best_game
from pipekit.learn.games.scratch_played import Played, recognise
from pipekit.learn.games.table import NOTHING, Item, Line, Scene, painted
from pipekit.plan import Kind
from pipekit.show import say

HEAD, ROOM, GAP = 110, 1160, 2  # pixels
CHAIN_ROW, TOUCH = 32, 46  # pixels
FORWARD = painted(Kind.FORWARD)
KEPT: Item = {"fill": "#D9F0E6", "ink": "#00382A"}
ASKED: Item = {"fill": "#FFE9B8", "ink": "#3D2B00"}
UNKNOWN: Item = {"fill": "#ECECEC", "ink": "#4A4A4A"}


@dataclass(frozen=True)
class Paper:
    """Everything that a hand can change: the game, what was guessed for it, and whether the computer plays too.

    guess: how many steps it will take; None where nothing was guessed. asking: the question for the guess is open.
    """

    game: Scratch
    guess: int | None = None
    asking: bool = True
    race: bool = False


def value_of(value: Fraction) -> str:
    """A value as it is written: whole, or a fraction.

    >>> value_of(Fraction(9)), value_of(Fraction(5, 3))
    ('9', '5/3')
    """
    return str(value)


# -- the chain


def chain(paper: Paper, lang: str) -> Scene:
    """The steps, what is known of each now, and how often it was computed; in a race what the computer keeps."""
    game = paper.game
    counts = Counter(game.computed)
    heads = ["", say("scratch_value", lang), say("scratch_times", lang)]
    heads += [say("scratch_computer", lang)] if paper.race else []
    items: list[Item] = [
        {"key": f"head:{row}", "kind": "label", "row": row, "column": 0, "text": text}
        for row, text in enumerate(heads)
    ]
    for step in range(game.num_steps + 1):
        items += [_step(game, step, lang), _value(game, step, lang)]
        items += [_count(counts[step], step, lang)] if step else []
    items += _computer_row(game, lang) if paper.race else []
    width = min(110, (ROOM - HEAD) // (game.num_steps + 1) - GAP)
    return {
        "name": say("scratch_name", lang),
        "columns": [HEAD, *([width] * (game.num_steps + 1))],
        "rows": len(heads),
        "row_height": CHAIN_ROW,
        "items": items,
        "said": NOTHING,
    }


def step_name(step: int, lang: str) -> str:
    """What a step is called; step 0 is the start."""
    return say("scratch_step", lang, step=step) if step else say("scratch_start", lang)


def _step(game: Scratch, step: int, lang: str) -> Item:
    sum_ = str(game.chain.steps[step - 1]) if step else ""
    text = f"{step}: {sum_}" if step else say("scratch_start", lang)
    return {
        "key": f"step:{step}", "kind": "label", "row": 0, "column": step + 1, "text": text, "align": "center",
        "name": f"{step_name(step, lang)} {sum_}".strip(),
    }  # fmt: skip


def _value(game: Scratch, step: int, lang: str) -> Item:
    """What is known of a step: in the head, printed, kept, asked for, or nothing."""
    name, value = step_name(step, lang), value_of(game.chain.values[step])
    item: Item = {"key": f"value:{step}", "kind": "cell", "row": 1, "column": step + 1}
    if step == game.head:
        said = say("scratch_value_now", lang, step=name, value=value)
        return {**item, "text": value, "name": said, "mark": "now", **FORWARD}
    if step == 0:
        return {**item, "text": value, "name": f"{name} {value}", **KEPT}
    if step == game.asked and step < game.num_steps:
        return {**item, "text": "?", "name": say("scratch_value_asked", lang, step=name), **ASKED}
    if step in game.cells and step <= game.asked:
        cell = game.cells.index(step) + 1
        said = say("scratch_value_kept", lang, step=name, cell=cell)
        return {**item, "text": say("scratch_in_cell", lang, cell=cell), "name": said, **KEPT}
    return {**item, "text": "·", "name": say("scratch_value_unknown", lang, step=name), **UNKNOWN}


def _count(count: int, step: int, lang: str) -> Item:
    said = say("scratch_counted", lang, step=step_name(step, lang), count=count)
    return {
        "key": f"count:{step}", "kind": "label", "row": 2, "column": step + 1, "align": "center",
        "text": str(count) if count else "-", "name": said,
    }  # fmt: skip


def _computer_row(game: Scratch, lang: str) -> list[Item]:
    kept = computer(game).cells
    return [
        {"key": f"computer:{step}", "kind": "cell", "row": 3, "column": step + 1, "text": str(step),
         "name": say("scratch_computer_keeps", lang, step=step_name(step, lang)), **KEPT}
        if step in kept and step <= game.asked
        else {"key": f"computer:{step}", "kind": "cell", "row": 3, "column": step + 1, "text": "", **UNKNOWN}
        for step in range(1, game.num_steps + 1)
    ]  # fmt: skip


def computer(game: Scratch) -> Scratch:
    """The best game as far as the player is: at the same question; on the first way, after as many steps."""
    first_way, steps = game.asked == game.num_steps, min(game.evaluations, game.num_steps - 1)
    at = new_game(len(game.cells), game.chain)
    for move in best_game(game).log:
        if at.asked == game.asked and (at.evaluations == steps or not first_way):
            break
        at = at.play(move)
    return at


# -- the head, the cells, and what can be done


def desk(paper: Paper, marked: Move | None, lang: str) -> Scene:
    """What can be pressed: compute, begin again, and the cells; a move that was hinted at is marked."""
    game, cells = paper.game, range(len(paper.game.cells))
    hinted = None if marked is None else _key_of(marked)
    items = [_compute(game, lang), _restart(game, lang), _tally(paper, lang)]
    for cell in cells:
        items += [_cell(game, cell, lang), _wipe(game, cell, lang)]
    for item in items:
        if item["key"] == hinted:
            item["mark"] = "hint"
    return {
        "name": say("scratch_cells_name", lang),
        "columns": [(ROOM - 8 * GAP) // 9] * 9,
        "rows": 3 if cells else 1,
        "row_height": TOUCH,
        "items": items,
        "said": NOTHING,
    }


def _key_of(move: Move) -> str:
    if move.kind in ("keep", "take"):
        return f"cell:{move.cell}"
    return move.kind if move.cell is None else f"{move.kind}:{move.cell}"


def _compute(game: Scratch, lang: str) -> Item:
    going = game.head is not None and not game.won
    step = "" if game.head is None else str(game.chain.steps[game.head]) if going else ""
    text = say("scratch_compute", lang, step=step) if step else say("scratch_compute_none", lang)
    return {
        "key": "compute", "kind": "button", "row": 0, "column": 0, "colspan": 2, "text": text, "disabled": not going,
        **(FORWARD if going else {}),
    }  # fmt: skip


def _restart(game: Scratch, lang: str) -> Item:
    text = say("scratch_restart", lang, start=game.chain.start)
    return {
        "key": "restart", "kind": "button", "row": 0, "column": 2, "colspan": 2, "text": text,
        "disabled": game.won or game.head == 0,
    }  # fmt: skip


def _tally(paper: Paper, lang: str) -> Item:
    count = paper.game.evaluations
    if paper.race:
        text = say("scratch_count_race", lang, count=count, computer=computer(paper.game).evaluations)
    else:
        text = say("scratch_count", lang, count=count)
    return {"key": "tally", "kind": "label", "row": 0, "column": 4, "colspan": 5, "text": text}


def _cell(game: Scratch, cell: int, lang: str) -> Item:
    step, number = game.cells[cell], cell + 1
    item: Item = {"key": f"cell:{cell}", "kind": "button", "row": 1, "column": cell, "disabled": game.won}
    if step is None:
        text = say("scratch_cell_empty", lang, cell=number)
        return {**item, "text": text}
    value = value_of(game.chain.values[step])
    return {
        **item,
        "text": say("scratch_cell_holds", lang, step=step, value=value),
        "name": say("scratch_cell_name", lang, cell=number, step=step, value=value),
        **(KEPT if step <= game.asked else UNKNOWN),
    }


def _wipe(game: Scratch, cell: int, lang: str) -> Item:
    return {
        "key": f"wipe:{cell}", "kind": "button", "row": 2, "column": cell, "text": say("scratch_wipe", lang),
        "name": say("scratch_wipe_name", lang, cell=cell + 1), "disabled": game.won or game.cells[cell] is None,
    }  # fmt: skip


# -- what is said


def remark(paper: Paper, lang: str) -> Line:
    """Where the game stands; at its end which way was played."""
    game = paper.game
    if game.won:
        return Line(text=_ended(paper, lang), tone="good")
    if game.asked == game.num_steps:
        key = "scratch_first_way" if game.cells else "scratch_first_way_no_cell"
        last = game.num_steps
        return Line(text=say(key, lang, last=last, before=last - 1), tone="plain")
    if game.head is None:
        value = value_of(game.chain.values[game.asked + 1])
        text = say("scratch_where", lang, answered=game.asked + 1, value=value, asked=game.asked)
        return Line(text=text, tone="plain")
    value = value_of(game.chain.values[game.head])
    key = "scratch_on" if game.head else "scratch_on_start"
    return Line(text=say(key, lang, asked=game.asked, head=game.head, value=value), tone="plain")


def hint_words(move: Move, lang: str) -> Line:
    """A hinted move as a sentence."""
    cell = 0 if move.cell is None else move.cell + 1
    return Line(text=say(f"scratch_hint_{move.kind}", lang, step=move.step, cell=cell), tone="plain")


def _ended(paper: Paper, lang: str) -> str:
    played = recognise(paper.game)
    said = [played_words(played, paper.game, lang)]
    if paper.guess is not None:
        said.append(say("scratch_you_guessed", lang, guess=paper.guess))
    if played.name == "lesson" and played.evaluations == 15:
        said.append(say("scratch_training", lang))
    return say("game_then", lang).join(said)


def played_words(played: Played, game: Scratch, lang: str) -> str:
    """Which way was played, and why it takes as many steps as it does."""
    step, times = Counter(game.computed).most_common(1)[0]
    rest = (
        say("scratch_redone", lang, later=_listed(played.later, lang))
        if played.later
        else say("scratch_redone_none", lang)
    )
    other = "_other" if played.name == "no_third" and (game.num_steps, played.segments) != (9, 3) else ""
    return say(
        f"scratch_played_{played.name}{other}", lang, count=played.evaluations, steps=game.num_steps,
        cells=len(game.cells), used=played.most_cells, optimum=played.optimum, segments=played.segments,
        first=_listed(played.first, lang), rest=rest, step=step, times=times,
        redone=game.num_steps // max(played.segments, 1) - 1,
    )  # fmt: skip


def _listed(steps: tuple[int, ...], lang: str) -> str:
    key = "scratch_one_step" if len(steps) == 1 else "scratch_steps"
    return say(key, lang, steps=say("scratch_and", lang).join(map(str, steps)))
