"""Who registers what with Dask, and when; what is registered lies beside this file."""

from __future__ import annotations

import sys
from typing import Any

from PyGPU import _core
from PyGPU._dask.when_imported import when_imported

__all__: list[str] = []


def register_sizeof(sizeof: Any) -> None:
    """Tell Dask how large arrays are, and register all else when `dask.array` and `distributed` are imported.

    Dask itself calls this in every process that imports it, by the entry point ``dask.sizeof``.

    Parameters
    ----------
    sizeof : dask.utils.Dispatch
        Where Dask looks up who knows the size of an object.

    Examples
    --------
    >>> import PyGPU.dask
    >>> from dask.sizeof import sizeof
    >>> PyGPU.dask.register_sizeof(sizeof)
    >>> sizeof(PyGPU.zeros(1000))
    8000
    """
    is_first = _core.GPUArray not in sizeof._lookup
    sizeof.register(_core.GPUArray, nbytes)
    if is_first:
        when_imported("dask.array", _register_chunks)
        when_imported("distributed.protocol", _register_messages)


def nbytes(array: _core.GPUArray) -> int:
    """Return how much memory the elements have; one that is broadcast is there once."""
    count = array.itemsize
    for length, stride in zip(array.shape, array.strides, strict=True):
        count *= length if stride or not length else 1
    return count


def register() -> None:
    """Tell Dask's arrays, and `distributed` if it is there, what they need to know of arrays of a device.

    It may be called any number of times. Who imports Dask in the usual way need not: Dask's entry points see to it.

    Examples
    --------
    >>> import PyGPU.dask
    >>> PyGPU.dask.register()
    >>> import dask.array as da
    >>> x = da.from_array(PyGPU.arange(6.0), chunks=3)
    >>> type((x + 1).mean(keepdims=True).compute()).__name__
    'GPUArray'
    """
    from dask.sizeof import sizeof

    register_sizeof(sizeof)
    _register_chunks()
    if "distributed.protocol" in sys.modules:
        _register_messages()


def dask_setup(worker: Any) -> None:
    """Register in a worker before its first task: `distributed` calls this where ``PyGPU.dask`` is a preload.

    Parameters
    ----------
    worker : distributed.Worker
        Who has been started.

    Examples
    --------
    >>> import PyGPU.dask
    >>> PyGPU.dask.dask_setup(None)
    """
    register()


def _register_chunks() -> None:
    # First, since its end may be what registers: not in the middle of our own module's import.
    import dask.array  # noqa: F401

    from PyGPU._dask import chunks

    chunks.register()


def _register_messages() -> None:
    import distributed.protocol  # noqa: F401

    from PyGPU._dask import messages

    messages.register()
