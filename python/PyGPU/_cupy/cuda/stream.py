"""CuPy's classes of streams, which are subclasses of `PyGPU.Stream` with CuPy's constructor and names.

`Stream` is a subclass and not PyGPU's class itself, because the first parameter of CuPy's constructor is `null`, and
because `is_capturing` is an attribute in PyGPU and a method in CuPy. Every function of PyGPU accepts objects of this
subclass.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any, Literal, Self
from weakref import WeakValueDictionary

from PyGPU import _core
from PyGPU._cupy.cuda import capture
from PyGPU._cupy.cuda.event import Event
from PyGPU._cupy.cuda.runtime.constants import streamCaptureModeRelaxed, streamPerThread
from PyGPU._process.fork_lock import fork_safe_lock

__all__ = ["ExternalStream", "Stream", "get_current_stream"]

_lock = fork_safe_lock()
_known: WeakValueDictionary[tuple[_core.Device, int], Stream] = WeakValueDictionary()
"""The streams of this module that are alive, so that `get_current_stream` returns the object of the program."""


class _Thread(threading.local):
    """Per-thread state: for each device, the stream that the last call of `Stream.use` has made current."""

    def __init__(self) -> None:
        self.used: dict[_core.Device, BaseStream] = {}


_thread = _Thread()


def _leave_used(device: _core.Device) -> None:
    """Undo this thread's last `use` on a device: make the previous stream current again."""
    stream = _thread.used.pop(device, None)
    if stream is not None:
        _core.Stream.__exit__(stream)


