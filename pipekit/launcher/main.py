"""start.py's command line."""

import argparse
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

from . import bundle, checks, copies, lab, share
from .environment import (
    TORCH_INDEX,
    Pip,
    Sources,
    check_foreign_pipekit,
    explained,
    prepare,
    python_series,
)
from .lock import one_at_a_time
from .places import LANGUAGES, Places
from .words import SetupError, Voice

COMMANDS = {
    "lab": "open the control room (what happens without a command)",
    "lesson": "open the page for one lesson: five stops and a stopwatch",
    "afresh": "give the notebooks anew, keep yours beside them, and open the control room",
    "setup": "only prepare",
    "share": "give the page for phones out in the local network, with its address as a picture",
    "handouts": "write the sheets to print for a class and its teacher, as PDF, into dist/handouts",
    "bundle": "make a folder for a USB stick, to install from without a network",
    "test": "pass every check; what follows goes to pytest",
}
WITH_TESTS = ["lab", "test"]


def parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Read the command line; what follows `test` belongs to pytest."""
    parser = argparse.ArgumentParser(
        prog="start.py",
        description="Prepare pipekit and open its control room in JupyterLab.",
        epilog="commands: " + "; ".join(f"{name}: {what}" for name, what in COMMANDS.items()),
    )
    parser.add_argument("command", nargs="?", choices=COMMANDS, default="lab", metavar="COMMAND")
    parser.add_argument("--lang", choices=LANGUAGES, default="zh", help="the language (default zh)")
    parser.add_argument("--index-url", metavar="URL", help="where pip looks, instead of where it is told to")
    parser.add_argument(
        "--torch-index-url",
        metavar="URL",
        default=os.environ.get("PIPEKIT_TORCH_INDEX", TORCH_INDEX),
        help="where else to look for torch's CPU build (Linux)",
    )
    parser.add_argument(
        "--platform", choices=bundle.TAGS, help="bundle: the other machine (default: as here)"
    )
    parser.add_argument(
        "--python", metavar="3.12", help="bundle: the other machine's Python (default: as here)"
    )
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="bundle: the folder to make")
    parser.add_argument("--address", metavar="A", help="share: this machine's address in the phones' network")
    if arguments[:1] == ["test"]:
        return parser.parse_args(["test", "--lang", "en"]), arguments[1:]
    options = parser.parse_args(arguments)
    if options.command != "bundle" and (options.platform or options.python or options.into):
        parser.error("--platform, --python and --into belong to `start.py bundle`")
    if options.command != "share" and options.address:
        parser.error("--address belongs to `start.py share`")
    return options, []


def main(root: Path, arguments: list[str]) -> int:
    """Prepare with whatever Python this is, then go on in `.venv`'s."""
    options, pytest_arguments = parse(arguments)
    places, voice = Places(root), Voice(options.lang)
    try:
        return go(places, voice, options, arguments, pytest_arguments)
    except SetupError as error:
        voice.explain(error)
    except OSError as error:
        known = explained(error, root)
        if known is None:
            raise
        voice.explain(known)
    except KeyboardInterrupt:
        voice.say("interrupted")
        return 130
    return 1


def go(
    places: Places,
    voice: Voice,
    options: argparse.Namespace,
    arguments: list[str],
    pytest_arguments: list[str],
) -> int:
    """Prepare, then do what was asked."""
    wheels = places.wheels if places.wheels.is_dir() else None
    sources = Sources(options.index_url, options.torch_index_url, wheels)
    with one_at_a_time(places.lock, voice):
        prepare(places, voice, sources, WITH_TESTS if options.command == "test" else ["lab"])
    if options.command == "setup":
        voice.say("ready")
        return 0
    if not places.in_venv():
        return go_on_in_venv(places, arguments)
    if options.command == "test":
        return checks.run_tests(places.root, checks.check_steps(places.root, pytest_arguments))
    if options.command == "bundle":
        target, python = options.platform or bundle.this_platform(), options.python or python_series()
        folder = options.into or places.root / "dist" / f"pipekit-{target}-{python}"
        from_network = Pip(places, voice, replace(sources, wheels=None))
        bundle.make_bundle(from_network, target, python, folder)
        return 0
    check_foreign_pipekit(places)
    if options.command == "handouts":
        return write_handouts(places, options.lang)
    if options.command == "share":
        return share.share(places, voice, options.lang, options.address)
    name = copies.LESSON if options.command == "lesson" else copies.CONTROL_ROOM
    return lab.open_lab(places, voice, options.lang, options.command == "afresh", name)


def write_handouts(places: Places, language: str) -> int:
    """Let `python -m pipekit handouts` write them where a teacher finds them."""
    folder = places.root / "dist" / "handouts"
    command = [str(places.python), "-m", "pipekit", "handouts", "--lang", language, "--out", str(folder)]
    return subprocess.call(command, cwd=places.root)


def go_on_in_venv(places: Places, arguments: list[str]) -> int:
    """Start again in `.venv`'s Python."""
    command = [str(places.python), str(places.root / "start.py"), *arguments]
    environment = {**os.environ, "PYTHONUTF8": "1"}
    if os.name != "nt":
        os.execve(command[0], command, environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the child, which says what it does about it
    return subprocess.call(command, env=environment)
