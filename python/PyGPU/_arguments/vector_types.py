"""Structured dtypes of the short vector types of CUDA and HIP, such as ``float3`` and ``uchar4``."""

from __future__ import annotations

from typing import Any

import numpy as np

_FIELDS = "xyzw"
# For each C type: NumPy's character code, and the length of the type's longest vector in PyCUDA.
_MAX_LENGTHS = {
    "char": ("b", 4),
    "uchar": ("B", 4),
    "short": ("h", 4),
    "ushort": ("H", 4),
    "int": ("i", 4),
    "uint": ("I", 4),
    "long": ("l", 4),
    "ulong": ("L", 4),
    "longlong": ("q", 2),
    "ulonglong": ("Q", 2),
    "float": ("f", 4),
    "double": ("d", 2),
}

VECTORS: dict[str, np.dtype[Any]] = {
    f"{name}{count}": np.dtype([(field, element) for field in _FIELDS[:count]])
    for name, (element, max_length) in _MAX_LENGTHS.items()
    for count in range(1, max_length + 1)
}
"""The vector types by their C names, as packed structured dtypes."""
