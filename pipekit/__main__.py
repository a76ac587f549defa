"""`python -m pipekit`."""

import sys

REPAIR = """\
pipekit: {error}
pipekit: a package that pipekit needs can't be loaded. Run `python3 start.py setup`, then use the Python in .venv.
pipekit: 少了一个软件包，或者它坏了。请运行 python3 start.py setup，再用 .venv 里的 Python。"""


def start() -> int:
    """Run the command line; one paragraph where a package that it stands on is missing or broken (a DLL, perhaps)."""
    try:
        from pipekit.cli import main

        return main()
    except (ImportError, OSError) as error:
        if (getattr(error, "name", None) or "").startswith("pipekit"):
            raise  # pipekit's own mistake
        encoding = sys.stderr.encoding or "ascii"
        said = REPAIR.format(error=error).encode(encoding, "backslashreplace").decode(encoding)
        print(said, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(start())
