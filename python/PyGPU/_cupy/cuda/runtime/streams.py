"""Functions of `cupy.cuda.runtime` for streams and events; a program refers to a stream or event by an integer handle.

PyGPU destroys a stream or event when its last Python object is destroyed. This module therefore keeps the objects that
`streamCreate` and `eventCreate` return until `streamDestroy` and `eventDestroy`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from PyGPU import _core
from PyGPU._cupy.cuda.runtime.handles import Handles
from PyGPU._cupy.cuda.runtime.status_errors import check, raising
from PyGPU._pybindgpu.runtime import event as cuda_event, ipc as cuda_ipc, stream as cuda_stream
from PyGPU._pybindgpu.status import status_of

__all__ = [
    "eventCreate",
    "eventCreateWithFlags",
    "eventDestroy",
    "eventElapsedTime",
    "eventQuery",
    "eventRecord",
    "eventSynchronize",
    "ipcGetEventHandle",
    "ipcOpenEventHandle",
    "launchHostFunc",
    "streamAddCallback",
    "streamCreate",
    "streamCreateWithFlags",
    "streamCreateWithPriority",
    "streamDestroy",
    "streamGetFlags",
    "streamGetPriority",
    "streamIsCapturing",
    "streamQuery",
    "streamSynchronize",
    "streamWaitEvent",
]

_streams: Handles[cuda_stream.cudaStream_t] = Handles()
_events: Handles[cuda_event.cudaEvent_t] = Handles()
EVENTS: WeakValueDictionary[int, _core.Event] = WeakValueDictionary()
"""Map from handles to objects of `cupy.cuda.Event`, for the handles that a program has queried."""

is_capturing: Callable[[_core.Stream], bool] = vars(_core.Stream)["is_capturing"].__get__
"""Read the attribute `is_capturing` of PyGPU's class. In the streams of `cupy.cuda` a method hides this attribute."""

_new_stream = raising(cuda_stream.cudaStreamCreateWithPriority)
_new_event = raising(cuda_event.cudaEventCreateWithFlags)
_shared = raising(cuda_ipc.cudaIpcGetEventHandle)
_opened = raising(cuda_ipc.cudaIpcOpenEventHandle)
streamSynchronize = raising(cuda_stream.cudaStreamSynchronize)


def _event(handle: int) -> cuda_event.cudaEvent_t | _core.Event:
    return EVENTS.get(handle) or _events.get(handle)


def stream_of(handle: int) -> _core.Stream:
    """Return the stream object that `streamCreate` stored for a handle, or else a stream object for the handle."""
    return cuda_stream.as_stream(_streams.find(handle) or handle)


def streamCreate() -> int:
    """Create a stream on the current device.

    Returns
    -------
    int
        Handle of the stream, for `streamDestroy`.

    Examples
    --------
    >>> from PyGPU.cupy.cuda import runtime
    >>> stream = runtime.streamCreate()
    >>> runtime.streamSynchronize(stream)
    >>> runtime.streamDestroy(stream)
    """
    return streamCreateWithPriority(cuda_stream.cudaStreamDefault, 0)


def streamCreateWithFlags(flags: int) -> int:
    """Create a stream on the current device.

    Parameters
    ----------
    flags : int
        ``streamDefault`` or ``streamNonBlocking``.

    Returns
    -------
    int
        Handle of the stream, for `streamDestroy`.

    Raises
    ------
    CUDARuntimeError
        With status 1 for unknown flags.
    """
    return streamCreateWithPriority(flags, 0)


def streamCreateWithPriority(flags: int, priority: int) -> int:
    """Create a stream on the current device.

    Parameters
    ----------
    flags : int
        ``streamDefault`` or ``streamNonBlocking``.
    priority : int
        Priority of the stream; the device prefers streams with lower numbers.

    Returns
    -------
    int
        Handle of the stream, for `streamDestroy`.

    Raises
    ------
    CUDARuntimeError
        With status 1 for unknown flags.
    """
    stream = _new_stream(flags, priority)
    return _streams.keep(stream.handle, stream)


def streamDestroy(stream: int) -> None:
    """Destroy a stream that `streamCreate` returned; work that is already enqueued still runs.

    Parameters
    ----------
    stream : int
        Handle of the stream.

    Raises
    ------
    CUDARuntimeError
        With status 400 for an unknown handle.
    """
    _streams.take(stream)


def streamGetFlags(stream: int) -> int:
    """Return the flags of a stream.

    Parameters
    ----------
    stream : int
        Handle of the stream.

    Returns
    -------
    int
        ``streamDefault`` or ``streamNonBlocking``.

    Examples
    --------
    >>> from PyGPU.cupy.cuda import Stream, runtime
    >>> stream = Stream(non_blocking=True)
    >>> runtime.streamGetFlags(stream.ptr) == runtime.streamNonBlocking
    True
    """
    return cuda_stream.cudaStreamNonBlocking if stream_of(stream).is_non_blocking else cuda_stream.cudaStreamDefault


def streamGetPriority(stream: int) -> int:
    """Return the priority of a stream; the device prefers streams with lower numbers.

    Parameters
    ----------
    stream : int
        Handle of the stream.

    Returns
    -------
    int

    Examples
    --------
    >>> from PyGPU.cupy.cuda import runtime
    >>> runtime.streamGetPriority(0)
    0
    """
    return stream_of(stream).priority


