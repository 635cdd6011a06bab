"""Collect the ufuncs of the native module."""

from __future__ import annotations

from PyGPU import _core

_OBJECTS = {name: getattr(_core, name) for name in _core.__all__}
UFUNCS = {name: one for name, one in _OBJECTS.items() if isinstance(one, _core.Ufunc) and one.__name__ == name}
"""The ufuncs by name, without aliases."""
