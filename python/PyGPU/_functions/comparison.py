"""Functions that compare arrays, or test their elements and dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from PyGPU import _core
from PyGPU._functions.array_arguments import array, arrays, invalid_array_error
from PyGPU._names.public import public

if TYPE_CHECKING:
    from PyGPU.typing import Casting


@public("Comparing arrays")
def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> _core.GPUArray:
    """Test which elements are nearly equal: ``abs(a - b) <= atol + rtol * abs(b)``.

    Parameters
    ----------
    a, b : GPUArray or number
        Operands, which are broadcast.
    rtol, atol : GPUArray or float, optional
        Tolerance relative to the absolute value of `b`, and absolute tolerance.
    equal_nan : bool, optional
        Whether two NaNs at the same index count as equal.

    Returns
    -------
    GPUArray
        Array of bool.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.isclose(PyGPU.to_gpu([1.0, 2.0]), PyGPU.to_gpu([1.0 + 1e-9, 2.1])).tolist()
    [True, False]
    """
    return _isclose(arrays((a, b), "isclose"), rtol, atol, equal_nan)


def _isclose(operands: list[_core.GPUArray], rtol: Any, atol: Any, equal_nan: bool) -> _core.GPUArray:
    """Compute `isclose` for two arrays of one device."""
    x, y = operands
    if y.dtype.kind not in "fcV":
        y = y.astype(np.result_type(y.dtype, 1.0))
    with np.errstate(invalid="ignore"):
        is_near = (_core.abs(x - y) <= atol + rtol * _core.abs(y)) & _core.isfinite(y)
    result: _core.GPUArray = is_near | (x == y)
    if equal_nan:
        result |= _core.isnan(x) & _core.isnan(y)
    return result


@public("Comparing arrays")
def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> bool:
    """Test whether all elements are nearly equal; the host waits for the result.

    Parameters
    ----------
    a, b, rtol, atol, equal_nan : optional
        As in `isclose`.

    Returns
    -------
    bool

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.allclose(PyGPU.to_gpu([1.0, 2.0]), PyGPU.to_gpu([1.0 + 1e-9, 2.0]))
    True
    """
    return bool(_isclose(arrays((a, b), "allclose"), rtol, atol, equal_nan).all())


def _is_device_operand(operand: Any) -> bool:
    """Test whether an operand is a device array, or a number or sequence that is copied to the device."""
    return not (operand is None or isinstance(operand, (np.ndarray, str, bytes)))


def _on_host(operand: Any) -> Any:
    return operand.get() if isinstance(operand, _core.GPUArray) else operand


@public("Comparing arrays")
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Test whether two arrays have the same shape and elements; the host waits for the result.

    Parameters
    ----------
    a1, a2 : array_like
        The arrays. If an argument is an ndarray or no array at all, NumPy compares copies in host memory.
    equal_nan : bool, optional
        Whether two NaNs at the same index count as equal.

    Returns
    -------
    bool

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.array_equal(PyGPU.arange(3), PyGPU.to_gpu([0, 1, 2]))
    True
    """
    if not (_is_device_operand(a1) and _is_device_operand(a2)):
        return bool(np.array_equal(_on_host(a1), _on_host(a2), equal_nan=equal_nan))
    first, second = arrays((a1, a2), "array_equal")
    if first.shape != second.shape:
        return False
    same = first == second
    if equal_nan and {first.dtype.kind, second.dtype.kind} & set("fcV"):
        same |= _core.isnan(first) & _core.isnan(second)
    return bool(same.all())


@public("Comparing arrays")
def array_equiv(a1: Any, a2: Any) -> bool:
    """Test whether two arrays, broadcast to one shape, have the same elements; the host waits for the result.

    Parameters
    ----------
    a1, a2 : GPUArray or number
        The arrays.

    Returns
    -------
    bool

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.array_equiv(PyGPU.arange(3), PyGPU.to_gpu([[0, 1, 2], [0, 1, 2]]))
    True
    """
    first, second = arrays((a1, a2), "array_equiv")
    try:
        np.broadcast_shapes(first.shape, second.shape)
    except ValueError:
        return False
    return bool((first == second).all())


