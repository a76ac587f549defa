"""Run pip with the conditions of another machine: `python pip_for.py MARKERS_AS_JSON PIP_ARGUMENTS...`.

`pip download --platform` chooses wheels for that platform, but decides by this machine's system and Python whether a
requirement such as `pywinpty; os_name == "nt"` counts. Here it is asked about the other machine.
"""

import json
import sys

from pip._internal.cli.main import main
from pip._vendor.packaging import markers

if __name__ == "__main__":
    other = json.loads(sys.argv[1])
    markers.default_environment = lambda: dict(other)
    sys.exit(main(sys.argv[2:]))
