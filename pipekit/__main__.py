"""`python -m pipekit`."""

import sys

from pipekit.cli import main

if __name__ == "__main__":
    sys.exit(main())
