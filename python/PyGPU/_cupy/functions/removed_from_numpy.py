"""Functions that NumPy 2 removed and CuPy keeps."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

import numpy as np

from PyGPU import _core
from PyGPU._cupy.functions.creation import asarray
from PyGPU._cupy.public_lookup import own

__all__ = [
    "alltrue", "asfarray", "byte_bounds", "cumproduct", "disp", "find_common_type", "get_array_wrap", "in1d",
    "issctype", "issubclass_", "issubsctype", "msort", "obj2sctype", "product", "round_", "safe_eval", "sctype2char",
    "set_string_function", "sometrue", "trapz",
]  # fmt: skip


def _call(name: str, *args: Any, **kwargs: Any) -> _core.GPUArray:
    result: _core.GPUArray = own(name)(*args, **kwargs)
    return result


def _deprecated(old: str, new: str) -> None:
    warnings.warn(f"cupy.{old} is deprecated: use cupy.{new}", DeprecationWarning, stacklevel=3)


def alltrue(a: _core.GPUArray, axis: Any = None, out: Any = None, keepdims: bool = False) -> _core.GPUArray:
    """Test whether all elements are true, as `cupy.all`."""
    return _call("all", a, axis, out, keepdims)


def sometrue(a: _core.GPUArray, axis: Any = None, out: Any = None, keepdims: bool = False) -> _core.GPUArray:
    """Test whether any element is true, as `cupy.any`."""
    return _call("any", a, axis, out, keepdims)


def product(
    a: _core.GPUArray, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> _core.GPUArray:
    """Multiply elements along axes, as `cupy.prod`."""
    _deprecated("product", "prod")
    return _call("prod", a, axis, dtype, out, keepdims)


def cumproduct(a: _core.GPUArray, axis: Any = None, dtype: Any = None, out: Any = None) -> _core.GPUArray:
    """Multiply elements cumulatively, as `cupy.cumprod`."""
    _deprecated("cumproduct", "cumprod")
    return _call("cumprod", a, axis, dtype, out)


def trapz(y: _core.GPUArray, x: Any = None, dx: Any = 1.0, axis: int = -1) -> _core.GPUArray:
    """Integrate by the trapezoidal rule, as `cupy.trapezoid`."""
    return _call("trapezoid", y, x, dx, axis)


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> _core.GPUArray:
    """Test which elements of a flattened array occur in another array, as `cupy.isin`."""
    return _call("isin", _core.asarray(ar1).reshape(-1), ar2, assume_unique, invert)


def msort(a: _core.GPUArray) -> _core.GPUArray:
    """Return a copy that is sorted along the first axis, as `cupy.sort` with ``axis=0``."""
    _deprecated("msort", "sort(a, axis=0)")
    return _call("sort", a, axis=0)


def round_(a: Any, decimals: int = 0, out: Any = None) -> _core.GPUArray:
    """Round to a number of decimals, as `cupy.round`."""
    _deprecated("round_", "round")
    return _call("round", a, decimals, out)


def asfarray(a: Any, dtype: Any = np.float64) -> _core.GPUArray:
    """Convert values to an array as `cupy.asarray` does, but of a floating-point type; integers become float64."""
    dtype = np.dtype(dtype)
    return asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64)


def byte_bounds(a: _core.GPUArray) -> tuple[int, int]:
    """Return the address of an array's first byte and the address after its last byte, as NumPy 1's `byte_bounds`."""
    low = high = a.ptr
    if a.size == 0:
        return low, high
    for length, stride in zip(a.shape, a.strides, strict=True):
        low, high = low + min(0, (length - 1) * stride), high + max(0, (length - 1) * stride)
    return low, high + a.itemsize


def issubclass_(arg1: Any, arg2: Any) -> bool:
    """Test whether an object is a subclass of a class, as `issubclass`; return False if the object is not a class."""
    try:
        return issubclass(arg1, arg2)
    except TypeError:
        return False


def obj2sctype(rep: Any, default: Any = None) -> Any:
    """Return the scalar type of an object as `numpy.dtype` does, or `default` if the object denotes no dtype."""
    if isinstance(rep, type) and issubclass(rep, np.generic):
        return rep
    try:
        return np.dtype(getattr(rep, "dtype", rep)).type
    except Exception:  # NumPy raises various exceptions for objects that are not dtypes
        return default


def issctype(rep: Any) -> bool:
    """Test whether an object is a scalar type or a dtype, as NumPy 1's `issctype`; return False for the type object."""
    if not isinstance(rep, type | np.dtype):
        return False
    return obj2sctype(rep) not in (None, np.object_)


def issubsctype(arg1: Any, arg2: Any) -> bool:
    """Test whether a scalar type is a subclass of a second type, as `cupy.issubdtype`; an array means its dtype."""
    return issubclass(obj2sctype(arg1), obj2sctype(arg2))


def sctype2char(sctype: Any) -> str:
    """Return the character code of the dtype of an object, as `numpy.dtype.char`."""
    scalar_type = obj2sctype(sctype)
    if scalar_type is None:
        raise ValueError(f"sctype2char: {sctype!r} is not a type of elements")
    return str(np.dtype(scalar_type).char)


def _removed(name: str, instead: str) -> NoReturn:
    raise RuntimeError(f"cupy.{name}: NumPy 2 removed the function; {instead}")


def find_common_type(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise an error that recommends `promote_types` and `result_type`."""
    _removed("find_common_type", "use cupy.promote_types or cupy.result_type")


def set_string_function(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise an error that recommends `set_printoptions`."""
    _removed("set_string_function", "use cupy.set_printoptions")


def get_array_wrap(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise an error: NumPy 2 removed `get_array_wrap` without a replacement."""
    _removed("get_array_wrap", "nothing replaces it")


def disp(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise an error that recommends `print`."""
    _removed("disp", "use print")


def safe_eval(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise an error that recommends `ast.literal_eval`."""
    _removed("safe_eval", "use ast.literal_eval")
