"""How to play the scratch-paper game with the fewest computed steps: the whole of it, and from any game so far."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

from pipekit.learn.games.scratch import Move, Scratch, new_game, optimum


def _keep_at(num_steps: int, num_cells: int) -> int | None:
    """The first step to keep, or None: of the best ones the one that cuts most evenly, as a class would."""
    best = optimum(num_steps, num_cells)
    good = [
        k
        for k in range(1, num_steps if num_cells else 1)
        if k + optimum(num_steps - k, num_cells - 1) + optimum(k - 1, num_cells) == best
    ]
    return min(good, key=lambda k: abs(k * num_cells - num_steps), default=None)


def best_game(game: Scratch) -> Scratch:
    """The whole game played with the fewest computed steps, on the same chain with as many cells; `log` tells how."""
    fresh = new_game(len(game.cells), game.chain)
    return _play(fresh, base=0, num_steps=fresh.num_steps, free=tuple(range(len(fresh.cells))))


def _play(game: Scratch, base: int, num_steps: int, free: tuple[int, ...]) -> Scratch:
    """Answer the `num_steps` steps above `base`, which is printed or kept; the cells in `free` may be used."""
    while num_steps:
        game = _start_at(game, base)
        k = _keep_at(num_steps, len(free))
        for _ in range(num_steps if k is None else k):
            game = game.compute()
        if k is None:
            num_steps -= 1
            continue
        game = game.keep(free[0])
        game = _play(game, base + k, num_steps - k, free[1:]).take(free[0])
        num_steps = k - 1
    return game


def _start_at(game: Scratch, base: int) -> Scratch:
    if game.head == base:
        return game
    return game.take(game.cells.index(base)) if base else game.restart()


# -- from any game so far


def remaining(game: Scratch) -> int:
    """The fewest steps that are still to be computed."""
    kept = frozenset(step for step in game.cells if step is not None and step <= game.asked)
    again = _remaining(game.asked, kept, len(game.cells))
    if game.head is None:
        return again
    written = _best_kept(game.asked, kept | {game.head} - {0}, len(game.cells))  # and then on from elsewhere
    return min(again, written, _from(game.asked, game.head, kept, len(game.cells)))


@lru_cache(maxsize=1 << 16)
def _remaining(asked: int, kept: frozenset[int], num_cells: int) -> int:
    """The same with nothing in the head: it goes on from the nearest kept step, or from the start."""
    if asked == 0:
        return 0
    if asked in kept:
        return _remaining(asked - 1, kept - {asked}, num_cells)
    return _from(asked, max(kept, default=0), kept, num_cells)


def _from(asked: int, start: int, kept: frozenset[int], num_cells: int) -> int:
    """Compute from `start` to the asked step, and keep what pays: of all that is known then, as much as there is room for."""
    known = kept - {asked} | set(range(max(start, 1), asked))
    return (asked - start) + _best_kept(asked - 1, known, num_cells)


def _best_kept(asked: int, known: frozenset[int], num_cells: int) -> int:
    """The same with nothing in the head, of what is known as much kept as there is room for."""
    room = min(num_cells, len(known))
    return min(
        _remaining(asked, frozenset(chosen), num_cells) for chosen in combinations(sorted(known), room)
    )


def hint(game: Scratch) -> Move:
    """A move that keeps the rest as short as it can be; none that isn't needed."""
    fewest = remaining(game)
    for move in _moves(game):
        after = game.play(move)
        if remaining(after) + (move.kind == "compute") == fewest:
            return move
    raise AssertionError("some move leads to the shortest rest")


def _moves(game: Scratch) -> list[Move]:
    """The legal moves, those that go on first."""
    cells = range(len(game.cells))
    moves = [] if game.head is None else [Move("compute", game.head + 1)]
    usable = [cell for cell in cells if (step := game.cells[cell]) is not None and step <= game.asked]
    if game.head and game.head not in game.cells:
        moves += [Move("keep", game.head, cell) for cell in cells if cell not in usable]
    usable.sort(key=lambda cell: game.cells[cell] or 0, reverse=True)
    moves += [Move("take", game.cells[cell] or 0, cell) for cell in usable if game.cells[cell] != game.head]
    moves += [] if game.head == 0 else [Move("restart")]
    return moves + [Move("wipe", game.cells[cell] or 0, cell) for cell in usable]
