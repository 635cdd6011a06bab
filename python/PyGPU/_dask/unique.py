"""Support device arrays in `da.unique`.

Dask collects the unique values of chunks in structured arrays. Dask's own function creates these arrays in host memory.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from dask.array import routines

from PyGPU import _core
from PyGPU._functions import sets

__all__: list[str] = []

_Rows = _core.GPUArray


def unique_rows(ar: Any, indices: Any, counts: Any, return_inverse: bool = False) -> _Rows:
    """Return the sorted unique values of a chunk as the structured array from which Dask computes its result.

    Parameters
    ----------
    ar : GPUArray
        The chunk, or the concatenated unique values of all chunks.
    indices : array_like or None
        Index of each element in the whole array, ascending for equal elements.
    counts : array_like or None
        Number of occurrences of each element.
    return_inverse : bool, optional
        Whether to add the field ``inverse``: for each unique value, its index.
    """
    values, first, inverse = sets.unique(ar, return_index=True, return_inverse=True)
    columns: dict[str, _core.GPUArray] = {"values": values}
    if indices is not None:
        columns["indices"] = _core.asarray(indices, device=ar.device)[first]
    if return_inverse:
        columns["inverse"] = _core.arange(len(values), dtype=np.intp, device=ar.device)
    if counts is not None:
        columns["counts"] = _core.zeros(len(values), np.intp, device=ar.device)
        _core.add.at(columns["counts"], inverse, _core.asarray(counts, device=ar.device))
    rows = _core.empty(len(values), [(name, column.dtype) for name, column in columns.items()], device=ar.device)
    for name, column in columns.items():
        rows[name] = column
    return rows


def register() -> None:
    """Wrap Dask's function for chunks, which Dask calls for all classes of chunks, to support device arrays."""
    dasks = getattr(routines, "_unique_internal", None)
    if dasks is None or hasattr(dasks, "_of_device_chunks"):
        return

    # The wrapper is pickled by the name of Dask's function, so that a worker without PyGPU unpickles Dask's function.
    @functools.wraps(dasks)
    def of_chunk(ar: Any, *args: Any, **kwargs: Any) -> Any:
        return (unique_rows if isinstance(ar, _core.GPUArray) else dasks)(ar, *args, **kwargs)

    of_chunk._of_device_chunks = True  # type: ignore[attr-defined]
    routines._unique_internal = of_chunk
