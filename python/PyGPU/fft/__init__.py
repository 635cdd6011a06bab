"""Discrete Fourier transforms, as in `numpy.fft`: by cuFFT or hipFFT on a GPU, by NumPy in host memory."""

from PyGPU._fft.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from PyGPU._fft.one_axis import fft, hfft, ifft, ihfft, irfft, rfft
from PyGPU._fft.several_axes import fft2, fftn, ifft2, ifftn, irfft2, irfftn, rfft2, rfftn
from PyGPU._names import public_modules as _public_modules

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


_public_modules.publish(globals())
