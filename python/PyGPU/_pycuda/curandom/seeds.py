"""`rand`, and seeds for the generators."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.draws import Source
from PyGPU._random.stream_position import Place

__all__ = ["rand", "seed_getter_uniform", "seed_getter_unique"]

# `rand` and the generators have separate streams, also for equal seeds.
_OF_RAND = 0x72616E64


def on_stream(stream: Any) -> Any:
    """Create a stream current for a block; None has no effect."""
    return contextlib.nullcontext() if stream is None else stream


def refuse_but(names: tuple[str, ...], data: _core.GPUArray, what: str) -> None:
    """Reject an array whose type is not among the listed ones."""
    if data.dtype.name not in names:
        raise NotImplementedError(f"{what} are made as {', '.join(names)}, not as {data.dtype}")


def uniform_types(bits: int) -> tuple[str, ...]:
    """List the types of uniform numbers of a generator with the given number of bits."""
    names = ("float32", "float64", "int32", "uint32")
    return (*names, "int64", "uint64") if bits == 64 else names


def fill_uniform(source: Source, data: _core.GPUArray, *, bits: int, upside_down: bool) -> None:
    """Fill an array with numbers in [0, 1), or in (0, 1]; integers are arbitrary."""
    kind = data.dtype
    refuse_but(uniform_types(bits), data, f"uniform numbers of {bits} bits")
    start, width = (1.0, -1.0) if upside_down else (0.0, 1.0)
    if (numpys := source.numpys()) is not None:
        if kind.kind == "f":
            data[...] = start + kind.type(width) * numpys.random(data.shape, kind)
        else:
            limits = np.iinfo(kind)
            data[...] = numpys.integers(limits.min, limits.max, data.shape, kind, endpoint=True)
    elif kind.kind == "f":
        source.draw(data, "uniform", scale=(start, width))
    elif kind.itemsize == 8:
        source.draw(data, "raw")
    else:
        source.draw(data, "bounded", bounds=(1 << 32, 0, 0))


def rand(shape: Any, dtype: Any = np.float32, stream: Any = None) -> _core.GPUArray:
    """Create an array of random numbers in [0, 1), or of arbitrary integers.

    Parameters
    ----------
    shape : int or tuple of ints
    dtype : data-type, optional
        float32, float64, int32 or uint32.
    stream : Stream, optional
        The current one by default.

    Notes
    -----
    The seed is drawn from `numpy.random`, so that ``numpy.random.seed`` makes it reproducible. The numbers are those of
    Philox4x64-10, and not those that PyCUDA draws.

    Examples
    --------
    >>> from PyGPU import curandom
    >>> a = curandom.rand((10, 100))
    >>> bool((a.get() >= 0).all() and (a.get() < 1).all())
    True
    """
    source = Source(_core.Device(), Place((int(np.random.randint(2**31 - 1)), _OF_RAND)))
    with on_stream(stream):
        made = _core.empty(shape, dtype, device=source.device)
        fill_uniform(source, made, bits=32, upside_down=False)
    return made


def seed_getter_uniform(n: int) -> _core.GPUArray:
    """Create seeds of equal value.

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
    """Create random seeds.

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
