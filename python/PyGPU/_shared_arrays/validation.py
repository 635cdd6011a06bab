"""Check the fields of handles, which may be wrong because another process sent the handle.

The types and values of the fields are checked here. `_core._array_in_block` checks offset, shape and strides against
the bytes that the driver or the file reports for the opened block.
"""

from __future__ import annotations

from typing import Any

import numpy

from PyGPU._shared_arrays.handle import BlockName, SharedHandle, driver_bytes

__all__ = ["check_handle"]

_LARGEST = 2**63 - 1
"""Largest offset, length and stride in bytes."""


def check_handle(handle: Any) -> None:
    """Check the fields of a handle without opening the memory.

    Raises
    ------
    TypeError
        If the object is no handle, or a field has another type than `GPUArray.share` stores.
    ValueError
        If a field is absent, or has a value that `GPUArray.share` does not store.
    """
    if type(handle) is not SharedHandle:
        raise TypeError(f"open_shared takes what GPUArray.share() gave, not {type(handle).__name__}")
    shape = _field(handle, "shape", tuple)
    strides = _field(handle, "strides", tuple)
    for name, numbers, least in (("shape", shape, 0), ("strides", strides, -_LARGEST)):
        for number in numbers:
            _require_range(f"an element of {name}", number, least)
    if len(shape) != len(strides):
        raise ValueError(f"open_shared: the handle has {len(shape)} lengths in shape and {len(strides)} strides")
    _require_range("offset", _field(handle, "offset", int), 0)
    _field(handle, "dtype", numpy.dtype)
    _field(handle, "readonly", bool)
    event = _field(handle, "event", bytes, type(None))
    if event is not None:
        _require_driver_handle("event", event)
    block = _field(handle, "block", BlockName, type(None))
    if block is not None:
        _check_block(block)
    elif 0 not in shape:
        raise ValueError(f"open_shared: the handle of an array of shape {shape} names no memory block")


def _check_block(block: BlockName) -> None:
    token = _field(block, "token", str)
    if not (token.isascii() and token.isalnum()):
        raise ValueError(f"open_shared: the block's token is letters and digits, not {token!r}")
    _require_range("the block's process", _field(block, "process", int), 1)
    _require_range("the block's nbytes", _field(block, "nbytes", int), 1)
    for name in ("machine", "uuid"):
        _field(block, name, str)
    _field(block, "device", str)
    memory = _field(block, "memory", bytes, int)
    if isinstance(memory, bytes):
        _require_driver_handle("memory", memory)
    else:
        _require_range("the block's file descriptor", memory, 0)


def _field(record: SharedHandle | BlockName, name: str, *types: type) -> Any:
    """Return a field of a handle if its class is exactly one of `types`.

    An instance of a derived class is rejected, because overridden operators could make wrong values pass the checks.
    """
    try:
        value = getattr(record, name)
    except AttributeError:
        raise ValueError(f"open_shared: the {type(record).__name__} has no field {name!r}") from None
    # Instances of classes derived from `numpy.dtype` are safe, because Python code cannot define such classes.
    if type(value) not in types and not (numpy.dtype in types and isinstance(value, numpy.dtype)):
        expected = " or ".join(expected.__name__ for expected in types)
        raise TypeError(f"open_shared: {name} of a {type(record).__name__} is {expected}, not {type(value).__name__}")
    return value


def _require_range(what: str, number: Any, least: int) -> None:
    if type(number) is not int:
        raise TypeError(f"open_shared: {what} is int, not {type(number).__name__}")
    if not least <= number <= _LARGEST:
        raise ValueError(f"open_shared: {what} is {number}, outside of {least} to {_LARGEST}")


def _require_driver_handle(name: str, value: bytes) -> None:
    try:
        driver_bytes(value)
    except ValueError as error:
        raise ValueError(f"open_shared: the handle was changed: {name}: {error}") from None
