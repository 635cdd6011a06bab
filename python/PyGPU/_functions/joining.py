"""Functions that concatenate arrays."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from PyGPU import _core
from PyGPU._arguments.argument_errors import describe, sequence_error
from PyGPU._functions import shapes
from PyGPU._functions.array_arguments import along, array, arrays as _operands, check_out, normalize_axis
from PyGPU._names.public import public, public_values

if TYPE_CHECKING:
    from PyGPU.typing import Casting


def _check_shapes(parts: Sequence[_core.GPUArray], axis: int) -> None:
    first = parts[0]
    for index, part in enumerate(parts):
        if part.ndim != first.ndim:
            raise ValueError(
                "all the input arrays must have same number of dimensions, but the array at index 0 has "
                f"{first.ndim} dimension(s) and the array at index {index} has {part.ndim} dimension(s)"
            )
        for dimension, (expected, length) in enumerate(zip(first.shape, part.shape, strict=True)):
            if expected != length and dimension != axis:
                raise ValueError(
                    "all the input array dimensions except for the concatenation axis must match exactly, but along "
                    f"dimension {dimension}, the array at index 0 has size {expected} and the array at index {index} "
                    f"has size {length}"
                )


def _check_casting(casting: Any) -> None:
    """Raise NumPy's error for a casting rule that does not exist."""
    if not isinstance(casting, str):
        raise TypeError(f"casting must be str, not {type(casting).__name__}")
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got {casting!r})")


def _sequence(arrays: Any, function: str) -> Any:
    """Return a sequence of the arrays that a function joins."""
    try:
        return arrays if isinstance(arrays, (list, tuple)) else list(arrays)
    except TypeError as error:
        text = f"{function}(): the argument is {describe(arrays)}; expected a tuple or list of arrays"
        raise TypeError(f"{text}; write PyGPU.{function}((a, b))") from error


def _check_axis(axis: Any, function: str) -> None:
    """Raise an error if `axis` is an array, because the arrays were then passed one by one instead of in a tuple."""
    if isinstance(axis, (_core.GPUArray, np.ndarray)) and axis.ndim:
        raise sequence_error(function, axis)


def _is_c(part: _core.GPUArray) -> bool:
    return part.flags.c_contiguous and not part.flags.f_contiguous


def joined(
    parts: Sequence[_core.GPUArray],
    axis: int,
    out: _core.GPUArray | None,
    dtype: DTypeLike | None,
    casting: Casting,
) -> _core.GPUArray:
    """Concatenate arrays of one device; copy or cast each array into its part of the result."""
    if out is None and dtype is None and (fast_result := _core._joined(parts, axis)) is not None:
        return fast_result
    if dtype is not None:
        # As in NumPy, the error for an invalid `dtype` precedes errors for shapes.
        dtype = _core.empty_like(parts[0], dtype, shape=0).dtype
    _check_shapes(parts, axis)
    shape = (*parts[0].shape[:axis], sum(part.shape[axis] for part in parts), *parts[0].shape[axis + 1 :])
    if out is None:
        kinds = {part.dtype for part in parts}
        kind = dtype if dtype is not None else np.result_type(*kinds) if len(kinds) > 1 else None
        order = "C" if any(_is_c(part) for part in parts) else "K"
        out = _core.empty_like(parts[0], kind, order, shape=shape)  # type: ignore[arg-type]
    elif out.ndim != len(shape):
        raise ValueError("Output array has wrong dimensionality")
    elif out.shape != shape:
        raise ValueError("Output array is the wrong shape")
    else:
        # Inputs that overlap the output are copied before the output is written.
        parts = [part.copy() if _core._may_overlap(out, part) else part for part in parts]
    begin = 0
    for part in parts:
        end = begin + part.shape[axis]
        section = along(axis, slice(begin, end))
        if part.dtype == out.dtype:
            out[section] = part
        else:
            _core.copyto(out[section], part, casting)
        begin = end
    return out


