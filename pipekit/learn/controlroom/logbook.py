"""What a class has guessed and measured so far, and what it may see: no widget here."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipekit.learn.controlroom.guess import Guess
from pipekit.learn.experiment import Outcome, Settings


@dataclass(frozen=True)
class Entry:
    """One run of the class: what was set, guessed (None: it wasn't) and measured."""

    settings: Settings
    guess: Guess | None
    outcome: Outcome


@dataclass
class Logbook:
    """Guesses and outcomes by settings; settings that run the same share them.

    `entries` are the runs in their order, `outcomes` the newest of each settings, a sweep's included.
    """

    entries: list[Entry] = field(default_factory=list)
    outcomes: dict[Settings, Outcome] = field(default_factory=dict)
    guesses: dict[Settings, Guess | None] = field(default_factory=dict)

    def decide(self, settings: Settings, guess: Guess | None) -> None:
        """The class has guessed, or (None) doesn't want to: from now on the prediction may be seen."""
        self.guesses.setdefault(settings.key(), guess)

    def may_see(self, settings: Settings) -> bool:
        """Whether numbers of the next run with these settings would spoil no guess."""
        return settings.key() in self.guesses or settings.key() in self.outcomes

    def guess(self, settings: Settings) -> Guess | None:
        """What was guessed for these settings."""
        return self.guesses.get(settings.key())

    def outcome(self, settings: Settings) -> Outcome | None:
        """What was measured with these settings."""
        return self.outcomes.get(settings.key())

    def keep(self, outcome: Outcome) -> None:
        """Remember an outcome; one that trained is a run of its own, and knows more than a sweep's point."""
        known = self.outcomes.get(outcome.key)
        if outcome.trained or known is None or not known.trained:
            self.outcomes[outcome.key] = outcome
        if outcome.trained:
            self.entries.append(Entry(outcome.settings, self.guess(outcome.settings), outcome))
