"""CuPy's module `cupyx.scipy.linalg`. It provides no functions; error messages recommend replacements."""

from typing import Any

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    from PyGPU._cupy.names import no_attribute

    raise no_attribute(__name__, name)