class BaseStream(_core.Stream):
    """Base class of CuPy's streams. Programs create a `Stream` or an `ExternalStream`."""

    device_id: int
    """Number of the stream's device; -1 for default streams and for streams of other libraries."""

    @property
    def ptr(self) -> int:
        """The driver's handle of the stream; 0 for the default stream."""
        return self.handle

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the protocol's version and the stream's handle; the handle of the default stream is 0, as in CuPy."""
        return 0, self.ptr

    @property
    def done(self) -> bool:
        """Whether all work of the stream is complete; False during a capture, which becomes invalid, as in CuPy."""
        return capture.done(self)

    def synchronize(self) -> None:
        """Wait until all work of the stream is complete.

        Raises
        ------
        CUDARuntimeError
            With the status 900 if the stream is capturing; the capture becomes invalid, as in CuPy.

        Examples
        --------
        >>> from PyGPU.cupy import cuda
        >>> cuda.Stream().synchronize()
        """
        capture.synchronize(self)

    def use(self) -> Self:
        """Make the stream the thread's current stream until another stream is used.

        Returns
        -------
        Stream
            The stream itself.

        Raises
        ------
        RuntimeError
            If the current device is not the stream's device.

        Notes
        -----
        As in CuPy, the end of a ``with stream:`` block also undoes the last call of `use`.

        Examples
        --------
        >>> from PyGPU.cupy import cuda
        >>> stream = cuda.Stream().use()
        >>> cuda.get_current_stream() is stream
        True
        >>> cuda.Stream.null.use() is cuda.get_current_stream()
        True
        """
        self._check_device()
        _leave_used(self.device)
        super().__enter__()
        _thread.used[self.device] = self
        return self

    def _check_device(self) -> None:
        current = _core.current_device()
        if self.device_id not in (-1, current):
            raise RuntimeError(
                f"the stream was created on device {self.device_id}, and device {current} is current: write "
                f"`with cupy.cuda.Device({self.device_id}):` around its use"
            )

    def __enter__(self) -> Self:
        self._check_device()
        return super().__enter__()

    def __exit__(self, *exception: object) -> Literal[False]:
        _leave_used(self.device)
        super().__exit__(*exception)  # type: ignore[arg-type]
        return False

    def add_callback(self, callback: Callable[[BaseStream, int, Any], object], arg: Any) -> None:
        """Enqueue a Python function on the stream; the host calls it when earlier work is complete.

        Parameters
        ----------
        callback : callable
            Function that receives the stream, the status 0 and `arg`. It must neither call the GPU nor wait for GPU
            work.
        arg : object
            Third argument of the function.

        Examples
        --------
        >>> from PyGPU.cupy import cuda
        >>> results = []
        >>> stream = cuda.Stream()
        >>> stream.add_callback(lambda stream, status, arg: results.append(arg), 1)
        >>> stream.synchronize()
        >>> results
        [1]
        """
        self.launch_host_function(callback, self, 0, arg)

    def launch_host_func(self, callback: Callable[[Any], object], arg: Any) -> None:
        """Enqueue a Python function on the stream; the host calls it when earlier work is complete.

        Parameters
        ----------
        callback : callable
            Function that receives `arg`. It must neither call the GPU nor wait for GPU work.
        arg : object
            Argument of the function.

        Examples
        --------
        >>> from PyGPU.cupy import cuda
        >>> results = []
        >>> stream = cuda.Stream()
        >>> stream.launch_host_func(results.append, 1)
        >>> stream.synchronize()
        >>> results
        [1]
        """
        self.launch_host_function(callback, arg)

    def record(self, event: _core.Event | None = None) -> _core.Event:
        """Record an event at the current end of the stream.

        Parameters
        ----------
        event : Event, optional
            Event of the stream's device; a new `Event` by default.

        Returns
        -------
        Event

        Examples
        --------
        >>> from PyGPU.cupy import cuda
        >>> event = cuda.Stream().record()
        >>> event.synchronize()
        >>> event.done
        True
        """
        return super().record(Event() if event is None else event)

    def begin_capture(self, mode: int | str | None = None) -> None:
        """Begin to record the work of the stream as a graph.

        Parameters
        ----------
        mode : int, optional
            ``runtime.streamCaptureModeRelaxed``, the default, ``ThreadLocal`` or ``Global``.

        Raises
        ------
        RuntimeError
            For the default stream.
        ValueError
            For an unknown mode.

        Examples
        --------
        >>> import PyGPU
        >>> from PyGPU.cupy import cuda
        >>> stream = cuda.Stream(non_blocking=True)
        >>> a = PyGPU.zeros(3)
        >>> with stream:
        ...     stream.begin_capture()
        ...     a += 1
        ...     graph = stream.end_capture()
        >>> graph.launch(stream)
        >>> graph.launch(stream)
        >>> stream.synchronize()
        >>> a.tolist()
        [2.0, 2.0, 2.0]
        """
        if self.is_default:
            raise RuntimeError("cannot capture on the default (legacy) stream: create a cupy.cuda.Stream()")
        if mode is None:
            mode = streamCaptureModeRelaxed
        capture.begin(self, mode if isinstance(mode, str) else capture.mode_of(mode))  # type: ignore[arg-type]

    def end_capture(self) -> _core.Graph:
        """End the capture that began on the stream.

        Returns
        -------
        Graph

        Raises
        ------
        CUDARuntimeError
            With the status 401 if the stream is not capturing, 903 if the capture began on another stream, and other
            statuses if the capture is invalid.

        Examples
        --------
        See `begin_capture`.
        """
        return capture.end(self)

    def is_capturing(self) -> bool:  # type: ignore[override]
        """Return whether the stream is part of a capture.

        Returns
        -------
        bool

        Raises
        ------
        CUDARuntimeError
            With the status 906 for ``Stream.null``, while a stream that waits for ``Stream.null`` is capturing.

        Examples
        --------
        >>> from PyGPU.cupy import cuda
        >>> cuda.Stream().is_capturing()
        False
        """
        return capture.is_active(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ptr} (device {self.device_id})>"


class _StreamClass(type):
    """Metaclass of `Stream`, which makes `Stream.null` and `Stream.ptds` the default streams of the current device."""

    @property
    def null(cls) -> Stream:
        """The legacy default stream of the current device."""
        return _facade(_core.default_stream())

    @property
    def ptds(cls) -> Stream:
        """The per-thread default stream of the current device."""
        return _facade(_core.Stream.from_handle(streamPerThread))


class Stream(BaseStream, metaclass=_StreamClass):
    """Stream of the current device, with CuPy's constructor and names.

    ``Stream.null`` and ``Stream.ptds`` are the default streams of the current device.

    Parameters
    ----------
    null : bool, optional
        Whether the object is the legacy default stream.
    non_blocking : bool, optional
        Whether the stream and the legacy default stream do not wait for each other.
    ptds : bool, optional
        Whether the object is the per-thread default stream.
    priority : int, optional
        Priority of the stream; the device prefers lower numbers. The driver clamps the number to its range.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy import cuda
    >>> stream = cuda.Stream(non_blocking=True)
    >>> with stream:
    ...     a = PyGPU.arange(3)
    ...     cuda.get_current_stream() is stream
    True
    >>> stream.synchronize()
    >>> stream.done
    True
    """

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: int | None = None
    ) -> None:
        if null or ptds:
            self._adopt(_core.default_stream() if null else _core.Stream.from_handle(streamPerThread))
            self.device_id = -1
            return
        super().__init__(non_blocking=bool(non_blocking), priority=priority or 0)
        self.device_id = self.device.index
        _known[self.device, self.handle] = self

    @classmethod
    def from_external(cls, obj: Any) -> Stream:
        """Return a stream object for the stream of another library.

        Parameters
        ----------
        obj : object with `__cuda_stream__`
            The stream, which the new object keeps alive.

        Returns
        -------
        Stream

        Raises
        ------
        TypeError
            If the object has no `__cuda_stream__`, or if `__cuda_stream__` does not return version 0 and a handle.

        Examples
        --------
        >>> import PyGPU
        >>> from PyGPU.cupy import cuda
        >>> stream = PyGPU.Stream()
        >>> cuda.Stream.from_external(stream) == stream
        True
        """
        stream = cls.__new__(cls)
        stream._adopt(_core.Stream.from_handle(_external_handle(obj), owner=obj))
        stream._foreign_stream_ref = obj
        stream.device_id = -1
        return stream

    _foreign_stream_ref: object = None


class ExternalStream(BaseStream):
    """Stream of another library, created from its handle.

    .. deprecated:: 14.0
        Use `Stream.from_external`, which keeps the stream alive.

    Parameters
    ----------
    ptr : int
        The driver's handle of the stream; the stream must exist as long as this object.
    device_id : int, optional
        Number of the stream's device; -1 if it is unknown.

    Examples
    --------
    >>> import warnings
    >>> from PyGPU.cupy import cuda
    >>> stream = cuda.Stream()
    >>> with warnings.catch_warnings(action="ignore"):
    ...     external = cuda.ExternalStream(stream.ptr)
    >>> external == stream
    True
    """

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        warnings.warn(
            "ExternalStream is deprecated. Use Stream.from_external() instead to interoperate with external streams "
            "that implement the CUDA stream protocol.",
            DeprecationWarning,
            stacklevel=2,
        )
        self._adopt(_core.Stream.from_handle(ptr, None if device_id < 0 else device_id))
        self.device_id = device_id


def _external_handle(obj: Any) -> int:
    try:
        pair = obj.__cuda_stream__()
    except AttributeError as error:
        name = type(obj).__name__
        raise TypeError(f"object of type {name} does not implement the protocol of streams, __cuda_stream__") from error
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError(f"__cuda_stream__() must return a 2-tuple of version and handle, not {pair!r}")
    version, handle = pair
    if not isinstance(version, int) or not isinstance(handle, int):
        raise TypeError(f"__cuda_stream__() must return (int, int), not {pair!r}")
    if version != 0:
        raise TypeError(f"__cuda_stream__() returned the unsupported version {version}; only version 0 is known")
    return handle


_defaults: dict[tuple[_core.Device, int], Stream] = {}
"""The objects of the default streams, which are kept because programs compare them by identity."""


def _facade(stream: _core.Stream) -> Stream:
    """Return the object of CuPy's class `Stream` for a stream of PyGPU; create the object at the first call."""
    key = stream.device, stream.handle
    known = _defaults.get(key) or _known.get(key)
    if known is None:
        is_default = stream.handle <= streamPerThread
        new = Stream.__new__(Stream)
        new._adopt(stream)
        new.device_id = -1 if is_default else stream.device.index
        with (
            _lock
        ):  # `setdefault` of a weak dictionary is not atomic: without the lock, threads could get different objects
            known = (_defaults if is_default else _known).setdefault(key, new)
    return known


def get_current_stream(device_id: int = -1) -> Stream:
    """Return the calling thread's current stream of a device.

    Parameters
    ----------
    device_id : int, optional
        Number of the device; -1, the default, for the current device.

    Returns
    -------
    Stream

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> cuda.get_current_stream() is cuda.Stream.null
    True
    """
    stream = _core.current_stream(None if device_id < 0 else device_id)
    used = _thread.used.get(stream.device)
    return used if isinstance(used, Stream) and used == stream else _facade(stream)
