"""Functions that split arrays into views."""

from __future__ import annotations

from typing import Any

from PyGPU import _core
from PyGPU._functions.array_arguments import along, array, normalize_axis
from PyGPU._names.public import public


@public("Joining and splitting", host=("indices_or_sections",))
def array_split(ary: _core.GPUArray, indices_or_sections: Any, axis: int = 0) -> list[_core.GPUArray]:
    """Split an array along an axis into parts whose lengths may differ by one.

    Parameters
    ----------
    ary : GPUArray
        Array to split.
    indices_or_sections : int or sequence of int
        Number of parts, or the indices along the axis at which the array is split.
    axis : int, optional
        Axis of the operation.

    Returns
    -------
    list of GPUArray
        Views of the parts.

    Raises
    ------
    ValueError
        If fewer than one part is requested.

    Examples
    --------
    >>> import PyGPU
    >>> [part.tolist() for part in PyGPU.array_split(PyGPU.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    """
    ary = array(ary, "array_split")
    length = ary.shape[axis]
    try:
        ends = [*indices_or_sections, length]
    except TypeError:
        sections = int(indices_or_sections)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.") from None
        short, longer = divmod(length, sections)
        ends = [axis_index * short + min(axis_index, longer) for axis_index in range(1, sections + 1)]
    begins = [0, *ends[:-1]]
    axis_index = normalize_axis(axis, ary.ndim)
    return [ary[along(axis_index, slice(begin, end))] for begin, end in zip(begins, ends, strict=True)]


@public("Joining and splitting", host=("indices_or_sections",))
def split(ary: _core.GPUArray, indices_or_sections: Any, axis: int = 0) -> list[_core.GPUArray]:
    """Split an array along an axis into parts of equal length.

    Parameters
    ----------
    ary : GPUArray
        Array to split.
    indices_or_sections : int or sequence of int
        Number of parts, or the indices along the axis at which the array is split.
    axis : int, optional
        Axis of the operation.

    Returns
    -------
    list of GPUArray
        Views of the parts.

    Raises
    ------
    ValueError
        If the axis cannot be divided into that number of equal parts.

    Examples
    --------
    >>> import PyGPU
    >>> [part.tolist() for part in PyGPU.split(PyGPU.arange(4), 2)]
    [[0, 1], [2, 3]]
    >>> [part.tolist() for part in PyGPU.split(PyGPU.arange(4), [1, 3])]
    [[0], [1, 2], [3]]
    """
    ary = array(ary, "split")
    try:
        len(indices_or_sections)
    except TypeError:
        if ary.shape[axis] % indices_or_sections:
            raise ValueError("array split does not result in an equal division") from None
    return array_split(ary, indices_or_sections, axis)


@public("Joining and splitting", host=("indices_or_sections",))
def vsplit(ary: _core.GPUArray, indices_or_sections: Any) -> list[_core.GPUArray]:
    """Split an array along its first axis.

    Parameters
    ----------
    ary : GPUArray
        Array with two or more axes.
    indices_or_sections : int or sequence of int
        As for `split`.

    Returns
    -------
    list of GPUArray
        Views of the parts.

    Examples
    --------
    >>> import PyGPU
    >>> [part.tolist() for part in PyGPU.vsplit(PyGPU.arange(4).reshape(2, 2), 2)]
    [[[0, 1]], [[2, 3]]]
    """
    ary = array(ary, "vsplit")
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


@public("Joining and splitting", host=("indices_or_sections",))
def hsplit(ary: _core.GPUArray, indices_or_sections: Any) -> list[_core.GPUArray]:
    """Split an array along its second axis, or along its only axis.

    Parameters
    ----------
    ary : GPUArray
        Array with one or more axes.
    indices_or_sections : int or sequence of int
        As for `split`.

    Returns
    -------
    list of GPUArray
        Views of the parts.

    Examples
    --------
    >>> import PyGPU
    >>> [part.tolist() for part in PyGPU.hsplit(PyGPU.arange(4).reshape(2, 2), 2)]
    [[[0], [2]], [[1], [3]]]
    """
    ary = array(ary, "hsplit")
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, min(ary.ndim - 1, 1))


@public("Joining and splitting", host=("indices_or_sections",))
def dsplit(ary: _core.GPUArray, indices_or_sections: Any) -> list[_core.GPUArray]:
    """Split an array along its third axis.

    Parameters
    ----------
    ary : GPUArray
        Array with three or more axes.
    indices_or_sections : int or sequence of int
        As for `split`.

    Returns
    -------
    list of GPUArray
        Views of the parts.

    Examples
    --------
    >>> import PyGPU
    >>> [part.tolist() for part in PyGPU.dsplit(PyGPU.arange(4).reshape(1, 2, 2), 2)]
    [[[[0], [2]]], [[[1], [3]]]]
    """
    ary = array(ary, "dsplit")
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


@public("Joining and splitting")
def unstack(x: _core.GPUArray, /, *, axis: int = 0) -> tuple[_core.GPUArray, ...]:
    """Split an array into its sub-arrays at each index of an axis.

    Parameters
    ----------
    x : GPUArray
        Array with one or more axes.
    axis : int, optional
        Axis of the operation.

    Returns
    -------
    tuple of GPUArray
        Views of the sub-arrays, without the axis.

    Examples
    --------
    >>> import PyGPU
    >>> [part.tolist() for part in PyGPU.unstack(PyGPU.arange(4).reshape(2, 2), axis=1)]
    [[0, 2], [1, 3]]
    """
    x = array(x, "unstack")
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(_core.moveaxis(x, axis, 0))
