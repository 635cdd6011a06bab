"""Set operations on arrays; in most functions the host waits for the number of unique values."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array, normalize_axis
from PyGPU._functions.joining import concatenate
from PyGPU._functions.masks import flatnonzero
from PyGPU._functions.searching import lexsort
from PyGPU._functions.selection_operands import device_array_of, flat, on_device_of
from PyGPU._names.public import public


class UniqueAllResult(NamedTuple):
    """Result of `unique_all`: values, first indices, inverse indices and counts."""

    values: _core.GPUArray
    indices: _core.GPUArray
    inverse_indices: _core.GPUArray
    counts: _core.GPUArray


class UniqueCountsResult(NamedTuple):
    """Result of `unique_counts`: values and counts."""

    values: _core.GPUArray
    counts: _core.GPUArray


class UniqueInverseResult(NamedTuple):
    """Result of `unique_inverse`: values and inverse indices."""

    values: _core.GPUArray
    inverse_indices: _core.GPUArray


@overload
def unique(
    ar: _core.GPUArray,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> _core.GPUArray: ...
@overload
def unique(
    ar: _core.GPUArray,
    return_index: Literal[True],
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_core.GPUArray, ...]: ...
@overload
def unique(
    ar: _core.GPUArray,
    return_index: bool = False,
    *,
    return_inverse: Literal[True],
    return_counts: bool = False,
    axis: int | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_core.GPUArray, ...]: ...
@overload
def unique(
    ar: _core.GPUArray,
    return_index: bool = False,
    return_inverse: bool = False,
    *,
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_core.GPUArray, ...]: ...
@public("Sets")
def unique(
    ar: _core.GPUArray,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Return the sorted unique values of an array.

    The host waits for the number of unique values.

    Parameters
    ----------
    ar : GPUArray
    return_index : bool, optional
        Whether to return, for each unique value, the index of its first occurrence.
    return_inverse : bool, optional
        Whether to return, for each element, the index of its value among the unique values, in the array's shape.
    return_counts : bool, optional
        Whether to return, for each unique value, the number of its occurrences.
    axis : int, optional
        Axis along which whole sub-arrays are compared; by default single elements are compared.
    equal_nan : bool, optional
        Whether all NaNs count as one value.
    sorted : bool, optional
        Accepted for compatibility with NumPy; it has no effect, because values are always sorted.

    Returns
    -------
    GPUArray, or a tuple of several

    Examples
    --------
    >>> import PyGPU
    >>> values, counts = PyGPU.unique(PyGPU.to_gpu([3, 1, 3]), return_counts=True)
    >>> values.tolist(), counts.tolist()
    ([1, 3], [1, 2])
    """
    options = (return_index, return_inverse, return_counts)
    ar = array(ar, "unique")
    numpy_result = _core._by_numpy("unique", ar, (ar, *options, axis), {"equal_nan": equal_nan})
    if numpy_result is not NotImplemented:
        return numpy_result
    if axis is not None and normalize_axis(axis, ar.ndim) >= 0 and ar.ndim != 1:
        return _unique_parts(ar, axis, *options)
    values, starts, order, inverse = _core._unique(
        flat(ar), return_index or return_counts, return_index, return_inverse, not equal_nan
    )
    result = [values]
    if order is not None and starts is not None:
        result.append(_core._take(order, starts[:-1], 0, None, "wrap"))
    if inverse is not None:
        result.append(inverse.reshape(ar.shape))
    if return_counts and starts is not None:
        result.append(starts[1:] - starts[:-1])
    return result[0] if len(result) == 1 else tuple(result)


def _unique_parts(ar: _core.GPUArray, axis: int, return_index: bool, return_inverse: bool, return_counts: bool) -> Any:
    """Return the unique sub-arrays along an axis: the implementation of `unique` with `axis`."""
    moved = _core.moveaxis(ar, axis, 0)
    shape, count, width = moved.shape, moved.shape[0], math.prod(moved.shape[1:])
    rows = flat(moved).reshape(count, width)
    # Rows without elements are all equal, so they need not be sorted.
    order = lexsort(rows.T[::-1]) if width else _core.arange(count, device=ar.device)
    ordered = _core._take(rows, order, 0, None, "wrap")
    is_first = _core.ones(count, bool, device=ar.device)
    is_first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = flatnonzero(is_first)
    values = _core._take(ordered, starts, 0, None, "wrap").reshape(starts.size, *shape[1:])
    result = [_core.moveaxis(values, 0, axis)]
    if return_index:
        result.append(_core._take(order, starts, 0, None, "wrap"))
    if return_inverse:
        inverse = _core.empty_like(order)
        _core._put(inverse, order, is_first.cumsum() - 1, "wrap")
        result.append(inverse)
    if return_counts:
        ends = _core.full_like(starts, count)
        ends[:-1] = starts[1:]
        result.append(ends - starts)
    return result[0] if len(result) == 1 else tuple(result)


