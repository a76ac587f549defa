"""Tell glibc's allocator to keep memory it was given back.

Tensors of about 131 kB sit at glibc's mmap threshold: every one of them would be mapped and unmapped, page by page,
under a lock that all workers share. Keeping the memory made training 6 to 30 % faster, with one thread too.
It must be said before torch is imported; elsewhere than on glibc it does nothing.
"""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3  # <malloc.h>
SETTINGS = {_M_MMAP_THRESHOLD: 1 << 30, _M_TRIM_THRESHOLD: (1 << 31) - 1, _M_TOP_PAD: 1 << 28}


def keep_memory() -> bool:
    """Set the three thresholds; True if the allocator took them."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # musl has none
        return False
    return all([mallopt(option, value) == 1 for option, value in SETTINGS.items()])
