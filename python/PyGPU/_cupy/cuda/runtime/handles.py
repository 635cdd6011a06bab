"""The class `Handles`, which maps integer handles to objects such as streams and graphs."""

from __future__ import annotations

from typing import Generic, TypeVar

from PyGPU._cupy.cuda.errors import error_of
from PyGPU._pybindgpu.status import INVALID_RESOURCE_HANDLE

__all__ = ["Handles"]

_T = TypeVar("_T")


class Handles(Generic[_T]):
    """Map from integer handles to objects; an object lives until the program destroys it by its handle.

    Examples
    --------
    >>> from PyGPU._cupy.cuda.runtime.handles import Handles
    >>> handles = Handles()
    >>> handles.keep(7, 'seven')
    7
    >>> handles.take(7)
    'seven'
    """

    def __init__(self) -> None:
        self._objects: dict[int, _T] = {}

    def keep(self, handle: int, value: _T) -> int:
        """Store an object under a handle, and return the handle."""
        self._objects[handle] = value
        return handle

    def find(self, handle: int) -> _T | None:
        """Return the object that is stored under a handle; None if no object has this handle."""
        return self._objects.get(handle)

    def get(self, handle: int) -> _T:
        """Return the object that is stored under a handle; raise an error with status 400 for an unknown handle."""
        value = self._objects.get(handle)
        if value is None:
            raise error_of(INVALID_RESOURCE_HANDLE)
        return value

    def take(self, handle: int) -> _T:
        """Remove and return the object of a handle; raise an error with status 400 for an unknown handle."""
        value = self.get(handle)
        del self._objects[handle]
        return value
