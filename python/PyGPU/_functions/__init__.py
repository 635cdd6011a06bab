"""Functions of arrays that are written in Python with other functions of PyGPU; modules load at their first use.

Each function is implemented once, here or in the native module. Programs call a function `f` as ``PyGPU.f(a)`` or, by
NEP 18, as ``np.f(a)``.
"""

from __future__ import annotations

import importlib
from typing import Any

from PyGPU._names import index


def find(name: str) -> Any:
    """Return the function of this package that has a given name."""
    return getattr(importlib.import_module(index.HOME[name]), name)
