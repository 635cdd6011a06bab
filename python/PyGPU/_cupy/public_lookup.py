"""Look up public objects and modules of `PyGPU` at run time, because imports at load time would be circular."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

__all__ = ["own", "public_module"]


def own(name: str) -> Any:
    """Return a public object of `PyGPU`, and import its module if needed."""
    return getattr(importlib.import_module("PyGPU"), name)


def public_module(name: str) -> ModuleType:
    """Return a public module of PyGPU, such as ``cupy`` or ``cupyx.scipy``."""
    return importlib.import_module(f"PyGPU.{name}")
