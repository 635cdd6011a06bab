"""Arrays in other shapes and orders."""

from __future__ import annotations

from PyGPU import _core

__all__ = ["rot90"]


def rot90(m: _core.GPUArray, k: int = 1, axes: tuple[int, int] = (0, 1)) -> _core.GPUArray:
    """Turn an array by 90 degrees in the plane of two axes.

    Parameters
    ----------
    m : GPUArray
        With two axes or more.
    k : int, optional
        How often it is turned, from the first axis towards the second.
    axes : tuple of two ints, optional
        The plane.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If the axes are not two different ones of the array.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.rot90(PyGPU.to_gpu([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    axes = tuple(axes)  # type: ignore[assignment]
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    if abs(axes[0] - axes[1]) in (0, m.ndim):
        raise ValueError("Axes must be different.")
    if any(not -m.ndim <= axis < m.ndim for axis in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={m.ndim}.")
    first, second = (axis % m.ndim for axis in axes)
    turns = k % 4
    if turns == 0:
        return m[...]
    if turns == 2:
        return _core.flip(m, (first, second))
    order = list(range(m.ndim))
    order[first], order[second] = second, first
    if turns == 1:
        return _core.flip(m, second).transpose(order)
    return _core.flip(m.transpose(order), second)
