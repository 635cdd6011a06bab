"""CuPy's functions that choose the allocator of new arrays.

An allocator of CuPy is a function that receives a number of bytes and returns a `MemoryPointer`. `set_allocator` calls
`PyGPU.set_allocator`, so that both interfaces report the same allocator. By default, `get_allocator` returns the
`malloc` of CuPy's default pool. New arrays then take memory from PyGPU's own pool without a call of this `malloc`.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, SupportsIndex

from PyGPU import _core
from PyGPU._cupy.cuda.allocations import BaseMemory, UnownedMemory
from PyGPU._cupy.cuda.memory_pointer import MemoryPointer, malloc_of_driver
from PyGPU._cupy.cuda.pools.active_hooks import hooks_of_thread
from PyGPU._cupy.cuda.pools.device_pool import default_memory_pool

__all__ = [
    "CFunctionAllocator",
    "PythonFunctionAllocator",
    "alloc",
    "get_allocator",
    "hooked_allocator",
    "set_allocator",
    "using_allocator",
]

Allocator = Callable[[int], MemoryPointer]


class _Allocator:
    """Adapter that makes an allocator function of CuPy an allocator object of PyGPU.

    CuPy's function receives no stream and allocates for the current stream. The method `allocate`, which receives a
    stream, therefore makes this stream current during the call.
    """

    def __init__(self, function: Callable[[int], Any]) -> None:
        self.function = function

    def allocate(self, nbytes: int, stream: _core.Stream) -> Any:
        with stream:
            return self.function(nbytes)

    def __repr__(self) -> str:
        return repr(self.function)


class _Thread(threading.local):
    """Per-thread state: the nesting depth of the open ``with using_allocator(...)`` blocks."""

    depth = 0


_thread = _Thread()


def _native(function: Allocator | None) -> _Allocator | None:
    """Convert an allocator function of CuPy to an argument of `PyGPU.set_allocator`."""
    if function is None:
        return _Allocator(malloc_of_driver)
    if not callable(function):
        raise TypeError(f"an allocator is a function of a number of bytes, not {type(function).__name__}")
    return None if function == default_memory_pool.malloc and not hooks_of_thread() else _Allocator(function)


def set_allocator(allocator: Allocator | None = None) -> None:
    """Set the allocator that provides the memory of new arrays in all threads.

    Parameters
    ----------
    allocator : callable, optional
        Function that receives a number of bytes and returns a `MemoryPointer`. None makes each array allocate from the
        driver without a pool; ``get_default_memory_pool().malloc`` selects PyGPU's own pool.

    Raises
    ------
    ValueError
        Inside a `using_allocator` block.
    TypeError
        For an object that is not callable.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy import cuda
    >>> default = cuda.get_allocator()
    >>> cuda.set_allocator(cuda.malloc_managed)
    >>> PyGPU.arange(3).tolist()
    [0, 1, 2]
    >>> cuda.set_allocator(default)
    """
    if _thread.depth:
        raise ValueError("the allocator of all threads cannot be changed inside a using_allocator block")
    _core._choose_allocator(_native(allocator))


def get_allocator() -> Callable[[int], Any]:
    """Return the allocator of the calling thread's new arrays.

    Returns
    -------
    callable
        The function that the program passed to `set_allocator` or `using_allocator`; otherwise the default pool's
        `malloc`.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> from PyGPU.cupy.cuda.memory import get_default_memory_pool
    >>> cuda.get_allocator() == get_default_memory_pool().malloc
    True
    """
    chosen = _core.get_allocator()
    if chosen is None:
        return default_memory_pool.malloc
    return chosen.function if isinstance(chosen, _Allocator) else _in_cupys_form(chosen)


def _in_cupys_form(allocator: Any) -> Callable[[int], MemoryPointer]:
    """Convert an allocator of PyGPU to CuPy's form: from a number of bytes to a `MemoryPointer`."""

    def allocate(size: int) -> MemoryPointer:
        is_function = not hasattr(allocator, "allocate")
        memory = allocator(size) if is_function else allocator.allocate(size, _core.current_stream())
        if isinstance(memory, MemoryPointer):
            return memory
        return MemoryPointer(UnownedMemory(memory.ptr if hasattr(memory, "ptr") else int(memory), size, memory), 0)

    return allocate


@contextmanager
def using_allocator(allocator: Allocator | None = None) -> Iterator[None]:
    """Set the allocator that provides the memory of new arrays in this thread, inside a ``with`` block.

    Parameters
    ----------
    allocator : callable, optional
        As for `set_allocator`.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy import cuda
    >>> pool = cuda.MemoryPool()
    >>> with cuda.using_allocator(pool.malloc):
    ...     a = PyGPU.arange(3)
    >>> isinstance(a.data.mem, cuda.memory.PooledMemory)
    True
    """
    scope = _core._ThreadsAllocator(_native(allocator))
    _thread.depth += 1
    try:
        yield
    finally:
        _thread.depth -= 1
        scope.put_back()


