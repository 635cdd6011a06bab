"""Lookup of the functions of `PyGPU` and of the public packages at run time."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

__all__ = ["own", "public_module"]


def own(name: str) -> Any:
    """Return a public object of `PyGPU`, whose module is loaded at its first use."""
    return getattr(importlib.import_module("PyGPU"), name)


def public_module(name: str) -> ModuleType:
    """Return a public module of PyGPU, such as ``cupy`` or ``cupyx.scipy``."""
    return importlib.import_module(f"PyGPU.{name}")
