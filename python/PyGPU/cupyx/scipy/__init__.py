"""SciPy's functions for device arrays, as in `cupyx.scipy`: `special`, `fftpack`, and parts of `linalg` and `fft`."""

from typing import TYPE_CHECKING, Any

from PyGPU._cupy.environment import get_scipy_module as get_array_module
from PyGPU._native.public import listing as _listing

__all__ = ["fft", "fftpack", "get_array_module", "linalg", "special"]  # These modules load at first use.

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in __all__:
            from PyGPU._cupy.package import public_module

            return public_module(f"cupyx.scipy.{name}")
        from PyGPU._cupy.names import no_attribute

        raise no_attribute(__name__, name)

    _listing.publish(globals())