@public("Joining and splitting")
def concatenate(
    arrays: Any,
    /,
    axis: int | None = 0,
    out: _core.GPUArray | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: Casting = "same_kind",
) -> _core.GPUArray:
    """Concatenate arrays along an axis.

    Parameters
    ----------
    arrays : sequence of GPUArray
        Arrays of equal shape except along `axis`; device arrays of other libraries are accepted.
    axis : int or None, optional
        Axis of concatenation; None flattens all arrays in C order.
    out : GPUArray, optional
        Output array.
    dtype : dtype-like, optional
        Type of the result; defaults to NumPy's promotion of the arrays' types.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}, optional
        Casting rule.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        If the shapes do not match, or if the arrays are on different devices.
    TypeError
        If an input is a host array, or if `casting` forbids a required cast.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.concatenate([PyGPU.arange(3), PyGPU.ones(2)]).tolist()
    [0.0, 1.0, 2.0, 1.0, 1.0]
    """
    if not isinstance(arrays, (list, tuple)):
        arrays = _sequence(arrays, "concatenate")
    _check_axis(axis, "concatenate")
    if casting != "same_kind":
        _check_casting(casting)
    if axis == 0 and out is None and dtype is None and (fast_result := _core._joined(arrays, 0)) is not None:
        return fast_result
    parts = _operands(arrays, "concatenate")
    if out is not None:
        check_out(out, "concatenate")
    if not parts:
        raise ValueError("need at least one array to concatenate")
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    if axis is None:
        return joined([part.ravel() for part in parts], 0, out, dtype, casting)
    axis = operator.index(axis)
    if parts[0].ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return joined(parts, normalize_axis(axis, parts[0].ndim), out, dtype, casting)


concat = concatenate


@public("Joining and splitting")
def stack(
    arrays: Any,
    axis: int = 0,
    out: _core.GPUArray | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: Casting = "same_kind",
) -> _core.GPUArray:
    """Stack arrays of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of GPUArray
        Arrays of one shape.
    axis : int, optional
        Index of the new axis.
    out : GPUArray, optional
        Output array.
    dtype, casting : optional
        As in `concatenate`.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.stack([PyGPU.arange(2), PyGPU.ones(2, "int64")], axis=1).tolist()
    [[0, 1], [1, 1]]
    """
    _check_axis(axis, "stack")
    parts = _operands(_sequence(arrays, "stack"), "stack")
    if not parts:
        raise ValueError("need at least one array to stack")
    if len({part.shape for part in parts}) != 1:
        raise ValueError("all input arrays must have the same shape")
    axis_index = normalize_axis(axis, parts[0].ndim + 1)
    index = (*along(axis_index, None), ...)
    return concatenate([part[index] for part in parts], axis_index, out, dtype=dtype, casting=casting)


@public("Joining and splitting")
def vstack(tup: Any, *, dtype: DTypeLike | None = None, casting: Casting = "same_kind") -> _core.GPUArray:
    """Concatenate arrays along the first axis; a one-dimensional array is one row.

    Parameters
    ----------
    tup : sequence of GPUArray
        Arrays of equal shape except along the first axis.
    dtype, casting : optional
        As in `concatenate`.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.vstack([PyGPU.arange(2), PyGPU.ones(2, "int64")]).tolist()
    [[0, 1], [1, 1]]
    """
    parts = [shapes.atleast_2d(part) for part in _operands(tup, "vstack")]
    return concatenate(parts, 0, dtype=dtype, casting=casting)


@public("Joining and splitting")
def row_stack(tup: Any, *, dtype: DTypeLike | None = None, casting: Casting = "same_kind") -> _core.GPUArray:
    """Concatenate arrays along the first axis, as `vstack`; NumPy deprecates this name.

    Parameters
    ----------
    tup : sequence of GPUArray
        Arrays of equal shape except along the first axis.
    dtype, casting : optional
        As in `concatenate`.

    Returns
    -------
    GPUArray

    Warns
    -----
    DeprecationWarning
        Always, as NumPy's function.

    Examples
    --------
    >>> import warnings
    >>> import PyGPU
    >>> with warnings.catch_warnings(action="ignore"):
    ...     PyGPU.row_stack([PyGPU.arange(2), PyGPU.ones(2, "int64")]).tolist()
    [[0, 1], [1, 1]]
    """
    warnings.warn("`row_stack` is deprecated; use `PyGPU.vstack`.", DeprecationWarning, stacklevel=2)
    return vstack(tup, dtype=dtype, casting=casting)


