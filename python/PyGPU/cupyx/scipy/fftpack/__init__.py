"""Discrete Fourier transforms in the conventions of FFTPACK, as in `cupyx.scipy.fftpack`."""

from typing import Any

from PyGPU._cupy.fft.fftpack import fft, fft2, fftn, ifft, ifft2, ifftn, irfft, rfft
from PyGPU._cupy.fft.plan_creation import get_fft_plan
from PyGPU._names import public_modules as _public_modules

__all__ = ["fft", "fft2", "fftn", "get_fft_plan", "ifft", "ifft2", "ifftn", "irfft", "rfft"]


def __getattr__(name: str) -> Any:
    from PyGPU._cupy.lazy_names import no_attribute

    raise no_attribute(__name__, name)


_public_modules.publish(globals())
