"""What the three ways of passing cards show and say: pure functions of where the card game is."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import pairwise

from pipekit.learn.games.cards import NUM_CARDS, timetable
from pipekit.learn.games.cards_state import Cards
from pipekit.learn.games.table import NOTHING, Item, Line, Scene, painted
from pipekit.plan import Kind, Timeline
from pipekit.show import number, say

ROOM, TALLEST = 300, 30  # pixels: all rows of the three ways together; a row's most
CAPTION, NAME, AXIS, RESULT = 190, 30, 626, 300  # pixels: the timetable, and the columns beside it
GAP, NARROWEST, DIGIT = 2, 4, 13  # pixels: between columns; a column's least, with its gap; a digit
NAMES = "ABCDE"
BUSY = painted(Kind.FORWARD)
FREE: Item = {"fill": "#ECECEC", "ink": "#4A4A4A"}


def seconds(value: float) -> str:
    """A time as a class reads it.

    >>> seconds(36.0), seconds(7.25), seconds(0.4999)
    ('36', '7.3', '0.5')
    """
    return f"{value + 1e-9:.1f}".removesuffix(".0")


def scene(cards: Cards, lang: str) -> Scene:
    """A block of rows for each way, all on one time axis; and what the timekeeper notes. Nothing before the guess."""
    people, hidden = cards.num_people, cards.guesses is None
    timelines = [timetable(cards.seconds, pieces, cards.handover) for pieces in cards.ways]
    edges = [0, AXIS] if hidden else _edges(timelines)
    items: list[Item] = []
    for way, (pieces, timeline) in enumerate(zip(cards.ways, timelines, strict=True)):
        items += _way_words(cards, way, pieces, len(edges) + 1, lang)
        items += _unknown(way, people) if hidden else _rows(timeline, timelines, way, edges, lang)
    return {
        "name": say("cards_ways_name", lang),
        "columns": [CAPTION, NAME, *(after - before - GAP for before, after in pairwise(edges)), RESULT],
        "rows": len(cards.ways) * people,
        "row_height": min(TALLEST, ROOM // (len(cards.ways) * people)),
        "items": items,
        "said": NOTHING,
    }


def _pixel(when: float, timelines: list[Timeline]) -> int:
    return round(when * AXIS / max(each.end for each in timelines))


def _edges(timelines: list[Timeline]) -> list[int]:
    """Pixels at which something begins or ends, none nearer than a column can be narrow."""
    found = [0]
    whens = {when for each in timelines for when in (*each.spans.starts.tolist(), *each.spans.ends.tolist())}
    for when in sorted(whens):
        if (at := _pixel(when, timelines)) >= found[-1] + NARROWEST:
            found.append(at)
    return found


def _way_words(cards: Cards, way: int, pieces: int, last: int, lang: str) -> list[Item]:
    row, people = way * cards.num_people, range(cards.num_people)
    items: list[Item] = [
        {"key": f"way:{way}", "kind": "label", "row": row, "column": 0, "text": way_name(way, pieces, lang)},
        {"key": f"cut:{way}", "kind": "label", "row": row + 1, "column": 0, "text": way_cut(pieces, lang)},
    ]
    items += [
        {"key": f"name:{way}:{person}", "kind": "label", "row": row + person, "column": 1, "text": NAMES[person]}
        for person in people
    ]  # fmt: skip
    items += [
        {"key": f"result:{way}:{place}", "kind": "label", "row": row + place, "column": last, "text": text}
        for place, text in enumerate(_results(cards, way, lang))
    ]
    return items


def way_name(way: int, pieces: int, lang: str) -> str:
    """What a way is called."""
    return say("cards_way", lang, number=number(way)) + say(_way_key(pieces), lang, pieces=pieces)


def way_cut(pieces: int, lang: str) -> str:
    """How many cards a piece has."""
    each, more = divmod(NUM_CARDS, pieces)
    return say("cards_each_uneven" if more else "cards_each", lang, count=each, more=each + 1)


def _way_key(pieces: int) -> str:
    return {1: "cards_at_once", NUM_CARDS: "cards_one_by_one"}.get(pieces, "cards_pieces")


def _results(cards: Cards, way: int, lang: str) -> list[str]:
    """Two or three lines beside a way: first, all done (and the guess), idle."""
    if cards.guesses is None:
        return ["?"]
    found, guess = cards.finishes[way], cards.guesses[way]
    first = say("cards_first", lang, last=NAMES[cards.num_people - 1], seconds=seconds(found.first))
    done = say("cards_done", lang, seconds=seconds(found.done))
    if guess is not None:
        done += say("cards_you_guessed", lang, seconds=seconds(guess))
    idle = say("cards_idle", lang, percent=f"{100 * found.idle:.1f}")
    return [first, done, idle] if cards.num_people > 2 else [first, done]


def _unknown(way: int, people: int) -> list[Item]:
    return [
        {"key": f"hidden:{way}:{person}", "kind": "cell", "row": way * people + person, "column": 2, "text": "?", **FREE}
        for person in range(people)
    ]  # fmt: skip


def _rows(timeline: Timeline, timelines: list[Timeline], way: int, edges: list[int], lang: str) -> list[Item]:
    """Each person's pieces where they are worked on, and grey between them until the end."""
    items: list[Item] = []
    for person in range(timeline.num_devices):
        at = 0.0
        spans = sorted((s for s in timeline.spans if s.device == person), key=lambda span: span.start)
        stretches: list[tuple[float, float, int | None]] = []
        for span in spans:
            stretches += [(at, span.start, None), (span.start, span.end, span.op.micro_batch)]
            at = span.end
        for start, end, piece in [*stretches, (at, timeline.end, None)]:
            row, columns = way * timeline.num_devices + person, []
            for when in (start, end):
                at_pixel = _pixel(when, timelines) + NARROWEST // 2
                columns.append(bisect_right(edges, at_pixel) - 1)
            if columns[0] < columns[1]:
                wide = edges[columns[1]] - edges[columns[0]]
                item = _stretch(person, start, end, piece, wide, lang)
                item["key"], item["row"] = f"span:{way}:{person}:{start:g}", row
                item["column"], item["colspan"] = 2 + columns[0], columns[1] - columns[0]
                items.append(item)
    return items


