"""Convert address arguments of `cuda*` calls, and check the length of the memory if the length is known."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from PyGPU import _core
from PyGPU._pybindgpu.pointer import PointerWrapper

if TYPE_CHECKING:
    from numpy.typing import NDArray

Address: TypeAlias = "int | numpy.integer[Any] | ctypes.c_void_p | PointerWrapper | NDArray[numpy.generic]"


def plain_address(pointer: object) -> int:
    """Convert an integer or a ``c_void_p`` to an address.

    Raises
    ------
    TypeError
        For an object that is neither an integer nor a ``c_void_p``.
    ValueError
        If the address is negative or has more than 64 bits.
    """
    if isinstance(pointer, ctypes.c_void_p):
        return pointer.value or 0
    # A bool is an instance of int, but is rejected as an address.
    if not isinstance(pointer, int | numpy.integer) or isinstance(pointer, bool):
        raise TypeError(f"expected an address (int or ctypes.c_void_p), not {type(pointer).__name__}")
    if not 0 <= pointer < 1 << 64:
        raise ValueError(f"{pointer} is not an address: it must be in 0 .. 2**64 - 1")
    return int(pointer)


def address_of(pointer: object, nbytes: int, *, written: bool = False) -> int:
    """Convert an argument to an address, and check that the memory has at least `nbytes` bytes.

    Raises
    ------
    TypeError
        If the object is no address argument, or contains Python objects.
    ValueError
        If the memory is smaller than `nbytes` or not contiguous, or if it is read-only and `written` is true.
    """
    if isinstance(pointer, PointerWrapper):
        block = pointer._block
        extent = 0 if block is None else block.nbytes
        if nbytes > extent:
            raise ValueError(f"{nbytes} bytes do not fit: {pointer!r} points to {extent}")
        if written and block is not None and block.readonly:
            raise ValueError(f"{pointer!r} points to read-only memory")
        return int(pointer)
    if isinstance(pointer, numpy.ndarray):
        if pointer.dtype.hasobject:
            raise TypeError(f"memory of Python objects ({pointer.dtype}) means nothing to a device")
        if not (pointer.flags.c_contiguous or pointer.flags.f_contiguous):
            raise ValueError(f"ndarray of shape {pointer.shape} and strides {pointer.strides} is not contiguous")
        if nbytes > pointer.nbytes:
            raise ValueError(f"{nbytes} bytes do not fit: the ndarray has {pointer.nbytes}")
        if written and not pointer.flags.writeable:
            raise ValueError("the ndarray is read-only")
        return pointer.ctypes.data
    if isinstance(pointer, _core.GPUArray):
        raise TypeError(f"expected an address, not {type(pointer).__name__}: pass its .ptr")
    return plain_address(pointer)


def byte_count(count: object) -> int:
    """Check a number of bytes and return it as an int.

    Raises
    ------
    TypeError
        If the argument is not an integer.
    ValueError
        If the number is negative or does not fit into a signed 64-bit integer.
    """
    if not isinstance(count, int | numpy.integer):
        raise TypeError(f"expected a number of bytes (int), not {type(count).__name__}")
    if not 0 <= count < 1 << 63:
        raise ValueError(f"{count} is not a number of bytes: it must be in 0 .. 2**63 - 1")
    return int(count)
