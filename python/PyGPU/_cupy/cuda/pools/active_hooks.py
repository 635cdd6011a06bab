"""The active memory hooks of each thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PyGPU._cupy.cuda.memory_hook import MemoryHook

__all__ = ["get_memory_hooks", "hooks_of_thread"]


class _Thread(threading.local):
    """State of one thread: its hooks by their names."""

    hooks: dict[str, MemoryHook] | None = None


_thread = _Thread()


def hooks_of_thread() -> tuple[MemoryHook, ...]:
    """Return the active hooks of the calling thread."""
    return tuple(_thread.hooks.values()) if _thread.hooks else ()


def get_memory_hooks() -> dict[str, MemoryHook]:
    """Return the active hooks of the calling thread by their names.

    Returns
    -------
    dict

    Examples
    --------
    >>> from PyGPU.cupy.cuda import memory_hook, memory_hooks
    >>> with memory_hooks.LineProfileHook():
    ...     list(memory_hook.get_memory_hooks())
    ['LineProfileHook']
    """
    if _thread.hooks is None:
        _thread.hooks = {}
    return _thread.hooks
