"""Picklable handles of shared arrays and of their memory blocks."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PyGPU._names.public import public

if TYPE_CHECKING:
    import numpy

__all__ = ["BlockName", "SharedHandle", "checked_bytes", "driver_bytes"]

_DRIVER_BYTES = 64
"""Size of a driver's handle of memory or of an event."""


def checked_bytes(driver_handle: bytes) -> bytes:
    """Return a driver's handle followed by a checksum, because NVIDIA's driver crashes on some changed handles."""
    return driver_handle + zlib.crc32(driver_handle).to_bytes(4, "big")


def driver_bytes(checked: bytes) -> bytes:
    """Return the driver's handle in a result of `checked_bytes`.

    Raises
    ------
    ValueError
        If the size or the checksum is wrong.
    """
    handle = checked[:_DRIVER_BYTES]
    if len(handle) != _DRIVER_BYTES or checked_bytes(handle) != checked:
        raise ValueError(
            f"a driver's handle of {_DRIVER_BYTES} bytes and its checksum of 4 bytes are expected, not {checked!r:.80}"
        )
    return handle


@dataclass(frozen=True)
class BlockName:
    """Handle of a memory block, from which another process opens the block."""

    token: str
    """Identifier of the block, unique among the blocks of all processes."""
    process: int
    machine: str
    """Identifier of the machine and of its current boot."""
    device: str
    """``cuda``, ``hip``, or ``cpu:`` and the device number, because CPU devices have no UUID of their own."""
    uuid: str
    nbytes: int
    memory: bytes | int
    """The driver's handle of the memory with a checksum, or on the CPU the file descriptor in the sharing process."""


@public("Making arrays")
@dataclass(frozen=True, repr=False)
class SharedHandle:
    """Handle of an array, by which other processes open the array.

    :meth:`GPUArray.share` creates the handle and `open_shared` opens it. The handle can be pickled, and does not keep
    the memory alive.

    Parameters
    ----------
    block : BlockName or None
        Handle of the array's memory block; None for an empty array.
    offset : int
        Offset of the first element in the block, in bytes.
    shape, strides : tuple of int
        Shape and strides of the array.
    dtype : numpy.dtype
        Type of the elements.
    readonly : bool
        Whether the array is read-only.
    event : bytes or None
        The driver's handle of an event that follows the recorded uses of the array, with a checksum; None if the uses
        are complete.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.empty((2, 3), shared=True)
    >>> a[1].share().shape
    (3,)
    """

    block: BlockName | None
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: numpy.dtype[Any]
    readonly: bool
    event: bytes | None

    def __repr__(self) -> str:
        where = "of no elements" if self.block is None else f"of process {self.block.process} on {self.block.uuid}"
        return f"<SharedHandle {where}: shape {self.shape}, dtype {self.dtype}>"
