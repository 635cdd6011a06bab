"""Capture streams with the errors of CUDA's runtime, which programs written for CuPy expect.

If work cannot be captured, PyGPU raises an error before it calls the driver, so that the capture stays valid. CUDA's
runtime calls the driver, which returns an error and invalidates the capture. The streams of `cupy.cuda` raise the same
errors, and invalidate the capture as well.
"""

from __future__ import annotations

from typing import Literal
from weakref import WeakSet

from PyGPU import _core
from PyGPU._cupy.cuda.errors import error_of
from PyGPU._cupy.cuda.runtime.streams import is_capturing

__all__ = ["Mode", "begin", "done", "end", "is_active", "mode_of", "synchronize"]

Mode = Literal["global", "thread_local", "relaxed"]
_MODES: tuple[Mode, ...] = ("global", "thread_local", "relaxed")

_ILLEGAL_STATE = 401
_UNSUPPORTED = 900
_UNMATCHED = 903
_IMPLICIT = 906

_blocking: WeakSet[_core.Stream] = WeakSet()
"""Streams that began a capture and that wait for the legacy default stream."""


def _invalidate(stream: _core.Stream) -> None:
    """Invalidate the capture of a stream by a query that the driver forbids during a capture."""
    try:
        _core.Stream.query(stream)
    except _core.CudaError:
        return


def mode_of(number: int) -> Mode:
    """Convert the integer by which CUDA's runtime identifies a capture mode to PyGPU's name of this mode.

    Parameters
    ----------
    number : int
        ``runtime.streamCaptureModeGlobal``, ``ThreadLocal`` or ``Relaxed``.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For an unknown number.

    Examples
    --------
    >>> from PyGPU._cupy.cuda.capture import mode_of
    >>> mode_of(2)
    'relaxed'
    """
    if not 0 <= number < len(_MODES):
        raise ValueError(f"capture mode {number} is none of 0 (global), 1 (thread local) and 2 (relaxed)")
    return _MODES[number]


def begin(stream: _core.Stream, mode: Mode) -> None:
    """Begin a capture; raise the runtime's error if the stream is already capturing.

    Parameters
    ----------
    stream : Stream
        A stream other than the default stream.
    mode : {'global', 'thread_local', 'relaxed'}
        Mode, which determines the calls of this and other threads that the driver forbids during the capture.

    Raises
    ------
    CUDARuntimeError
        If the stream is capturing.
    """
    # CUDA forbids a query of the flags of a capturing stream.
    is_blocking = not (is_capturing(stream) or stream.is_non_blocking)
    try:
        _core.Stream.begin_capture(stream, mode)
    except _core.CudaError as error:
        raise error_of(error.status) from error
    if is_blocking:
        _blocking.add(stream)


def end(stream: _core.Stream) -> _core.Graph:
    """End a capture; raise the runtime's error if the capture is invalid or began on another stream.

    Parameters
    ----------
    stream : Stream
        The stream.

    Returns
    -------
    Graph

    Raises
    ------
    CUDARuntimeError
        With the status 401 if the stream is not capturing, 903 if the capture began on another stream, and other
        statuses if the capture is invalid.
    """
    try:
        return _core.Stream.end_capture(stream)
    except _core.CudaError as error:
        raise error_of(error.status) from error
    except ValueError as error:  # PyGPU raises ValueError if no capture began on this stream
        if not is_capturing(stream):
            raise error_of(_ILLEGAL_STATE) from error
        _invalidate(stream)
        raise error_of(_UNMATCHED) from error
    finally:
        _blocking.discard(stream)


def is_active(stream: _core.Stream) -> bool:
    """Return whether a stream is capturing.

    Parameters
    ----------
    stream : Stream
        The stream.

    Returns
    -------
    bool

    Raises
    ------
    CUDARuntimeError
        With the status 906 for the legacy default stream, while a stream that waits for the default stream is
        capturing.
    """
    if stream.is_default and any(map(is_capturing, _blocking)):
        raise error_of(_IMPLICIT)
    return is_capturing(stream)


def synchronize(stream: _core.Stream) -> None:
    """Wait for a stream.

    Parameters
    ----------
    stream : Stream
        The stream.

    Raises
    ------
    CUDARuntimeError
        With the status 900 if the stream is capturing; the call invalidates the capture.
    """
    try:
        _core.Stream.synchronize(stream)
    except _core.NotSupportedError as error:
        _invalidate(stream)
        raise error_of(_UNSUPPORTED) from error


def done(stream: _core.Stream) -> bool:
    """Return whether all work of a stream is complete.

    If the stream is capturing, the function returns False and invalidates the capture, as in CuPy.

    Parameters
    ----------
    stream : Stream
        The stream.

    Returns
    -------
    bool
    """
    try:
        return _core.Stream.query(stream)
    except _core.CudaError as error:
        if error.status != _UNSUPPORTED:
            raise
        return False
