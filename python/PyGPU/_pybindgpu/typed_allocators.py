"""The classes `HostAllocator_float32`, `DeviceAllocator_float32`, `PagelockedAllocator_float32` and so on.

An allocator owns one block. A pointer keeps the block alive, even after the allocator has allocated another block.
"""

from __future__ import annotations

import operator
from typing import Any, ClassVar, SupportsIndex

import numpy

from PyGPU._pybindgpu.owned_block import Block, DeviceBlock, HostBlock, PinnedBlock
from PyGPU._pybindgpu.pointer import PointerWrapper, pointer_to
from PyGPU._pybindgpu.status import MEMORY_ALLOCATION, StatusError, cudaError_t, status_of


class TypedAllocator:
    """Base class of the three allocator classes; an allocator owns only the block that it allocated last."""

    __slots__ = ("__weakref__", "_block")
    _dtype: ClassVar[numpy.dtype[Any]]

    _block: Block | None

    def __init__(self) -> None:
        self._block = None

    def ptr(self) -> PointerWrapper:
        """Return a pointer object that keeps the block alive; a null pointer before the first allocation."""
        return pointer_to(self._block, self._dtype)

    def _nbytes(self, n_elements: SupportsIndex) -> int:
        count = operator.index(n_elements)
        if count < 0:
            raise ValueError(f"the number of elements must not be negative: {count}")
        return count * self._dtype.itemsize

    def __repr__(self) -> str:
        return f"<{type(self).__name__} nbytes={0 if self._block is None else self._block.nbytes}>"


class TypedHostAllocator(TypedAllocator):
    """Allocator of ordinary host memory. Its subclasses are `HostAllocator_float32` and so on for ten dtypes.

    Examples
    --------
    >>> import PyGPU
    >>> allocator = PyGPU.HostAllocator_float32()
    >>> allocator.allocate(100)
    >>> allocator.ptr().is_safe()
    True
    """

    __slots__ = ()

    def allocate(self, n_elements: SupportsIndex) -> None:
        """Allocate a block of `n_elements` uninitialised elements, which replaces the previous block.

        Parameters
        ----------
        n_elements : int
            Number of elements, not of bytes.

        Raises
        ------
        TypeError
            If `n_elements` is not an integer.
        ValueError
            If `n_elements` is negative, or if the number of bytes exceeds 64 bits.
        MemoryError
            If host memory is insufficient.
        """
        self._nbytes(n_elements)
        self._block = HostBlock(numpy.empty(operator.index(n_elements), self._dtype))


class TypedDeviceAllocator(TypedAllocator):
    """Allocator of memory on the current device. Its subclasses are `DeviceAllocator_float32` and so on for ten dtypes.

    Examples
    --------
    >>> import PyGPU
    >>> allocator = PyGPU.DeviceAllocator_float32()
    >>> allocator.allocate(100)
    <cudaError: code=0>
    >>> allocator.ptr().is_safe(), int(allocator.ptr()) != 0
    (False, True)
    """

    __slots__ = ()
    _kind: ClassVar[type[DeviceBlock | PinnedBlock]] = DeviceBlock

    def allocate(self, n_elements: SupportsIndex) -> cudaError_t:
        """Allocate a block of `n_elements` uninitialised elements, which replaces the previous block.

        Parameters
        ----------
        n_elements : int
            Number of elements, not of bytes.

        Returns
        -------
        cudaError_t
            2 (``cudaErrorMemoryAllocation``) if memory is insufficient; the previous block is then unchanged.

        Raises
        ------
        TypeError
            If `n_elements` is not an integer.
        ValueError
            If `n_elements` is negative.
        """
        return status_of(self.take, self._nbytes(n_elements))

    def take(self, nbytes: int) -> None:
        """Allocate a block as `allocate` does, but raise errors instead of returning a status."""
        if nbytes >= 1 << 63:
            raise StatusError(MEMORY_ALLOCATION)
        self._block = self._kind(nbytes)


class TypedPagelockedAllocator(TypedDeviceAllocator):
    """Allocator of page-locked host memory. Its subclasses are `PagelockedAllocator_float32` and so on for ten dtypes.

    Examples
    --------
    >>> import PyGPU
    >>> allocator = PyGPU.PagelockedAllocator_float64()
    >>> allocator.allocate(10)
    <cudaError: code=0>
    >>> array = PyGPU.DeviceArray_float64(allocator.ptr(), [5, 2])
    """

    __slots__ = ()
    _kind = PinnedBlock
