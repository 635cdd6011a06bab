"""Test random reads and writes of random memory through every entry point: each access matches NumPy or is rejected."""

from __future__ import annotations

import ctypes
import random
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU import _core, driver, tools
from support import assert_same_values, on_cpu

INVALID_VALUE = 1


class Block:
    """Hold a block of memory that PyGPU tracks, and its expected contents."""

    def __init__(self, keep: Any, address: int, nbytes: int, readonly: bool = False, known: bool = True) -> None:
        self.keep, self.address, self.readonly, self.known = keep, address, readonly, known
        self.bytes = np.zeros(nbytes, "u1")


class RandomAccesses:
    """Read and write random memory through random entry points, and compare the contents with NumPy's."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.streams = [PyGPU.Stream(non_blocking=True) for _ in range(2)] + [PyGPU.Stream(), PyGPU.default_stream()]
        self.pool = tools.DeviceMemoryPool()
        self.kept: list[Any] = []
        self.blocks = [self.block(make) for make in self.makers() for _ in range(2)]

    def makers(self) -> list[Callable[[int], Block]]:
        made = [self.array, self.view, self.raw, self.plain, self.pooled, self.plugged]
        return [*made, self.lent, self.unknown] if on_cpu() else made

    def block(self, make: Callable[[int], Block]) -> Block:
        made = make(self.random.randrange(1, 300))
        if made.known:
            driver.memset_d8(made.address, 0, made.bytes.size)
        return made

    def array(self, nbytes: int) -> Block:
        a = PyGPU.empty(nbytes, "u1")
        return Block(a, a.ptr, nbytes)

    def view(self, nbytes: int) -> Block:
        a = PyGPU.zeros(nbytes + 40, "u1")[20:]
        return Block(a, a.ptr, nbytes + 20)

    def raw(self, nbytes: int) -> Block:
        block = Block(None, _core.raw_allocate(nbytes), nbytes)
        weakref.finalize(block, _core.raw_free, block.address)
        return block

    def plain(self, nbytes: int) -> Block:
        memory = driver.mem_alloc(nbytes)
        return Block(memory, int(memory), nbytes)

    def pooled(self, nbytes: int) -> Block:
        memory = self.pool.allocate(nbytes)
        return Block(memory, int(memory), self.pool.alloc_size(self.pool.bin_number(nbytes)))

    def plugged(self, nbytes: int) -> Block:
        a = PyGPU.GPUArray((nbytes,), "u1", allocator=self.pool.allocate)
        return Block(a, a.ptr, self.pool.alloc_size(self.pool.bin_number(nbytes)))

    def lent(self, nbytes: int) -> Block:
        text = bytes(nbytes)
        a = PyGPU.asarray(np.frombuffer(text, "u1"))
        return Block((a, text), a.ptr, nbytes, readonly=True, known=False)

    def unknown(self, nbytes: int) -> Block:
        host = np.zeros(nbytes, "u1")
        return Block(host, host.ctypes.data, nbytes, known=False)

    def range(self, count: int | None = None) -> tuple[Block, int, int, bool]:
        """Return a block, an offset, a number of bytes, and whether these bytes lie inside the block.

        In memory that PyGPU does not track, the bytes always lie inside the block.
        """
        block = self.random.choice(self.blocks)
        size = block.bytes.size
        offset = self.random.randrange(size)
        if count is None:
            count = self.random.choice(
                [0, 1, self.random.randrange(size + 1), size - offset, size - offset + 1, 2 * size, 1 << 40]
            )
        if not block.known and offset + count > size:
            offset, count = 0, min(count, size)
        return block, offset, count, offset + count <= size

    def reference(self, block: Block, offset: int) -> Any:
        address = block.address + offset
        forms = [address, np.uint64(address), ctypes.c_void_p(address)]
        if offset == 0 and block.keep is not None and not isinstance(block.keep, tuple | np.ndarray):
            forms.append(block.keep)
        return self.random.choice(forms)

    def attempt(self, allowed: bool, work: Callable[[], Any]) -> bool:
        """Run `work` and return `allowed`.

        Check that PyGPU accepts the access in `work` if `allowed` is true, and rejects it otherwise.
        """
        try:
            status = work()
        except (ValueError, MemoryError):
            if allowed:
                raise
            return False
        if isinstance(status, PyGPU.cudaError_t):
            assert status.as_int() == (0 if allowed else INVALID_VALUE)
            return allowed
        assert allowed
        return True

    def step(self) -> None:
        stream = self.random.choice(self.streams)
        with stream:
            self.random.choice([self.fill, self.upload, self.download, self.between, self.over])(stream)

    def fill(self, stream: PyGPU.Stream) -> None:
        block, offset, count, fits = self.range()
        value, at = self.random.randrange(256), self.reference(block, offset)
        work = self.random.choice(
            [
                lambda: driver.memset_d8(at, value, count),
                lambda: driver.memset_d8_async(at, value, count, stream),
                lambda: PyGPU.cudaMemset(block.address + offset, value, count),
                lambda: PyGPU.cudaMemsetAsync(block.address + offset, value, count, stream),
            ]
        )
        if block.readonly:
            self.refused(work, count)
        elif self.attempt(fits, work):
            block.bytes[offset : offset + count] = value

    def refused(self, work: Callable[[], Any], count: int) -> None:
        """Attempt to write read-only memory, and check that PyGPU rejects it."""
        try:
            status = work()
        except ValueError:
            return
        assert count == 0 or status.as_int() == INVALID_VALUE

    def upload(self, stream: PyGPU.Stream) -> None:
        block, offset, count, fits = self.range()
        if count > 1 << 20:
            return
        host = np.frombuffer(self.random.randbytes(count), "u1")
        self.kept.append(host)
        at = self.reference(block, offset)
        number = block.address + offset
        work = self.random.choice(
            [
                lambda: driver.memcpy_htod(at, host),
                lambda: driver.memcpy_htod_async(at, host, stream),
                lambda: PyGPU.cudaMemcpy(number, host, count),
                lambda: PyGPU.cudaMemcpyAsync(number, host, count, stream=stream),
                lambda: PyGPU.GPUArray((count,), "u1", gpudata=at).set(host),
            ]
        )
        if block.readonly:
            self.refused(work, count)
        elif self.attempt(fits, work):
            block.bytes[offset : offset + count] = host

    def download(self, stream: PyGPU.Stream) -> None:
        block, offset, count, fits = self.range()
        if count > 1 << 20:
            return
        host = np.zeros(count, "u1")
        at = self.reference(block, offset)
        number = block.address + offset
        work = self.random.choice(
            [
                lambda: driver.memcpy_dtoh(host, at),
                lambda: driver.memcpy_dtoh_async(host, at, stream),
                lambda: PyGPU.cudaMemcpy(host, number, count),
                lambda: PyGPU.cudaMemcpyAsync(host, number, count, stream=stream),
                lambda: host.__setitem__(..., PyGPU.GPUArray((count,), "u1", gpudata=at).get()),
                lambda: host.__setitem__(..., _core.array_at(at, count, "u1").get()),
            ]
        )
        if self.attempt(fits, work):
            stream.synchronize()
            assert_same_values(host, block.bytes[offset : offset + count])
        else:
            assert not host.any()

    def between(self, stream: PyGPU.Stream) -> None:
        to, to_offset, count, to_fits = self.range()
        source, offset, count, fits = self.range(count)
        if to_offset + count > to.bytes.size and not to.known:
            return
        to_fits = to_offset + count <= to.bytes.size
        at, read = self.reference(to, to_offset), self.reference(source, offset)
        ways = [
            lambda: driver.memcpy_dtod(at, read, count),
            lambda: driver.memcpy_dtod_async(at, read, count, stream),
        ]
        # `cudaMemcpy` forbids overlapping ranges, so call `cudaMemcpy` only for two different blocks.
        if to is not source:
            ways += [
                lambda: PyGPU.cudaMemcpy(to.address + to_offset, source.address + offset, count),
                lambda: PyGPU.cudaMemcpyAsync(to.address + to_offset, source.address + offset, count, stream=stream),
            ]
        work = self.random.choice(ways)
        if to.readonly:
            self.refused(work, count)
        elif self.attempt(fits and to_fits, work):
            to.bytes[to_offset : to_offset + count] = source.bytes[offset : offset + count].copy()

    def over(self, stream: PyGPU.Stream) -> None:
        """Create an array over the memory of a block, with strides of any sign."""
        block, offset, _, _ = self.range()
        count = self.random.randrange(5)
        step = self.random.choice([-7, -2, -1, 1, 2, 3, 100])
        reach = [offset, offset + (count - 1) * step] if count else [offset]
        fits = count == 0 or (min(reach) >= 0 and max(reach) < block.bytes.size)
        # A view begins inside its block, so addresses before the view may still belong to the block.
        if not fits and (not block.known or min(reach) < 0):
            return
        value = self.random.randrange(256)

        def work() -> None:
            a = PyGPU.GPUArray((count,), "u1", gpudata=self.reference(block, offset), strides=(step,))
            a.fill(value)

        if block.readonly:
            self.refused(work, count)
        elif self.attempt(fits, work) and count:
            block.bytes[[offset + number * step for number in range(count)]] = value

    def check(self) -> None:
        for block in self.blocks:
            host = np.zeros(block.bytes.size, "u1")
            driver.memcpy_dtoh(host, block.address)
            assert_same_values(host, block.bytes)


@pytest.mark.reads_in_place
@pytest.mark.parametrize("round_", range(4))
def test_random_entry_points_accept_or_reject_random_memory(round_: int, late: None) -> None:
    """Test that no access by a random entry point crashes the process or accesses memory beyond the block."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    accesses = RandomAccesses(seed)
    for _ in range(250):
        accesses.step()
    accesses.check()
