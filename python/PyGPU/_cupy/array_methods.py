"""Implementation of the methods of `GPUArray` that CuPy's arrays have and NumPy's arrays lack."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.public_lookup import own
from PyGPU._functions.accumulation import at
from PyGPU._names.docstrings import documented_like

__all__ = ["ptp", "scatter_add", "scatter_max", "scatter_min"]


def _of_dtype(name: str, a: _core.GPUArray, value: Any) -> Any:
    """Convert the argument `value` of a scatter function to the dtype of the changed array, as CuPy does."""
    if not isinstance(a, _core.GPUArray):
        raise TypeError(f"{name}: the first argument is the array that is changed, not {type(a).__name__}")
    if isinstance(value, _core.GPUArray):
        return value.astype(a.dtype, copy=False)
    values = np.asarray(value).astype(a.dtype)
    return own("asarray")(values, device=a.device) if values.ndim else values


def scatter_add(a: _core.GPUArray, slices: Any, value: Any) -> None:
    """Add values to elements of an array; if an index occurs several times, the values of all occurrences are added.

    Parameters
    ----------
    a : GPUArray
        Array to change.
    slices : index
        Index that selects the elements, as in ``a[slices]``.
    value : array_like
        Values, which broadcast to the shape of ``a[slices]`` and are converted to the array's dtype.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU import cupyx
    >>> a = PyGPU.zeros(3)
    >>> cupyx.scatter_add(a, [0, 2, 2], 1)
    >>> a.tolist()
    [1.0, 0.0, 2.0]
    """
    at("add", a, slices, _of_dtype("scatter_add", a, value))


@documented_like(scatter_add)
def scatter_max(a: _core.GPUArray, slices: Any, value: Any) -> None:
    """Replace elements of an array by the maximum of the element and a value.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU import cupyx
    >>> a = PyGPU.zeros(3)
    >>> cupyx.scatter_max(a, [0, 2, 2], PyGPU.to_gpu([1, 5, 4]))
    >>> a.tolist()
    [1.0, 0.0, 5.0]
    """
    at("maximum", a, slices, _of_dtype("scatter_max", a, value))


@documented_like(scatter_add)
def scatter_min(a: _core.GPUArray, slices: Any, value: Any) -> None:
    """Replace elements of an array by the minimum of the element and a value.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU import cupyx
    >>> a = PyGPU.zeros(3)
    >>> cupyx.scatter_min(a, [0, 2, 2], PyGPU.to_gpu([-1, -5, -4]))
    >>> a.tolist()
    [-1.0, 0.0, -5.0]
    """
    at("minimum", a, slices, _of_dtype("scatter_min", a, value))


def ptp(a: _core.GPUArray, axis: Any, out: _core.GPUArray | None, keepdims: bool) -> _core.GPUArray:
    """Return the difference between the maximum and the minimum along axes."""
    return _core.ptp(a, axis, out, keepdims)
