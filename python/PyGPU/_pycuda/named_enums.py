"""Base classes of enumerations of a driver's constants, with the same `str` and `repr` as in PyCUDA."""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Any, ClassVar

__all__ = ["NamedFlag", "NamedNumber"]


class _Enumeration:
    """Base class of `NamedNumber` and `NamedFlag` with PyCUDA's attributes `names` and `values`."""

    names: ClassVar[dict[str, Any]]
    """Members by their names."""
    values: ClassVar[dict[int, Any]]
    """Members by their numbers."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        members: dict[str, Any] = dict(getattr(cls, "__members__", {}))
        if members:
            cls.names = members
            cls.values = {int(member): member for member in members.values()}


def _repr(member: Any) -> str:
    return f"PyGPU.driver.{type(member).__name__}.{member}"


class NamedNumber(_Enumeration, IntEnum):
    """Enumeration member whose ``str`` is its name.

    Examples
    --------
    >>> from PyGPU.driver import device_attribute
    >>> str(device_attribute.WARP_SIZE), int(device_attribute.WARP_SIZE)
    ('WARP_SIZE', 10)
    >>> device_attribute.WARP_SIZE
    PyGPU.driver.device_attribute.WARP_SIZE
    """

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return _repr(self)

    def __format__(self, format_spec: str) -> str:
        return format(int(self), format_spec) if format_spec else str(self)


class NamedFlag(_Enumeration, IntFlag):
    """Flag that can be combined by ``|``; the ``str`` of a combination contains the names of its flags.

    Examples
    --------
    >>> from PyGPU.driver import host_alloc_flags
    >>> str(host_alloc_flags.PORTABLE), int(host_alloc_flags.PORTABLE | host_alloc_flags.DEVICEMAP)
    ('PORTABLE', 3)
    """

    def __str__(self) -> str:
        return self.name if self.name is not None else str(int(self))

    def __repr__(self) -> str:
        return _repr(self)

    def __format__(self, format_spec: str) -> str:
        return format(int(self), format_spec) if format_spec else str(self)
