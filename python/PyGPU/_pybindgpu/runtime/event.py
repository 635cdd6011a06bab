"""The class `cudaEvent_t`, and the `cuda*` calls that create, record and query events."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import SupportsIndex, TypeAlias

from PyGPU import _core
from PyGPU._pybindgpu.runtime.stream import StreamLike, as_stream
from PyGPU._pybindgpu.status import (
    INVALID_RESOURCE_HANDLE,
    INVALID_VALUE,
    NOT_READY,
    StatusError,
    cudaError_t,
    status_of,
    value_of,
)
from PyGPU._pybindgpu.stream_event_handle import Handle

__all__ = [
    "cudaEventBlockingSync",
    "cudaEventCreate",
    "cudaEventCreateWithFlags",
    "cudaEventDefault",
    "cudaEventDestroy",
    "cudaEventDisableTiming",
    "cudaEventElapsedTime",
    "cudaEventInterprocess",
    "cudaEventQuery",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaEvent_t",
    "cudaStreamWaitEvent",
]

cudaEventDefault = 0
"""The event records the time."""
cudaEventBlockingSync = 1
"""A thread that waits for the event sleeps instead of spinning."""
cudaEventDisableTiming = 2
"""The event does not record the time, which reduces the cost of recording it."""
cudaEventInterprocess = 4
"""The event can be shared with another process; needs ``cudaEventDisableTiming``."""

_ALL_FLAGS = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess

EventLike: TypeAlias = "cudaEvent_t | _core.Event"


class cudaEvent_t(Handle[_core.Event]):
    """Event: a point in the work of a stream.

    Parameters
    ----------
    flags : int
        Sum of ``cudaEventBlockingSync`` (1), ``cudaEventDisableTiming`` (2) and ``cudaEventInterprocess`` (4, only
        together with 2); ``cudaEventDefault`` (0) is none of them.

    Notes
    -----
    If the creation fails, `last_status` is the cause, the handle is 0, and every call with the object has status 400
    (``cudaErrorInvalidResourceHandle``).

    Raises
    ------
    TypeError
        If `flags` is not an integer.

    Examples
    --------
    >>> import PyGPU
    >>> start, end = PyGPU.cudaEvent_t(), PyGPU.cudaEvent_t()
    >>> err = PyGPU.cudaEventRecord(start)
    >>> err = PyGPU.cudaEventRecord(end)
    >>> err = PyGPU.cudaEventSynchronize(end)
    >>> milliseconds, err = PyGPU.cudaEventElapsedTime(start, end)
    >>> milliseconds >= 0, err
    (True, <cudaError: code=0>)
    """

    __slots__ = ()

    def __init__(self, flags: SupportsIndex = cudaEventDefault) -> None:
        bits = operator.index(flags)

        def create() -> _core.Event:
            timing = not bits & cudaEventDisableTiming
            if bits & ~_ALL_FLAGS or (bits & cudaEventInterprocess and timing):
                raise StatusError(INVALID_VALUE)
            return _core.Event(
                timing=timing,
                blocking_sync=bool(bits & cudaEventBlockingSync),
                interprocess=bool(bits & cudaEventInterprocess),
            )

        super().__init__(create)

    @classmethod
    def _from_factory(cls, create: Callable[[], _core.Event]) -> cudaEvent_t:
        """Create a `cudaEvent_t` for the event that a function returns."""
        instance = cls.__new__(cls)
        Handle.__init__(instance, create)
        return instance

    @property
    def event(self) -> _core.Event | None:
        """PyGPU's event object; None if the creation failed."""
        return self._object


def as_event(event: EventLike) -> _core.Event:
    """Return PyGPU's event for a `cudaEvent_t` or an event of PyGPU.

    Raises
    ------
    TypeError
        For any other object.
    StatusError
        400 for a `cudaEvent_t` whose creation failed.
    """
    if isinstance(event, cudaEvent_t):
        return event._checked_object()
    if isinstance(event, _core.Event):
        return event
    raise TypeError(f"expected an event (cudaEvent_t or PyGPU.Event), not {type(event).__name__}")


def cudaEventRecord(event: EventLike, stream: StreamLike = None) -> cudaError_t:
    """Record an event on a stream, after all work that is already enqueued.

    Parameters
    ----------
    event : cudaEvent_t or PyGPU.Event
        The event.
    stream : cudaStream_t, PyGPU.Stream, object with ``__cuda_stream__``, int or None
        The stream; None and 0 are the default stream.

    Returns
    -------
    cudaError_t

    Raises
    ------
    TypeError
        If `event` is no event or `stream` no stream.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaEventRecord(PyGPU.cudaEvent_t(), PyGPU.cudaStream_t())
    <cudaError: code=0>
    """
    return status_of(lambda: as_event(event).record(as_stream(stream)))


def cudaEventSynchronize(event: EventLike) -> cudaError_t:
    """Wait until the work before an event is complete; an event that was never recorded is complete.

    Parameters
    ----------
    event : cudaEvent_t or PyGPU.Event
        The event.

    Returns
    -------
    cudaError_t
        The error of the work before the event, if any.

    Raises
    ------
    TypeError
        If `event` is no event.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaEventSynchronize(PyGPU.cudaEvent_t())
    <cudaError: code=0>
    """
    return status_of(lambda: as_event(event).synchronize())