def _stretch(person: int, start: float, end: float, piece: int | None, wide: int, lang: str) -> Item:
    """Somebody's piece, or a rest: what is written there, if there is room, and what it is called."""
    text = "" if piece is None else str(number(piece))
    what = say("cards_rests", lang) if piece is None else say("cards_piece", lang, piece=text)
    name = say("cards_span", lang, person=NAMES[person], what=what, start=seconds(start), end=seconds(end))
    look = FREE if piece is None else BUSY
    return {"kind": "cell", "text": text if wide > DIGIT * len(text) else "", "name": name, **look}


def remark(cards: Cards, lang: str) -> Line:
    """What came out, and what its words mean."""
    if cards.guesses is None:
        return Line(text=say("cards_guess_first", lang), tone="plain")
    last = NAMES[cards.num_people - 1]
    slow, slowest = max(cards.seconds), cards.seconds.index(max(cards.seconds))
    if cards.seconds.count(slow) == 1:
        return Line(text=say("cards_slow", lang, person=NAMES[slowest], last=last), tone="plain")
    return Line(text=say("cards_what_first_means", lang, last=last), tone="plain")


def best_words(cards: Cards, lang: str) -> Line:
    """How many pieces are best, beside those that divide the cards."""
    divisors = [pieces for pieces in range(1, NUM_CARDS + 1) if NUM_CARDS % pieces == 0]
    done = [seconds(replace(cards, pieces=pieces).finishes[1].done) for pieces in divisors]
    best = say("cards_or", lang).join(map(str, cards.best))
    soonest = replace(cards, pieces=cards.best[0]).finishes[1].done
    key = "cards_best" if cards.handover else "cards_best_free"
    pairs = say("cards_comma", lang).join(
        say("cards_pair", lang, pieces=pieces, seconds=when) for pieces, when in zip(divisors, done, strict=True)
    )  # fmt: skip
    text = say(key, lang, best=best, seconds=seconds(soonest), pairs=pairs, handover=seconds(cards.handover))
    return Line(text=text, tone="good")
