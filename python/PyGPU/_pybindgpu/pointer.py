"""Pointer objects, each of which contains an address and the owner of the memory at this address."""

from __future__ import annotations

import ctypes
import operator
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

import numpy

from PyGPU import _core
from PyGPU._pybindgpu.owned_block import Block, HostBlock, checked_nbytes

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PointerWrapper:
    """Typed pointer. Its subclasses are `ptr_wrapper_float32` and so on for ten dtypes.

    They are also available as `pointer_wrapper_float32` and so on. A new pointer is null; `create` allocates host
    memory for it. Pointers that arrays and allocators return point into
    the memory of the array or allocator, and keep it alive. ctypes accepts a pointer object as a ``void *``.

    Examples
    --------
    >>> import PyGPU
    >>> pointer = PyGPU.ptr_wrapper_float32()
    >>> pointer
    <ptr_wrapper<float32>, is_safe=0, addr=0>
    >>> pointer.create(4)
    >>> pointer.is_safe()
    True
    >>> pointer.destroy()
    >>> int(pointer)
    0
    """

    __slots__ = ("__weakref__", "_block", "_created")
    _dtype: ClassVar[numpy.dtype[Any]]

    _block: Block | None
    _created: bool

    def __init__(self) -> None:
        self._block = None
        self._created = False

    @classmethod
    def _from_block(cls, block: Block | None) -> PointerWrapper:
        wrapper = cls()
        wrapper._block = block
        return wrapper

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        # ctypes reads this attribute when the object is passed to a foreign function.
        # The value is a `c_void_p`, because without `argtypes` ctypes would truncate an int.
        return ctypes.c_void_p(int(self))

    def create(self, N: SupportsIndex) -> None:
        """Allocate uninitialised host memory for `N` elements, and make the pointer refer to this memory.

        Parameters
        ----------
        N : int
            Number of elements. 0 makes the pointer null.

        Raises
        ------
        TypeError
            If `N` is not an integer.
        ValueError
            If `N` is negative, or if the number of bytes exceeds 64 bits.
        MemoryError
            If host memory is insufficient.
        """
        count = operator.index(N)
        checked_nbytes((count,), self._dtype.itemsize)
        self._block = HostBlock(numpy.empty(count, self._dtype))
        self._created = True

    def destroy(self) -> None:
        """Release the memory that `create` allocated, and make the pointer null.

        A pointer to other memory is unchanged, because only the owner of that memory may free it. Repeated calls do
        nothing. The memory is freed when no other object, such as an array over this pointer, uses the memory.
        """
        if self._created:
            self._block = None
            self._created = False

    def is_safe(self) -> bool:
        """Return whether the host may dereference the pointer: it is not null and not a device address."""
        return self._block is not None and self._block.address != 0 and not self._block.on_device

    def get(self) -> int:
        """Return the address if the host may dereference the pointer.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If the pointer is null or points to device memory. ``int(pointer)`` returns the address in every case.

        Examples
        --------
        >>> import PyGPU
        >>> pointer = PyGPU.pointer_wrapper_int32()
        >>> pointer.create(3)
        >>> pointer.get() == int(pointer)
        True
        """
        if not self.is_safe():
            reason = "is null" if int(self) == 0 else "points to device memory"
            raise ValueError(f"{self!r} {reason}, which the host cannot follow: int() gives the address as it is")
        return int(self)

    def __int__(self) -> int:
        return 0 if self._block is None else self._block.address

    def print_address(self) -> None:
        """Print the address to the standard output.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.ptr_wrapper_int64().print_address()
        Address of ptr is 0x0
        """
        print(f"Address of ptr is {int(self):#x}")

    def __repr__(self) -> str:
        return f"<ptr_wrapper<{self._dtype.name}>, is_safe={int(self.is_safe())}, addr={int(self)}>"


_classes: dict[numpy.dtype[Any], type[PointerWrapper]] = {}


def pointer_class(dtype: numpy.dtype[Any]) -> type[PointerWrapper]:
    """Return the pointer class of a dtype; the first call creates the class.

    Arrays of any dtype can return pointers. Only the pointer classes of PybindGPU's ten dtypes are public.
    """
    wrapper_class = _classes.get(dtype)
    if wrapper_class is None:
        names = {"__slots__": (), "__module__": "PyGPU.backend", "__doc__": PointerWrapper.__doc__, "_dtype": dtype}
        wrapper_class = _classes.setdefault(dtype, type(f"ptr_wrapper_{dtype.name}", (PointerWrapper,), names))
    return wrapper_class


def pointer_to(block: Block | None, dtype: numpy.dtype[Any]) -> PointerWrapper:
    """Return a pointer object to the start of a block; a null pointer if the block is None."""
    return pointer_class(dtype)._from_block(block)


def host_pointer(array: NDArray[numpy.generic] | None, dtype: numpy.dtype[Any]) -> PointerWrapper:
    """Return a pointer object to the start of a host array, kept alive by the pointer; a null pointer for None."""
    return pointer_to(None if array is None else HostBlock(array), dtype)


def device_pointer(array: _core.GPUArray) -> PointerWrapper:
    """Return a pointer object to the first element of a `GPUArray`; the pointer keeps the array's memory alive."""
    return pointer_to(Block(array.ptr, array.nbytes, array, on_device=True), array.dtype)
