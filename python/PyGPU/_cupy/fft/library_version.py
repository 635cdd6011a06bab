"""The function that returns the version of cuFFT or hipFFT."""

from __future__ import annotations

from PyGPU import _core

__all__ = ["getVersion"]


def getVersion() -> int:
    """Return the version of cuFFT or hipFFT.

    Raises
    ------
    RuntimeError
        If neither library is loaded, as on the CPU.
    """
    version = _core._fft_library_version()
    if version is None:
        raise RuntimeError(
            'getVersion: no cuFFT or hipFFT was found: pip install "PyGPU[cuda13-math]", or install ROCm'
        )
    return version
