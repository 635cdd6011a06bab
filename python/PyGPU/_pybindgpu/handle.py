"""What `cudaStream_t` and `cudaEvent_t` have in common: an object of PyGPU's own, or the status that says why not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PyGPU import _core
from PyGPU._pybindgpu.status import INVALID_RESOURCE_HANDLE, Refusal, cudaError_t, value_of

Own = TypeVar("Own", _core.Stream, _core.Event)


class Handle(Generic[Own]):
    """A driver's object that could be made, or not."""

    __slots__ = ("__weakref__", "_own", "_status")

    _own: Own | None

    def __init__(self, make: Callable[[], Own]) -> None:
        self._own, self._status = value_of(None, make)

    def _living(self) -> Own:
        """Return PyGPU's own object; if there is none, the call that asks is refused with 400."""
        if self._own is None:
            raise Refusal(INVALID_RESOURCE_HANDLE)
        return self._own

    def _end(self) -> None:
        """Let go of the object: from here on there is none."""
        self._living()
        self._own = None

    @property
    def handle(self) -> int:
        """The driver's handle as an integer; 0 if making the object failed, or once it was destroyed."""
        return 0 if self._own is None else self._own.handle

    def get(self) -> int:
        """Return the driver's handle as an integer."""
        return self.handle

    def last_status(self) -> cudaError_t:
        """Return the status of making the object."""
        return self._status

    def __int__(self) -> int:
        return self.handle

    def __repr__(self) -> str:
        return f"<{type(self).__name__} handle={self.handle:#x}>"
