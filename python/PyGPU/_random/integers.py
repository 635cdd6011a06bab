"""Draw uniform integers: for scalar bounds by a fast kernel, for arrays of bounds by a sampler."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.parameters import check, is_capturing, is_scalar, on_host, result_shape, shape_of_size
from PyGPU._random.random_source import RandomSource

_WORD = (1 << 64) - 1


def integers(source: RandomSource, low: Any, high: Any, size: Any, dtype: Any, endpoint: bool) -> _core.GPUArray:
    """Draw uniform integers from `low` to `high`."""
    if high is None:
        low, high = 0, low
    if not (is_scalar(low) and is_scalar(high)):
        return _of_arrays(source, low, high, size, dtype, endpoint)
    kind, limits = _limits(dtype)
    minimum, maximum = int(low), int(high) - (not endpoint)
    if size is not None and 0 in shape_of_size(size):
        return _core.empty(size, kind, device=source.device)
    if not limits[0] <= minimum <= maximum <= limits[1]:
        _check(minimum, maximum, limits, kind, endpoint)
    base, range_size = minimum & _WORD, maximum - minimum + 1
    if range_size == 1:
        return _core.full(() if size is None else size, minimum, kind, device=source.device)
    if range_size == 1 << 64:
        return source.create(size, kind, "raw", (0, 0, base))
    rejected_count = (1 << (32 if range_size <= 1 << 32 else 64)) % range_size
    return source.create(size, kind, "bounded", (range_size, rejected_count, base))


@functools.cache
def _limits(dtype: Any) -> tuple[np.dtype[Any], tuple[int, int]]:
    """Return an integer or bool dtype, its minimum and its maximum; raise NumPy's error for other types."""
    kind = np.dtype(dtype)
    check("integers", 2, dtype=kind)
    return kind, (0, 1) if kind.kind == "b" else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))


def _check(minimum: Any, maximum: Any, limits: tuple[int, int], kind: np.dtype[Any], endpoint: bool) -> None:
    """Raise NumPy's error for invalid bounds. The bounds are inclusive, and are integers or arrays of integers."""
    if np.any(minimum < limits[0]):
        raise ValueError(f"low is out of bounds for {kind}")
    if np.any(maximum > limits[1]):
        raise ValueError(f"high is out of bounds for {kind}")
    if np.any(minimum > maximum):
        raise ValueError("low > high" if endpoint else "low >= high")


def _of_arrays(source: RandomSource, low: Any, high: Any, size: Any, dtype: Any, endpoint: bool) -> _core.GPUArray:
    kind, limits = _limits(dtype)
    shape = result_shape(size, np.shape(low), np.shape(high))
    if is_capturing(source.device):
        bounds = [
            bound if isinstance(bound, _core.GPUArray) else _core.asarray(np.asarray(bound), device=source.device)
            for bound in (low, high)
        ]
        base, width = bounds[0].astype(np.int64), bounds[1].astype(np.int64) - bounds[0].astype(np.int64) + endpoint
        words = [_spread(bound, shape, source.device) for bound in (base, width)]
    else:
        low, high = np.asarray(on_host(low)), np.asarray(on_host(high))
        # The bounds become Python integers, because no dtype of NumPy contains all values of uint64 and int64.
        integers_of_python = [np.frompyfunc(int, 1, 1)(bound.astype(object)) for bound in (low, high)]
        _check(integers_of_python[0], integers_of_python[1] - (not endpoint), limits, kind, endpoint)
        host_base, host_top = (_word(bound) for bound in (low, high))
        with np.errstate(over="ignore"):
            host_width = host_top - host_base + np.uint64(endpoint)
        words = [
            _core.asarray(np.ascontiguousarray(np.broadcast_to(bound, shape)).view(np.float64), device=source.device)
            for bound in (host_base, host_width)
        ]
    result = _core.empty(shape, kind, device=source.device)
    source.sample(result, "bounded", *words)
    return result


def _word(bound: Any) -> Any:
    """Convert integers to uint64 modulo 2**64."""
    if bound.dtype == object:
        return np.array([int(value) & _WORD for value in bound.flat], np.uint64).reshape(bound.shape)
    return bound.astype(np.uint64 if bound.dtype.kind == "u" else np.int64).view(np.uint64)


def _spread(bound: _core.GPUArray, shape: tuple[int, ...], device: _core.Device) -> _core.GPUArray:
    array = _core.empty(shape, np.int64, device=device)
    array[...] = bound
    return array.view(np.float64)
