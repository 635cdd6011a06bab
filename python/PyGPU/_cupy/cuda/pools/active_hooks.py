"""Store the active memory hooks of each thread, and call their methods."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PyGPU._cupy.cuda.memory_hook import MemoryHook

__all__ = ["calls_of_hooks", "get_memory_hooks", "hooks_of_thread"]


class _Thread(threading.local):
    """Per-thread state: the active memory hooks by their names."""

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


@contextmanager
def calls_of_hooks(hooks: Sequence[MemoryHook], stage: str, **arguments: int) -> Iterator[dict[str, int]]:
    """Call one method of each hook before a ``with`` block, and another method after the block or an error in it.

    Parameters
    ----------
    hooks : sequence of MemoryHook
        The hooks.
    stage : {'malloc', 'alloc', 'free'}
        First part of the methods' names, which end with ``_preprocess`` and ``_postprocess``.
    **arguments
        Arguments of both methods.

    Yields
    ------
    dict
        Further arguments of the second method; the code in the block stores them in this dict.

    Examples
    --------
    >>> from PyGPU._cupy.cuda.pools.active_hooks import calls_of_hooks
    >>> from PyGPU.cupy.cuda import MemoryHook
    >>> class Printing(MemoryHook):
    ...     name = 'Printing'
    ...     def alloc_postprocess(self, **arguments):
    ...         print(arguments)
    >>> with calls_of_hooks([Printing()], 'alloc', device_id=0, mem_size=512) as results:
    ...     results['mem_ptr'] = 4096
    {'device_id': 0, 'mem_size': 512, 'mem_ptr': 4096}
    """
    for hook in hooks:
        getattr(hook, f"{stage}_preprocess")(**arguments)
    results: dict[str, int] = {}
    try:
        yield results
    finally:
        for hook in hooks:
            getattr(hook, f"{stage}_postprocess")(**arguments, **results)
