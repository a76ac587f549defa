"""A move that a game refuses: a sentence in the player's language."""

from __future__ import annotations

from typing import Any

from pipekit.show import say


class Refused(ValueError):
    """A move or an entry that cannot be; `key` and `numbers` are its sentence in the table of words."""

    def __init__(self, key: str, **numbers: Any) -> None:
        self.key, self.numbers = key, numbers
        super().__init__(say(key, "en", **numbers))

    def sentence(self, lang: str) -> str:
        """Why not, in a language."""
        return say(self.key, lang, **self.numbers)
