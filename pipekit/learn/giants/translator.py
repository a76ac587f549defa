"""A small Transformer that writes numbers as words, in many languages at once: the giant translator's small relative.

An encoder and a decoder as "Attention is all you need" (Vaswani et al. 2017) describes them, with the normalisation in
front of each part. They are an `nn.Sequential` whose layers hand on a pair, (what the encoder made of the number, what the decoder
made of the letters so far), so that the engine can cut it between any two layers.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from pipekit.learn.giants.translator_data import LETTERS, LONGEST, PAD, SOURCE_LENGTH, SOURCES

Pair = tuple[torch.Tensor, torch.Tensor]

WIDTH = 64
NUM_HEADS = 4
NUM_ENCODERS, NUM_DECODERS = 2, 2


def number_translator(
    width: int = WIDTH, num_encoders: int = NUM_ENCODERS, num_decoders: int = NUM_DECODERS
) -> nn.Sequential:
    """(numbers (n, 4), letters so far (n, t)) -> scores of the next letter at each place, (n, t, letters).

    >>> model = number_translator()
    >>> batch = torch.zeros(3, 4, dtype=torch.long), torch.zeros(3, 7, dtype=torch.long)
    >>> len(model), model(batch).shape == (3, 7, len(LETTERS))
    (6, True)
    """
    return nn.Sequential(
        Embedding(width),
        *(Encoder(width) for _ in range(num_encoders)),
        *(Decoder(width) for _ in range(num_decoders)),
        Answer(width),
    )


class Embedding(nn.Module):
    """Signs into vectors, each with its place: (n, 4), (n, t) -> (n, 4, width), (n, t, width)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.source, self.source_place = nn.Embedding(len(SOURCES), width), _places(SOURCE_LENGTH, width)
        self.letter, self.letter_place = nn.Embedding(len(LETTERS), width), _places(LONGEST + 1, width)

    def forward(self, pair: Pair) -> Pair:
        """Look both up."""
        numbers, letters = pair
        said = self.letter(letters) + self.letter_place[: letters.shape[1]]
        return self.source(numbers) + self.source_place, said


def _places(length: int, width: int) -> nn.Parameter:
    return nn.Parameter(torch.randn(length, width) * 0.1)


class Attention(nn.Module):
    """Each place of `asking` takes what it needs from the places of `told`; `causal`: from those before it only."""

    def __init__(self, width: int, causal: bool = False) -> None:
        super().__init__()
        self.causal = causal
        self.query, self.key_value = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)

    def forward(self, asking: torch.Tensor, told: torch.Tensor) -> torch.Tensor:
        """(n, t, width), (n, s, width) -> (n, t, width)."""
        query = _heads(self.query(asking))
        key, value = map(_heads, self.key_value(told).chunk(2, dim=-1))
        mixed = scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        return self.out(mixed.transpose(1, 2).flatten(2))


def _heads(tensor: torch.Tensor) -> torch.Tensor:
    """(n, t, width) -> (n, heads, t, width / heads)."""
    return tensor.unflatten(-1, (NUM_HEADS, -1)).transpose(1, 2)


def _feed_forward(width: int) -> nn.Sequential:
    return nn.Sequential(
        nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
    )


class Encoder(nn.Module):
    """One layer on the number; the letters pass through."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(width), Attention(width)
        self.feed_forward = _feed_forward(width)

    def forward(self, pair: Pair) -> Pair:
        """(n, 4, width), (n, t, width), both handed on."""
        read, said = pair
        normed = self.norm(read)
        read = read + self.attention(normed, normed)
        return read + self.feed_forward(read), said


class Decoder(nn.Module):
    """One layer on the letters so far, looking at the number; the number passes through."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(width), Attention(width, causal=True)
        self.look_norm, self.look = nn.LayerNorm(width), Attention(width)
        self.feed_forward = _feed_forward(width)

    def forward(self, pair: Pair) -> Pair:
        """(n, 4, width), (n, t, width), both handed on."""
        read, said = pair
        normed = self.norm(said)
        said = said + self.attention(normed, normed)
        said = said + self.look(self.look_norm(said), read)
        return read, said + self.feed_forward(said)


class Answer(nn.Module):
    """A score for each letter at each place."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, len(LETTERS))

    def forward(self, pair: Pair) -> torch.Tensor:
        """(n, 4, width), (n, t, width) -> (n, t, letters)."""
        return self.scores(self.norm(pair[1]))


def letter_loss(scores: torch.Tensor, letters: torch.Tensor) -> torch.Tensor:
    """Mean over the letters that are there; padding does not count."""
    return cross_entropy(scores.flatten(0, 1), letters.flatten(), ignore_index=PAD)


def num_letters(letters: torch.Tensor) -> int:
    """What a micro-batch weighs: its letters without padding."""
    return int((letters != PAD).sum())
