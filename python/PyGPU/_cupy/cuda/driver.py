"""Functions of `cupy.cuda.driver`."""

from __future__ import annotations

from PyGPU import _core
from PyGPU._cupy.cuda.errors import CUDADriverError
from PyGPU._cupy.cuda.runtime.devices_and_memory import driverGetVersion
from PyGPU._pybindgpu.runtime.stream import as_stream

__all__ = ["CUDADriverError", "ctxGetCurrent", "ctxGetDevice", "get_build_version", "streamGetCtx"]


def get_build_version() -> int:
    """Return the version of the CUDA or HIP driver, because PyGPU is not compiled for a version of CUDA's runtime.

    Returns
    -------
    int

    Examples
    --------
    >>> from PyGPU.cupy.cuda import driver
    >>> driver.get_build_version() >= 12000
    True
    """
    return driverGetVersion()


def ctxGetCurrent() -> int:
    """Return the handle of the current device's context, which all libraries share.

    Returns
    -------
    int

    Raises
    ------
    NotSupportedError
        On the CPU and on HIP.
    """
    return _core.context_handle()


def ctxGetDevice() -> int:
    """Return the number of the current device.

    Returns
    -------
    int

    Examples
    --------
    >>> from PyGPU.cupy.cuda import driver
    >>> driver.ctxGetDevice()
    0
    """
    return _core.current_device()


def streamGetCtx(stream: int) -> int:
    """Return the handle of a stream's context.

    Parameters
    ----------
    stream : int
        Handle of the stream.

    Returns
    -------
    int

    Raises
    ------
    NotSupportedError
        On the CPU and on HIP.
    """
    return _core.context_handle(as_stream(stream).device)