def cudaEventQuery(event: EventLike) -> cudaError_t:
    """Test whether the work before an event is complete, without waiting.

    Parameters
    ----------
    event : cudaEvent_t or PyGPU.Event
        The event.

    Returns
    -------
    cudaError_t
        Success if the work is complete or the event was never recorded, otherwise 600 (``cudaErrorNotReady``).

    Raises
    ------
    TypeError
        If `event` is no event.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaEventQuery(PyGPU.cudaEvent_t())
    <cudaError: code=0>
    """

    def query() -> None:
        if not as_event(event).query():
            raise StatusError(NOT_READY)

    return status_of(query)


def cudaEventElapsedTime(start: EventLike, end: EventLike) -> tuple[float, cudaError_t]:
    """Return the time between two events.

    Parameters
    ----------
    start, end : cudaEvent_t or PyGPU.Event
        Two recorded events that were created with timing, i.e. without ``cudaEventDisableTiming``.

    Returns
    -------
    milliseconds : float
        Time from `start` to `end`; 0.0 after an error.
    status : cudaError_t
        600 if an event has not been reached yet, 400 if an event was never recorded or has no timing.

    Raises
    ------
    TypeError
        If `start` or `end` is no event.

    Examples
    --------
    >>> import PyGPU
    >>> event = PyGPU.cudaEvent_t()
    >>> err = PyGPU.cudaEventRecord(event)
    >>> err = PyGPU.cudaEventSynchronize(event)
    >>> PyGPU.cudaEventElapsedTime(event, event)
    (0.0, <cudaError: code=0>)
    """
    return value_of(0.0, lambda: as_event(start).elapsed_time(as_event(end)))


def cudaStreamWaitEvent(stream: StreamLike, event: EventLike, flags: SupportsIndex = 0) -> cudaError_t:
    """Make later work of a stream wait for an event; the host does not wait.

    Parameters
    ----------
    stream : cudaStream_t, PyGPU.Stream, object with ``__cuda_stream__``, int or None
        The stream that waits; None and 0 are the default stream.
    event : cudaEvent_t or PyGPU.Event
        Event to wait for; an event that was never recorded causes no wait.
    flags : int
        Must be 0.

    Returns
    -------
    cudaError_t
        1 (``cudaErrorInvalidValue``) if `flags` is not 0.

    Raises
    ------
    TypeError
        If `stream` is no stream, `event` no event or `flags` no integer.

    Examples
    --------
    >>> import PyGPU
    >>> event = PyGPU.cudaEvent_t(PyGPU.cudaEventDisableTiming)
    >>> PyGPU.cudaStreamWaitEvent(PyGPU.cudaStream_t(), event)
    <cudaError: code=0>
    """

    def wait() -> None:
        if operator.index(flags) != 0:
            raise StatusError(INVALID_VALUE)
        as_stream(stream).wait_event(as_event(event))

    return status_of(wait)


def cudaEventCreate() -> tuple[cudaEvent_t, cudaError_t]:
    """Create a `cudaEvent_t` that records the time.

    Returns
    -------
    event : cudaEvent_t
        The event, whose handle is 0 after an error.
    status : cudaError_t

    Examples
    --------
    >>> import PyGPU
    >>> event, err = PyGPU.cudaEventCreate()
    >>> err, PyGPU.cudaEventDestroy(event)
    (<cudaError: code=0>, <cudaError: code=0>)
    """
    return cudaEventCreateWithFlags(cudaEventDefault)


def cudaEventCreateWithFlags(flags: SupportsIndex) -> tuple[cudaEvent_t, cudaError_t]:
    """Create an event like `cudaEventCreate`, with the flags of `cudaEvent_t`.

    Examples
    --------
    >>> import PyGPU
    >>> event, err = PyGPU.cudaEventCreateWithFlags(PyGPU.cudaEventDisableTiming)
    >>> err
    <cudaError: code=0>
    """
    event = cudaEvent_t(flags)
    return event, event.last_status()


def cudaEventDestroy(event: EventLike) -> cudaError_t:
    """Destroy an event; streams that already wait for the event continue to wait.

    Parameters
    ----------
    event : cudaEvent_t
        The event, whose handle is 0 afterwards.

    Returns
    -------
    cudaError_t
        400 (``cudaErrorInvalidResourceHandle``) if the event was already destroyed, and for a `PyGPU.Event`, which is
        destroyed with its last reference.

    Raises
    ------
    TypeError
        If `event` is no event.

    Examples
    --------
    >>> import PyGPU
    >>> event = PyGPU.cudaEvent_t()
    >>> PyGPU.cudaEventDestroy(event), PyGPU.cudaEventQuery(event)
    (<cudaError: code=0>, <cudaError: code=400>)
    """

    def destroy() -> None:
        if not isinstance(event, cudaEvent_t):
            as_event(event)
            raise StatusError(INVALID_RESOURCE_HANDLE)
        event._drop()

    return status_of(destroy)
