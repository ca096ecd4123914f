"""The heap of the C library, kept small in a process that stays for days or reads a lot.

glibc gives every thread a heap of its own and keeps what was freed in each. For the eight threads
of the server that was half of all its memory after a thousand requests, and after reading 500 MB of
sessions three quarters; in a first sync of 1 GB it is a seventh. Other C libraries do neither.
"""

from __future__ import annotations

from typing import Any

_M_ARENA_MAX = -8


def share_heap() -> None:
    """Has all threads use one heap; call before there are others.

    They do not wait for each other: Python lets one of them allocate at a time, and small pieces
    come from a store of each thread.
    """
    if (mallopt := _function("mallopt")) is not None:
        mallopt(_M_ARENA_MAX, 1)


def give_back() -> None:
    """Returns to the system what is not used any more."""
    if (malloc_trim := _function("malloc_trim")) is not None:
        malloc_trim(0)


def _function(name: str) -> Any:
    """A function of glibc, or None where there is none."""
    import ctypes  # for few processes, and it takes as long to load as a question to be answered

    return getattr(ctypes.CDLL(None), name, None)