def streamQuery(stream: int) -> int:
    """Return a status code that reports whether all work of a stream is complete.

    Parameters
    ----------
    stream : int
        Handle of the stream.

    Returns
    -------
    int
        0 if all work is complete, otherwise 600 (``cudaErrorNotReady``).

    Examples
    --------
    >>> from PyGPU.cupy.cuda import runtime
    >>> runtime.streamSynchronize(0)
    >>> runtime.streamQuery(0)
    0
    """
    return int(cuda_stream.cudaStreamQuery(stream))


def streamWaitEvent(stream: int, event: int, flags: int = 0) -> None:
    """Make later work of a stream wait for an event.

    Parameters
    ----------
    stream, event : int
        Handles of the stream and the event.
    flags : int, optional
        Must be 0.
    """
    check(cuda_event.cudaStreamWaitEvent(stream, _event(event), flags))


def streamIsCapturing(stream: int) -> bool:
    """Return whether a stream is part of a capture.

    Parameters
    ----------
    stream : int
        Handle of the stream.

    Returns
    -------
    bool

    Examples
    --------
    >>> from PyGPU.cupy.cuda import runtime
    >>> runtime.streamIsCapturing(0)
    False
    """
    return is_capturing(cuda_stream.as_stream(stream))


def streamAddCallback(stream: int, callback: Callable[[int, int, Any], object], arg: Any, flags: int = 0) -> None:
    """Enqueue a Python function on a stream; the host calls it when earlier work is complete.

    Parameters
    ----------
    stream : int
        Handle of the stream.
    callback : callable
        Function that receives the handle, the status 0 and `arg`. It must neither call the GPU nor wait for GPU work.
    arg : object
        Third argument of the function.
    flags : int, optional
        Ignored, as in CUDA.
    """
    check(status_of(lambda: cuda_stream.as_stream(stream).launch_host_function(callback, stream, 0, arg)))


def launchHostFunc(stream: int, callback: Callable[[Any], object], arg: Any) -> None:
    """Enqueue a Python function on a stream; the host calls it when earlier work is complete.

    Parameters
    ----------
    stream : int
        Handle of the stream.
    callback : callable
        Function that receives `arg`. It must neither call the GPU nor wait for GPU work.
    arg : object
        Argument of the function.
    """
    check(cuda_stream.cudaLaunchHostFunc(stream, callback, arg))


def eventCreate() -> int:
    """Create an event with timing on the current device.

    Returns
    -------
    int
        Handle of the event, for `eventDestroy`.

    Examples
    --------
    >>> from PyGPU.cupy.cuda import runtime
    >>> start, end = runtime.eventCreate(), runtime.eventCreate()
    >>> runtime.eventRecord(start, 0)
    >>> runtime.eventRecord(end, 0)
    >>> runtime.eventSynchronize(end)
    >>> runtime.eventElapsedTime(start, end) >= 0
    True
    >>> runtime.eventDestroy(start)
    >>> runtime.eventDestroy(end)
    """
    return eventCreateWithFlags(cuda_event.cudaEventDefault)


def eventCreateWithFlags(flags: int) -> int:
    """Create an event on the current device.

    Parameters
    ----------
    flags : int
        Sum of ``eventBlockingSync``, ``eventDisableTiming`` and ``eventInterprocess``.

    Returns
    -------
    int
        Handle of the event, for `eventDestroy`.
    """
    event = _new_event(flags)
    return _events.keep(event.handle, event)


def eventDestroy(event: int) -> None:
    """Destroy an event that `eventCreate` returned.

    Parameters
    ----------
    event : int
        Handle of the event.

    Raises
    ------
    CUDARuntimeError
        With status 400 for an unknown handle.
    """
    _events.take(event)


def ipcGetEventHandle(event: int) -> bytes:
    """Return a handle by which other processes open an event.

    Parameters
    ----------
    event : int
        Handle of an event with the flags ``eventInterprocess | eventDisableTiming``.

    Returns
    -------
    bytes
        64 bytes for `ipcOpenEventHandle` in another process.

    Raises
    ------
    CUDARuntimeError
        If the event was created with other flags. On the CPU, every call fails with the status 801.
    """
    return bytes(_shared(_event(event)))


def ipcOpenEventHandle(handle: bytes) -> int:
    """Open an event of another process.

    Parameters
    ----------
    handle : bytes
        Result of `ipcGetEventHandle` in the other process.

    Returns
    -------
    int
        Handle of the event, for `eventDestroy`.

    Raises
    ------
    CUDARuntimeError
        If the driver did not create the handle. On the CPU, every call fails with the status 801.
    """
    event = _opened(handle)
    return _events.keep(event.handle, event)


def eventRecord(event: int, stream: int) -> None:
    """Record an event at the current end of a stream.

    Parameters
    ----------
    event, stream : int
        Handles of the stream and the event.
    """
    check(cuda_event.cudaEventRecord(_event(event), stream))


def eventSynchronize(event: int) -> None:
    """Wait until the work before an event is complete.

    Parameters
    ----------
    event : int
        Handle of the event.
    """
    check(cuda_event.cudaEventSynchronize(_event(event)))


def eventQuery(event: int) -> int:
    """Return a status code that reports whether the work before an event is complete.

    Parameters
    ----------
    event : int
        Handle of the event.

    Returns
    -------
    int
        0 if the work is complete, otherwise 600 (``cudaErrorNotReady``).
    """
    return int(cuda_event.cudaEventQuery(_event(event)))


def eventElapsedTime(start: int, end: int) -> float:
    """Return the time from a recorded event to a later recorded event in milliseconds.

    Parameters
    ----------
    start, end : int
        Handles of the events.

    Returns
    -------
    float
    """
    milliseconds, status = cuda_event.cudaEventElapsedTime(_event(start), _event(end))
    check(status)
    return milliseconds