@public("Sets")
def unique_all(x: _core.GPUArray) -> UniqueAllResult:
    """Return the unique values of an array with all optional outputs of `unique`.

    Each NaN counts as a separate value.

    Parameters
    ----------
    x : GPUArray

    Returns
    -------
    UniqueAllResult
        Named tuple of `values`, `indices`, `inverse_indices` and `counts`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.unique_all(PyGPU.to_gpu([3, 1, 3])).indices.tolist()
    [1, 0]
    """
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


@public("Sets")
def unique_counts(x: _core.GPUArray) -> UniqueCountsResult:
    """Return the unique values of an array and their counts; each NaN counts as a separate value.

    Parameters
    ----------
    x : GPUArray

    Returns
    -------
    UniqueCountsResult
        Named tuple of `values` and `counts`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.unique_counts(PyGPU.to_gpu([3, 1, 3])).counts.tolist()
    [1, 2]
    """
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


@public("Sets")
def unique_inverse(x: _core.GPUArray) -> UniqueInverseResult:
    """Return the unique values of an array and the inverse indices; each NaN counts as a separate value.

    Parameters
    ----------
    x : GPUArray

    Returns
    -------
    UniqueInverseResult
        Named tuple of `values` and `inverse_indices`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.unique_inverse(PyGPU.to_gpu([3, 1, 3])).inverse_indices.tolist()
    [1, 0, 1]
    """
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


@public("Sets")
def unique_values(x: _core.GPUArray) -> _core.GPUArray:
    """Return the sorted unique values of an array; each NaN counts as a separate value.

    Parameters
    ----------
    x : GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.unique_values(PyGPU.to_gpu([3, 1, 3])).tolist()
    [1, 3]
    """
    values: _core.GPUArray = unique(x, equal_nan=False)
    return values


def _device_operands(name: str, x: Any, y: Any) -> tuple[_core.GPUArray, _core.GPUArray]:
    """Return both operands as arrays, on the device of the operand that is a GPUArray."""
    device_array = device_array_of(name, x, y)
    return on_device_of(device_array, x), on_device_of(device_array, y)


def _joined(x: _core.GPUArray, y: _core.GPUArray) -> _core.GPUArray:
    """Concatenate the flattened elements of two arrays."""
    return concatenate([flat(x), flat(y)])


def _find_members(x: _core.GPUArray, ordered: _core.GPUArray) -> tuple[_core.GPUArray, _core.GPUArray]:
    """Test which elements occur in a sorted array, and return the indices at which they would be inserted."""
    positions = _core._searchsorted(ordered, x, False)
    return _core.equal(_core._take(ordered, positions, 0, None, "clip"), x), positions


@public("Sets")
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> _core.GPUArray:
    """Test which elements occur in another array.

    The call does not synchronize.

    Parameters
    ----------
    element : GPUArray
    test_elements : array_like
        Values whose membership is tested. They need not be sorted.
    assume_unique : bool, optional
        Accepted for compatibility with NumPy; it has no effect.
    invert : bool, optional
        Whether to test which elements do not occur.
    kind : {None, 'sort', 'table'}, optional
        Accepted for compatibility with NumPy.

    Returns
    -------
    GPUArray
        Array of bools in the shape of `element`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.isin(PyGPU.to_gpu([1, 2, 3]), [3, 1]).tolist()
    [True, False, True]
    """
    x, test_array = _device_operands("isin", element, test_elements)
    numpy_result: _core.GPUArray = _core._by_numpy("isin", x, (x, test_array, assume_unique, invert), {"kind": kind})
    if numpy_result is not NotImplemented:
        return numpy_result.reshape(x.shape)
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    if kind == "table" and not (x.dtype.kind in "biu" and test_array.dtype.kind in "biu"):
        raise ValueError(
            "The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for kind."
        )
    if test_array.size == 0:
        return _core.full(x.shape, invert, bool, device=x.device)
    dtype = np.result_type(x.dtype, test_array.dtype)
    is_member = _find_members(x.astype(dtype), _core.sort(flat(test_array).astype(dtype)))[0]
    return ~is_member if invert else is_member


