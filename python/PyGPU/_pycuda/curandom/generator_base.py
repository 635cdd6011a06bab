"""Base class of the generators of `curandom`."""

from __future__ import annotations

import abc
from typing import Any

from PyGPU import _core
from PyGPU._pycuda.curandom.seeds import check_type, on_stream

# Number of threads of a block in PyCUDA's generators. Programs create one seed for each thread that PyCUDA launches.
_GENERATORS_PER_BLOCK = 256


class Base(abc.ABC):
    """Base class of random generators with PyCUDA's methods; derived classes fill arrays."""

    has_box_muller = False
    generator_bits = 32

    def __init__(self) -> None:
        self._device = _core.Device()
        self.block_count: int = max(int(self._device.properties.get("multiprocessor_count", 1)), 1)
        self.generators_per_block = _GENERATORS_PER_BLOCK

    @property
    def _count(self) -> int:
        return self.block_count * self.generators_per_block

    @abc.abstractmethod
    def _uniform(self, data: _core.GPUArray) -> None: ...

    @abc.abstractmethod
    def _normal(self, data: _core.GPUArray, mean: float, stddev: float) -> None: ...

    @abc.abstractmethod
    def _poisson(self, data: _core.GPUArray, mean: float | None) -> None: ...

    @abc.abstractmethod
    def _skip(self, numbers: int) -> None: ...

    def _empty(self, shape: Any, dtype: Any, stream: Any) -> _core.GPUArray:
        with on_stream(stream):
            return _core.empty(shape, dtype, device=self._device)

    def fill_uniform(self, data: _core.GPUArray, stream: Any = None) -> None:
        """Fill a floating-point array with uniform numbers in (0, 1], or an integer array with arbitrary integers.

        Parameters
        ----------
        data : GPUArray
            Array of float32, float64, int32 or uint32; a 64-bit generator also supports int64 and uint64.
        stream : Stream, optional
        """
        with on_stream(stream):
            self._uniform(data)

    def gen_uniform(self, shape: Any, dtype: Any, stream: Any = None) -> _core.GPUArray:
        """Create an array and fill it as `fill_uniform` does."""
        result = self._empty(shape, dtype, stream)
        self.fill_uniform(result, stream)
        return result

    def fill_normal(self, data: _core.GPUArray, stream: Any = None) -> None:
        """Fill an array of float32 or float64 with normally distributed numbers of mean 0 and standard deviation 1.

        Parameters
        ----------
        data : GPUArray
        stream : Stream, optional
            Stream on which the work runs; defaults to the thread's current stream.
        """
        self._check_float(data)
        with on_stream(stream):
            self._normal(data, 0.0, 1.0)

    def gen_normal(self, shape: Any, dtype: Any, stream: Any = None) -> _core.GPUArray:
        """Create an array and fill it as `fill_normal` does."""
        result = self._empty(shape, dtype, stream)
        self.fill_normal(result, stream)
        return result

    def fill_log_normal(self, data: _core.GPUArray, mean: float, stddev: float, stream: Any = None) -> None:
        """Fill an array of float32 or float64 with log-normally distributed numbers.

        Parameters
        ----------
        data : GPUArray
        mean, stddev : float
            Mean and standard deviation of the logarithm of the numbers.
        stream : Stream, optional
            Stream on which the work runs; defaults to the thread's current stream.
        """
        self._check_float(data)
        with on_stream(stream):
            self._normal(data, float(mean), float(stddev))
            _core.exp(data, out=data)

    def gen_log_normal(self, shape: Any, dtype: Any, mean: float, stddev: float, stream: Any = None) -> _core.GPUArray:
        """Create an array and fill it as `fill_log_normal` does."""
        result = self._empty(shape, dtype, stream)
        self.fill_log_normal(result, mean, stddev, stream)
        return result

    def fill_poisson(self, data: _core.GPUArray, lambda_value: float | None = None, stream: Any = None) -> None:
        """Fill an array with Poisson-distributed counts.

        Parameters
        ----------
        data : GPUArray
            Array of uint32; if `lambda_value` is not given, also of float32 or float64.
        lambda_value : float, optional
            Mean of the distribution. If it is not given, the value of each element is the mean for that element.
        stream : Stream, optional
        """
        allowed_types = ("uint32",) if lambda_value is not None else ("uint32", "float32", "float64")
        check_type(allowed_types, data, "counts" if lambda_value is None else "counts of one mean")
        with on_stream(stream):
            self._poisson(data, None if lambda_value is None else float(lambda_value))

    def gen_poisson(self, shape: Any, dtype: Any, lambda_value: float, stream: Any = None) -> _core.GPUArray:
        """Create an array and fill it as `fill_poisson` does."""
        result = self._empty(shape, dtype, stream)
        self.fill_poisson(result, lambda_value, stream)
        return result

    def call_skip_ahead(self, i: int, stream: Any = None) -> None:
        """Skip `i` numbers in each of the `block_count * generators_per_block` parts of the random stream.

        Parameters
        ----------
        i : int
            Number of random numbers to skip in each part.
        stream : Stream, optional
            Accepted for compatibility with PyCUDA; it has no effect, because skipping needs no work on a device.
        """
        self._skip(int(i) * self._count)

    def call_skip_ahead_array(self, i: _core.GPUArray, stream: Any = None) -> None:
        """Skip numbers in each part of the sequence, as many as the largest element of `i`; the host waits for `i`.

        Parameters
        ----------
        i : GPUArray
            Count of numbers to skip for each part of the sequence; only the largest count is used.
        stream : Stream, optional
            Stream on which the work runs; defaults to the thread's current stream.
        """
        with on_stream(stream):
            self.call_skip_ahead(int(i.max().item()))

    @staticmethod
    def _check_float(data: _core.GPUArray) -> None:
        check_type(("float32", "float64"), data, "normally distributed numbers")
