"""The attribute `GPUArray.data`: a pointer to the memory of an array."""

from __future__ import annotations

from PyGPU import _core
from PyGPU._cupy.cuda.allocations import BaseMemory
from PyGPU._cupy.cuda.memory_pointer import MemoryPointer

__all__ = ["ArrayMemory", "pointer_of"]


class ArrayMemory(BaseMemory):
    """Memory block that contains an array's elements; this object keeps the block alive."""

    def __init__(self, array: _core.GPUArray) -> None:
        self.device_id = array.device.index
        self._block = array.gpudata
        if self._block is not None:
            self.ptr, self.size = _block_of(array)

    def __repr__(self) -> str:
        return f"<memory of {self.size} bytes at {self.ptr:#x} of {self.device}>"


def _block_of(array: _core.GPUArray) -> tuple[int, int]:
    """Return address and size of an array's memory block, or of the array's elements if the driver reports no block."""
    try:
        return _core.address_range(array.ptr)
    except (_core.LogicError, _core.NotSupportedError):
        steps = [(length - 1) * stride for length, stride in zip(array.shape, array.strides, strict=True)]
        low, high = sum(min(step, 0) for step in steps), sum(max(step, 0) for step in steps)
        return array.ptr + low, high - low + array.itemsize


def pointer_of(array: _core.GPUArray) -> MemoryPointer:
    """Return a pointer to the first element of an array."""
    memory = array._allocator_memory
    if memory is None:
        memory = array.gpudata
    block = memory.mem if isinstance(memory, MemoryPointer) else ArrayMemory(array)
    return MemoryPointer(block, array.ptr - block.ptr if block.ptr else 0)