@public("Sets")
def union1d(ar1: Any, ar2: Any) -> _core.GPUArray:
    """Return the sorted unique values of the union of two arrays.

    Parameters
    ----------
    ar1, ar2 : GPUArray
        Arrays, of which one may be another array_like, such as a list.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.union1d(PyGPU.to_gpu([3, 1]), [2, 3]).tolist()
    [1, 2, 3]
    """
    x, y = _device_operands("union1d", ar1, ar2)
    numpy_result: _core.GPUArray = _core._by_numpy("union1d", x, (x, y))
    if numpy_result is not NotImplemented:
        return numpy_result
    values: _core.GPUArray = unique(_joined(x, y))
    return values


@overload
def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: Literal[False] = False
) -> _core.GPUArray: ...
@overload
def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, return_indices: Literal[True]
) -> tuple[_core.GPUArray, _core.GPUArray, _core.GPUArray]: ...
@public("Sets")
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """Return the sorted unique values that both arrays contain.

    Parameters
    ----------
    ar1, ar2 : GPUArray
        Arrays, of which one may be another array_like, such as a list.
    assume_unique : bool, optional
        Accepted for compatibility with NumPy; it has no effect.
    return_indices : bool, optional
        Whether to return, for each value, the index of its first occurrence in each array.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.intersect1d(PyGPU.to_gpu([3, 1, 3]), [2, 3]).tolist()
    [3]
    """
    x, y = _device_operands("intersect1d", ar1, ar2)
    numpy_result = _core._by_numpy("intersect1d", x, (x, y, assume_unique, return_indices))
    if numpy_result is not NotImplemented:
        return numpy_result
    dtype = np.result_type(x.dtype, y.dtype)
    values, indices = unique(x.astype(dtype), return_index=True)
    other_values, other_indices = unique(y.astype(dtype), return_index=True)
    if other_values.size == 0:
        values = values[:0]
        return (values, indices[:0], other_indices) if return_indices else values
    is_common, positions = _find_members(values, other_values)
    if not return_indices:
        return values[is_common]
    return values[is_common], indices[is_common], _core._take(other_indices, positions[is_common], 0, None, "wrap")


@public("Sets")
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> _core.GPUArray:
    """Return the sorted unique values of one array that do not occur in another array.

    Parameters
    ----------
    ar1, ar2 : GPUArray
        Arrays, of which one may be another array_like, such as a list.
    assume_unique : bool, optional
        Whether the values of `ar1` are already unique. If True, the result keeps the order of `ar1`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.setdiff1d(PyGPU.to_gpu([3, 1, 3]), [2, 3]).tolist()
    [1]
    """
    x, y = _device_operands("setdiff1d", ar1, ar2)
    numpy_result: _core.GPUArray = _core._by_numpy("setdiff1d", x, (x, y, assume_unique))
    if numpy_result is not NotImplemented:
        return numpy_result
    values: _core.GPUArray = flat(x) if assume_unique else unique(x)
    return values[isin(values, y, invert=True)]


@public("Sets")
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> _core.GPUArray:
    """Return the sorted unique values that exactly one of two arrays contains.

    Parameters
    ----------
    ar1, ar2 : GPUArray
        Arrays, of which one may be another array_like, such as a list.
    assume_unique : bool, optional
        Whether the values of each array are already unique.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.setxor1d(PyGPU.to_gpu([3, 1]), [2, 3]).tolist()
    [1, 2]
    """
    x, y = _device_operands("setxor1d", ar1, ar2)
    numpy_result: _core.GPUArray = _core._by_numpy("setxor1d", x, (x, y, assume_unique))
    if numpy_result is not NotImplemented:
        return numpy_result
    both = _joined(x, y) if assume_unique else _joined(unique(x), unique(y))
    both.sort()
    differs = _core.ones(both.size + 1, bool, device=both.device)
    if both.size > 1:
        differs[1:-1] = both[1:] != both[:-1]
    return both[differs[1:] & differs[:-1]]
