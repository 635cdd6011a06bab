"""The class `cudaStream_t`, and the `cuda*` calls that create, query and destroy streams."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy

from PyGPU import _core
from PyGPU._pybindgpu.status import (
    INVALID_RESOURCE_HANDLE,
    INVALID_VALUE,
    NOT_READY,
    StatusError,
    cudaError_t,
    status_of,
)
from PyGPU._pybindgpu.stream_event_handle import Handle

if TYPE_CHECKING:
    from PyGPU.typing import SupportsCudaStream

__all__ = [
    "HostFunctionError",
    "cudaLaunchHostFunc",
    "cudaStreamCreate",
    "cudaStreamCreateWithFlags",
    "cudaStreamCreateWithPriority",
    "cudaStreamDefault",
    "cudaStreamDestroy",
    "cudaStreamNonBlocking",
    "cudaStreamQuery",
    "cudaStreamSynchronize",
    "cudaStream_t",
]

cudaStreamDefault = 0
"""The stream and the legacy default stream wait for each other."""
cudaStreamNonBlocking = 1
"""The stream and the legacy default stream do not wait for each other."""


StreamLike: TypeAlias = "cudaStream_t | _core.Stream | SupportsCudaStream | SupportsIndex | None"


class cudaStream_t(Handle[_core.Stream]):
    """Stream of the current device.

    Parameters
    ----------
    flags : int
        ``cudaStreamDefault`` (0) or ``cudaStreamNonBlocking`` (1).
    priority : int
        Priority of the stream; the device prefers streams with lower numbers.

    Notes
    -----
    The object is accepted wherever PyGPU accepts a stream, and by every library that supports ``__cuda_stream__``. The
    driver's stream is destroyed with the object; enqueued work still runs. If the creation fails, `last_status` returns
    the error, the handle is 0, and every call with the object returns status 400 (``cudaErrorInvalidResourceHandle``).

    Raises
    ------
    TypeError
        If `flags` or `priority` is not an integer.

    Examples
    --------
    >>> import PyGPU
    >>> stream = PyGPU.cudaStream_t(PyGPU.cudaStreamNonBlocking)
    >>> stream.last_status()
    <cudaError: code=0>
    >>> PyGPU.cudaStreamSynchronize(stream)
    <cudaError: code=0>
    """

    __slots__ = ()

    def __init__(self, flags: SupportsIndex = cudaStreamDefault, priority: SupportsIndex = 0) -> None:
        bits, priority_number = operator.index(flags), operator.index(priority)

        def create() -> _core.Stream:
            if bits not in (cudaStreamDefault, cudaStreamNonBlocking):
                raise StatusError(INVALID_VALUE)
            return _core.Stream(non_blocking=bits == cudaStreamNonBlocking, priority=priority_number)

        super().__init__(create)

    @property
    def stream(self) -> _core.Stream | None:
        """PyGPU's stream object; None if the creation failed."""
        return self._object

    def __cuda_stream__(self) -> tuple[int, int]:
        # An error is raised instead of returning handle 0, because handle 0 means the default stream.
        if self._object is None:
            raise RuntimeError(f"this cudaStream_t was destroyed, or could not be made: {self._status!r}")
        return 0, self._object.handle


def as_stream(stream: StreamLike) -> _core.Stream:
    """Convert a stream argument to PyGPU's stream object.

    Raises
    ------
    TypeError
        If the argument is no stream.
    StatusError
        400 for a `cudaStream_t` whose creation failed.
    """
    if isinstance(stream, cudaStream_t):
        return stream._checked_object()
    if isinstance(stream, _core.Stream):
        return stream
    # None and 0 mean the default stream, not the current stream of ``with stream:``.
    if stream is None:
        return _core.default_stream()
    if isinstance(stream, int | numpy.integer) and not isinstance(stream, bool):
        return _core.default_stream() if stream == 0 else _core.Stream.from_handle(int(stream))
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        _version, handle = protocol()
        return _core.Stream.from_handle(handle, owner=stream) if handle else _core.default_stream()
    raise TypeError(
        f"expected a stream (cudaStream_t, PyGPU.Stream, an object with __cuda_stream__, an int or None), "
        f"not {type(stream).__name__}"
    )


def cudaStreamSynchronize(stream: StreamLike = None) -> cudaError_t:
    """Wait until a stream has completed all its work. Other Python threads run during the wait.

    Parameters
    ----------
    stream : cudaStream_t, PyGPU.Stream, object with ``__cuda_stream__``, int or None
        The stream; None and 0 are the default stream.

    Returns
    -------
    cudaError_t
        The error of the stream's work, if such work failed.

    Raises
    ------
    TypeError
        If `stream` is no stream.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaStreamSynchronize(0)
    <cudaError: code=0>
    """
    return status_of(lambda: as_stream(stream).synchronize())


def cudaStreamQuery(stream: StreamLike = None) -> cudaError_t:
    """Test whether a stream has completed all its work, without waiting.

    Parameters
    ----------
    stream : cudaStream_t, PyGPU.Stream, object with ``__cuda_stream__``, int or None
        The stream; None and 0 are the default stream.

    Returns
    -------
    cudaError_t
        Success if all work is complete, otherwise 600 (``cudaErrorNotReady``).

    Raises
    ------
    TypeError
        If `stream` is no stream.

    Examples
    --------
    >>> import PyGPU
    >>> stream = PyGPU.cudaStream_t()
    >>> PyGPU.cudaStreamQuery(stream)
    <cudaError: code=0>
    """

    def query() -> None:
        if not as_stream(stream).query():
            raise StatusError(NOT_READY)

    return status_of(query)


