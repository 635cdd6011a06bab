"""The class `Event` of CuPy, a subclass of `PyGPU.Event` with CuPy's constructor and names."""

from __future__ import annotations

from PyGPU import _core
from PyGPU._cupy.cuda.runtime.streams import EVENTS

__all__ = ["Event", "get_elapsed_time"]


class Event(_core.Event):
    """Event: a point in the work of a stream, with CuPy's constructor and names.

    Parameters
    ----------
    block : bool, optional
        Whether a thread that waits for the event sleeps instead of polling.
    disable_timing : bool, optional
        Whether the event does not record the time.
    interprocess : bool, optional
        Whether other processes can open the event; needs `disable_timing`.

    Raises
    ------
    ValueError
        For `interprocess` without `disable_timing`.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> start, end = cuda.Event(), cuda.Event()
    >>> _ = start.record(), end.record()
    >>> end.synchronize()
    >>> end.done, cuda.get_elapsed_time(start, end) >= 0
    (True, True)
    """

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        super().__init__(timing=not disable_timing, blocking_sync=bool(block), interprocess=bool(interprocess))

    @property
    def done(self) -> bool:
        """Whether the stream has reached the event."""
        return self.query()

    @property
    def ptr(self) -> int:
        """The driver's handle of the event."""
        handle = self.handle
        EVENTS[handle] = self  # Register the event, because functions of `cupy.cuda.runtime` look it up by its handle.
        return handle


def get_elapsed_time(start_event: _core.Event, end_event: _core.Event) -> float:
    """Return the time from an event to a later event in milliseconds.

    Parameters
    ----------
    start_event, end_event : Event
        Events of one device.

    Returns
    -------
    float

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> start, end = cuda.Stream.null.record(), cuda.Stream.null.record()
    >>> end.synchronize()
    >>> cuda.get_elapsed_time(start, end) >= 0
    True
    """
    return start_event.elapsed_time(end_event)
