"""Complete public modules: their ``__all__`` and ``__dir__``, and the annotations of their functions."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from PyGPU._names.annotations import readable

__all__ = ["listed", "publish", "readable"]


def listed(namespace: dict[str, Any]) -> list[str]:
    """Return the public names that a module imports, for its ``__all__``."""
    names = (name for name, value in namespace.items() if not isinstance(value, ModuleType))
    return sorted(name for name in names if not name.startswith("_") and name not in ("TYPE_CHECKING", "annotations"))


def publish(namespace: dict[str, Any], *unlisted: str) -> None:
    """Complete a public module at its end: make annotations readable, and define ``__dir__`` from ``__all__``.

    Completion in an interpreter then omits the names that the module imports for its own use.

    Parameters
    ----------
    namespace : dict
        The module's ``globals()``, with ``__all__``.
    *unlisted : str
        Public names that ``__all__`` omits, because an access to them has an effect.
    """
    public = {*namespace["__all__"], *unlisted}

    def __dir__() -> list[str]:
        return sorted(public.union(name for name in namespace if name.startswith("_")))

    namespace["__dir__"] = __dir__
    for name, value in namespace.items():
        if name in public or name.startswith("__"):
            readable(value)
