"""The array API's functions `finfo`, `iinfo` and `isdtype`, which report properties of dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import (
    bool as bool,
    complex64 as complex64,
    complex128 as complex128,
    e as e,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    inf as inf,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    nan as nan,
    newaxis as newaxis,
    pi as pi,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
)

from PyGPU._names.public import public, public_values

if TYPE_CHECKING:
    import builtins


class _Limits:
    """Limits of a dtype, as `numpy.finfo` has them, but as Python numbers, which the array API requires."""

    _NUMBERS: tuple[str, ...] = ()

    def __init__(self, limits: Any) -> None:
        self._limits = limits
        self.dtype = np.dtype(limits.dtype)
        for name in self._NUMBERS:
            value = getattr(limits, name)
            setattr(self, name, value.item() if isinstance(value, np.generic) else float(value))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._limits, name)

    def __repr__(self) -> str:
        return repr(self._limits)


class _FloatLimits(_Limits):
    _NUMBERS = ("eps", "max", "min", "smallest_normal")


def _dtype_of(type: Any) -> np.dtype[Any]:
    attribute = getattr(type, "dtype", None)
    return attribute if isinstance(attribute, np.dtype) else np.dtype(type)


@public("Types and constants")
def finfo(type: Any, /) -> _FloatLimits:
    """Return the limits of a floating-point type.

    Parameters
    ----------
    type : data-type or GPUArray
        A real or complex floating-point type, or an array of such a type.

    Returns
    -------
    object
        Object with the attributes of `numpy.finfo`; `eps`, `max`, `min` and `smallest_normal` are Python floats.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.finfo(PyGPU.float32).bits
    32
    """
    dtype = _dtype_of(type)
    if dtype.name == "bfloat16":
        import ml_dtypes

        limits: Any = ml_dtypes.finfo  # some versions of ml_dtypes have no type annotations
        return _FloatLimits(limits(dtype))
    return _FloatLimits(np.finfo(dtype))


@public("Types and constants")
def iinfo(type: Any, /) -> np.iinfo[Any]:
    """Return the limits of an integer type.

    Parameters
    ----------
    type : data-type or GPUArray
        An integer type, or an array of such a type.

    Returns
    -------
    object
        Result of `numpy.iinfo`, with the attributes `bits`, `max`, `min` and `dtype`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.iinfo(PyGPU.zeros(3, PyGPU.int8)).max
    127
    """
    return np.iinfo(_dtype_of(type))


@public("Types and constants")
def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Test whether a dtype equals another dtype or belongs to a kind of dtypes.

    Parameters
    ----------
    dtype : data-type
        Type to test.
    kind : data-type, str or tuple of these
        ``'bool'``, ``'signed integer'``, ``'unsigned integer'``, ``'integral'``, ``'real floating'``,
        ``'complex floating'``, ``'numeric'``, or a dtype. If `kind` is a tuple, one matching element suffices.

    Returns
    -------
    bool

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.isdtype(PyGPU.float32, "real floating")
    True
    """
    tested = np.dtype(dtype)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if tested.name == "bfloat16":  # NumPy assigns no kind to bfloat16, a dtype of ml_dtypes
        kind_names = ("real floating", "numeric")
        return any(
            element in kind_names if isinstance(element, str) else np.dtype(element) == tested for element in kinds
        )
    return np.isdtype(tested, tuple(element if isinstance(element, str) else np.dtype(element) for element in kinds))


public_values(
    "Types and constants",
    "bool", "complex128", "complex64", "e", "float16", "float32", "float64", "inf", "int16", "int32", "int64", "int8",
    "nan", "newaxis", "pi", "uint16", "uint32", "uint64", "uint8",
)  # fmt: skip
