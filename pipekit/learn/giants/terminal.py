"""The small relatives from a terminal: `python -m pipekit giants pictures`, and with `--full` trained from the start."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from pipekit.errors import FileError, PipekitError
from pipekit.learn.giants.amoebanet import num_parameters
from pipekit.learn.giants.pictures import (
    SAVED,
    Picture,
    Recipe,
    examine,
    picture_net,
    save,
    saved_picture_net,
    train_pictures,
)
from pipekit.learn.giants.translator_terminal import languages
from pipekit.learn.models import one_thread
from pipekit.show import say, tiny

MOST_EPOCHS = 1000


def pictures(asked: argparse.Namespace, lang: str) -> None:
    """Read all test digits, cut and whole, and say how it went; with `--full` train first."""
    epochs = Recipe().epochs if asked.epochs is None else asked.epochs
    if not 1 <= epochs <= MOST_EPOCHS:
        raise PipekitError("number_range", name="--epochs", asked=epochs, least=1, most=MOST_EPOCHS)
    with one_thread():
        if asked.full:
            path = asked.weights or Path("giant-pictures.pt")
            picture = _started(Recipe(seed=asked.seed, epochs=epochs), path, lang)
        else:
            path = asked.weights or SAVED
            picture = saved_picture_net(path)
        print(_described(picture, lang), flush=True)
        if asked.full:
            _train(picture, path, lang)
        exam = examine(picture)
    print(
        say(
            "giant_right",
            lang,
            cut=exam.right_cut,
            whole=exam.right_whole,
            total=exam.num_images,
            percent=100 * exam.accuracy,
        )
    )
    same = "giant_same" if exam.same else "giant_differs"
    print(say(same, lang, difference=tiny(exam.gradient_difference, lang)))
    if asked.full:
        print(say("giant_saved", lang, path=path))


def _started(recipe: Recipe, path: Path, lang: str) -> Picture:
    """A new relative, or the one that is in the file already if it has the same recipe."""
    if not path.exists():
        if not path.resolve().parent.is_dir():
            raise FileError("file_no_folder", path=path, folder=path.resolve().parent)
        return picture_net(recipe)
    picture = saved_picture_net(path)
    if picture.recipe != recipe:
        raise FileError("giant_other", path=path)
    print(say("giant_goes_on", lang, path=path, done=len(picture.losses)), flush=True)
    return picture


def _described(picture: Picture, lang: str) -> str:
    balance = picture.recipe.balance
    return say(
        "giant_pictures",
        lang,
        layers=len(picture.model),
        knobs=num_parameters(picture.model),
        stages=len(balance),
        balance=", ".join(map(str, balance)),
    )


def _train(picture: Picture, path: Path, lang: str) -> None:
    begin = time.monotonic()

    def told(picture: Picture) -> None:
        save(picture, path)
        print(
            say(
                "giant_epoch",
                lang,
                number=len(picture.losses),
                total=picture.recipe.epochs,
                loss=picture.losses[-1],
                percent=100 * picture.accuracies[-1],
                seconds=time.monotonic() - begin,
            ),
            flush=True,
        )

    try:
        train_pictures(picture, told)
    except KeyboardInterrupt:
        if picture.losses:
            print(say("giant_stopped", lang, path=path, done=len(picture.losses)), flush=True)
        raise


GIANTS: dict[str, Callable[[argparse.Namespace, str], None]] = {"pictures": pictures, "languages": languages}