@public("Comparing arrays")
def iscomplexobj(x: Any) -> bool:
    """Test whether the dtype of an array or number is complex.

    Parameters
    ----------
    x : GPUArray or number
        Object to test.

    Returns
    -------
    bool

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.iscomplexobj(PyGPU.zeros(2, "complex64"))
    True
    """
    return x.dtype.kind == "c" if isinstance(x, _core.GPUArray) else np.iscomplexobj(x)


@public("Comparing arrays")
def isrealobj(x: Any) -> bool:
    """Test whether the dtype of an array or number is not complex.

    Parameters
    ----------
    x : GPUArray or number
        Object to test.

    Returns
    -------
    bool

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.isrealobj(PyGPU.zeros(2, "complex64"))
    False
    """
    return not iscomplexobj(x)


@public("Comparing arrays")
def iscomplex(x: Any) -> _core.GPUArray:
    """Test which elements have a nonzero imaginary part.

    Parameters
    ----------
    x : GPUArray or number
        Object to test.

    Returns
    -------
    GPUArray
        Array of bool.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.iscomplex(PyGPU.to_gpu([1, 1j])).tolist()
    [False, True]
    """
    operand = array(x, "iscomplex")
    result: _core.GPUArray = operand.imag != 0 if iscomplexobj(operand) else _core.zeros_like(operand, bool)
    return result


@public("Comparing arrays")
def isreal(x: Any) -> _core.GPUArray:
    """Test which elements are real: the imaginary part is 0, or the dtype is real.

    Parameters
    ----------
    x : GPUArray or number
        Object to test.

    Returns
    -------
    GPUArray
        Array of bool.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.isreal(PyGPU.to_gpu([1, 1j])).tolist()
    [True, False]
    """
    operand = array(x, "isreal")
    result: _core.GPUArray = operand.imag == 0 if iscomplexobj(operand) else _core.ones_like(operand, bool)
    return result


@public("Comparing arrays")
def isposinf(x: Any, out: _core.GPUArray | None = None) -> _core.GPUArray:
    """Test which elements are positive infinity.

    Parameters
    ----------
    x : GPUArray of real numbers
        Elements to test.
    out : GPUArray, optional
        Output array.

    Returns
    -------
    GPUArray of bool

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.isposinf(PyGPU.to_gpu([1.0, float("inf"), -float("inf")])).tolist()
    [False, True, False]
    """
    return _is_infinity(x, np.inf, out, "isposinf")


@public("Comparing arrays")
def isneginf(x: Any, out: _core.GPUArray | None = None) -> _core.GPUArray:
    """Test which elements are negative infinity.

    Parameters
    ----------
    x : GPUArray of real numbers
        Elements to test.
    out : GPUArray, optional
        Output array.

    Returns
    -------
    GPUArray of bool

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.isneginf(PyGPU.to_gpu([1.0, float("inf"), -float("inf")])).tolist()
    [False, False, True]
    """
    return _is_infinity(x, -np.inf, out, "isneginf")


def _is_infinity(x: Any, infinity: float, out: _core.GPUArray | None, function: str) -> _core.GPUArray:
    operand = array(x, function)
    if operand.dtype.kind == "c":
        raise TypeError(f"This operation is not supported for {operand.dtype} values because it would be ambiguous.")
    result: _core.GPUArray = _core.equal(operand, infinity, out=out)
    return result


