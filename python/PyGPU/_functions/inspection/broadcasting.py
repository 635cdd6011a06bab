"""The class `broadcast`, which contains the shape to which arrays are broadcast together."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from PyGPU import _core
from PyGPU._names.public import public


@public("Other shapes")
class broadcast:
    """Compute the shape to which arrays are broadcast; unlike NumPy's `broadcast`, the object cannot be iterated.

    Parameters
    ----------
    *args : GPUArray or array_like
        Arrays; only their shapes are read.

    Attributes
    ----------
    shape : tuple of int
        Common shape.
    ndim : int
        Number of axes of the common shape, also under an older name of NumPy.
    size : int
        Number of elements of the common shape.
    numiter : int
        Number of arrays.

    Raises
    ------
    ValueError
        If the shapes cannot be broadcast, and for more than 64 arrays.

    Examples
    --------
    >>> import PyGPU
    >>> both = PyGPU.broadcast(PyGPU.zeros((3, 1)), PyGPU.zeros(4))
    >>> both.shape, both.size, both.numiter
    ((3, 4), 12, 2)
    """

    __slots__ = ("numiter", "shape")

    def __init__(self, *args: Any) -> None:
        self.numiter: int = sum(one.numiter if isinstance(one, broadcast) else 1 for one in args)
        if self.numiter > _MOST:
            raise ValueError(f"Need at least 0 and at most {_MOST} array objects, not {self.numiter}.")
        self.shape: tuple[int, ...] = np.broadcast_shapes(*(_shape(one) for one in args))

    @property
    def ndim(self) -> int:
        """Return the number of axes of the common shape."""
        return len(self.shape)

    nd = ndim  # codespell:ignore nd

    @property
    def size(self) -> int:
        """Return the number of elements of the common shape."""
        return math.prod(self.shape)

    def __iter__(self) -> NoReturn:
        raise TypeError(
            f"PyGPU.broadcast of shape {self.shape} is not iterated, because elements are on a device; compute with "
            "whole arrays, or write a PyGPU.ElementwiseKernel"
        )

    def __repr__(self) -> str:
        return f"<PyGPU.broadcast of {self.numiter} arrays, shape {self.shape}>"


_MOST = 64
"""Maximum number of arrays of NumPy's `broadcast`."""


def _shape(one: Any) -> tuple[int, ...]:
    return one.shape if isinstance(one, _core.GPUArray | broadcast) else np.shape(one)