@public("Joining and splitting")
def hstack(tup: Any, *, dtype: DTypeLike | None = None, casting: Casting = "same_kind") -> _core.GPUArray:
    """Concatenate arrays along the second axis, or along the first axis if they are one-dimensional.

    Parameters
    ----------
    tup : sequence of GPUArray
        Arrays of equal shape except along the axis of concatenation.
    dtype, casting : optional
        As in `concatenate`.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.hstack([PyGPU.arange(2), PyGPU.ones(2, "int64")]).tolist()
    [0, 1, 1, 1]
    """
    parts = [shapes.atleast_1d(part) for part in _operands(tup, "hstack")]
    axis = 0 if parts and parts[0].ndim == 1 else 1
    return concatenate(parts, axis, dtype=dtype, casting=casting)


@public("Joining and splitting")
def dstack(tup: Any) -> _core.GPUArray:
    """Concatenate arrays along the third axis.

    Parameters
    ----------
    tup : sequence of GPUArray
        Arrays of equal shape except along the third axis; missing axes are added.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.dstack([PyGPU.arange(2), PyGPU.ones(2, "int64")]).tolist()
    [[[0, 1], [1, 1]]]
    """
    return concatenate([shapes.atleast_3d(part) for part in _operands(tup, "dstack")], 2)


@public("Joining and splitting")
def column_stack(tup: Any) -> _core.GPUArray:
    """Concatenate columns and matrices along the second axis.

    Parameters
    ----------
    tup : sequence of GPUArray
        One-dimensional arrays, each of which is one column, and matrices.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.column_stack([PyGPU.arange(2), PyGPU.ones(2, "int64")]).tolist()
    [[0, 1], [1, 1]]
    """
    parts = _operands(tup, "column_stack")
    return concatenate([part if part.ndim > 1 else part.reshape(-1, 1) for part in parts], 1)


@public("Joining and splitting")
def append(arr: Any, values: Any, axis: int | None = None) -> _core.GPUArray:
    """Append values to an array.

    Parameters
    ----------
    arr, values : GPUArray or number
        Operands.
    axis : int, optional
        Axis of concatenation; by default both operands are flattened in C order.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.append(PyGPU.arange(2), PyGPU.to_gpu([[5, 6]])).tolist()
    [0, 1, 5, 6]
    """
    return concatenate((arr, values), axis)


@public("Joining and splitting")
def block(arrays: Any) -> _core.GPUArray:
    """Assemble an array from blocks in nested lists.

    Parameters
    ----------
    arrays : GPUArray, or nested lists of them
        Blocks. The blocks in an innermost list are joined along the last axis, the results in the enclosing list along
        the second to last axis, and so on.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        If a list is empty, or if blocks are nested to different depths.
    TypeError
        If a tuple is used instead of a list.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.ones((1, 2), "int64")
    >>> PyGPU.block([[a, 0 * a], [2 * a, a]]).tolist()
    [[1, 1, 0, 0], [2, 2, 1, 1]]
    """
    depth, max_ndim = _depth(arrays, "arrays")
    ndim = max(depth, max_ndim)
    result = _joined_blocks(arrays, depth, ndim)
    return result.copy() if depth == 0 else result


def _depth(blocks: Any, location: str) -> tuple[int, int]:
    """Return the nesting depth of the lists that `block` receives, and the largest number of axes of their arrays."""
    if isinstance(blocks, tuple):
        raise TypeError(
            f"{location} is a tuple. Only lists can be used to arrange blocks, and np.block does not allow it."
        )
    if not isinstance(blocks, list):
        return 0, array(blocks, "block").ndim
    if not blocks:
        raise ValueError(f"List at {location} cannot be empty")
    depths = [_depth(block, f"{location}[{position}]") for position, block in enumerate(blocks)]
    for position, (depth, _) in enumerate(depths):
        if depth != depths[0][0]:
            raise ValueError(
                f"List depths are mismatched. First element was at depth {depths[0][0] + 1}, but there is an element "
                f"at depth {depth + 1} ({location}[{position}])"
            )
    return depths[0][0] + 1, max(axes for _, axes in depths)


def _joined_blocks(blocks: Any, depth: int, ndim: int) -> _core.GPUArray:
    if depth == 0:
        block = array(blocks, "block")
        return block.reshape((1,) * (ndim - block.ndim) + block.shape)
    return concatenate([_joined_blocks(block, depth - 1, ndim) for block in blocks], -depth)


public_values("Joining and splitting", "concat")
