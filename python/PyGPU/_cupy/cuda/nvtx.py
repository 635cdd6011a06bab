"""Functions of `cupy.cuda.nvtx` that show marks and ranges in a profiler's timeline.

The first call of a function calls `PyGPU.profile.annotate`, so that the profiler also shows ranges for PyGPU's own
functions. Without NVTX or ROCTX, for example on a machine without a GPU, the functions do nothing, and `available` is
False.
"""

from __future__ import annotations

import threading

from PyGPU import _core

__all__ = ["Mark", "MarkC", "RangePop", "RangePush", "RangePushC"]

_has_library: bool | None = None


class _Thread(threading.local):
    """Per-thread state: a list with a bool for each open range, which is true if NVTX or ROCTX has begun the range."""

    def __init__(self) -> None:
        self.begun: list[bool] = []


_thread = _Thread()


def is_available() -> bool:
    """Return whether NVTX or ROCTX is installed; the first call also enables the ranges of PyGPU's functions."""
    global _has_library
    if _has_library is None:
        try:
            library = "roctx" if _core.backend_name() == "hip" else "nvtx"
            _has_library = _core._is_annotated() or _core._annotate(library) is not None
        except _core.BackendUnavailableError:
            _has_library = False
    return _has_library


def RangePush(message: str, id_color: int = -1) -> None:
    """Begin a range of the calling thread, which may contain other ranges.

    Parameters
    ----------
    message : str
        Name of the range.
    id_color : int, optional
        Accepted for compatibility with CuPy; it has no effect, because the profiler chooses the color.

    Examples
    --------
    >>> from PyGPU.cupy.cuda import nvtx
    >>> nvtx.RangePush("the first step")
    >>> nvtx.RangePop()
    """
    _thread.begun.append(is_available() and _core._begin_range(message))


def RangePushC(message: str, color: int = 0) -> None:
    """Begin a range of the calling thread, as `RangePush` does; the color is ignored.

    Parameters
    ----------
    message : str
        Name of the range.
    color : int, optional
        Accepted for compatibility with CuPy; it has no effect, because the profiler chooses the color.
    """
    RangePush(message)


def RangePop() -> None:
    """End the last range that the calling thread has begun."""
    # NVTX or ROCTX may have been enabled or disabled since this range began. The stored bool records whether the
    # library has begun a range.
    if _thread.begun and _thread.begun.pop():
        _core._end_range()


def Mark(message: str, id_color: int = -1) -> None:
    """Mark a point in the timeline by a range of zero length.

    Parameters
    ----------
    message : str
        Name of the point.
    id_color : int, optional
        Accepted for compatibility with CuPy; it has no effect, because the profiler chooses the color.

    Examples
    --------
    >>> from PyGPU.cupy.cuda import nvtx
    >>> nvtx.Mark("here")
    """
    RangePush(message)
    RangePop()


def MarkC(message: str, color: int = 0) -> None:
    """Mark a point in the timeline, as `Mark` does; the color is ignored.

    Parameters
    ----------
    message : str
        Name of the point.
    color : int, optional
        Accepted for compatibility with CuPy; it has no effect, because the profiler chooses the color.
    """
    Mark(message)
