"""Named ranges in a profiler's timeline for copies, launches and parts of a program, and the function `benchmark`.

Ranges are disabled until `annotate` or the environment variable ``PYGPU_PROFILE`` enables them. An enabled range costs
about ten nanoseconds, and is visible only in a profiler (Nsight Systems for NVTX, rocprof for roctx).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from PyGPU import _core
from PyGPU._names import public_modules as _public_modules
from PyGPU._observability.benchmark import BenchmarkResult as BenchmarkResult, benchmark as benchmark

__all__ = ["BenchmarkResult", "annotate", "benchmark", "is_annotated", "range"]


def annotate(which: str | bool = True) -> str | None:
    """Enable or disable ranges in a profiler's timeline.

    Parameters
    ----------
    which : str or bool, default True
        ``'nvtx'`` or ``'roctx'``; the path of a library with NVTX's or roctx's functions; True for the library of the
        backend; False to disable ranges.

    Returns
    -------
    str or None
        The path of the library; None if ranges are disabled.

    Raises
    ------
    BackendUnavailableError
        If the library is not found; the message lists the searched locations.

    Examples
    --------
    >>> import PyGPU.profile
    >>> PyGPU.profile.annotate(False)
    >>> PyGPU.profile.is_annotated()
    False
    """
    if which is True:
        which = "roctx" if _core.backend_name() == "hip" else "nvtx"
    return _core._annotate(which or None)


def is_annotated() -> bool:
    """Return whether ranges are enabled.

    Returns
    -------
    bool

    Examples
    --------
    >>> import PyGPU.profile
    >>> PyGPU.profile.is_annotated()
    False
    """
    return _core._is_annotated()


@contextlib.contextmanager
def range(name: str) -> Iterator[None]:
    """Name a part of a program in the profiler's timeline, if ranges are enabled.

    Parameters
    ----------
    name : str
        Label of the range.

    Examples
    --------
    >>> import PyGPU, PyGPU.profile
    >>> with PyGPU.profile.range("the first step"):
    ...     a = PyGPU.arange(5)
    """
    has_begun = _core._begin_range(name)
    try:
        yield
    finally:
        if has_begun:
            _core._end_range()


_public_modules.publish(globals())
