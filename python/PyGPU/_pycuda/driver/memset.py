"""PyCUDA's memset functions, which fill memory at an address; for arrays, use `PyGPU.GPUArray.fill`.

Addresses and row pitches must be multiples of the element size, as the drivers require.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, SupportsIndex

from PyGPU import _core
from PyGPU._memory.device_memory import on_stream

if TYPE_CHECKING:
    from PyGPU.typing import AddressLike, StreamLike

__all__ = [
    "memset_d2d8",
    "memset_d2d8_async",
    "memset_d2d16",
    "memset_d2d16_async",
    "memset_d2d32",
    "memset_d2d32_async",
    "memset_d8",
    "memset_d8_async",
    "memset_d16",
    "memset_d16_async",
    "memset_d32",
    "memset_d32_async",
]


def _set(dest: AddressLike, data: SupportsIndex, size: SupportsIndex, itemsize: int, stream: StreamLike) -> None:
    value = _checked(data, itemsize)
    target = _core.array_at(dest, operator.index(size), f"u{itemsize}", stream=stream)
    target.fill(value, on_stream(target, stream))


def _set_rows(
    dest: AddressLike,
    pitch: SupportsIndex,
    data: SupportsIndex,
    width: SupportsIndex,
    height: SupportsIndex,
    itemsize: int,
    stream: StreamLike,
) -> None:
    value = _checked(data, itemsize)
    step, columns, rows = operator.index(pitch), operator.index(width), operator.index(height)
    if rows > 1 and step < columns * itemsize:
        raise ValueError(f"rows of {columns} elements of {itemsize} bytes do not fit into a pitch of {step} bytes")
    target = _core.array_at(dest, (rows, columns), f"u{itemsize}", (step, itemsize), stream=stream)
    target.fill(value, on_stream(target, stream))


def _checked(data: SupportsIndex, itemsize: int) -> int:
    value = operator.index(data)
    if not 0 <= value < 1 << 8 * itemsize:
        raise ValueError(f"{value} is not an unsigned number of {8 * itemsize} bits")
    return value


def memset_d8(dest: AddressLike, data: SupportsIndex, size: SupportsIndex) -> None:
    """Set 8-bit elements to a number, in the order of the legacy default stream.

    Related functions set elements of 16 and 32 bits. Functions that end in ``_async`` work in the order of a given
    stream.

    Parameters
    ----------
    dest : int or object with an address
        Address of the first element.
    data : int
        Value of each element: a non-negative number with at most as many bits as an element.
    size : int
        Number of elements.
    stream : Stream or None
        Parameter of the functions that end in ``_async``; None stands for the legacy default stream.

    Raises
    ------
    ValueError
        If `data` does not fit into an element, or if the memory at `dest` is too small. Only memory that PyGPU
        allocated is checked.

    See Also
    --------
    PyGPU.GPUArray.fill : any value, in an array of any shape and strides.

    Examples
    --------
    >>> from PyGPU.driver import from_device, mem_alloc, memset_d16_async
    >>> memory = mem_alloc(4)
    >>> memset_d16_async(memory, 7, 2)
    >>> from_device(memory, 2, "u2")
    array([7, 7], dtype=uint16)
    """
    _set(dest, data, size, 1, None)


def memset_d2d8(
    dest: AddressLike, pitch: SupportsIndex, data: SupportsIndex, width: SupportsIndex, height: SupportsIndex
) -> None:
    """Set 8-bit elements in rows to a number, in the order of the legacy default stream.

    Related functions set elements of 16 and 32 bits. Functions that end in ``_async`` work in the order of a given
    stream.

    Parameters
    ----------
    dest : int or object with an address
        Address of the first element.
    pitch : int
        Bytes between the starts of rows.
    data : int
        Value of each element: a non-negative number with at most as many bits as an element.
    width : int
        Number of elements in a row.
    height : int
        Number of rows.
    stream : Stream or None
        Parameter of the functions that end in ``_async``; None stands for the legacy default stream.

    Raises
    ------
    ValueError
        If `data` does not fit into an element, if rows overlap, or if the memory at `dest` is too small. Only memory
        that PyGPU allocated is checked.

    See Also
    --------
    PyGPU.GPUArray.fill : any value, in an array of any shape and strides.

    Examples
    --------
    >>> from PyGPU.driver import from_device, memset_d2d8, to_device
    >>> memory = to_device(bytes(4))
    >>> memset_d2d8(memory, 2, 7, 1, 2)
    >>> from_device(memory, (2, 2), "u1")
    array([[7, 0],
           [7, 0]], dtype=uint8)
    """
    _set_rows(dest, pitch, data, width, height, 1, None)


def memset_d8_async(dest: AddressLike, data: SupportsIndex, size: SupportsIndex, stream: StreamLike = None) -> None:
    """Set elements of 8 bits as `memset_d8` does, but in the order of a stream."""
    _set(dest, data, size, 1, stream)


def memset_d2d8_async(
    dest: AddressLike,
    pitch: SupportsIndex,
    data: SupportsIndex,
    width: SupportsIndex,
    height: SupportsIndex,
    stream: StreamLike = None,
) -> None:
    """Fill the rows of a region with an 8-bit value as `memset_d2d8` does, but in the order of a stream."""
    _set_rows(dest, pitch, data, width, height, 1, stream)


def memset_d16(dest: AddressLike, data: SupportsIndex, size: SupportsIndex) -> None:
    """Set elements of 16 bits as `memset_d8` sets elements of 8 bits."""
    _set(dest, data, size, 2, None)


def memset_d2d16(
    dest: AddressLike, pitch: SupportsIndex, data: SupportsIndex, width: SupportsIndex, height: SupportsIndex
) -> None:
    """Set elements of 16 bits in rows as `memset_d2d8` sets elements of 8 bits."""
    _set_rows(dest, pitch, data, width, height, 2, None)


def memset_d16_async(dest: AddressLike, data: SupportsIndex, size: SupportsIndex, stream: StreamLike = None) -> None:
    """Set elements of 16 bits as `memset_d8` does, but in the order of a stream."""
    _set(dest, data, size, 2, stream)


def memset_d2d16_async(
    dest: AddressLike,
    pitch: SupportsIndex,
    data: SupportsIndex,
    width: SupportsIndex,
    height: SupportsIndex,
    stream: StreamLike = None,
) -> None:
    """Set elements of 16 bits in rows as `memset_d2d8` does, but in the order of a stream."""
    _set_rows(dest, pitch, data, width, height, 2, stream)


def memset_d32(dest: AddressLike, data: SupportsIndex, size: SupportsIndex) -> None:
    """Set elements of 32 bits as `memset_d8` sets elements of 8 bits."""
    _set(dest, data, size, 4, None)


def memset_d2d32(
    dest: AddressLike, pitch: SupportsIndex, data: SupportsIndex, width: SupportsIndex, height: SupportsIndex
) -> None:
    """Set elements of 32 bits in rows as `memset_d2d8` sets elements of 8 bits."""
    _set_rows(dest, pitch, data, width, height, 4, None)


def memset_d32_async(dest: AddressLike, data: SupportsIndex, size: SupportsIndex, stream: StreamLike = None) -> None:
    """Set elements of 32 bits as `memset_d8` does, but in the order of a stream."""
    _set(dest, data, size, 4, stream)


def memset_d2d32_async(
    dest: AddressLike,
    pitch: SupportsIndex,
    data: SupportsIndex,
    width: SupportsIndex,
    height: SupportsIndex,
    stream: StreamLike = None,
) -> None:
    """Set elements of 32 bits in rows as `memset_d2d8` does, but in the order of a stream."""
    _set_rows(dest, pitch, data, width, height, 4, stream)
