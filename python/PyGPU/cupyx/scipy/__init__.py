"""SciPy's functions for device arrays, as in `cupyx.scipy`: `special`, `fftpack`, and parts of `linalg` and `fft`."""

from typing import TYPE_CHECKING, Any

from PyGPU._cupy.configuration import get_scipy_module as get_array_module
from PyGPU._names import public_modules as _public_modules

__all__ = ["fft", "fftpack", "get_array_module", "linalg", "special"]  # These modules load at first use.

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in __all__:
            from PyGPU._cupy.public_lookup import public_module

            return public_module(f"cupyx.scipy.{name}")
        from PyGPU._cupy.lazy_names import no_attribute

        raise no_attribute(__name__, name)

    _public_modules.publish(globals())
