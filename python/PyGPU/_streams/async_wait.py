"""Implement ``await event`` and ``await stream``; other coroutines run during the wait."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

from PyGPU import _core


async def _wait(event_or_stream: _core.Event | _core.Stream) -> None:
    if not event_or_stream.query():
        await asyncio.to_thread(event_or_stream.synchronize)
    else:
        # The work before the event or on the stream is complete, so this call does not wait. It raises an error if the
        # work failed.
        event_or_stream.synchronize()


def wait(event_or_stream: _core.Event | _core.Stream) -> Generator[Any, None, None]:
    """Return the generator that ``await event`` or ``await stream`` iterates.

    Parameters
    ----------
    event_or_stream : Event or Stream
        Event or stream to wait for. Unless its work is already complete, another thread waits, so that the coroutine's
        thread can run other coroutines.

    Returns
    -------
    generator
    """
    return _wait(event_or_stream).__await__()
