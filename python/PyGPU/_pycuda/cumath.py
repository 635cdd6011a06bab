"""PyCUDA's module ``pycuda.cumath``: elementwise functions whose results have the dtype of the array.

For integer arrays, the results are integers as well.
"""

from __future__ import annotations

import warnings
from typing import Any, Protocol

import numpy as np

from PyGPU import _core
from PyGPU._pycuda.gpuarray.result_allocation import like_first, on

__all__ = [
    "acos",
    "asin",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "fabs",
    "floor",
    "fmod",
    "frexp",
    "ldexp",
    "log",
    "log10",
    "modf",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


class Unary(Protocol):
    """Elementwise function of one array, such as `sin`."""

    __name__: str

    def __call__(
        self,
        array: _core.GPUArray,
        stream_or_out: Any = None,
        *,
        out: _core.GPUArray | None = None,
        stream: Any = None,
    ) -> _core.GPUArray: ...


def _unary(name: str) -> Unary:
    function: _core.Ufunc = getattr(_core, name)

    def compute(
        array: _core.GPUArray,
        stream_or_out: Any = None,
        *,
        out: _core.GPUArray | None = None,
        stream: Any = None,
    ) -> _core.GPUArray:
        if stream_or_out is not None:
            warnings.warn(f"cumath.{name}: name the argument, out= or stream=", DeprecationWarning, stacklevel=2)
            if isinstance(stream_or_out, _core.Stream):
                stream = stream_or_out if stream is None else stream
            else:
                out = stream_or_out if out is None else out
        with on(stream):
            # For an integer array, the device computes in float64.
            return like_first(function, (array,), out, None if array.dtype.kind in "fc" else np.float64)

    compute.__name__ = compute.__qualname__ = name
    compute.__doc__ = f"""Compute what `PyGPU.{name}` does, in PyCUDA's dtypes.

    Parameters
    ----------
    array : GPUArray
        Of integers each result is its whole part.
    stream_or_out : Stream or GPUArray, optional
        PyCUDA's older form of one of the next two.
    out : GPUArray, optional
        Where the result goes.
    stream : Stream, optional
        The thread's current one by default.

    Returns
    -------
    GPUArray
        Of the dtype of the array.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> from PyGPU import cumath
    >>> cumath.{name}(gpuarray.to_gpu([0.5])).shape
    (1,)
    """
    return compute


fabs = _unary("fabs")
ceil = _unary("ceil")
floor = _unary("floor")
exp = _unary("exp")
log = _unary("log")
log10 = _unary("log10")
sqrt = _unary("sqrt")
sin = _unary("sin")
cos = _unary("cos")
tan = _unary("tan")
asin = _unary("asin")
acos = _unary("acos")
atan = _unary("atan")
sinh = _unary("sinh")
cosh = _unary("cosh")
tanh = _unary("tanh")


def _as_float(array: _core.GPUArray) -> _core.GPUArray:
    return array if array.dtype.kind == "f" else array + 0.0


def fmod(arg: _core.GPUArray, mod: _core.GPUArray, stream: Any = None) -> _core.GPUArray:
    """Return the elementwise remainder of a division, with the sign of the dividend.

    Parameters
    ----------
    arg, mod : GPUArray
        Dividend and divisor.
    stream : Stream, optional
        Stream on which the function computes; defaults to the thread's current stream.

    Returns
    -------
    GPUArray
        Array of the dtype of `arg`.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> from PyGPU import cumath
    >>> cumath.fmod(gpuarray.to_gpu([5.5, -5.5]), gpuarray.to_gpu([2.0, 2.0])).tolist()
    [1.5, -1.5]
    """
    with on(stream):
        return like_first(_core.fmod, (arg, mod), None)


def frexp(arg: _core.GPUArray, stream: Any = None) -> tuple[_core.GPUArray, _core.GPUArray]:
    """Split each number into a significand in [0.5, 1) and a power of two.

    Parameters
    ----------
    arg : GPUArray
        Array of real numbers; integers are converted to float64.
    stream : Stream, optional
        Stream on which the function computes; defaults to the thread's current stream.

    Returns
    -------
    significand, exponent : GPUArray
        Arrays with ``arg == significand * 2**exponent``. Both have the dtype of `arg` if it is a floating-point dtype.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> from PyGPU import cumath
    >>> [part.tolist() for part in cumath.frexp(gpuarray.to_gpu([6.0]))]
    [[0.75], [3.0]]
    """
    with on(stream):
        arg = _as_float(arg)
        parts: tuple[_core.GPUArray, _core.GPUArray] = _core.frexp(
            arg, out=(_core.empty_like(arg), _core.empty_like(arg)), casting="unsafe"
        )
        return parts


def ldexp(significand: _core.GPUArray, exponent: _core.GPUArray, stream: Any = None) -> _core.GPUArray:
    """Compute ``significand * 2**exponent`` elementwise.

    Parameters
    ----------
    significand, exponent : GPUArray
        Operands. The exponents are truncated to integers.
    stream : Stream, optional
        Stream on which the function computes; defaults to the thread's current stream.

    Returns
    -------
    GPUArray
        Array of the dtype of `significand`.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> from PyGPU import cumath
    >>> cumath.ldexp(gpuarray.to_gpu([0.75]), gpuarray.to_gpu([3.5])).tolist()
    [6.0]
    """
    with on(stream):
        integer_exponent = _core.trunc(exponent, out=_core.empty_like(exponent, np.int64), casting="unsafe")
        return like_first(_core.ldexp, (significand, integer_exponent), None)


def modf(arg: _core.GPUArray, stream: Any = None) -> tuple[_core.GPUArray, _core.GPUArray]:
    """Split each number into its fractional part and its integer part, which both have the sign of the number.

    Parameters
    ----------
    arg : GPUArray
        Array of real numbers; integers are converted to float64.
    stream : Stream, optional
        Stream on which the function computes; defaults to the thread's current stream.

    Returns
    -------
    fraction, whole : GPUArray

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> from PyGPU import cumath
    >>> [part.tolist() for part in cumath.modf(gpuarray.to_gpu([-2.5]))]
    [[-0.5], [-2.0]]
    """
    with on(stream):
        parts: tuple[_core.GPUArray, _core.GPUArray] = _core.modf(_as_float(arg))
        return parts
