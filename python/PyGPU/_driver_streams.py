"""PyCUDA's `Stream` and `Event`: PyGPU's, with PyCUDA's flags and names."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Self, SupportsIndex

from PyGPU import _core
from PyGPU._driver_enums import event_flags

if TYPE_CHECKING:
    from PyGPU.typing import StreamLike

__all__ = ["Event", "Stream"]

NON_BLOCKING = 1


class Stream(_core.Stream):
    """A stream: work that is put on it runs in the order in which it was put.

    It waits for the legacy default stream, and that for it, as in PyCUDA.

    Parameters
    ----------
    flags : int, optional
        1 for a stream that does not wait for the legacy default stream.

    Examples
    --------
    >>> from PyGPU import driver
    >>> stream = driver.Stream()
    >>> stream.synchronize()
    >>> stream.is_done()
    True
    """

    def __new__(cls, flags: SupportsIndex = 0) -> Self:
        number = operator.index(flags)
        if number & ~NON_BLOCKING:
            raise ValueError(f"flags {number:#x} are not among those of a stream: 0, or 1 for one that does not block")
        return super().__new__(cls, non_blocking=number == NON_BLOCKING)

    def is_done(self) -> bool:
        """Return whether the stream has nothing left to do.

        Returns
        -------
        bool

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Stream().is_done()
        True
        """
        return self.query()

    def wait_for_event(self, event: _core.Event) -> None:
        """Let work that is put on the stream from now on wait for an event.

        Parameters
        ----------
        event : Event
            One that was never recorded is not waited for.

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Stream().wait_for_event(driver.Event().record())
        """
        self.wait_event(event)


class Event(_core.Event):
    """A point of a stream that the host and other streams can wait for.

    Parameters
    ----------
    flags : event_flags, optional
        Any of them, added.

    Examples
    --------
    >>> from PyGPU import driver
    >>> start, end = driver.Event(), driver.Event()
    >>> _ = start.record()
    >>> milliseconds = end.record().synchronize().time_since(start)
    >>> milliseconds >= 0
    True
    """

    def __new__(cls, flags: SupportsIndex = 0) -> Self:
        number = operator.index(flags)
        known = int(event_flags.BLOCKING_SYNC | event_flags.DISABLE_TIMING | event_flags.INTERPROCESS)
        if number & ~known:
            raise ValueError(f"flags {number:#x} are not among event_flags ({known:#x})")
        return super().__new__(
            cls,
            timing=not number & event_flags.DISABLE_TIMING,
            blocking_sync=bool(number & event_flags.BLOCKING_SYNC),
            interprocess=bool(number & event_flags.INTERPROCESS),
        )

    def record(self, stream: StreamLike = None) -> Self:
        """Mark the point that a stream has reached, instead of what it marked before.

        Parameters
        ----------
        stream : Stream, optional
            The legacy default stream if None.

        Returns
        -------
        Event
            The event itself.

        Examples
        --------
        >>> from PyGPU import driver
        >>> event = driver.Event()
        >>> event.record(driver.Stream()) is event
        True
        """
        super().record(self.device.default_stream if stream is None else stream)
        return self

    def synchronize(self) -> Self:  # type: ignore[override]
        """Wait until the marked point was reached; not at all if nothing is marked.

        Returns
        -------
        Event
            The event itself.

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Event().record().synchronize().query()
        True
        """
        super().synchronize()
        return self
