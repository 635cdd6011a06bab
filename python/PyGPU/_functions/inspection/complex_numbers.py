"""The functions `real_if_close` and `sort_complex`."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array
from PyGPU._names.public import public


@public("Moving and repeating elements")
def real_if_close(a: Any, tol: float = 100) -> _core.GPUArray:
    """Return the real parts if all imaginary parts are nearly 0; the host waits for the test.

    Parameters
    ----------
    a : GPUArray
        Complex numbers.
    tol : float, optional
        Largest imaginary part that counts as 0: in units of machine epsilon if `tol` is greater than 1, otherwise
        absolute.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.real_if_close(PyGPU.to_gpu([1 + 1e-15j])).tolist()
    [1.0]
    """
    source = array(a, "real_if_close")
    if source.dtype.kind != "c":
        return source
    tolerance = float(np.finfo(source.dtype).eps) * tol if tol > 1 else tol
    result: _core.GPUArray = source.real if bool(_core.all(_core.absolute(source.imag) < tolerance)) else source
    return result


@public("Moving and repeating elements")
def sort_complex(a: Any) -> _core.GPUArray:
    """Sort complex numbers by real part, then by imaginary part.

    Parameters
    ----------
    a : GPUArray
        Numbers of any type.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.sort_complex(PyGPU.to_gpu([2, 1j])).tolist()
    [1j, (2+0j)]
    """
    result = _core.sort(array(a, "sort_complex"))
    if result.dtype.kind == "c":
        return result
    return result.astype(np.complex64 if result.dtype.char in "bhBH" else np.complex128)
