"""The function `listed`, which computes the ``__all__`` of a public module."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def listed(namespace: dict[str, Any]) -> list[str]:
    """Return the public names that a module imports, for its ``__all__``."""
    names = (name for name, value in namespace.items() if not isinstance(value, ModuleType))
    return sorted(name for name in names if not name.startswith("_") and name not in ("TYPE_CHECKING", "annotations"))
