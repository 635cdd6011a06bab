"""CuPy's additions over PyGPU: after `PyGPU.as_cupy()`, ``import cupyx`` finds this package.

Names are loaded at their first use. A name of CuPy that is not here raises an AttributeError with its replacement.
"""

from typing import TYPE_CHECKING, Any

if not TYPE_CHECKING:  # if type checkers saw `__getattr__`, they would accept any attribute

    def __getattr__(name: str) -> Any:
        from PyGPU._cupy import names

        if name == "__all__":
            return [name for name in names.shown(__name__) if not name.startswith("_")]
        value = globals()[name] = names.find(__name__, name)
        return value


def __dir__() -> list[str]:
    from PyGPU._cupy import names

    return names.shown(__name__)
