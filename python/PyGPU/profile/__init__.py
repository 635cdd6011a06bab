"""Named ranges in a profiler's timeline: around copies, compilations, launches, and what a program names itself.

Off until `annotate` or the environment variable ``PYGPU_PROFILE`` switches them on; then they cost some ten nanoseconds
each, and nothing is seen of them outside of a profiler (Nsight Systems for NVTX, rocprof for roctx).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from PyGPU import _core

__all__ = ["annotate", "is_annotated", "range"]


def annotate(which: str | bool = True) -> str | None:
    """Switch ranges on or off.

    Parameters
    ----------
    which : str or bool, default True
        ``'nvtx'``; ``'roctx'``; the path of a library with the functions of either; True for that of the backend, False
        for none.

    Returns
    -------
    str or None
        The library's file.

    Raises
    ------
    BackendUnavailableError
        If there is no such library here; the message says where it was looked for.

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
    """Tell whether ranges are on.

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
    """Name a part of a program in the profiler's timeline, where ranges are on.

    Parameters
    ----------
    name : str
        What is shown.

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
