"""PyCUDA's switches of the profiler, and what is left of OpenGL."""

from __future__ import annotations

import ctypes

from PyGPU import _core

__all__ = ["have_gl_ext", "initialize_profiler", "start_profiler", "stop_profiler"]


def _call(name: str) -> None:
    """Call a function of CUDA's driver that takes nothing; other backends have no such switch."""
    _core.flush()  # what was written on this side of the switch is to be seen on this side
    if _core.backend_name() != "cuda":
        return
    _core.context_handle()  # the driver is open, and the device has its context
    library = next(backend["library"] for backend in _core.config()["backends"] if backend["name"] == "cuda")
    function = getattr(ctypes.CDLL(library), name, None)
    if function is None:
        return  # a driver without a profiler
    with _core.Device(_core.current_device()):
        code = function()
    if code:
        raise _core.LogicError(f"{name} failed: {_core.error_name(code)} ({code}): {_core.error_text(code)}")


def initialize_profiler(config_file: str, output_file: str, output_mode: int) -> None:
    """Raise: CUDA 12 has no profiler of its own to be configured.

    Parameters
    ----------
    config_file, output_file : str
        As in PyCUDA.
    output_mode : int
        Of `profiler_output_mode`.

    Raises
    ------
    NotSupportedError
        Always.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.initialize_profiler('', '', 0)
    Traceback (most recent call last):
        ...
    PyGPU.NotSupportedError: cuProfilerInitialize was removed in CUDA 12: ...
    """
    raise _core.NotSupportedError(
        "cuProfilerInitialize was removed in CUDA 12: run the program under nsys or ncu (rocprof for HIP); "
        "start_profiler() and stop_profiler() bound what they record"
    )


def start_profiler() -> None:
    """Let a profiler begin its recording; without one nothing happens.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.start_profiler()
    """
    _call("cuProfilerStart")


def stop_profiler() -> None:
    """Let a profiler end its recording.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.stop_profiler()
    """
    _call("cuProfilerStop")


def have_gl_ext() -> bool:
    """Tell whether OpenGL can be used: no.

    Returns
    -------
    bool

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.have_gl_ext()
    False
    """
    return False
