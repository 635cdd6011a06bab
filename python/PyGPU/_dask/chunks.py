"""Functions that Dask calls for chunks that are device arrays; Dask selects a function by the class of the chunk."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from dask.array import chunk_types
from dask.array.dispatch import (
    einsum_lookup,
    empty_lookup,
    numel_lookup,
    percentile_lookup,
    to_numpy_dispatch,
)
from dask.utils import Dispatch

from PyGPU import _core
from PyGPU._dask import unique
from PyGPU._functions import quantiles

__all__: list[str] = []

to_pygpu_dispatch = Dispatch(name="to_pygpu_dispatch")
"""Functions that copy a chunk to the current device, by the class of the chunk."""


def _to_device(data: Any, **kwargs: Any) -> _core.GPUArray:
    return _core.asarray(data, **kwargs)


to_pygpu_dispatch.register((object, np.ndarray), _to_device)


def numel(x: _core.GPUArray, **kwargs: Any) -> Any:
    """Return the number of elements that each result of a reduction of `x` combines, on the device of `x`.

    `da.mean` divides sums by this number.
    """
    axis, keepdims = kwargs.get("axis"), kwargs.get("keepdims", False)
    dtype = kwargs.get("dtype", np.float64)
    if axis is None and not keepdims:
        return np.dtype(dtype).type(x.size)
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    reduced = {axis_index % x.ndim for axis_index in axes}
    lengths = [1 if index in reduced else length for index, length in enumerate(x.shape)]
    shape = [length for index, length in enumerate(lengths) if keepdims or index not in reduced]
    return _core.full(shape, math.prod(x.shape[index] for index in reduced), dtype, device=x.device)


def einsum(*operands: Any, **kwargs: Any) -> _core.GPUArray:
    """Evaluate `einsum` on the device; ignore the arguments `order` and `casting`, which Dask always passes."""
    for name in ("order", "casting"):
        kwargs.pop(name, None)
    result: _core.GPUArray = np.einsum(*operands, **kwargs)
    return result


def percentile(a: _core.GPUArray, q: Any, method: str = "linear") -> tuple[_core.GPUArray | None, int]:
    """Return the percentiles and the length of one chunk; Dask combines the percentiles of all chunks."""
    return (quantiles.percentile(a, q, method=method), len(a)) if len(a) else (None, 0)


def to_numpy(data: _core.GPUArray, **kwargs: Any) -> np.ndarray[Any, Any]:
    """Copy the values of a chunk to the host."""
    return data.get(**kwargs)


def register() -> None:
    """Register the functions of this module with Dask."""
    numel_lookup.register(_core.GPUArray, numel)
    einsum_lookup.register(_core.GPUArray, einsum)
    empty_lookup.register(_core.GPUArray, _core.empty)
    percentile_lookup.register(_core.GPUArray, percentile)
    to_numpy_dispatch.register(_core.GPUArray, to_numpy)
    unique.register()
    if _core.GPUArray not in chunk_types._HANDLED_CHUNK_TYPES:
        chunk_types.register_chunk_type(_core.GPUArray)
