"""Quasi-random generators of Sobol points, whose direction vectors come from cuRAND or hipRAND, or from the caller."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._process.fork_lock import fork_safe_lock
from PyGPU._pycuda.curandom import direction_vectors
from PyGPU._pycuda.curandom.generator_base import Base
from PyGPU._pycuda.curandom.seeds import check_type, uniform_types

__all__ = [
    "ScrambledSobol32RandomNumberGenerator",
    "ScrambledSobol64RandomNumberGenerator",
    "Sobol32RandomNumberGenerator",
    "Sobol64RandomNumberGenerator",
]

# Source of a kernel: element `i` is coordinate `i % count` of point `first + i / count`, in (0, 1).
_POINT = """\
{U} bits = {start}, gray = ({U})(first + i / count);
gray ^= gray >> 1;
for (int b = 0; gray; b++, gray >>= 1)
    if (gray & 1) bits ^= vectors[(i % count) * {B} + b];
const double unit = {unit};
{result}
"""
_UNIT = {32: "bits * 0x1p-32 + 0x1p-33", 64: "fmin((double)(bits >> 11) * 0x1p-53 + 0x1p-54, 1 - 0x1p-53)"}
# A Poisson count is found by a search from 0. For a large mean, it is a rounded normal number, as in cuRAND.
_POISSON = """\
const double lambda = {mean};
double found = 0;
if (lambda < 500) {{
    double p = exp(-lambda), sum = p;
    while (unit > sum && found < 2000) found += 1, p *= lambda / found, sum += p;
}} else {{
    found = fmax(floor(lambda + sqrt(lambda) * normcdfinv(unit) + 0.5), 0.0);
}}
data[i] = ({T})found;
"""
_RESULTS = {
    "uniform": "data[i] = ({T})unit;",
    "bits": "data[i] = ({T})bits;",
    "normal": "data[i] = ({T})(mean + stddev * normcdfinv(unit));",
    "poisson": _POISSON.replace("{mean}", "mean"),
    "poisson_in_place": _POISSON.replace("{mean}", "(double)data[i]"),
}
_C_TYPES = {
    "float32": "float",
    "float64": "double",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
}


@functools.cache
def _kernel(value_kind: str, dtype: str, bits: int, scrambled: bool) -> _core.ElementwiseKernel:
    unsigned = _C_TYPES[f"uint{bits}"]
    result = _RESULTS[value_kind].format(T=_C_TYPES[dtype])
    start = "scramble[i % count]" if scrambled else "0"
    text = _POINT.format(U=unsigned, B=bits, start=start, unit=_UNIT[bits], result=result)
    table_parameters = f"const {unsigned} *vectors, " + (f"const {unsigned} *scramble, " if scrambled else "")
    number_parameters = "unsigned long long first, unsigned long long count, double mean, double stddev"
    return _core.ElementwiseKernel(
        f"{_C_TYPES[dtype]} *data, {table_parameters}{number_parameters}", text, f"sobol{bits}_{value_kind}"
    )


_lock = fork_safe_lock()
"""Lock of the positions of all generators, so that each point is drawn once."""


class _Sobol(Base):
    """Base class of generators of Sobol points with `block_count * generators_per_block` dimensions.

    An array is filled with the coordinates of one point after another.
    """

    _vector_set: direction_vectors.direction_vector_set

    def __init__(self, dir_vector: _core.GPUArray | None = None, offset: int = 0) -> None:
        super().__init__()
        self._unsigned = np.dtype(f"uint{self.generator_bits}")
        if dir_vector is None:
            dir_vector = direction_vectors.generate_direction_vectors(self._count, self._vector_set)
        self._check("dir_vector", dir_vector, (self._count, self.generator_bits))
        self._vectors = dir_vector.reshape(-1)
        self._scramble: _core.GPUArray | None = None
        self._first = int(offset)

    def _check(self, name: str, table: Any, shape: tuple[int, ...]) -> None:
        if not (isinstance(table, _core.GPUArray) and table.dtype == self._unsigned and table.shape == shape):
            raise TypeError(f"{name} must be a GPUArray of {self._unsigned} and of the shape {shape}")

    def _draw(self, data: _core.GPUArray, value_kind: str, mean: float = 0.0, stddev: float = 1.0) -> None:
        kernel = _kernel(value_kind, data.dtype.name, self.generator_bits, self._scramble is not None)
        vectors = (self._vectors,) if self._scramble is None else (self._vectors, self._scramble)
        with _lock:
            kernel(data, *vectors, self._first, self._count, mean, stddev)
            self._first += -(-data.size // self._count)

    def _uniform(self, data: _core.GPUArray) -> None:
        check_type(uniform_types(self.generator_bits), data, f"uniform numbers of {self.generator_bits} bits")
        self._draw(data, "bits" if data.dtype.kind in "iu" else "uniform")

    def _normal(self, data: _core.GPUArray, mean: float, stddev: float) -> None:
        self._draw(data, "normal", mean, stddev)

    def _poisson(self, data: _core.GPUArray, mean: float | None) -> None:
        self._draw(data, "poisson_in_place" if mean is None else "poisson", mean or 0.0)

    def _skip(self, number_parameters: int) -> None:
        with _lock:
            self._first += number_parameters // self._count


class _Scrambled(_Sobol):
    """Base class of generators of scrambled Sobol points; a constant for each dimension inverts bits of coordinates."""

    _constants: Callable[[int], _core.GPUArray]

    def __init__(
        self,
        dir_vector: _core.GPUArray | None = None,
        scramble_vector: _core.GPUArray | None = None,
        offset: int = 0,
    ) -> None:
        super().__init__(dir_vector, offset)
        if scramble_vector is None:
            scramble_vector = self._constants(self._count)
        self._check("scramble_vector", scramble_vector, (self._count,))
        self._scramble = scramble_vector


class Sobol32RandomNumberGenerator(_Sobol):
    """Quasi-random generator of Sobol points with 32-bit coordinates.

    Parameters
    ----------
    dir_vector : GPUArray, optional
        Direction vectors of uint32, 32 for each of the `block_count * generators_per_block` dimensions; defaults to the
        result of `generate_direction_vectors`, which requires the vendor's library.
    offset : int, optional
        Index of the first point.

    Notes
    -----
    Element i of an array is coordinate ``i % (block_count * generators_per_block)`` of a point, as in PyCUDA. Each
    array begins with a new point.
    """

    _vector_set = direction_vectors.direction_vector_set.VECTOR_32


class ScrambledSobol32RandomNumberGenerator(_Scrambled):
    """Quasi-random generator of scrambled Sobol points with 32-bit coordinates.

    Parameters
    ----------
    dir_vector, offset : optional
        As for `Sobol32RandomNumberGenerator`.
    scramble_vector : GPUArray, optional
        Mask of the bits to invert, for each dimension; defaults to the result of `generate_scramble_constants32`.
    """

    _vector_set = direction_vectors.direction_vector_set.SCRAMBLED_VECTOR_32
    _constants = staticmethod(direction_vectors.generate_scramble_constants32)


class Sobol64RandomNumberGenerator(_Sobol):
    """Quasi-random generator of Sobol points with 64-bit coordinates.

    Parameters
    ----------
    dir_vector, offset : optional
        As for `Sobol32RandomNumberGenerator`, with 64 vectors of uint64 for each dimension.
    """

    _vector_set = direction_vectors.direction_vector_set.VECTOR_64
    generator_bits = 64


class ScrambledSobol64RandomNumberGenerator(_Scrambled):
    """Quasi-random generator of scrambled Sobol points with 64-bit coordinates.

    Parameters
    ----------
    dir_vector, scramble_vector, offset : optional
        As for `ScrambledSobol32RandomNumberGenerator`, with 64 vectors of uint64 for each dimension.
    """

    _vector_set = direction_vectors.direction_vector_set.SCRAMBLED_VECTOR_64
    generator_bits = 64
    _constants = staticmethod(direction_vectors.generate_scramble_constants64)
