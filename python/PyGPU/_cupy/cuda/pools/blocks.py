"""The classes of a pool's memory blocks, which are parts of allocations, and of a stream's free blocks."""

from __future__ import annotations

import bisect
from collections.abc import Callable

from PyGPU._cupy.cuda.allocations import BaseMemory

__all__ = ["Arena", "Chunk"]


class Chunk:
    """Block of a memory pool: part of an allocation, linked to the parts before and after it.

    Parameters
    ----------
    mem : BaseMemory
        The allocation.
    offset, size : int
        Offset of the part from the start of the allocation, and size of the part, in bytes.
    arena : Arena or None
        The collection of free blocks to which the part is added when it is freed.
    """

    __slots__ = ("arena", "mem", "next", "offset", "prev", "size")

    def __init__(self, mem: BaseMemory, offset: int, size: int, arena: Arena | None) -> None:
        self.mem, self.offset, self.size, self.arena = mem, offset, size, arena
        self.prev: Chunk | None = None
        self.next: Chunk | None = None

    def ptr(self) -> int:
        """Return the address of the block's first byte."""
        return self.mem.ptr + self.offset

    def split(self, size: int) -> Chunk | None:
        """Shorten the block to `size` bytes, and return the rest as a new block; return None if no rest remains."""
        if size == self.size:
            return None
        rest = Chunk(self.mem, self.offset + size, self.size - size, self.arena)
        self.size = size
        rest.prev, rest.next = self, self.next
        if rest.next is not None:
            rest.next.prev = rest
        self.next = rest
        return rest

    def merge_next(self) -> None:
        """Extend the block by the next block of the same allocation; the next block must be free."""
        after = self.next
        if after is None:
            return
        after.arena = None
        self.size += after.size
        self.next = after.next
        if self.next is not None:
            self.next.prev = self


class Arena:
    """Free blocks of one stream, sorted by size. Callers must hold the lock of the pool."""

    def __init__(self) -> None:
        self._blocks: list[Chunk] = []
        self._is_free: set[Chunk] = set()

    def __len__(self) -> int:
        return len(self._blocks)

    @property
    def nbytes(self) -> int:
        """Total number of bytes of the free blocks."""
        return sum(chunk.size for chunk in self._blocks)

    def add(self, chunk: Chunk) -> None:
        """Merge a block with adjacent free blocks of its allocation, and add the merged block."""
        while chunk.next is not None and self._take(chunk.next):
            chunk.merge_next()
        while chunk.prev is not None and self._take(chunk.prev):
            chunk = chunk.prev
            chunk.merge_next()
        bisect.insort(self._blocks, chunk, key=_size)
        self._is_free.add(chunk)

    def _take(self, chunk: Chunk) -> bool:
        if chunk not in self._is_free:
            return False
        self._is_free.remove(chunk)
        self._blocks.remove(chunk)
        return True

    def take(self, size: int) -> Chunk | None:
        """Remove the smallest sufficient free block and return its first `size` bytes; None if no block suffices."""
        position = bisect.bisect_left(self._blocks, size, key=_size)
        if position == len(self._blocks):
            return None
        chunk = self._blocks.pop(position)
        self._is_free.remove(chunk)
        rest = chunk.split(size)
        if rest is not None:
            self.add(rest)
        return chunk

    def take_whole(self) -> list[Chunk]:
        """Remove and return the free blocks that are whole allocations, which the pool can return to the driver."""
        whole = [chunk for chunk in self._blocks if chunk.prev is None and chunk.next is None]
        self._blocks = [chunk for chunk in self._blocks if chunk.prev is not None or chunk.next is not None]
        self._is_free.difference_update(whole)
        return whole


_size: Callable[[Chunk], int] = lambda chunk: chunk.size  # noqa: E731  # bisect calls it for each step
