"""Register PyGPU's functions with Dask, so that Dask supports chunks that are device arrays."""

from __future__ import annotations

import sys
from typing import Any

from PyGPU import _core
from PyGPU._process.import_hook import when_imported

__all__: list[str] = []


def register_sizeof(sizeof: Any) -> None:
    """Register with Dask the function that returns an array's size, and, once `dask.array` is imported, all others.

    The functions that serialize messages are registered when `distributed` is imported. Dask calls `register_sizeof`,
    by the entry point ``dask.sizeof``, in every process that imports Dask.

    Parameters
    ----------
    sizeof : dask.utils.Dispatch
        Dask's dispatcher, which looks up the function that returns an object's size.

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
    """Return the number of bytes of an array's elements. Elements that are repeated by stride 0 count once."""
    count = array.itemsize
    for length, stride in zip(array.shape, array.strides, strict=True):
        count *= length if stride or not length else 1
    return count


def register() -> None:
    """Register PyGPU's functions with Dask, and with `distributed` if it is imported.

    Repeated calls have no effect. Programs need not call this function, because Dask's entry points call it.

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
    """Register PyGPU's functions in a worker of `distributed` before its first task.

    A worker calls this function if its option ``--preload`` names ``PyGPU.dask``.

    Parameters
    ----------
    worker : distributed.Worker
        The started worker.

    Examples
    --------
    >>> import PyGPU.dask
    >>> PyGPU.dask.dask_setup(None)
    """
    register()


def _register_chunks() -> None:
    # The import of `dask.array` may call `register`. This call must not happen during the import of `chunks` below, so
    # `dask.array` is imported first.
    import dask.array  # noqa: F401

    from PyGPU._dask import chunks

    chunks.register()


def _register_messages() -> None:
    import distributed.protocol  # noqa: F401

    from PyGPU._dask import serialization

    serialization.register()
