"""NumPy's functions that make arrays, called with ``like=a``: what they make is where `a` is."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core, _functions

__all__: list[str] = []


def asarray(
    like: _core.GPUArray, a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None
) -> _core.GPUArray:
    """Bring values to the device of an array."""
    return _core.asarray(a, dtype, order, device=device or like.device, copy=copy)


asanyarray = asarray


def array(
    like: _core.GPUArray,
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int | None = None,
) -> _core.GPUArray:
    """Copy values to the device of an array, with as many axes as asked for at least."""
    if ndmax is not None:
        object = np.array(object, dtype, ndmax=ndmax)
    made = _core.asarray(object, dtype, order, device=like.device, copy=copy)
    return made.reshape((1,) * (ndmin - made.ndim) + made.shape) if made.ndim < ndmin else made


def ascontiguousarray(like: _core.GPUArray, a: Any, dtype: Any = None) -> _core.GPUArray:
    """Bring values to the device of an array, in C order and with an axis."""
    return array(like, a, dtype, copy=None, order="C", ndmin=1)


def asfortranarray(like: _core.GPUArray, a: Any, dtype: Any = None) -> _core.GPUArray:
    """Bring values to the device of an array, in F order and with an axis."""
    return array(like, a, dtype, copy=None, order="F", ndmin=1)


def require(like: _core.GPUArray, a: Any, dtype: Any = None, requirements: Any = None) -> _core.GPUArray:
    """Bring values to the device of an array, in the order that is required; aligned and writable it is anyway."""
    wanted = {str(one).upper()[0] for one in requirements or ()}
    order: Any = "F" if "F" in wanted else "C" if "C" in wanted else None
    return _core.asarray(a, dtype, order, device=like.device)


def empty(
    like: _core.GPUArray, shape: Any, dtype: Any = float, order: Any = "C", *, device: Any = None
) -> _core.GPUArray:
    """Make an array beside another."""
    return _core.empty(shape, dtype, order, device=device or like.device)


def zeros(
    like: _core.GPUArray, shape: Any, dtype: Any = float, order: Any = "C", *, device: Any = None
) -> _core.GPUArray:
    """Make an array of zeros beside another."""
    return _core.zeros(shape, dtype, order, device=device or like.device)


def ones(
    like: _core.GPUArray, shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None
) -> _core.GPUArray:
    """Make an array of ones beside another."""
    return _core.ones(shape, dtype or float, order, device=device or like.device)


def full(
    like: _core.GPUArray, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None
) -> _core.GPUArray:
    """Make an array of one value beside another."""
    return _core.full(shape, fill_value, dtype, order, device=device or like.device)


def arange(like: _core.GPUArray, *args: Any, device: Any = None, **kwargs: Any) -> _core.GPUArray:
    """Count beside an array."""
    return _core.arange(*args, device=device or like.device, **kwargs)


def eye(
    like: _core.GPUArray,
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = float,
    order: Any = "C",
    *,
    device: Any = None,
) -> _core.GPUArray:
    """Make a matrix with ones on a diagonal beside an array."""
    return _core.asarray(_functions.find("eye")(N, M, k, dtype, order, device=device or like.device))


def identity(like: _core.GPUArray, n: int, dtype: Any = None) -> _core.GPUArray:
    """Make the matrix that changes nothing beside an array."""
    return eye(like, n, dtype=dtype or float)


def tri(like: _core.GPUArray, N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> _core.GPUArray:
    """Make a matrix with ones below a diagonal beside an array."""
    return _core.asarray(_functions.find("tri")(N, M, k=k, dtype=dtype, device=like.device))


def _read(function: Any) -> Any:
    """Return a function that reads on the host, and brings what it finds to the device of an array."""

    def read(like: _core.GPUArray, *args: Any, **kwargs: Any) -> _core.GPUArray:
        return _core.asarray(function(*args, **kwargs), device=like.device, copy=True)

    read.__name__ = function.__name__
    return read


frombuffer = _read(np.frombuffer)
fromfile = _read(np.fromfile)
fromfunction = _read(np.fromfunction)
fromiter = _read(np.fromiter)
fromstring = _read(np.fromstring)
genfromtxt = _read(np.genfromtxt)
loadtxt = _read(np.loadtxt)
