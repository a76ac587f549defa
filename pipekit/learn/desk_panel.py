"""The desk: make a tower higher until it doesn't fit on one GPU's desk, then cut it over several."""

from __future__ import annotations

import ipywidgets
import traitlets
from torch import nn

from pipekit import plan, run, show
from pipekit.errors import PartitionError
from pipekit.learn.controlroom.knobs import Stepper, button, html, line, show_if
from pipekit.learn.controlroom.style import STYLE
from pipekit.learn.desk import MB, Desk, count_desks, layers_of, predict_desks
from pipekit.learn.experiment import Experiment, seeded
from pipekit.learn.lesson.still import still
from pipekit.learn.models import mlp
from pipekit.learn.picture import Picture
from pipekit.show import say

LIMIT = 2 * MB  # bytes of the lesson's desk
PIECES = 4
MOST_LAYERS, MOST_DEVICES, STEP = 80, 8, 4
Key = tuple[int, int]  # layers and devices


class DeskPanel(show.Panel):
    """How high a tower fits on a desk, and on how many desks a higher one does.

    Args:
        lang: `"zh"` or `"en"`. num_layers: of the tower. num_devices: K, one stage each.
        limit: bytes of one desk.

    Bars are predicted, from the model's shape; after `panel.count()`, which really trains one step, they are counted.
    """

    lang = traitlets.Enum(show.LANGUAGES, "zh")
    num_layers = traitlets.Int(8, min=STEP, max=MOST_LAYERS)
    num_devices = traitlets.Int(1, min=1, max=MOST_DEVICES)

    def __init__(
        self, lang: str = "zh", num_layers: int = 8, num_devices: int = 1, limit: float = LIMIT
    ) -> None:
        self.experiment, self.limit = Experiment(), limit
        self._predicted: dict[Key, list[Desk]] = {}
        self._counted: dict[Key, list[Desk]] = {}
        self.title, self.cut, self.said = html(), html(), html()
        self.layers = ipywidgets.IntSlider(
            min=STEP, max=MOST_LAYERS, step=STEP, value=num_layers, continuous_update=False, layout={"width": "420px"}, style={"description_width": "initial"}
        )  # fmt: skip
        self.devices = Stepper(1, MOST_DEVICES)
        self.train = button()
        self.chart = Picture()
        rows = (
            html(),
            self.title,
            line(self.layers, self.devices, self.train),
            self.said,
            self.chart,
            self.cut,
        )
        rows[0].value = STYLE
        super().__init__(rows, lang=lang, num_layers=num_layers, num_devices=num_devices)
        self.add_class("pipekit-room")
        traitlets.link((self, "num_layers"), (self.layers, "value"))
        traitlets.link((self, "num_devices"), (self.devices, "value"))
        self.train.on_click(lambda _: self.count())
        self.observe(lambda change: self.refresh(), ["lang", "num_layers", "num_devices"])
        self.refresh()

    @property
    def stages(self) -> list[nn.Sequential]:
        """The tower, cut."""
        return run.partition(seeded(lambda: mlp(self.num_layers)), self.num_devices)

    @property
    def desks(self) -> list[Desk]:
        """What lies on each desk: counted where this tower was trained, else predicted."""
        return self._counted.get(self._key) or self.predicted

    @property
    def predicted(self) -> list[Desk]:
        """What each desk will hold, by the model's shape."""
        if self._key not in self._predicted:
            lab = self.experiment
            self._predicted[self._key] = predict_desks(
                self.stages, plan.gpipe(self.num_devices, PIECES), lab.batch, lab.target, lab.loss
            )
        return self._predicted[self._key]

    @property
    def fits(self) -> bool:
        """Whether every desk is large enough."""
        return max(desk.total for desk in self.desks) <= self.limit

    @property
    def layers_on(self) -> list[tuple[int, int]]:
        """First and last layer on each GPU, counted from 1."""
        return layers_of(self.stages)

    def count(self) -> list[Desk]:
        """Really train one step and count what lay on each desk; a tower that doesn't fit isn't trained.

        Raises:
            PartitionError: more GPUs than layers.
        """
        if self.fits:
            lab = self.experiment
            self._counted[self._key] = count_desks(
                self.stages, plan.gpipe(self.num_devices, PIECES), lab.batch, lab.target, lab.loss
            )
            self.refresh()
        else:
            self.said.value = say("desk_refused", self.lang, words=self._verdict())
        return self.desks

    def refresh(self) -> None:
        """Draw and say it again."""
        with self.lock:
            self.title.value = f"<b>{say('desk_title', self.lang)}</b>"
            self.layers.description = self.layers.tooltip = say("desk_layers", self.lang)
            self.devices.name(say("desk_devices", self.lang))
            self.train.description = self.train.tooltip = say("desk_count", self.lang)
            refused = self._refused()
            self.said.value = refused or f"{self._verdict()} · {say(self._source, self.lang)}"
            self.train.disabled = bool(refused)
            chart = show.Still(b"", "") if refused else self.picture()
            self.chart.show(chart.png, chart.words)
            self.cut.value = "" if refused else self._layers_in_words()
            show_if(self.chart, not refused)

    def picture(self) -> show.Still:
        """The bars as a still picture."""
        return show.desk_chart(self.desks, self.limit, self._source, self.lang)

    def picture_png(self) -> bytes:
        """The bars; where there are none, why."""
        return self.chart.value or show.png(still([self._refused()], self.lang))

    def picture_text(self) -> str:
        """The bars in words."""
        words = self._refused() or f"{self.picture().words}\n{self._layers_in_words()}"
        return f"{words}\n{say('still_line', self.lang)}"

    @property
    def _key(self) -> Key:
        return self.num_layers, self.num_devices

    @property
    def _source(self) -> str:
        """Where the bars come from."""
        return "desk_counted" if self._key in self._counted else "desk_predicted"

    def _verdict(self) -> str:
        return show.desk_verdict(self.desks, self.limit, self.lang)

    def _refused(self) -> str:
        """Why the tower can't be cut so; "" where it can."""
        try:
            _ = self.stages
        except PartitionError as error:
            return show.sentence(error, self.lang)
        return ""

    def _layers_in_words(self) -> str:
        words = [
            say("desk_cut" if last > first else "desk_cut_one", self.lang, number=show.number(index), first=first, last=last)
            for index, (first, last) in enumerate(self.layers_on)
        ]  # fmt: skip
        return " · ".join(words)
