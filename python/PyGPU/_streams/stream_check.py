"""Check the order of streams between PyGPU and other libraries, if ``PYGPU_CHECK_STREAMS=1`` is set.

The native module calls the functions of this file while the check is enabled. `docs/streams_and_lifetime.md` lists the
cases that the check detects, and those that it cannot detect.
"""

from __future__ import annotations

import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from PyGPU import _core
from PyGPU._names.public import public
from PyGPU._streams.library_streams import current_streams, library_of

__all__ = ["StreamOrderWarning", "check_import", "hand_over", "origin", "report", "report_export"]

_PACKAGE = str(Path(__file__).parents[2])
_FRAMES = 12
"""Maximum number of lines of a traceback that a report contains."""


@public("Exceptions")
class StreamOrderWarning(RuntimeWarning):
    """Warning about unordered work of two libraries on the same memory, emitted only with ``PYGPU_CHECK_STREAMS=1``.

    Examples
    --------
    Turn the warnings into exceptions:

    >>> import warnings
    >>> import PyGPU
    >>> warnings.simplefilter("error", PyGPU.StreamOrderWarning)
    """


StreamOrderWarning.__module__ = "PyGPU"


class Origin(NamedTuple):
    """Location in the program at which one library passed memory to another.

    Attributes
    ----------
    way : str
        Name of the protocol or call that handed the memory over, such as ``__dlpack__``.
    stack : str
        The traceback at this location, as text.
    """

    way: str
    stack: str


listener: Callable[[str], None] | None = None
"""Function that receives each report instead of a warning; ``python -m PyGPU check`` sets it."""


def _is_own(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_PACKAGE)


def _program_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of a stack whose code is not part of PyGPU."""
    while frame is not None and _is_own(frame) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _stack(frame: FrameType | None) -> str:
    if frame is None:
        return "  (a thread without Python code)\n"
    summary = traceback.StackSummary.extract(traceback.walk_stack(frame), limit=_FRAMES)
    summary.reverse()
    return "".join(summary.format())


def origin(way: str) -> Origin:
    """Return the location in the program from which PyGPU is called.

    Parameters
    ----------
    way : str
        Name of the protocol or call that hands the memory over.

    Returns
    -------
    Origin
    """
    return Origin(way, _stack(_program_frame(sys._getframe())))


def hand_over(
    device: _core.Device, handle: int | None, way: str
) -> tuple[Origin, _core.Stream | None, list[_core.Stream]]:
    """Return the streams on which other libraries may use memory that they receive now.

    Parameters
    ----------
    device : Device
        Device of the memory.
    handle : int, optional
        Handle of the stream that the consumer named.
    way : str
        Name of the protocol or call that hands the memory over.

    Returns
    -------
    origin : Origin
    named : Stream or None
        The named stream, if it is the current stream of a library, whose object keeps the stream alive. Without this
        object, the handle may become invalid.
    suspects : list of Stream
        The current streams of other libraries.
    """
    named, suspects = None, []
    for current in current_streams(device.index):
        stream = _core.Stream.from_handle(current.handle, device, current.owner)
        if current.handle == handle:
            named = stream
        else:
            suspects.append(stream)
    return origin(way), named, suspects


def check_import(producer: object, device: _core.Device, ready: _core.Stream) -> None:
    """Report an import without a stream if the producer's library has pending work on a stream other than `ready`.

    Parameters
    ----------
    producer : object
        The imported object; None if only the memory is known, so that each library may be the producer.
    device : Device
        Device of the memory.
    ready : Stream
        The stream on which PyGPU uses the memory.
    """
    library = None if producer is None else library_of(producer)
    if producer is not None and library is None:
        return
    for current in current_streams(device.index):
        if library is not None and current.library != library:
            continue
        worker = _core.Stream.from_handle(current.handle, device, current.owner)
        if _core._is_unordered(ready, worker):
            subject = f"an array of {library}" if library else "a tensor, by the exchange table,"
            _tell(
                f"PyGPU imports {subject} without a stream, and uses it on {_name(ready.handle)}, which does not wait "
                f"for the pending work of {current.library} on {_name(current.handle)}, its current stream. Make "
                "PyGPU's stream wait (PyGPU.current_stream().wait_stream(stream)), or import by from_dlpack",
                None,
                sys._getframe(),
            )


def report_export(writer: int) -> None:
    """Report that memory with pending work is exported without synchronization.

    Parameters
    ----------
    writer : int
        Handle of the stream with the pending work.
    """
    _tell(
        f"__dlpack__(stream=-1) exports memory while work on {_name(writer)}, which writes the memory, is pending, and "
        "orders no stream behind it. Pass the stream of the consumer",
        None,
        sys._getframe(),
    )


_TEXTS = {
    "use": "PyGPU uses memory on {waiter}, which does not wait for the pending work on {worker}, to which the memory "
    "was handed over. Call a.record_stream(stream) after the other work is enqueued",
    "release": "PyGPU frees memory in the order of {waiter}, which does not wait for the pending work on {worker}, "
    "where the memory may be in use. Call a.record_stream(stream) before the last array is dropped",
    "address": "a launch on {waiter} receives the address of memory, and does not wait for the pending work on "
    "{worker}, which uses the memory. Pass the array in the place of its address, or call wait_stream",
}


def report(kind: str, waiter: int, worker: int, origin: Origin | None, thread: int) -> None:
    """Report unordered work that the native module has found.

    Parameters
    ----------
    kind : str
        ``'use'``, ``'release'`` or ``'address'``.
    waiter, worker : int
        Handles of the stream that does not wait, and of the stream with pending work.
    origin : Origin, optional
        Location at which the memory was handed over.
    thread : int
        Identifier of the thread that found the unordered work.
    """
    frame = sys._getframe() if thread == threading.get_ident() else sys._current_frames().get(thread)
    _tell(_TEXTS[kind].format(waiter=_name(waiter), worker=_name(worker)), origin, frame)


def _name(handle: int) -> str:
    return "the default stream" if handle == 0 else f"the stream {handle:#x}"


def _tell(text: str, origin: Origin | None, frame: FrameType | None) -> None:
    """Pass a report to the listener; without a listener, emit a warning at the line of the program."""
    frame = _program_frame(frame)
    message = f"{text}.\nFound at (most recent call last):\n{_stack(frame)}"
    if origin is not None:
        message += f"The memory was handed over by {origin.way} at (most recent call last):\n{origin.stack}"
    message = message.rstrip("\n")
    if listener is not None:
        listener(message)
    elif frame is None:
        warnings.warn(message, StreamOrderWarning, stacklevel=1)
    else:
        names = frame.f_globals
        registry = names.setdefault("__warningregistry__", {})
        warnings.warn_explicit(
            message, StreamOrderWarning, frame.f_code.co_filename, frame.f_lineno, names.get("__name__"), registry
        )
