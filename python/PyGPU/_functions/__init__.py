"""Functions of arrays that are composed of calls of other PyGPU functions; each module is loaded at its first use.

A function is implemented once, here or in the native module, and available as ``PyGPU.f(a)`` and ``np.f(a)`` (NEP 18).
"""

from __future__ import annotations

import importlib
from typing import Any

from PyGPU._names import index


def find(name: str) -> Any:
    """Return the function of this package that has a given name."""
    return getattr(importlib.import_module(index.HOME[name]), name)
