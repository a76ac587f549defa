"""Of two starts at the same moment, one goes first."""

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .words import Voice

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

TAKEN = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
PAUSE = 0.2  # seconds between two looks at a lock that is taken


@contextmanager
def one_at_a_time(lock: Path, voice: Voice) -> Iterator[None]:
    """Wait until no other process is inside, then keep others out. Whoever dies inside leaves no lock behind.

    On a file system without locks (some network drives) it keeps nobody out.
    """
    file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        told = False
        while taken(file):
            if not told:
                voice.say("waiting")
                told = True
            time.sleep(PAUSE)
        yield
    finally:
        os.close(file)


def taken(file: int) -> bool:
    """Try to lock an open file; whether another process holds it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in TAKEN
    return False
