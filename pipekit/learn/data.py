"""Real data that travels with the package: 1797 handwritten digits, 8 x 8 grey scans.

They are the test part of "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, 1998, UCI Machine
Learning Repository, https://doi.org/10.24432/C50P49), licensed CC BY 4.0; grey values 0 to 16, stored as bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

TEST_EVERY = (
    5  # every fifth scan is a test scan: pages of the same writer stand together, so both parts have all
)


class Digits(NamedTuple):
    """Images are (n, 1, 8, 8) float32 from 0 to 1, labels (n,) int64 from 0 to 9; 1437 for training, 360 for tests."""

    train_images: torch.Tensor
    train_labels: torch.Tensor
    test_images: torch.Tensor
    test_labels: torch.Tensor


def digits() -> Digits:
    """The handwritten digits, always split the same way.

    >>> [tuple(part.shape) for part in digits()]
    [(1437, 1, 8, 8), (1437,), (360, 1, 8, 8), (360,)]
    """
    with np.load(Path(__file__).with_name("digits.npz"), allow_pickle=False) as file:
        images = torch.from_numpy(file["images"]).float().unsqueeze(1) / 16
        labels = torch.from_numpy(file["labels"]).long()
    test = torch.arange(len(labels)) % TEST_EVERY == 0
    return Digits(images[~test], labels[~test], images[test], labels[test])
