"""The translator's weights in a file: 16 bits each, one array a parameter, no pickle. Two come with the package."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import torch
from torch import nn

from pipekit.errors import FileError
from pipekit.learn.giants.translator import number_translator

SHARED = "shared"
FOLDER = Path(__file__).parent


def packaged(name: str) -> Path:
    """Where the package keeps weights: of the `SHARED` model, or of one that learned Portuguese alone (`pt`)."""
    return FOLDER / f"translator_{name}.npz"


def save_translator(model: nn.Module, path: Path) -> None:
    """Write the weights, rounded to 16 bits: the file is there whole or not at all."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        np.savez_compressed(file, **{name: each.half().numpy() for name, each in model.state_dict().items()})
    os.replace(part, path)


def saved_translator(name: str = SHARED, path: Path | None = None) -> nn.Sequential:
    """A trained translator: one of the package's by name, or that of a file.

    Raises:
        FileError: no such file, or one that holds no translator.
    """
    path = packaged(name) if path is None else path
    if not path.exists():
        raise FileError("file_missing", path=path, folder=path.parent)
    model = number_translator()
    try:
        with np.load(path, allow_pickle=False) as file:
            model.load_state_dict({key: torch.from_numpy(file[key]).float() for key in file.files})
    except Exception as error:  # a broken file is said in many ways
        raise FileError("giant_file", path=path, cause=type(error).__name__) from None
    return model
