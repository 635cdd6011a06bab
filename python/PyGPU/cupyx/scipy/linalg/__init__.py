"""CuPy's module `cupyx.scipy.linalg`. It provides no functions; error messages recommend replacements."""

from typing import Any

from PyGPU._native.public import listing as _listing

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    from PyGPU._cupy.names import no_attribute

    raise no_attribute(__name__, name)


_listing.publish(globals())
