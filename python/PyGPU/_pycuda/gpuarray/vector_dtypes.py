"""PyCUDA's ``gpuarray.vec``: dtypes of short vectors, and their constructors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from PyGPU._arguments.vector_types import VECTORS

__all__ = ["vec"]


class _Names(type):
    """Metaclass of `vec`; its `__getattr__` lets type checkers accept the attributes, which a table defines."""

    def __getattr__(cls, name: str) -> Any:
        raise AttributeError(f"gpuarray.vec has no {name!r}; its types are {', '.join(VECTORS)}")


class vec(metaclass=_Names):
    """Dtypes of the short vectors of device code, and their constructors.

    ``vec.float3`` is a structured dtype with the fields ``x``, ``y``, ``z``; ``vec.make_float3(1, 2, 3)`` is an ndarray
    without axes, which fills arrays and is an argument of kernels. Supported are ``char``, ``uchar``, ``short``,
    ``ushort``, ``int``, ``uint``, ``long``, ``ulong`` and ``float`` with 1 to 4 elements, ``longlong``, ``ulonglong``
    and ``double`` with 1 or 2. Arrays of short vectors are filled, copied, viewed and passed to kernels; arithmetic is
    not supported.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> a = gpuarray.empty(2, gpuarray.vec.float3)
    >>> a.fill(gpuarray.vec.make_float3(1, 2, 3)).get()["y"]
    array([2., 2.], dtype=float32)
    """


def _maker(dtype: np.dtype[Any]) -> Callable[..., np.ndarray[Any, Any]]:
    fields = dtype.names or ()

    def make(*values: Any, **keywords: Any) -> np.ndarray[Any, Any]:
        elements = dict(zip(fields, values, strict=False)) | keywords
        if len(values) + len(keywords) != len(fields) or set(elements) != set(fields):
            raise TypeError(f"{make.__name__}() takes {', '.join(fields)}")
        return np.array(tuple(elements[field] for field in fields), dtype)

    return make


for _name, _dtype in VECTORS.items():
    _constructor = _maker(_dtype)
    _constructor.__name__ = _constructor.__qualname__ = f"make_{_name}"
    _constructor.__doc__ = f"Make one {_name} of its elements."
    setattr(vec, _name, _dtype)
    setattr(vec, _constructor.__name__, staticmethod(_constructor))
