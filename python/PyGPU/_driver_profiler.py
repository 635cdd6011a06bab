"""PyCUDA's calls for profilers, and for graphics libraries."""

from __future__ import annotations

from typing import Any, NoReturn

from PyGPU import _core

__all__ = ["have_gl_ext", "initialize_profiler", "start_profiler", "stop_profiler"]


def start_profiler() -> None:
    """Let a profiler that waits for it begin (``nsys profile --capture-range=cudaProfilerApi``).

    Examples
    --------
    >>> from PyGPU import driver
    >>> driver.start_profiler()
    """
    _core.profile(True)


def stop_profiler() -> None:
    """Let the profiler end that `start_profiler` let begin.

    Examples
    --------
    >>> from PyGPU import driver
    >>> driver.stop_profiler()
    """
    _core.profile(False)


def initialize_profiler(config_file: Any, output_file: Any, output_mode: Any) -> NoReturn:
    """Refuse: CUDA 12 has no profiler in the driver any more.

    Parameters
    ----------
    config_file, output_file, output_mode
        Those of PyCUDA's function.

    Raises
    ------
    NotSupportedError
        Always; it says what to use.
    """
    raise _core.NotSupportedError(
        "initialize_profiler: CUDA 12 has no profiler in the driver any more; run the program under nsys or ncu"
    )


def have_gl_ext() -> bool:
    """Return whether buffers of OpenGL can be used.

    Returns
    -------
    bool
        False: PyGPU does not share memory with graphics libraries.

    Examples
    --------
    >>> from PyGPU import driver
    >>> driver.have_gl_ext()
    False
    """
    return False
