"""Functions that return the version of cuRAND or hipRAND, and its direction vectors and scramble constants."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from PyGPU import _core

__all__ = [
    "direction_vector_set",
    "generate_direction_vectors",
    "generate_scramble_constants32",
    "generate_scramble_constants64",
    "get_curand_version",
]


class direction_vector_set(enum.IntEnum):
    """Enumeration of sets of direction vectors, with cuRAND's values."""

    VECTOR_32 = 101
    SCRAMBLED_VECTOR_32 = 102
    VECTOR_64 = 103
    SCRAMBLED_VECTOR_64 = 104


# Number of dimensions in cuRAND's tables of vectors. For more dimensions a table is repeated, as in PyCUDA.
_DIMENSIONS = 20_000


def get_curand_version() -> tuple[int, int, int] | None:
    """Return the version of cuRAND or hipRAND; None if the library is missing.

    Examples
    --------
    >>> from PyGPU import curandom
    >>> version = curandom.get_curand_version()
    >>> version is None or len(version) == 3
    True
    """
    version = _core._rand_library_version()
    return None if version is None else (version // 1000, version % 1000 // 10, version % 10)


def _table(table_number: int, count: int, columns: int, dtype: Any) -> _core.GPUArray:
    rows = min(count, _DIMENSIONS)
    nbytes = rows * columns * np.dtype(dtype).itemsize
    table = np.frombuffer(_core._rand_library_table(table_number, nbytes), dtype)
    table = table.reshape(rows, columns)[np.arange(count) % _DIMENSIONS]
    return _core.to_gpu(table if columns > 1 else table.reshape(count))


def generate_direction_vectors(count: int, direction: Any = direction_vector_set.VECTOR_32) -> _core.GPUArray:
    """Return direction vectors of Sobol points from cuRAND or hipRAND.

    Parameters
    ----------
    count : int
        Number of dimensions; the vectors repeat after 20000 dimensions.
    direction : direction_vector_set, optional
        Set from which the vectors come.

    Raises
    ------
    RuntimeError
        If the library is missing; the message names the package to install.
    """
    vector_set = direction_vector_set(direction)
    bits = 32 if vector_set in (direction_vector_set.VECTOR_32, direction_vector_set.SCRAMBLED_VECTOR_32) else 64
    return _table(int(vector_set), count, bits, f"uint{bits}")


def generate_scramble_constants32(count: int) -> _core.GPUArray:
    """Return 32-bit scramble constants of Sobol points from cuRAND or hipRAND.

    Parameters
    ----------
    count : int
        Number of dimensions; the constants repeat after 20000 dimensions.
    """
    return _table(32, count, 1, np.uint32)


def generate_scramble_constants64(count: int) -> _core.GPUArray:
    """Return 64-bit scramble constants of Sobol points from cuRAND or hipRAND.

    Parameters
    ----------
    count : int
        Number of dimensions; the constants repeat after 20000 dimensions.
    """
    return _table(64, count, 1, np.uint64)
