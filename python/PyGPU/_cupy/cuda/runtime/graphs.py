"""Functions of `cupy.cuda.runtime` for captures and graphs; a program refers to a graph by an integer handle.

A graph and its executable form have different handles, but both refer to one `PyGPU.Graph`.
"""

from __future__ import annotations

import itertools

from PyGPU import _core
from PyGPU._cupy.cuda import capture
from PyGPU._cupy.cuda.runtime.handles import Handles
from PyGPU._cupy.cuda.runtime.status_errors import check
from PyGPU._cupy.cuda.runtime.streams import stream_of
from PyGPU._pybindgpu.status import status_of

__all__ = [
    "graphDestroy",
    "graphExecDestroy",
    "graphInstantiate",
    "graphLaunch",
    "graphUpload",
    "streamBeginCapture",
    "streamEndCapture",
]

_graphs: Handles[_core.Graph] = Handles()
_executables: Handles[_core.Graph] = Handles()
_numbers = itertools.count(1)


def streamBeginCapture(stream: int, mode: int = 2) -> None:
    """Begin to record the work of a stream as a graph.

    Parameters
    ----------
    stream : int
        Handle of the stream.
    mode : int, optional
        ``streamCaptureModeRelaxed``, the default, ``ThreadLocal`` or ``Global``.

    Raises
    ------
    CUDARuntimeError
        If the stream is capturing.
    ValueError
        For the default stream, and for an unknown mode.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy.cuda import Stream, runtime
    >>> stream, a = Stream(non_blocking=True), PyGPU.zeros(2)
    >>> runtime.streamBeginCapture(stream.ptr)
    >>> with stream:
    ...     a += 1
    >>> graph = runtime.streamEndCapture(stream.ptr)
    >>> executable = runtime.graphInstantiate(graph)
    >>> for _ in range(2):
    ...     runtime.graphLaunch(executable, stream.ptr)
    >>> stream.synchronize()
    >>> a.tolist()
    [2.0, 2.0]
    >>> runtime.graphExecDestroy(executable)
    >>> runtime.graphDestroy(graph)
    """
    capture.begin(stream_of(stream), capture.mode_of(mode))


def streamEndCapture(stream: int) -> int:
    """End the capture that began on a stream.

    Parameters
    ----------
    stream : int
        Handle of the stream.

    Returns
    -------
    int
        Handle of the graph, for `graphInstantiate` and `graphDestroy`.

    Raises
    ------
    CUDARuntimeError
        With the status 401 if the stream is not capturing, and with other status codes if the capture is invalid.
    """
    return _graphs.keep(next(_numbers), capture.end(stream_of(stream)))


def graphInstantiate(graph: int) -> int:
    """Return the executable form of a graph.

    Parameters
    ----------
    graph : int
        Handle of the graph.

    Returns
    -------
    int
        Handle for `graphLaunch`, `graphUpload` and `graphExecDestroy`.

    Raises
    ------
    CUDARuntimeError
        With the status 400 for an unknown handle.
    """
    return _executables.keep(next(_numbers), _graphs.get(graph))


def graphLaunch(graphExec: int, stream: int) -> None:
    """Enqueue the work of an executable graph on a stream.

    Parameters
    ----------
    graphExec : int
        Handle of the executable graph, which `graphInstantiate` returned.
    stream : int
        Handle of the stream.
    """
    graph = _executables.get(graphExec)
    check(status_of(lambda: graph.launch(stream_of(stream))))


def graphUpload(graphExec: int, stream: int) -> None:
    """Copy an executable graph to the device, so that its first launch takes less time.

    Parameters
    ----------
    graphExec : int
        Handle of the executable graph, which `graphInstantiate` returned.
    stream : int
        Handle of the stream.
    """
    graph = _executables.get(graphExec)
    check(status_of(lambda: graph.upload(stream_of(stream))))


def graphDestroy(graph: int) -> None:
    """Destroy a graph; its executable forms remain.

    Parameters
    ----------
    graph : int
        Handle of the graph, which `streamEndCapture` returned.

    Raises
    ------
    CUDARuntimeError
        With the status 400 for an unknown handle.
    """
    _graphs.take(graph)


def graphExecDestroy(graphExec: int) -> None:
    """Destroy the executable form of a graph; enqueued launches still run.

    Parameters
    ----------
    graphExec : int
        Handle of the executable graph, which `graphInstantiate` returned.

    Raises
    ------
    CUDARuntimeError
        With the status 400 for an unknown handle.
    """
    _executables.take(graphExec)
