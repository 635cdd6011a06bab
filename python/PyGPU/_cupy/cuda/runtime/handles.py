"""Tables of objects that programs refer to by numbers."""

from __future__ import annotations

from typing import Generic, TypeVar

from PyGPU._cupy.cuda.errors import error_of
from PyGPU._pybindgpu.status import INVALID_RESOURCE_HANDLE

__all__ = ["Handles"]

_T = TypeVar("_T")


class Handles(Generic[_T]):
    """Objects that live until the program destroys them by their numbers.

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
        """Store an object under a number, and return the number."""
        self._objects[handle] = value
        return handle

    def find(self, handle: int) -> _T | None:
        """Return the object of a number; None if there is none."""
        return self._objects.get(handle)

    def get(self, handle: int) -> _T:
        """Return the object of a number; raise the status 400 if there is none."""
        value = self._objects.get(handle)
        if value is None:
            raise error_of(INVALID_RESOURCE_HANDLE)
        return value

    def take(self, handle: int) -> _T:
        """Remove and return the object of a number; raise the status 400 if there is none."""
        value = self.get(handle)
        del self._objects[handle]
        return value
