"""Memory block with exactly one owner.

Pointer wrappers, arrays and NumPy views hold the block that contains their address, so memory lives as long as any
object that can reach it. A block that allocates owns only the memory that it received.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy

from PyGPU import _core
from PyGPU._pybindgpu.status import status_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Block:
    """`nbytes` bytes at `address` that belong to `owner`; without an owner the caller keeps them alive."""

    __slots__ = ("__weakref__", "address", "nbytes", "on_device", "owner", "readonly")

    def __init__(self, address: int, nbytes: int, owner: object = None, on_device: bool = False) -> None:
        self.address = address
        self.nbytes = nbytes
        self.owner = owner
        self.on_device = on_device
        self.readonly = False

    @property
    def __array_interface__(self) -> dict[str, object]:
        # NumPy views keep the block alive through this, unlike a view over a plain address.
        if self.on_device:
            raise BufferError("device memory cannot be read from the host")
        return {"version": 3, "shape": (self.nbytes,), "typestr": "|u1", "data": (self.address, self.readonly)}

    def as_array(
        self, dtype: numpy.dtype[Any], shape: Sequence[int], order: Literal["C", "F"] = "C"
    ) -> NDArray[numpy.generic]:
        """Return the start of the block as a host array of that shape, which keeps the block alive."""
        nbytes = checked_nbytes(shape, dtype.itemsize)
        if nbytes > self.nbytes:
            raise ValueError(f"shape {tuple(shape)} of {dtype} needs {nbytes} bytes, but the memory has {self.nbytes}")
        if nbytes == 0:
            return numpy.empty(shape, dtype, order)
        array: NDArray[numpy.generic] = numpy.asarray(self)[:nbytes].view(dtype).reshape(shape, order=order)
        return array


class HostBlock(Block):
    """Ordinary host memory, owned by a NumPy array."""

    __slots__ = ()

    def __init__(self, array: NDArray[numpy.generic]) -> None:
        super().__init__(array.ctypes.data if array.nbytes else 0, array.nbytes, array)
        self.readonly = not array.flags.writeable


class DeviceBlock(Block):
    """Device memory of the current device; zero bytes have no address."""

    __slots__ = ()

    def __init__(self, nbytes: int) -> None:
        super().__init__(0, nbytes, on_device=True)
        if nbytes:
            self.address = _core.raw_allocate(nbytes)

    def __del__(self) -> None:
        # At exit the process frees the memory. An error is stored for cudaGetLastError: a destructor must not raise.
        if self.address and not sys.is_finalizing():
            status_of(_core.raw_free, self.address)


class PinnedBlock(Block):
    """Page-locked host memory; zero bytes have no address."""

    __slots__ = ()

    def __init__(self, nbytes: int) -> None:
        super().__init__(0, nbytes)
        if nbytes:
            self.address = _core.host_allocate(nbytes)

    def __del__(self) -> None:
        if self.address and not sys.is_finalizing():
            status_of(_core.host_free, self.address)


def checked_nbytes(shape: Sequence[int], itemsize: int) -> int:
    """Return the bytes of an array of that shape.

    Raises
    ------
    ValueError
        If an extent is negative or the bytes do not fit into a signed 64-bit number.
    """
    if any(extent < 0 for extent in shape):
        raise ValueError(f"negative dimensions are not allowed: shape {tuple(shape)}")
    # Counted without zeros, as in NumPy: strides of an empty array must be representable too.
    if math.prod(extent for extent in shape if extent) * itemsize > sys.maxsize:
        raise ValueError(f"array is too big: shape {tuple(shape)} with {itemsize} bytes an element overflows 64 bits")
    return math.prod(shape) * itemsize
