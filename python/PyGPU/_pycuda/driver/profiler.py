"""PyCUDA's functions that start and stop a profiler, and `have_gl_ext`."""

from __future__ import annotations

import ctypes

from PyGPU import _core

__all__ = ["have_gl_ext", "initialize_profiler", "start_profiler", "stop_profiler"]


def _call(name: str) -> None:
    """Call a function of CUDA's driver that has no parameters; do nothing on other backends."""
    _core.flush()  # Launch deferred operations before the recording starts or stops.
    if _core.backend_name() != "cuda":
        return
    _core.context_handle()  # This call creates the device's context, which the driver's function needs.
    library = next(backend["library"] for backend in _core.config()["backends"] if backend["name"] == "cuda")
    function = getattr(ctypes.CDLL(library), name, None)
    if function is None:
        return  # This version of the driver has no profiler functions.
    with _core.Device(_core.current_device()):
        code = function()
    if code:
        raise _core.LogicError(f"{name} failed: {_core.error_name(code)} ({code}): {_core.error_text(code)}")


def initialize_profiler(config_file: str, output_file: str, output_mode: int) -> None:
    """Raise an error: CUDA 12 has no configurable built-in profiler.

    Parameters
    ----------
    config_file, output_file : str
        Accepted for compatibility with PyCUDA; they have no effect.
    output_mode : int
        A member of `profiler_output_mode`.

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
    """Start the recording of an attached profiler; without an attached profiler, the call has no effect.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.start_profiler()
    """
    _call("cuProfilerStart")


def stop_profiler() -> None:
    """Stop the recording of an attached profiler; without an attached profiler, the call has no effect.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.stop_profiler()
    """
    _call("cuProfilerStop")


def have_gl_ext() -> bool:
    """Return whether OpenGL is supported: always False.

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
