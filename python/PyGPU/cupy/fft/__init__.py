"""Discrete Fourier transforms, as in `cupy.fft`: the functions of `PyGPU.fft`."""

from typing import Any

from PyGPU import fft as _own
from PyGPU.fft import *  # noqa: F403

__all__ = _own.__all__


def __getattr__(name: str) -> Any:
    from PyGPU._cupy.names import no_attribute

    raise no_attribute(__name__, name)
