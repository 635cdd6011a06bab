"""The function `cross`: cross products of vectors."""

from __future__ import annotations

import warnings
from typing import Any

from PyGPU import _core
from PyGPU._functions.array_arguments import arrays, normalize_axis
from PyGPU._functions.joining import stack
from PyGPU._names.public import public


@public("Products")
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> _core.GPUArray:
    """Return the cross product of vectors of three numbers.

    The vectors of one operand may have two numbers, which NumPy deprecates; their third number is 0.

    Parameters
    ----------
    a, b : GPUArray
        Arrays of vectors, each of which extends along one axis; all other axes are broadcast.
    axisa, axisb, axisc : int, optional
        Axis of the vectors in the first array, the second array and the result.
    axis : int, optional
        Axis of the vectors in all three arrays; overrides `axisa`, `axisb` and `axisc`.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        For vectors with neither two nor three numbers, and if both operands are vectors of two numbers.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cross(PyGPU.to_gpu([1, 2, 3]), PyGPU.to_gpu([4, 5, 6])).tolist()
    [-3, 6, -3]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    first, second = arrays((a, b), "cross")
    first = _core.moveaxis(first, normalize_axis(axisa, first.ndim), -1)
    second = _core.moveaxis(second, normalize_axis(axisb, second.ndim), -1)
    if sorted((first.shape[-1], second.shape[-1])) not in ([2, 3], [3, 3]):
        raise ValueError(
            f"cross: both operands are vectors of 3 numbers, and these have {first.shape[-1]} and {second.shape[-1]}"
        )
    if first.shape[-1] != second.shape[-1]:
        return _cross_with_plane_vectors(first, second, axisc)
    x, y, z = (first[..., component] for component in range(3))
    u, v, w = (second[..., component] for component in range(3))
    return stack([y * w - z * v, z * u - x * w, x * v - y * u], axisc)


def _cross_with_plane_vectors(first: _core.GPUArray, second: _core.GPUArray, axisc: int) -> _core.GPUArray:
    """Return the cross product of vectors of three numbers with vectors of two numbers, whose third number is 0."""
    warnings.warn(
        "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead. "
        "(deprecated in NumPy 2.0)",
        DeprecationWarning,
        stacklevel=3,
    )
    x, y, u, v = (operand[..., component] for operand in (first, second) for component in range(2))
    if first.shape[-1] == 2:
        w = second[..., 2]
        return stack([y * w, -(x * w), x * v - y * u], axisc)
    z = first[..., 2]
    return stack([-(z * v), z * u, x * v - y * u], axisc)
