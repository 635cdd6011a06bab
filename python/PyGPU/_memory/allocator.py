"""Allocate new arrays by another library's allocator (torch, CuPy or RMM) or by a callable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from PyGPU import _core
from PyGPU._names.public import public

__all__ = ["set_allocator", "using_allocator"]


class _TorchMemory:
    """Memory block of torch's caching allocator; the drop of this object returns the block to the allocator."""

    __slots__ = ("_free", "ptr")

    def __init__(self, ptr: int, free: Callable[[int], None]) -> None:
        self.ptr = ptr
        self._free = free

    def __del__(self) -> None:
        self._free(self.ptr)


class _TorchAllocator:
    def __init__(self) -> None:
        import torch

        if not torch.cuda.is_available():
            raise _core.NotSupportedError("set_allocator('torch'): torch finds no GPU here")
        self._cuda = torch.cuda

    def allocate(self, nbytes: int, stream: _core.Stream) -> _TorchMemory:
        cuda = self._cuda
        ptr = cuda.caching_allocator_alloc(nbytes, device=stream.device.index, stream=stream.handle)
        return _TorchMemory(ptr, cuda.caching_allocator_delete)

    def __repr__(self) -> str:
        return "<torch's caching allocator>"


class _CupyAllocator:
    def __init__(self) -> None:
        import cupy

        if cupy.__name__.startswith("PyGPU"):
            raise _core.NotSupportedError(
                "set_allocator('cupy'): `import cupy` finds PyGPU here (PyGPU.as_cupy); pass None for PyGPU's own pool"
            )
        self._cuda = cupy.cuda

    def allocate(self, nbytes: int, stream: _core.Stream) -> Any:
        cuda = self._cuda
        if not stream.handle:
            external_stream = cuda.Stream.null
        elif hasattr(cuda.Stream, "from_external"):
            external_stream = cuda.Stream.from_external(stream)
        else:  # CuPy before version 14 lacks `from_external`.
            external_stream = cuda.ExternalStream(stream.handle, stream.device.index)
        # CuPy's pool allocates a block in the order of CuPy's current stream, so `stream` becomes CuPy's current stream
        # here.
        with external_stream:
            return cuda.alloc(nbytes)

    def __repr__(self) -> str:
        return "<CuPy's allocator>"


class _RmmAllocator:
    def __init__(self) -> None:
        import rmm
        from rmm.pylibrmm.stream import Stream

        self._rmm = rmm
        self._stream = Stream

    def allocate(self, nbytes: int, stream: _core.Stream) -> Any:
        return self._rmm.DeviceBuffer(size=nbytes, stream=self._stream(stream))

    def __repr__(self) -> str:
        return "<RMM's current device resource>"


_ALLOCATORS: dict[str, Callable[[], Any]] = {"torch": _TorchAllocator, "cupy": _CupyAllocator, "rmm": _RmmAllocator}


def _resolve(allocator: Any) -> Any:
    if not isinstance(allocator, str):
        return allocator
    if allocator not in _ALLOCATORS:
        raise ValueError(f"allocator {allocator!r} is none of {', '.join(map(repr, _ALLOCATORS))}")
    if _core.backend_name() == "cpu":
        raise _core.NotSupportedError(
            f"set_allocator({allocator!r}): {allocator} allocates GPU memory, and this is the CPU"
        )
    return _ALLOCATORS[allocator]()


@public("Memory")
def set_allocator(allocator: Any) -> None:
    """Set the allocator that provides the memory of new arrays in all threads.

    Parameters
    ----------
    allocator : {'torch', 'cupy', 'rmm'}, callable, object or None
        One of:

        - the name of a library whose caching allocator is used;
        - a callable that takes a number of bytes (PyCUDA's convention);
        - an object with a method ``allocate(nbytes, stream)``;
        - None, for PyGPU's own pool.

        The callable and the method return an object with an address (``__int__`` or an attribute ``ptr``) that frees
        the memory when it is dropped. A plain number is rejected, because it owns no memory.

    Raises
    ------
    TypeError
        If `allocator` is none of these.
    ValueError
        For an unknown name. The creation of an array also raises this error if the allocator returns less memory than
        requested. PyGPU checks the size of memory that it allocated and of objects with `nbytes` or `size`.
    NotSupportedError
        If `allocator` is the name of a library and the backend is the CPU.

    See Also
    --------
    using_allocator : Set the allocator for one thread inside a ``with`` block.

    Notes
    -----
    Memory from ``allocate`` must be usable in the order of `stream`, a :class:`Stream`. Memory from a callable must be
    usable in the order of the default stream. PyGPU makes the stream wait for all recorded uses of the memory before it
    drops the memory's owner. As with PyGPU's own pool, the host does not wait, and the allocator may reuse the memory
    in the order of that stream. The array's device is current while the allocator is called. An exception of the
    allocator propagates to the caller that creates the array.

    Examples
    --------
    >>> import PyGPU
    >>> class Pool:
    ...     def allocate(self, nbytes, stream):
    ...         with PyGPU.using_allocator(None), stream:
    ...             return PyGPU.empty(nbytes, 'uint8')
    >>> PyGPU.set_allocator(Pool())
    >>> PyGPU.zeros(3).tolist()
    [0.0, 0.0, 0.0]
    >>> PyGPU.set_allocator(None)
    """
    _core._choose_allocator(_resolve(allocator))


@public("Memory")
@contextmanager
def using_allocator(allocator: Any) -> Iterator[None]:
    """Set the allocator that provides the memory of new arrays in this thread, inside a ``with`` block.

    Parameters
    ----------
    allocator : {'torch', 'cupy', 'rmm'}, callable, object or None
        As for :func:`set_allocator`.

    Examples
    --------
    >>> import PyGPU
    >>> with PyGPU.using_allocator(None):
    ...     a = PyGPU.zeros(3)
    >>> a.tolist()
    [0.0, 0.0, 0.0]
    """
    scope = _core._ThreadsAllocator(_resolve(allocator))
    try:
        yield
    finally:
        scope.put_back()
