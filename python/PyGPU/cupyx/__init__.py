"""Interface of CuPy's package `cupyx`; after a call of `PyGPU.as_cupy`, ``import cupyx`` imports this package.

Objects are imported at their first use. For a missing name of CuPy, the AttributeError recommends a replacement.
"""

from typing import TYPE_CHECKING, Any

if not TYPE_CHECKING:  # A type checker that sees `__getattr__` accepts any name.

    def __getattr__(name: str) -> Any:
        from PyGPU._cupy import lazy_names

        if name == "__all__":
            return [name for name in lazy_names.shown(__name__) if not name.startswith("_")]
        value = globals()[name] = lazy_names.find(__name__, name)
        return value


def __dir__() -> list[str]:
    from PyGPU._cupy import lazy_names

    return lazy_names.shown(__name__)