def cudaStreamCreate() -> tuple[cudaStream_t, cudaError_t]:
    """Create a `cudaStream_t` on the current device.

    Returns
    -------
    stream : cudaStream_t
        Its handle is 0 after an error.
    status : cudaError_t

    Examples
    --------
    >>> import PyGPU
    >>> stream, err = PyGPU.cudaStreamCreate()
    >>> err, PyGPU.cudaStreamDestroy(stream)
    (<cudaError: code=0>, <cudaError: code=0>)
    """
    return cudaStreamCreateWithPriority(cudaStreamDefault, 0)


def cudaStreamCreateWithFlags(flags: SupportsIndex) -> tuple[cudaStream_t, cudaError_t]:
    """Create a stream like `cudaStreamCreate`, with ``cudaStreamDefault`` (0) or ``cudaStreamNonBlocking`` (1).

    Examples
    --------
    >>> import PyGPU
    >>> stream, err = PyGPU.cudaStreamCreateWithFlags(PyGPU.cudaStreamNonBlocking)
    >>> err
    <cudaError: code=0>
    """
    return cudaStreamCreateWithPriority(flags, 0)


def cudaStreamCreateWithPriority(flags: SupportsIndex, priority: SupportsIndex) -> tuple[cudaStream_t, cudaError_t]:
    """Create a stream like `cudaStreamCreateWithFlags`, with a priority; lower numbers are preferred.

    The driver clamps the priority to the supported range.

    Examples
    --------
    >>> import PyGPU
    >>> stream, err = PyGPU.cudaStreamCreateWithPriority(PyGPU.cudaStreamDefault, -1)
    >>> err
    <cudaError: code=0>
    """
    stream = cudaStream_t(flags, priority)
    return stream, stream.last_status()


def cudaStreamDestroy(stream: StreamLike) -> cudaError_t:
    """Destroy a stream; work that is already enqueued still runs.

    Parameters
    ----------
    stream : cudaStream_t
        The stream, whose handle is 0 afterwards. The driver's stream is destroyed when PyGPU no longer uses it.

    Returns
    -------
    cudaError_t
        400 (``cudaErrorInvalidResourceHandle``) if the stream was already destroyed, and for streams of other types: a
        default stream cannot be destroyed, and another library's stream is destroyed by its owner.

    Raises
    ------
    TypeError
        If `stream` is no stream.

    Examples
    --------
    >>> import PyGPU
    >>> stream = PyGPU.cudaStream_t()
    >>> PyGPU.cudaStreamDestroy(stream), PyGPU.cudaStreamDestroy(stream)
    (<cudaError: code=0>, <cudaError: code=400>)
    """

    def destroy() -> None:
        if not isinstance(stream, cudaStream_t):
            as_stream(stream)
            raise StatusError(INVALID_RESOURCE_HANDLE)
        stream._drop()

    return status_of(destroy)


class HostFunctionError(Exception):
    """Error that the next waiting call raises after a function of `cudaLaunchHostFunc` has raised an exception.

    The attribute ``__cause__`` contains the function's exception.

    Examples
    --------
    >>> import PyGPU
    >>> err = PyGPU.cudaLaunchHostFunc(None, int, "no number")
    >>> try:
    ...     PyGPU.cudaDeviceSynchronize()
    ... except PyGPU.HostFunctionError as error:
    ...     print(type(error.__cause__).__name__)
    ValueError
    """


def cudaLaunchHostFunc(stream: StreamLike, fn: Callable[[Any], object], userData: Any = None) -> cudaError_t:
    """Enqueue a Python function on a stream; the host calls it when earlier work is complete.

    Parameters
    ----------
    stream : cudaStream_t, PyGPU.Stream, object with ``__cuda_stream__``, int or None
        The stream; None and 0 are the default stream.
    fn : callable
        Function to call; its result is ignored. It must neither call the GPU nor wait for GPU work.
    userData : object
        Arguments that are passed to the function.

    Returns
    -------
    cudaError_t
        801 (``cudaErrorNotSupported``) while another library captures the stream.

    Raises
    ------
    TypeError
        If `stream` is no stream, or `fn` no function.

    Notes
    -----
    Device errors are returned as a status. If `fn` raises an exception, the next call that waits for the device raises
    a `HostFunctionError`.

    See Also
    --------
    PyGPU.Stream.launch_host_function : PyGPU's own method.

    Examples
    --------
    >>> import PyGPU
    >>> done = []
    >>> PyGPU.cudaLaunchHostFunc(None, done.append, 1)
    <cudaError: code=0>
    >>> PyGPU.cudaDeviceSynchronize(), done
    (<cudaError: code=0>, [1])
    """
    if not callable(fn):
        raise TypeError(f"fn is no function, but {type(fn).__name__}")

    def call() -> None:
        # Exceptions of `fn` are wrapped in a `HostFunctionError`, because `status_of` would convert some of them to a
        # status.
        try:
            fn(userData)
        except Exception as error:
            raise HostFunctionError(
                f"a function of cudaLaunchHostFunc raised {type(error).__name__}: {error}"
            ) from error

    return status_of(lambda: as_stream(stream).launch_host_function(call))
