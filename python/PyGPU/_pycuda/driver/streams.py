"""PyCUDA's classes `Stream` and `Event`: subclasses of PyGPU's classes with PyCUDA's methods and flags."""

from __future__ import annotations

from typing import Self

from PyGPU import _core
from PyGPU._pycuda.driver.enums import event_flags

__all__ = ["Event", "Stream"]


class Stream(_core.Stream):
    """Stream whose work waits for work on the legacy default stream, as in PyCUDA.

    Parameters
    ----------
    flags : int, optional
        0, or 1 for a stream that does not synchronize with the legacy default stream.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> stream = drv.Stream()
    >>> stream.synchronize()
    >>> stream.is_done()
    True
    """

    def __init__(self, flags: int = 0) -> None:
        if flags not in (0, 1):
            raise _core.InvalidValueError(f"flags of a stream are 0 or 1, not {flags}")
        super().__init__(non_blocking=bool(flags))

    def is_done(self) -> bool:
        """Test whether all work of the stream is complete.

        Returns
        -------
        bool

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Stream().is_done()
        True
        """
        return self.query()

    def wait_for_event(self, evt: _core.Event) -> None:
        """Make later work of the stream wait for an event; the host does not wait.

        Parameters
        ----------
        evt : Event
            Event to wait for.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Stream().wait_for_event(drv.Event().record())
        """
        self.wait_event(evt)


class Event(_core.Event):
    """Point in the work of a stream, for which the host and other streams can wait.

    Parameters
    ----------
    flags : int, optional
        A combination of `event_flags`.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> start, end = drv.Event().record(), drv.Event().record()
    >>> end.synchronize().time_since(start) >= 0
    True
    """

    def __init__(self, flags: int = 0) -> None:
        if not 0 <= flags <= 7:
            raise _core.InvalidValueError(f"flags of an event are those of event_flags, not {flags}")
        super().__init__(
            timing=not flags & event_flags.DISABLE_TIMING,
            blocking_sync=bool(flags & event_flags.BLOCKING_SYNC),
            interprocess=bool(flags & event_flags.INTERPROCESS),
        )

    def synchronize(self) -> Self:  # type: ignore[override]
        """Wait until the stream reaches the event.

        Returns
        -------
        Event
            The event itself.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> event = drv.Event().record()
        >>> event.synchronize() is event
        True
        """
        super().synchronize()
        return self