@public("Comparing arrays")
def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the common dtype of several operands by NumPy's promotion rules.

    Parameters
    ----------
    *arrays_and_dtypes : GPUArray, dtype-like or number
        Operands to promote.

    Returns
    -------
    numpy.dtype

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.result_type(PyGPU.zeros(2, "float32"), "int32", 3)
    dtype('float64')
    """
    return np.result_type(
        *(operand.dtype if isinstance(operand, _core.GPUArray) else operand for operand in arrays_and_dtypes)
    )


@public("Comparing arrays")
def can_cast(from_: Any, to: DTypeLike, casting: Casting = "safe") -> bool:
    """Test whether a casting rule allows the conversion of one dtype to another.

    Parameters
    ----------
    from_ : GPUArray or dtype-like
        Source dtype.
    to : dtype-like
        Target dtype.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}, optional
        Casting rule.

    Returns
    -------
    bool

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.can_cast(PyGPU.zeros(2, "float32"), "int32")
    False
    """
    return np.can_cast(from_.dtype if isinstance(from_, _core.GPUArray) else from_, to, casting)


def compare_records(a: Any, b: Any, is_equality: bool) -> _core.GPUArray:
    """Compare structured or void elements field by field, without the padding bytes.

    At least one operand must be a device array.

    Raises
    ------
    TypeError
        For an operand without structured or void items, and for dtypes without a common dtype.
    ValueError
        For shapes that do not broadcast, and for arrays of two devices.
    """
    device = next(operand.device for operand in (a, b) if isinstance(operand, _core.GPUArray))
    first, second = _record_operand(a, device), _record_operand(b, device)
    ndim = len(np.broadcast_shapes(first.shape, second.shape))
    if first.device != second.device:
        raise ValueError(f"the operands are on {first.device} and {second.device}")
    _check_dtypes(first.dtype, second.dtype)
    is_same = _items_equal(first, second, ndim)
    return is_same if is_equality else ~is_same


def _record_operand(operand: Any, device: _core.Device) -> _core.GPUArray:
    if isinstance(operand, _core.GPUArray):
        dtype = operand.dtype
    else:
        if isinstance(operand, np.ndarray) and operand.ndim > 0:
            raise invalid_array_error(operand)
        host = np.asarray(operand) if isinstance(operand, (np.void, np.ndarray)) else None
        dtype = np.dtype(object) if host is None else host.dtype
    if dtype.type is not np.void:
        what = dtype if isinstance(operand, (_core.GPUArray, np.ndarray)) else type(operand).__name__
        raise TypeError(f"Cannot compare structured or void items to non-void items: an operand is of {what}.")
    return operand if isinstance(operand, _core.GPUArray) else _core.asarray(host, device=device)


def _check_dtypes(first: np.dtype[Any], second: np.dtype[Any]) -> None:
    if (first.names is None) != (second.names is None):
        raise TypeError(f"Cannot compare structured with unstructured void items: {first} and {second}.")
    if first.names is None and first.itemsize != second.itemsize:
        raise TypeError(f"cannot compare unstructured voids of different length: {first} and {second}.")
    try:
        np.promote_types(first, second)
    except TypeError:
        raise TypeError(
            f"Cannot compare structured arrays unless they have a common dtype: {first} and {second} have none."
        ) from None


def _items_equal(first: _core.GPUArray, second: _core.GPUArray, ndim: int) -> _core.GPUArray:
    """Compare structured or void elements, and combine the results of one element by a logical and.

    Comparing subarrays, or the bytes of elements, adds axes after the first `ndim` axes. The added axes are reduced.
    """
    if first.dtype.names is not None:
        ndim_of_fields = max(first.ndim, second.ndim)
        parts = [
            _items_equal(first[name], second[name], ndim_of_fields) for name in first.dtype.names
        ]  # At this point, both arrays have the same field names.
        is_same = parts[0]
        for part in parts[1:]:
            is_same = is_same & part
    elif first.dtype.type is np.void:
        is_same = first[..., None].view(np.uint8) == second[..., None].view(np.uint8)
    else:
        is_same = first == second
    return is_same.all(axis=tuple(range(ndim, is_same.ndim))) if is_same.ndim > ndim else is_same
