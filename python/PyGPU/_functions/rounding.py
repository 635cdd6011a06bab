"""The function `fix`, which rounds toward 0."""

from __future__ import annotations

from typing import Any

from PyGPU import _core
from PyGPU._functions.array_arguments import array
from PyGPU._names.public import public


@public("Moving and repeating elements")
def fix(x: Any, out: _core.GPUArray | None = None) -> _core.GPUArray:
    """Round numbers to integers toward 0.

    Parameters
    ----------
    x : GPUArray
        The numbers.
    out : GPUArray, optional
        Output array.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fix(PyGPU.to_gpu([-1.5, 1.5])).tolist()
    [-1.0, 1.0]
    """
    result: _core.GPUArray = _core.trunc(array(x, "fix"), out=out)
    return result
