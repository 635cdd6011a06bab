"""Memory hooks: objects whose methods a pool calls when it allocates and frees memory.

The hooks of a thread are active inside ``with hook:``. PyGPU's own pool calls no Python code. In a thread with hooks,
new arrays are therefore allocated by the Python module `device_pool`, which calls the hooks and PyGPU's pool. Threads
without hooks allocate without Python code.
"""

from __future__ import annotations

import threading
from typing import Any, Literal, Self

from PyGPU import _core
from PyGPU._cupy.cuda.allocator import hooked_allocator
from PyGPU._cupy.cuda.pools.active_hooks import get_memory_hooks

__all__ = ["MemoryHook", "get_memory_hooks"]


class _Thread(threading.local):
    """Per-thread state: the result of `hooked_allocator` while memory hooks are active; otherwise None."""

    allocator: _core._ThreadsAllocator | None = None


_thread = _Thread()


class MemoryHook:
    """Base class of memory hooks. A hook is active inside ``with hook:``, in the current thread.

    A subclass sets the attribute `name` and overrides some of the methods, which receive keyword arguments.

    Notes
    -----
    For memory of PyGPU's own pool, only the methods ``malloc_*`` and ``free_*`` are called. The methods ``alloc_*`` are
    not called, because the driver enlarges that pool. A `MemoryPool` calls all methods. The free of an array that was
    created before the ``with`` block calls hooks only if its memory is from a `MemoryPool`.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy import cuda
    >>> class Sizes(cuda.MemoryHook):
    ...     name = "Sizes"
    ...     def malloc_postprocess(self, **kwargs):
    ...         print(kwargs["size"])
    >>> with Sizes():
    ...     a = PyGPU.zeros(5, "f4")
    20
    """

    name = "MemoryHook"
    """Name of the hook, which must differ from the names of the thread's other active hooks."""

    def __enter__(self) -> Self:
        hooks = get_memory_hooks()
        if self.name in hooks:
            raise KeyError(f"memory hook {self.name} already exists in this thread")
        if not hooks:
            _thread.allocator = hooked_allocator()
        hooks[self.name] = self
        return self

    def __exit__(self, *exception: object) -> Literal[False]:
        hooks = get_memory_hooks()
        del hooks[self.name]
        if not hooks and _thread.allocator is not None:
            _thread.allocator.put_back()
            _thread.allocator = None
        return False

    def alloc_preprocess(self, **kwargs: Any) -> None:
        """Run before a pool requests memory from the driver.

        Parameters
        ----------
        **kwargs
            `device_id`, and `mem_size`, the requested number of bytes, rounded up to whole blocks.
        """

    def alloc_postprocess(self, **kwargs: Any) -> None:
        """Run after a pool has requested memory from the driver.

        Parameters
        ----------
        **kwargs
            `device_id`, `mem_size`, and `mem_ptr`, the address of the memory; the address is 0 after an error.
        """

    def malloc_preprocess(self, **kwargs: Any) -> None:
        """Run before a pool provides memory.

        Parameters
        ----------
        **kwargs
            `device_id`, `size`, the requested number of bytes, and `mem_size`, this number rounded up to whole blocks.
        """

    def malloc_postprocess(self, **kwargs: Any) -> None:
        """Run after a pool has provided memory.

        Parameters
        ----------
        **kwargs
            `device_id`, `size`, `mem_size`, `mem_ptr`, and `pmem_id`, the `id` of the memory object. `mem_ptr` and
            `pmem_id` are 0 after an error.
        """

    def free_preprocess(self, **kwargs: Any) -> None:
        """Run before memory returns to its pool.

        Parameters
        ----------
        **kwargs
            `device_id`, `mem_size`, `mem_ptr` and `pmem_id`.
        """

    def free_postprocess(self, **kwargs: Any) -> None:
        """Run after memory has returned to its pool.

        Parameters
        ----------
        **kwargs
            `device_id`, `mem_size`, `mem_ptr` and `pmem_id`.
        """
