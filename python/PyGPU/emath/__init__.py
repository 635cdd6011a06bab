"""Functions that return complex results for arguments outside of their real domain, as in `numpy.emath`.

The dtype of a result depends on the values of the arguments. For real arguments the values are tested on the device,
and the host waits for the result of the test. In the functions of `PyGPU` with the same names, the host does not wait,
and results outside of the real domain are NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array, arrays
from PyGPU._names import public_modules as _public_modules

__all__ = ["arccos", "arcsin", "arctanh", "log", "log2", "log10", "logn", "power", "sqrt"]


def _as_complex(x: _core.GPUArray) -> _core.GPUArray:
    """Convert an argument to the complex type that NumPy selects."""
    return x.astype(np.complex64 if x.dtype.char in "fbhBHF" else np.complex128)


def _complex_if_negative(x: _core.GPUArray) -> _core.GPUArray:
    return _as_complex(x) if _has_negative(x) else x


def _complex_beyond_1(x: _core.GPUArray) -> _core.GPUArray:
    is_beyond = _real_elements(x) & (_core.abs(x) > 1)
    return _as_complex(x) if bool(is_beyond.any()) else x


def _has_negative(x: _core.GPUArray) -> bool:
    """Test whether any element is real and negative; the host waits for the result."""
    if x.dtype.kind in "bu":
        return False
    return bool((_real_elements(x) & (x.real < 0)).any())


def _real_elements(x: _core.GPUArray) -> Any:
    return x.imag == 0 if x.dtype.kind == "c" else True


def sqrt(x: Any) -> _core.GPUArray:
    """Compute the square root; complex if an element is negative.

    Parameters
    ----------
    x : GPUArray or number
        The argument; the host waits for it.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.emath.sqrt(PyGPU.to_gpu([-1.0, 4.0])).tolist()
    [1j, (2+0j)]
    """
    return _core.sqrt(_complex_if_negative(array(x, "sqrt")))


def log(x: Any) -> _core.GPUArray:
    """Compute the natural logarithm; complex if an element is negative.

    Parameters
    ----------
    x : GPUArray or number
        The argument; the host waits for it.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.emath.log(PyGPU.to_gpu([-1.0])).imag.round(3).tolist()
    [3.142]
    """
    return _core.log(_complex_if_negative(array(x, "log")))


def log10(x: Any) -> _core.GPUArray:
    """Compute the logarithm to base 10; complex if an element is negative.

    Parameters
    ----------
    x : GPUArray or number
        The argument; the host waits for it.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.emath.log10(PyGPU.to_gpu([-100.0])).real.round(3).tolist()
    [2.0]
    """
    return _core.log10(_complex_if_negative(array(x, "log10")))


def log2(x: Any) -> _core.GPUArray:
    """Compute the logarithm to base 2; complex if an element is negative.

    Parameters
    ----------
    x : GPUArray or number
        The argument; the host waits for it.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.emath.log2(PyGPU.to_gpu([-8.0])).real.round(3).tolist()
    [3.0]
    """
    return _core.log2(_complex_if_negative(array(x, "log2")))


def logn(n: Any, x: Any) -> _core.GPUArray:
    """Compute the logarithm to base `n`; complex if an element of `n` or `x` is negative.

    Parameters
    ----------
    n : GPUArray or number
        The base.
    x : GPUArray or number
        The argument; the host waits for `n` and `x`.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.emath.logn(3, PyGPU.to_gpu([9.0])).round(3).tolist()
    [2.0]
    """
    base, argument = arrays((n, x), "logn")
    result: _core.GPUArray = _core.log(_complex_if_negative(argument)) / _core.log(_complex_if_negative(base))
    return result


def power(x: Any, p: Any) -> _core.GPUArray:
    """Raise `x` to a power; complex if an element of `x` is negative, floating point if an element of `p` is negative.

    Parameters
    ----------
    x : GPUArray or number
        The base.
    p : GPUArray or number
        The exponent; the host waits for `x` and `p`.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.emath.power(PyGPU.to_gpu([2, 4]), -1).tolist()
    [0.5, 0.25]
    """
    base, exponent = arrays((x, p), "power")
    if exponent.dtype.kind == "i" and _has_negative(exponent):
        exponent = exponent * 1.0
    return _core.power(_complex_if_negative(base), exponent)


def arccos(x: Any) -> _core.GPUArray:
    """Compute the inverse cosine; complex if the absolute value of an element is above 1.

    Parameters
    ----------
    x : GPUArray or number
        The argument; the host waits for it.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.emath.arccos(PyGPU.to_gpu([1.0])).tolist()
    [0.0]
    """
    return _core.arccos(_complex_beyond_1(array(x, "arccos")))


def arcsin(x: Any) -> _core.GPUArray:
    """Compute the inverse sine; complex if the absolute value of an element is above 1.

    Parameters
    ----------
    x : GPUArray or number
        The argument; the host waits for it.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.emath.arcsin(PyGPU.to_gpu([0.0])).tolist()
    [0.0]
    """
    return _core.arcsin(_complex_beyond_1(array(x, "arcsin")))


def arctanh(x: Any) -> _core.GPUArray:
    """Compute the inverse hyperbolic tangent; complex if the absolute value of an element is above 1.

    Parameters
    ----------
    x : GPUArray or number
        The argument; the host waits for it.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.emath.arctanh(PyGPU.to_gpu([0.0])).tolist()
    [0.0]
    """
    return _core.arctanh(_complex_beyond_1(array(x, "arctanh")))


_public_modules.publish(globals())
