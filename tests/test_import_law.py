"""The import law: errors < plan < run | show < sweep < learn < doctor < cli, and no arrow runs back up."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLOORS = {
    "launcher": 0,
    "errors": 0,
    "lazily": 0,
    "plan": 1,
    "run": 2,
    "show": 2,
    "sweep": 3,
    "learn": 4,
    "doctor": 5,
    "cli": 6,
    "__main__": 7,
}
DRAWING = {"numpy", "matplotlib", "PIL", "ipywidgets", "traitlets", "IPython"}
LIBRARIES = {  # what a floor may import besides pipekit and the standard library
    "launcher": {"nbformat", "jupyter_client", "pip", "segno"},  # start.py's last steps, in .venv's Python
    "errors": set(),
    "lazily": set(),
    "plan": {"numpy"},
    "run": {"numpy", "torch"},
    "show": DRAWING,
    "sweep": {"numpy"},
    "learn": DRAWING | {"torch", "anywidget"},
    "doctor": {"torch", "psutil"},
    "cli": {"numpy", "torch"},
    "__main__": set(),
    "__init__": set(),
}


def module_name(file: Path, root: Path) -> str:
    """`pipekit/plan/ops.py` is `pipekit.plan.ops`; a package is its folder."""
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)


def imported(source: str, module: str, is_package: bool) -> Iterator[str]:
    """Every dotted name that a file imports, anywhere in it, relative ones and `import_module("...")` included.

    `from a import b` yields `a.b`: b may be a module, and where it is not, a prefix tells the floor all the same.
    """
    package = module if is_package else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("import_module", "__import__"):
                yield str(node.args[0].value)


def broken_laws(source: str, module: str, is_package: bool = False) -> list[str]:
    """What a file imports against the law, in words."""
    floor = module.split(".")[1]
    complaints = []
    for name in imported(source, module, is_package):
        top, _, rest = name.partition(".")
        if top == "pipekit":
            target = rest.split(".")[0]
            if floor == "__init__":
                above = target not in ("errors", "plan")
            elif target == "__version__":
                above = False
            elif target not in FLOORS:
                above = True  # the package itself, or a module without a floor
            else:
                above = FLOORS[target] > FLOORS[floor] or (
                    FLOORS[target] == FLOORS[floor] and target != floor
                )
            if above:
                complaints.append(f"{module} ({floor}) imports {name}")
        elif top not in sys.stdlib_module_names and top not in LIBRARIES[floor]:
            complaints.append(f"{module} ({floor}) imports {name}")
    return complaints


def package_files() -> list[Path]:
    return sorted((ROOT / "pipekit").rglob("*.py"))


@pytest.mark.parametrize("file", package_files(), ids=lambda file: module_name(file, ROOT))
def test_a_module_imports_only_what_its_floor_may(file):
    module = module_name(file, ROOT)
    floor = module.split(".")[1]
    assert floor in LIBRARIES, f"pipekit.{floor} has no floor: give it one in FLOORS and LIBRARIES"
    assert not broken_laws(file.read_text(encoding="utf-8"), module, file.name == "__init__.py")


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("pipekit.plan.ops", "import torch"),
        ("pipekit.plan.ops", "from torch import nn"),
        ("pipekit.plan.ops", "def f():\n    import matplotlib.figure"),
        ("pipekit.plan.ops", "import PIL.Image"),
        ("pipekit.plan.ops", "import ipywidgets"),
        ("pipekit.plan.ops", "import importlib\nimportlib.import_module('torch')"),
        ("pipekit.plan.ops", "from ..run import engine"),
        ("pipekit.plan.ops", "from .. import show"),
        ("pipekit.plan.ops", "import pipekit"),
        ("pipekit.run.engine", "from pipekit.show.grid import paint"),
        ("pipekit.run.engine", "from pipekit import show"),
        ("pipekit.run.engine", "import matplotlib"),
        ("pipekit.show.grid", "from ..run import Pipeline"),
        ("pipekit.show.grid", "import torch"),
        ("pipekit.show.grid", "from ..learn.data import digits"),
        ("pipekit.learn.data", "from pipekit import cli"),
        ("pipekit.errors", "from .plan import Op"),
        ("pipekit.errors", "import numpy"),
        ("pipekit.__init__", "from . import run"),
    ],
)
def test_the_law_catches(module, line):
    assert broken_laws(line, module, is_package=module.endswith("__init__"))


@pytest.mark.parametrize(
    ("module", "line"),
    [
        (
            "pipekit.plan.ops",
            "from . import rules\nfrom .rules import needs\nfrom ..errors import ScheduleError",
        ),
        ("pipekit.run.engine", "import torch\nfrom ..plan.ops import Op\nfrom .trace import Span"),
        ("pipekit.learn.room", "from .. import plan, run, show"),
        ("pipekit.cli", "from pipekit import plan, run"),
    ],
)
def test_the_law_allows(module, line):
    assert not broken_laws(line, module)


def test_the_law_resolves_relative_imports_inside_a_package():
    assert list(imported("from . import a\nfrom ..b import c", "pipekit.plan", is_package=True)) == [
        "pipekit.plan.a",
        "pipekit.b.c",
    ]


def test_planning_loads_neither_torch_nor_a_display():
    heavy = "{'torch', 'matplotlib', 'PIL', 'ipywidgets', 'IPython'}"
    code = f"import sys, pipekit.plan; print(sorted({heavy} & set(sys.modules)))"
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
