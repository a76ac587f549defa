"""The learner's own notebooks: the committed ones stay as they are, and what a learner changed is never lost."""

import hashlib
import json
import os
import shutil
from datetime import date
from pathlib import Path
from typing import Any

from .places import COPIES, Places
from .words import Voice

CONTROL_ROOM, LESSON = "control-room.ipynb", "lesson-45.ipynb"
FOLDED = (CONTROL_ROOM, LESSON)  # their panel is all there is to see


def give(places: Places, voice: Voice, language: str) -> Path:
    """Make the copies of a language's notebooks that are missing or can be renewed; the control room's path.

    Raises:
        FileNotFoundError: pipekit came without its notebooks.
    """
    move_workbook(places, voice)
    for committed in places.committed(language):
        working_copy(committed, places.copy_of(committed), voice)
    return control_room(places, language)


def control_room(places: Places, language: str) -> Path:
    """The learner's control room."""
    return copy_called(places, language, CONTROL_ROOM)


def copy_called(places: Places, language: str, name: str) -> Path:
    """The learner's copy of the notebook with this file name."""
    return places.root / COPIES[language] / name


def move_workbook(places: Places, voice: Voice) -> None:
    """Once: bring over what earlier versions of pipekit kept under `workbook/`."""
    for language, name in COPIES.items():
        old, new = places.root / "workbook" / language, places.root / name
        if old.is_dir() and not new.exists():
            shutil.move(old, new)
            voice.say("moved", old=f"workbook/{language}", new=name)
    workbook = places.root / "workbook"
    if workbook.is_dir() and not any(workbook.iterdir()):
        workbook.rmdir()


def working_copy(committed: Path, copy: Path, voice: Voice) -> None:
    """Make a copy, or let one that was not changed since it was made follow a newer committed notebook."""
    notebook = read(committed)
    newest = sources_digest(notebook)
    if copy.exists():
        try:
            mine = read(copy)
            origin, present = mine["metadata"].get("pipekit_origin"), sources_digest(mine)
        except (ValueError, KeyError, TypeError, AttributeError):
            voice.say("unreadable_copy", copy=copy.name, kept=set_aside(copy).name)
        else:
            if origin == newest:
                return
            if origin != present:
                voice.say("newer_notebook", copy=copy.name)
                return
    write(notebook | {"metadata": {**notebook["metadata"], "pipekit_origin": newest}}, copy)


def afresh(places: Places, voice: Voice, language: str) -> None:
    """Give every notebook of a language anew; the learner's own are kept beside them, with the date."""
    move_workbook(places, voice)
    for committed in places.committed(language):
        copy = places.copy_of(committed)
        if copy.exists():
            voice.say("kept_as", kept=set_aside(copy).relative_to(places.root))
        working_copy(committed, copy, voice)


def set_aside(copy: Path) -> Path:
    """Rename a notebook to one that has today's date in its name; never over another."""
    number = 1
    while True:
        suffix = f"-{date.today().isoformat()}" + (f"-{number}" if number > 1 else "")
        kept = copy.with_name(f"{copy.stem}{suffix}{copy.suffix}")
        if not kept.exists():
            return copy.rename(kept)
        number += 1


def read(path: Path) -> dict[str, Any]:
    """A notebook as it lies on disk."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def write(notebook: dict[str, Any], copy: Path) -> None:
    """Write all of a learner's copy or nothing; what is one panel opens with its code folded away."""
    if copy.name in FOLDED:
        notebook["cells"] = [fold(cell) for cell in notebook["cells"]]
    copy.parent.mkdir(parents=True, exist_ok=True)
    write_whole(copy, json.dumps(notebook, ensure_ascii=False, indent=1))


def write_whole(path: Path, text: str, mode: int = 0o666) -> None:
    """Replace a file by a complete one: a break-off leaves the old one. `mode` is who may read it, less the umask."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as file:
            file.write(text)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def fold(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell whose code waits behind three dots; what it shows stays."""
    if cell["cell_type"] != "code":
        return cell
    jupyter = {**cell["metadata"].get("jupyter", {}), "source_hidden": True}
    return {**cell, "metadata": {**cell["metadata"], "jupyter": jupyter}}


def sources_digest(notebook: dict[str, Any]) -> str:
    """Name a notebook by what is written in its cells, outputs left out."""
    sources = [[cell["cell_type"], "".join(cell["source"])] for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(sources).encode()).hexdigest()
