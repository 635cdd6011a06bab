"""Memory blocks of PybindGPU's classes; each block has exactly one owner.

Pointer wrappers, arrays and NumPy views reference the block that contains their address. Memory therefore lives as
long as any object that can access it.
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
    """Memory of `nbytes` bytes at `address`, which the object `owner` keeps alive, or the caller if `owner` is None."""

    __slots__ = ("__weakref__", "address", "nbytes", "on_device", "owner", "readonly")

    def __init__(self, address: int, nbytes: int, owner: object = None, on_device: bool = False) -> None:
        self.address = address
        self.nbytes = nbytes
        self.owner = owner
        self.on_device = on_device
        self.readonly = False

    @property
    def __array_interface__(self) -> dict[str, object]:
        # A NumPy array that is created from this interface refers to this object, and thus keeps the block alive.
        if self.on_device:
            raise BufferError("device memory cannot be read from the host")
        return {"version": 3, "shape": (self.nbytes,), "typestr": "|u1", "data": (self.address, self.readonly)}

    def as_array(
        self, dtype: numpy.dtype[Any], shape: Sequence[int], order: Literal["C", "F"] = "C"
    ) -> NDArray[numpy.generic]:
        """Return a host array over the first elements of the block; the array keeps the block alive."""
        nbytes = checked_nbytes(shape, dtype.itemsize)
        if nbytes > self.nbytes:
            raise ValueError(f"shape {tuple(shape)} of {dtype} needs {nbytes} bytes, but the memory has {self.nbytes}")
        if nbytes == 0:
            return numpy.empty(shape, dtype, order)
        array: NDArray[numpy.generic] = numpy.asarray(self)[:nbytes].view(dtype).reshape(shape, order=order)
        return array


class HostBlock(Block):
    """Block of ordinary host memory, owned by a NumPy array."""

    __slots__ = ()

    def __init__(self, array: NDArray[numpy.generic]) -> None:
        super().__init__(array.ctypes.data if array.nbytes else 0, array.nbytes, array)
        self.readonly = not array.flags.writeable


class DeviceBlock(Block):
    """Block of memory on the current device; the address of a block of 0 bytes is 0."""

    __slots__ = ()

    def __init__(self, nbytes: int) -> None:
        super().__init__(0, nbytes, on_device=True)
        if nbytes:
            self.address = _core.raw_allocate(nbytes)

    def __del__(self) -> None:
        # At the end of the interpreter, the memory is not freed. A destructor cannot raise an error, so the driver's
        # error is stored for `cudaGetLastError`.
        if self.address and not sys.is_finalizing():
            status_of(_core.raw_free, self.address)


class PinnedBlock(Block):
    """Block of page-locked host memory; the address of a block of 0 bytes is 0."""

    __slots__ = ()

    def __init__(self, nbytes: int) -> None:
        super().__init__(0, nbytes)
        if nbytes:
            self.address = _core.host_allocate(nbytes)

    def __del__(self) -> None:
        if self.address and not sys.is_finalizing():
            status_of(_core.host_free, self.address)


def checked_nbytes(shape: Sequence[int], itemsize: int) -> int:
    """Return the number of bytes of an array with the given shape.

    Raises
    ------
    ValueError
        If a length is negative, or if the number of bytes does not fit into a signed 64-bit integer.
    """
    if any(extent < 0 for extent in shape):
        raise ValueError(f"negative dimensions are not allowed: shape {tuple(shape)}")
    # Axes of length 0 are ignored, as in NumPy, because the strides of empty arrays must also fit into 64 bits.
    if math.prod(extent for extent in shape if extent) * itemsize > sys.maxsize:
        raise ValueError(f"array is too big: shape {tuple(shape)} with {itemsize} bytes an element overflows 64 bits")
    return math.prod(shape) * itemsize
