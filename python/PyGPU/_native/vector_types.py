"""Short vectors of CUDA's and HIP's C++ as structured dtypes, such as ``float3`` and ``uchar4``."""

from __future__ import annotations

from typing import Any

import numpy as np

_FIELDS = "xyzw"
# NumPy's letter of each C type, and the length of its longest vector in PyCUDA.
_LONGEST = {
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
    for name, (element, longest) in _LONGEST.items()
    for count in range(1, longest + 1)
}
"""Their names in C, and what NumPy calls them: without gaps, as they lie on a device."""
