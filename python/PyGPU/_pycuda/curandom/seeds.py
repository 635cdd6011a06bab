"""The function `rand`, and functions that create seeds for the generators of `curandom`."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.random_source import RandomSource
from PyGPU._random.stream_position import StreamPosition

__all__ = ["rand", "seed_getter_uniform", "seed_getter_unique"]

# Key of Philox that gives `rand` a different random stream from the generators of `curandom`.
_RAND_KEY = 0x72616E64


def on_stream(stream: Any) -> Any:
    """Return a context manager that makes a stream current; None has no effect."""
    return contextlib.nullcontext() if stream is None else stream


def check_type(names: tuple[str, ...], data: _core.GPUArray, description: str) -> None:
    """Raise an error for an array whose dtype is not one of `names`."""
    if data.dtype.name not in names:
        raise NotImplementedError(f"{description} are made as {', '.join(names)}, not as {data.dtype}")


def uniform_types(bits: int) -> tuple[str, ...]:
    """Return the dtypes of the uniform numbers that a generator of 32 or 64 bits supports."""
    names = ("float32", "float64", "int32", "uint32")
    return (*names, "int64", "uint64") if bits == 64 else names


def fill_uniform(source: RandomSource, data: _core.GPUArray, *, bits: int, excludes_zero: bool) -> None:
    """Fill a floating-point array with numbers in [0, 1) or (0, 1], or an integer array with arbitrary integers."""
    kind = data.dtype
    check_type(uniform_types(bits), data, f"uniform numbers of {bits} bits")
    start, width = (1.0, -1.0) if excludes_zero else (0.0, 1.0)
    if kind.kind == "f":
        source.draw(data, "uniform", scale=(start, width))
    elif kind.itemsize == 8:
        source.draw(data, "raw")
    else:
        source.draw(data, "bounded", bounds=(1 << 32, 0, 0))


def rand(shape: Any, dtype: Any = np.float32, stream: Any = None) -> _core.GPUArray:
    """Create an array of random floating-point numbers in [0, 1), or of arbitrary random integers.

    Parameters
    ----------
    shape : int or tuple of ints
    dtype : data-type, optional
        float32, float64, int32 or uint32.
    stream : Stream, optional
        Stream that fills the array; defaults to the thread's current stream.

    Notes
    -----
    The seed is drawn from `numpy.random`, so that ``numpy.random.seed`` makes the array reproducible. The numbers come
    from Philox4x64-10 and differ from PyCUDA's numbers.

    Examples
    --------
    >>> from PyGPU import curandom
    >>> a = curandom.rand((10, 100))
    >>> bool((a.get() >= 0).all() and (a.get() < 1).all())
    True
    """
    source = RandomSource(_core.Device(), StreamPosition((int(np.random.randint(2**31 - 1)), _RAND_KEY)))
    with on_stream(stream):
        result = _core.empty(shape, dtype, device=source.device)
        fill_uniform(source, result, bits=32, excludes_zero=False)
    return result


def seed_getter_uniform(n: int) -> _core.GPUArray:
    """Create an array with the same random seed in each element.

    Parameters
    ----------
    n : int
        Number of elements.

    Examples
    --------
    >>> from PyGPU import curandom
    >>> len(set(curandom.seed_getter_uniform(5).get().tolist()))
    1
    """
    return _core.full(n, random.randint(0, 2**31 - 1), np.int32)


def seed_getter_unique(n: int) -> _core.GPUArray:
    """Create an array with a different random seed in each element.

    Parameters
    ----------
    n : int
        Number of elements.

    Examples
    --------
    >>> from PyGPU import curandom
    >>> curandom.seed_getter_unique(5).dtype
    dtype('int32')
    """
    return _core.to_gpu(np.random.randint(0, 2**31 - 1, n).astype(np.int32))
