"""Array functions that are written in Python with other functions of PyGPU; each module is imported at its first use.

Each function is implemented once, either in this package or in the native module. Programs call a function `f` as
``PyGPU.f(a)`` or, by NEP 18, as ``np.f(a)``.
"""

from __future__ import annotations

import importlib
from typing import Any

from PyGPU._names import index


def find(name: str) -> Any:
    """Return the function of this package that has a given name."""
    return getattr(importlib.import_module(index.HOME[name]), name)
