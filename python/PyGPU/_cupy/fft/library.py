"""Version of the vendor's FFT library."""

from __future__ import annotations

from PyGPU import _core

__all__ = ["getVersion"]


def getVersion() -> int:
    """Return the version of cuFFT or hipFFT.

    Raises
    ------
    RuntimeError
        If there is no such library, as on the CPU.
    """
    version = _core._fft_library_version()
    if version is None:
        raise RuntimeError("getVersion: cuFFT or hipFFT was not found: docs/install.md names the package to install")
    return version
