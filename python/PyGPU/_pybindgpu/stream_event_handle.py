"""Common base class of `cudaStream_t` and `cudaEvent_t`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PyGPU import _core
from PyGPU._pybindgpu.status import INVALID_RESOURCE_HANDLE, StatusError, cudaError_t, value_of

Object = TypeVar("Object", _core.Stream, _core.Event)


class Handle(Generic[Object]):
    """Base class of objects that contain a PyGPU stream or event, or the error status if its creation failed."""

    __slots__ = ("__weakref__", "_object", "_status")

    _object: Object | None

    def __init__(self, create: Callable[[], Object]) -> None:
        self._object, self._status = value_of(None, create)

    def _checked_object(self) -> Object:
        """Return PyGPU's stream or event; raise an error with status 400 (invalid handle) if its creation failed."""
        if self._object is None:
            raise StatusError(INVALID_RESOURCE_HANDLE)
        return self._object

    def _drop(self) -> None:
        """Drop PyGPU's stream or event; the handle is 0 afterwards."""
        self._checked_object()
        self._object = None

    @property
    def handle(self) -> int:
        """The driver's handle as an integer; 0 if the stream or event was not created, and after its destruction."""
        return 0 if self._object is None else self._object.handle

    def get(self) -> int:
        """Return the driver's handle as an integer."""
        return self.handle

    def last_status(self) -> cudaError_t:
        """Return the status of the creation of the stream or event."""
        return self._status

    def __int__(self) -> int:
        return self.handle

    def __repr__(self) -> str:
        return f"<{type(self).__name__} handle={self.handle:#x}>"