def hooked_allocator() -> _core._ThreadsAllocator | None:
    """Make allocations of this thread from PyGPU's own pool call the thread's memory hooks.

    The hooks are called until the caller calls `put_back` on the returned object. If the program has set an allocator,
    the function returns None, because the pools of CuPy's interface call the hooks themselves.
    """
    return _core._ThreadsAllocator(_Allocator(default_memory_pool.malloc)) if _core.get_allocator() is None else None


def alloc(size: SupportsIndex) -> MemoryPointer:
    """Allocate memory by the calling thread's allocator.

    Parameters
    ----------
    size : int
        Number of bytes.

    Returns
    -------
    MemoryPointer

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> pointer = cuda.alloc(100)
    >>> pointer.mem.size >= 100
    True
    """
    return get_allocator()(int(size))  # type: ignore[no-any-return]


class _FunctionMemory(BaseMemory):
    """Memory that one Python function allocated and that another Python function frees."""

    def __init__(self, ptr: int, size: int, free: Callable[[int, int], object]) -> None:
        self.ptr, self.size, self.device_id = ptr, size, _core.current_device()
        self._free = free

    def __del__(self) -> None:
        if self.ptr and not sys.is_finalizing():
            self._free(self.ptr, self.device_id)


class PythonFunctionAllocator:
    """Allocator of memory that Python functions allocate and free.

    Parameters
    ----------
    malloc_func : callable
        Function that receives the number of bytes and the device's number, and returns an address.
    free_func : callable
        Function that receives the address and the device's number.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy import cuda
    >>> allocator = cuda.PythonFunctionAllocator(
    ...     lambda size, device_id: cuda.runtime.malloc(size), lambda ptr, device_id: cuda.runtime.free(ptr)
    ... )
    >>> with cuda.using_allocator(allocator.malloc):
    ...     a = PyGPU.arange(3)
    >>> a.tolist()
    [0, 1, 2]
    >>> del a
    """

    def __init__(self, malloc_func: Callable[[int, int], int], free_func: Callable[[int, int], object]) -> None:
        self._malloc, self._free = malloc_func, free_func

    def malloc(self, size: int) -> MemoryPointer:
        """Allocate memory by the Python function `malloc_func`.

        Parameters
        ----------
        size : int
            Number of bytes.

        Returns
        -------
        MemoryPointer
        """
        address = self._malloc(size, _core.current_device()) if size else 0
        return MemoryPointer(_FunctionMemory(address, size, self._free), 0)


class CFunctionAllocator(PythonFunctionAllocator):
    """Allocator of memory that C functions allocate and free.

    Parameters
    ----------
    param : int
        First argument of both functions.
    malloc_func : int
        Address of a function ``void *(*)(void *param, size_t size, int device_id)``.
    free_func : int
        Address of a function ``void (*)(void *param, void *ptr, int device_id)``.
    owner : object
        Object that keeps the functions and `param` alive.

    Examples
    --------
    >>> import ctypes
    >>> from PyGPU.cupy import cuda
    >>> blocks = {}
    >>> @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    ... def allocate(param, size, device_id):
    ...     memory = cuda.Memory(size)
    ...     blocks[memory.ptr] = memory
    ...     return memory.ptr
    >>> @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
    ... def free(param, ptr, device_id):
    ...     del blocks[ptr]
    >>> addresses = [ctypes.cast(function, ctypes.c_void_p).value for function in (allocate, free)]
    >>> allocator = cuda.CFunctionAllocator(0, *addresses, (allocate, free))
    >>> pointer = allocator.malloc(100)
    >>> list(blocks) == [pointer.ptr]
    True
    >>> del pointer
    >>> blocks
    {}
    """

    def __init__(self, param: int, malloc_func: int, free_func: int, owner: object) -> None:
        allocate = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)(malloc_func)
        free = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(free_func)

        def checked(size: int, device_id: int) -> int:
            address = allocate(param, size, device_id)
            if not address:
                raise _core.OutOfMemoryError(f"the C function returned no memory for {size} bytes")
            return int(address)

        def free_and_keep(ptr: int, device_id: int, owner: object = owner) -> None:
            # The default argument `owner` keeps the owner of the C functions alive until all memory is freed.
            free(param, ptr, device_id)

        super().__init__(checked, free_and_keep)
