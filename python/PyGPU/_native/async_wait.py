"""Waiting for a device in a coroutine, while others run."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

from PyGPU import _core


async def _wait(event_or_stream: _core.Event | _core.Stream) -> None:
    if not event_or_stream.query():
        await asyncio.to_thread(event_or_stream.synchronize)
    else:
        event_or_stream.synchronize()  # also raises the error of a failed operation


def wait(event_or_stream: _core.Event | _core.Stream) -> Generator[Any, None, None]:
    """Return the generator for ``await`` on an event or a stream.

    Parameters
    ----------
    what : Event or Stream
        A thread waits for it, unless it is already reached.

    Returns
    -------
    generator
    """
    return _wait(event_or_stream).__await__()
