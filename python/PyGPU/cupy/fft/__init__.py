"""Discrete Fourier transforms, as in `cupy.fft`: `PyGPU.fft` with checks of the thread's plan."""

from importlib import import_module as _import_module
from typing import Any

from PyGPU._cupy.fft.numpy_functions import (
    fft,
    fft2,
    fftn,
    hfft,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)
from PyGPU._names import public_modules as _public_modules
from PyGPU.fft import fftfreq, fftshift, ifftshift, rfftfreq

__all__ = [
    "config", "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft",
    "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "config":
        return _import_module(f"{__name__}.config")
    from PyGPU._cupy.lazy_names import no_attribute

    raise no_attribute(__name__, name)


_public_modules.publish(globals())
