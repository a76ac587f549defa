"""The cards as a panel: three ways of passing them on, a grid to fill in, and the groups' stopwatch times."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ipywidgets

from pipekit.learn.controlroom.knobs import Stepper, button, line, show_if
from pipekit.learn.controlroom.knobs import html as words_box
from pipekit.learn.games import cards_chart, cards_grid_scene, cards_groups_scene, cards_ways_scene
from pipekit.learn.games.cards import HANDOVER, NUM_CARDS, PEOPLE, SECONDS, WAYS
from pipekit.learn.games.cards_groups import CLOCKS
from pipekit.learn.games.cards_state import TABS, Cards
from pipekit.learn.games.cards_ways_scene import NAMES
from pipekit.learn.games.game import Game
from pipekit.learn.games.refused import Refused
from pipekit.learn.games.table import Line, Scene
from pipekit.learn.picture import Picture
from pipekit.show import number, say

STEP = 0.5  # seconds that one click changes
SCENES = {"ways": cards_ways_scene, "grid": cards_grid_scene, "groups": cards_groups_scene}


class CardsGame(Game[Cards]):
    """12 cards pass through two to five pairs of hands: all at once, in pieces, or one by one.

    Args:
        lang: `"zh"` or `"en"`; can be switched at any time.
        seconds: a card, one number a person. handover: seconds that each piece needs on top, with each person.
        tab: what is open at first: `"ways"`, `"grid"` or `"groups"`.

    From a cell: `game.guess("36", "20", "14")`, `game.decline()`, `game.set(handover=1)`, `game.put(1, 1, 0)` (person,
    slot, piece, all from 0; -1: idle), `game.note(0, "done", 3, "31")` (group, which time, of which pieces).
    """

    def __init__(
        self, lang: str = "zh", seconds: Sequence[float] = (1, 1, 1), handover: float = 0, tab: str = "ways"
    ) -> None:
        self.tab = ipywidgets.ToggleButtons(options=TABS, style={"button_width": "auto"})
        self.people, self.pieces = Stepper(*PEOPLE), Stepper(2, NUM_CARDS - 1)
        self.seconds_label, self.handover_label, self.question = (words_box() for _ in range(3))
        self.speeds = tuple(_number(*SECONDS, 86) for _ in range(PEOPLE[1]))
        self.handover = _number(*HANDOVER, 62)
        self.best_button, self.fill_button = button(), button()
        self.guess_fields = tuple(ipywidgets.Text(layout={"width": "110px"}) for _ in WAYS)
        self.guess_done, self.guess_none = button(), button()
        self.chart = Picture()
        knobs = (self.seconds_label, *self.speeds, self.handover_label, self.handover)
        self.settings = line(self.people, *knobs, self.pieces, self.best_button, self.fill_button)
        self.ask_line = line(self.question, *self.guess_fields, self.guess_done, self.guess_none)
        self.ask_line.add_class("pipekit-ask")
        self._following = False
        begin = replace(Cards(), seconds=tuple(map(float, seconds)), handover=float(handover), tab=tab)
        super().__init__(
            begin, "cards_title", lang, knobs=(self.tab,), lines=(self.settings, self.ask_line)
        )  # fmt: skip
        self.tables[0].layout.flex, self.tables[0].layout.min_width = "1 1 0", "0"
        self.children = (self.head, self.settings, self.ask_line, ipywidgets.HBox([*self.tables, self.chart]))
        self._listen()
        self._relabel()

    # -- moves

    def go(self, tab: str) -> None:
        """Open `"ways"`, `"grid"` or `"groups"`."""
        self.do(replace(self.state, tab=tab))

    def guess(self, *texts: str) -> None:
        """When all is done, guessed for each way, in seconds; `Refused` where one is no time."""
        self.do(self.state.guessed((*texts, "", "", "")[: len(WAYS)]))

    def decline(self) -> None:
        """Look without guessing."""
        self.do(self.state.declined())

    def set(
        self,
        seconds: Sequence[float] | None = None,
        handover: float | None = None,
        pieces: int | None = None,
    ) -> None:
        """Other speeds, another hand-over, other pieces of way 2."""
        given = {"handover": handover, "pieces": pieces}
        settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if seconds is not None:
            settings["seconds"] = tuple(map(float, seconds))
        self.do(self.state.with_settings(**settings))

    def restart(self) -> None:
        """Begin the part that is open again."""
        self.do(self.state.begun_again(self._begin))

    def show_best(self) -> None:
        """Way 2 with the best number of pieces, and what the others take."""
        cards = self.state
        if cards.guesses is None:
            raise Refused("cards_guess_first")
        best = cards.with_settings(pieces=cards.best[0]) if 1 < cards.best[0] < NUM_CARDS else cards
        self.do(best, lambda lang: cards_ways_scene.best_words(cards, lang))

    def put(self, person: int, slot: int, piece: int) -> None:
        """Fill a cell of the grid in; what is wrong stays there, with the reason."""
        self.do(self.state.put((person, slot), piece))

    def fill(self) -> None:
        """Have the next open cell of the grid filled in, with the reason."""
        self.do(self.state.filled())

    def note(self, group: int, what: str, pieces: int, text: str) -> None:
        """A group's stopwatch time (`"first"` or `"done"`) of the way with so many pieces; `Refused` if it can't be."""
        self.do(self.state.noted(group, (what, pieces), text))

    def hear(self, content: dict[str, Any]) -> None:
        """What a hand did on the table."""
        kind, *numbers = content["key"].split(":")
        if content["do"] == "drop":
            person, slot = map(int, content["on"].split(":")[1:])
            self.put(person, slot, int(numbers[0]))
        elif content["do"] == "type":
            group, place = map(int, numbers)
            self._type(group, place, content["text"])
        elif kind in ("group", "page"):
            self.do(self.state.looked_at(int(numbers[0])))
        else:
            raise Refused("grid_take_first")

    def _type(self, group: int, place: int, text: str) -> None:
        what, pieces = CLOCKS[place]
        try:
            self.note(group, what, pieces, text)
        except Refused:
            self.do(self.state.looked_at(group))
            raise

    # -- what it shows

    def scenes(self) -> Sequence[Scene]:
        """The part that is open."""
        return [SCENES[self.state.tab].scene(self.state, self.lang)]

    def remark(self) -> Line:
        """What it came to, or why a cell is right or wrong."""
        return SCENES[self.state.tab].remark(self.state, self.lang)

    def draw(self) -> None:
        """The table, the knobs as the game has them, and those that belong to the part that is open."""
        with self.lock:
            super().draw()
            self._follow()
            cards, tab = self.state, self.state.tab
            show_if(self.settings, tab != "groups")
            show_if(self.ask_line, tab == "ways" and cards.guesses is None)
            for widget in (self.seconds_label, self.handover_label, self.handover):
                show_if(widget, tab == "ways")
            show_if(self.best_button, tab == "ways" and cards.guesses is not None)
            for person, widget in enumerate(self.speeds):
                show_if(widget, tab == "ways" and person < cards.num_people)
            show_if(self.fill_button, tab == "grid")
            self.pieces.name(say("cards_grid_pieces" if tab == "grid" else "cards_middle", self.lang))
            show_if(self.chart, tab == "groups")
            if tab == "groups":
                chart = cards_chart.chart(cards.times, cards.group, cards.fitted, self.lang)
                named = say("fit_chart", self.lang, group=number(cards.group))
                self.chart.show(chart, f"{named}\n{self.remark()['text']}")

    def _follow(self) -> None:
        """The knobs as the game has them."""
        self._following = True
        cards = self.state
        self.tab.value = cards.tab
        people, pieces = cards.size
        self.people.value, self.pieces.value = people, pieces
        self.handover.value = cards.handover
        for widget, seconds in zip(self.speeds, cards.seconds, strict=False):
            widget.value = seconds
        self._following = False

    def label(self) -> None:
        """Name the knobs, the parts and the question."""
        lang = self.lang

        def words(key: str) -> str:
            return say(key, lang)

        chosen, self._following = self.tab.value, True
        self.tab.options = [(words(f"cards_tab_{tab}"), tab) for tab in TABS]
        self.tab.value, self._following = chosen, False
        self.tab.tooltip = words("cards_title")
        self.tab.tooltips = [words(f"cards_tab_{tab}") for tab in TABS]
        self.people.name(words("cards_people"))
        self.seconds_label.value, self.handover_label.value = words("cards_seconds"), words("cards_handover")
        self.handover.tooltip = words("cards_handover")
        for person, widget in enumerate(self.speeds):
            widget.description = NAMES[person]
            widget.tooltip = say("cards_seconds_of", lang, person=NAMES[person])
        self.question.value = html.escape(words("cards_ask"))
        for way, field in enumerate(self.guess_fields):
            field.placeholder = field.tooltip = say("cards_ask_way", lang, number=number(way))
        for button_, key in (
            (self.best_button, "cards_show_best"), (self.fill_button, "grid_fill"),
            (self.guess_done, "guess_done"), (self.guess_none, "guess_none"),
        ):  # fmt: skip
            button_.description = button_.tooltip = words(key)

    # -- what its widgets do

    def _listen(self) -> None:
        for widget, act in (
            (self.best_button, self.show_best), (self.fill_button, self.fill), (self.guess_none, self.decline),
            (self.guess_done, lambda: self.guess(*(field.value for field in self.guess_fields))),
        ):  # fmt: skip
            widget.on_click(lambda _, act=act: self.attempt(act))
        self.tab.observe(lambda change: self._choose(replace(self.state, tab=change["new"])), "value")
        self.people.observe(
            lambda change: self._choose(self.state.resized(num_people=change["new"])), "value"
        )
        self.pieces.observe(lambda change: self._choose(self.state.resized(pieces=change["new"])), "value")
        self.handover.observe(
            lambda change: self._choose(self.state.with_settings(handover=change["new"])), "value"
        )
        for person, field in enumerate(self.speeds):
            field.observe(
                lambda change, person=person: self._choose(self.state.with_seconds(person, change["new"])),
                "value",
            )

    def _choose(self, cards: Cards) -> None:
        """A knob was moved by a hand, not by the game."""
        if not self._following and cards != self.state:
            self.do(cards)


def _number(least: float, most: float, width: int) -> ipywidgets.BoundedFloatText:
    return ipywidgets.BoundedFloatText(
        min=least, max=most, step=STEP, layout={"width": f"{width}px"}, style={"description_width": "18px"}
    )
