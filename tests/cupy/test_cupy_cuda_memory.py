"""Test the pointers, pools, allocators and hooks of `cupy.cuda`."""

from __future__ import annotations

import ctypes
import gc
import io
import json
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import PyGPU
import PyGPU.cupy.cuda as cuda
from PyGPU.cupy.cuda import memory, memory_hooks, pinned_memory

UNIT = 512


@pytest.fixture
def pool() -> Iterator[cuda.MemoryPool]:
    gc.collect()
    pool = cuda.MemoryPool()
    yield pool
    pool.free_all_blocks()


def test_data_attribute_points_to_memory_of_array() -> None:
    a = PyGPU.arange(12, dtype="f4").reshape(3, 4)
    pointer = a.data
    assert isinstance(pointer, cuda.MemoryPointer)
    assert pointer.ptr == int(pointer) == a.ptr
    assert pointer.mem.ptr <= a.ptr < a.ptr + a.nbytes <= pointer.mem.ptr + pointer.mem.size
    assert pointer.device == a.device
    assert a[1:].data.ptr == (pointer + 16).ptr == (16 + pointer).ptr
    assert a[::-1].data.ptr == a.ptr + 32
    assert (a[1:].data - 16).ptr == a.ptr
    assert PyGPU.empty(0).data.ptr == 0
    pointer += 4
    assert pointer.ptr == a.ptr + 4


def test_data_pointer_keeps_memory_alive_and_can_be_memory_of_new_array() -> None:
    a = PyGPU.arange(4, dtype="i4")
    pointer = a.data + 4
    del a
    gc.collect()
    filler = [PyGPU.zeros(4, "i4") for _ in range(20)]
    b = PyGPU.GPUArray((3,), "i4", gpudata=pointer)
    assert b.tolist() == [1, 2, 3]
    assert len(filler) == 20


def test_memory_pointer_copies_match_numpy() -> None:
    source, result = np.arange(6, dtype="i4"), np.zeros(6, "i4")
    pointer, other, stream = cuda.alloc(24), cuda.alloc(24), cuda.Stream()
    pointer.copy_from(source.ctypes.data, 24)
    other.copy_from(pointer, 24)
    other.copy_to_host(ctypes.c_void_p(result.ctypes.data), 24)
    np.testing.assert_array_equal(result, source)
    (other + 8).memset(255, 4)
    other.copy_to_host(result.ctypes.data, 24)
    np.testing.assert_array_equal(result, [0, 1, -1, 3, 4, 5])
    for used in (stream, None):
        pointer.memset_async(1, 24, used)
        pointer.copy_from_async(source.ctypes.data, 12, used)
        other.copy_from_async(pointer, 24, used)
        other.copy_to_host_async(result.ctypes.data, 24, used)
        (cuda.get_current_stream() if used is None else used).synchronize()
        np.testing.assert_array_equal(result, [0, 1, 2, *[0x01010101] * 3])
    with pytest.raises(cuda.runtime.CUDARuntimeError) as raised:
        pointer.copy_from(source.ctypes.data, 24 + UNIT)
    assert raised.value.status == 1


def test_memory_pointer_of_empty_block_copies_and_fills_no_bytes() -> None:
    with pytest.raises(ValueError, match="has no byte 1"):
        cuda.MemoryPointer(cuda.Memory(0), 1)
    assert cuda.MemoryPointer(cuda.Memory(0), 0).ptr == 0


def test_unowned_memory_object_holds_reference_to_memory_owner() -> None:
    a = PyGPU.arange(4, dtype="i4")
    unowned = cuda.UnownedMemory(a.ptr, a.nbytes, a)
    assert (unowned.ptr, unowned.size, unowned.device_id) == (a.ptr, 16, 0)
    b = PyGPU.GPUArray((4,), "i4", gpudata=cuda.MemoryPointer(unowned, 0))
    del a, unowned
    gc.collect()
    b += 1
    assert b.tolist() == [1, 2, 3, 4]
    with pytest.raises(RuntimeError, match="device_id"):
        cuda.UnownedMemory(0, 0, None)


@pytest.mark.parametrize("kind", ["Memory", "ManagedMemory", "MemoryAsync"])
def test_memory_of_each_kind_can_be_used_by_arrays(kind: str) -> None:
    allocate = {
        "Memory": lambda size: cuda.MemoryPointer(cuda.Memory(size), 0),
        "ManagedMemory": cuda.malloc_managed,
        "MemoryAsync": cuda.malloc_async,
    }[kind]
    with cuda.using_allocator(allocate):
        a = PyGPU.arange(5) + 1
        assert type(a.data.mem).__name__ == kind
    assert a.tolist() == [1, 2, 3, 4, 5]
    assert isinstance(a.data.mem, cuda.BaseMemory)


def test_managed_memory_accepts_advice() -> None:
    managed = cuda.ManagedMemory(1024)
    managed.prefetch(cuda.Stream(), device_id=0)
    managed.advise(cuda.runtime.cudaMemAdviseSetReadMostly, cuda.Device(0))
    for call in (
        lambda: managed.prefetch(cuda.Stream(), device_id=10**8),
        lambda: managed.advise(-1, cuda.Device(0)),
    ):
        with pytest.raises(cuda.runtime.CUDARuntimeError):
            call()


def test_memory_pool_reuses_splits_and_merges_blocks(pool: cuda.MemoryPool) -> None:
    block = pool.malloc(4 * UNIT - 10)
    address = block.ptr
    assert (pool.used_bytes(), pool.free_bytes(), block.mem.size) == (4 * UNIT, 0, 4 * UNIT)
    del block
    head, tail = pool.malloc(UNIT), pool.malloc(3 * UNIT)
    assert (head.ptr, tail.ptr) == (address, address + UNIT)
    del tail
    assert (pool.used_bytes(), pool.free_bytes(), pool.n_free_blocks()) == (UNIT, 3 * UNIT, 1)
    pool.free_all_blocks()  # The pool cannot free the allocation, because `head` still uses a part of it.
    assert pool.total_bytes() == 4 * UNIT
    del head
    assert pool.n_free_blocks() == 1
    assert pool.malloc(4 * UNIT).ptr == address
    pool.free_all_blocks()
    assert (pool.total_bytes(), pool.n_free_blocks()) == (0, 0)


def test_memory_pool_does_not_reuse_block_freed_on_another_stream(pool: cuda.MemoryPool) -> None:
    stream = cuda.Stream()
    address = pool.malloc(UNIT).ptr
    with stream:
        block = pool.malloc(UNIT)
        assert block.ptr != address
        other = block.ptr
        del block
    pool.free_all_blocks(cuda.Stream.null)
    assert pool.free_bytes() == UNIT
    with stream:
        assert pool.malloc(UNIT).ptr == other


def test_memory_pool_limit_is_enforced(pool: cuda.MemoryPool) -> None:
    pool.set_limit(size=6 * UNIT)
    blocks = [pool.malloc(5 * UNIT), pool.malloc(UNIT)]
    with pytest.raises(memory.OutOfMemoryError, match=r"allocating 512 bytes \(allocated so far: 3,072 bytes, limit"):
        pool.malloc(1)
    blocks.clear()
    # The pool frees its unused blocks so that its total size stays within the limit.
    assert pool.malloc(6 * UNIT).mem.size == 6 * UNIT
    pool.set_limit(fraction=0.5)
    assert pool.get_limit() == cuda.runtime.memGetInfo()[1] // 2
    pool.set_limit(size=0)
    assert pool.get_limit() == 0
    for arguments in ({}, {"size": 1, "fraction": 0.5}, {"size": -1}, {"fraction": 1.5}, {"fraction": -1}):
        with pytest.raises(ValueError, match=r"set_limit takes|must not be negative|must be in 0"):
            pool.set_limit(**arguments)  # type: ignore[arg-type]


def test_memory_pool_limit_is_read_from_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUPY_GPU_MEMORY_LIMIT", "2048")
    assert cuda.MemoryPool().get_limit() == 2048
    monkeypatch.setenv("CUPY_GPU_MEMORY_LIMIT", "50%")
    assert cuda.MemoryPool().get_limit() == cuda.runtime.memGetInfo()[1] // 2


def test_pooled_memory_freed_twice_is_returned_to_pool_once(pool: cuda.MemoryPool) -> None:
    block = pool.malloc(1)
    block.mem.free()  # type: ignore[attr-defined]
    block.mem.free()  # type: ignore[attr-defined]
    assert (pool.n_free_blocks(), pool.used_bytes()) == (1, 0)
    empty = pool.malloc(0).mem
    assert isinstance(empty, cuda.Memory)
    with pytest.raises(ValueError, match="-1 is no number of bytes"):
        pool.malloc(-1)
    with pytest.warns(DeprecationWarning, match="free_all_blocks"):
        pool.free_all_free()


def test_arrays_use_allocator_set_by_set_allocator(pool: cuda.MemoryPool) -> None:
    default = cuda.get_allocator()
    assert default == memory.get_default_memory_pool().malloc
    cuda.set_allocator(pool.malloc)
    try:
        assert cuda.get_allocator() == pool.malloc
        a = PyGPU.arange(128, dtype="i8")
        b = a * 2
        with cuda.Stream() as stream:
            c = b + a
        assert isinstance(a.data.mem, memory.PooledMemory)
        assert a[7:].data.mem is a.data.mem
        np.testing.assert_array_equal(c.get(stream=stream), np.arange(128) * 3)
        assert pool.used_bytes() >= 2 * 1024
        with cuda.using_allocator(cuda.MemoryPool().malloc), pytest.raises(ValueError, match="using_allocator"):
            cuda.set_allocator(default)
        with cuda.using_allocator(None):
            assert type(PyGPU.ones(3).data.mem) is cuda.Memory
    finally:
        cuda.set_allocator(default)
    del a, b, c
    assert pool.used_bytes() == 0
    assert PyGPU.get_allocator() is None  # PyGPU's own pool allocates without a call of Python code.
    with pytest.raises(TypeError, match="an allocator is a function"):
        cuda.set_allocator(3)  # type: ignore[arg-type]


def test_using_allocator_applies_to_current_thread_only(pool: cuda.MemoryPool) -> None:
    found: list[object] = []
    with cuda.using_allocator(pool.malloc):
        thread = threading.Thread(target=lambda: found.append(cuda.get_allocator()))
        thread.start()
        thread.join()
        assert cuda.get_allocator() == pool.malloc
    assert found == [memory.get_default_memory_pool().malloc]


def test_alloc_function_of_cupy_uses_allocator_object_of_pygpu() -> None:
    made: list[int] = []

    class Own:
        def allocate(self, nbytes: int, stream: PyGPU.Stream) -> Any:
            made.append(nbytes)
            with PyGPU.using_allocator(None), stream:
                return PyGPU.empty(nbytes, "u1")

    with PyGPU.using_allocator(Own()):
        pointer = cuda.alloc(100)
    assert made == [100]
    assert (pointer.mem.size, pointer.mem.ptr) == (100, pointer.ptr)


def test_set_allocator_cupy_raises_if_cupy_is_alias_of_pygpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", PyGPU.cupy)
    reason = "this is the CPU" if PyGPU.backend_name() == "cpu" else "finds PyGPU here"
    with pytest.raises(PyGPU.NotSupportedError, match=reason):
        PyGPU.set_allocator("cupy")
    assert PyGPU.get_allocator() is None


def test_python_function_allocator_allocates_and_frees() -> None:
    calls: list[tuple[str, int]] = []

    def allocate(size: int, device_id: int) -> int:
        calls.append(("malloc", size))
        return cuda.runtime.malloc(size)

    def free(ptr: int, device_id: int) -> None:
        calls.append(("free", device_id))
        cuda.runtime.free(ptr)

    with cuda.using_allocator(cuda.PythonFunctionAllocator(allocate, free).malloc):
        a = PyGPU.arange(3, dtype="i4") + 1
        assert a.tolist() == [1, 2, 3]
        del a
        gc.collect()
    sizes = [size for name, size in calls if name == "malloc"]
    assert len(sizes) >= 1
    assert calls.count(("free", 0)) == len(sizes)


def test_default_memory_pool_reports_memory_of_pygpu() -> None:
    pool = memory.get_default_memory_pool()
    assert isinstance(pool, cuda.MemoryPool)
    PyGPU.synchronize()
    pool.free_all_blocks()
    before = pool.used_bytes()
    a = PyGPU.zeros(1 << 16, "u1")
    assert a.ptr
    assert pool.used_bytes() - before >= a.nbytes
    assert pool.used_bytes() + pool.free_bytes() == pool.total_bytes()
    pointer = pool.malloc(UNIT + 1)
    assert pointer.mem.size == 2 * UNIT
    del a, pointer
    pool.free_all_blocks()
    assert pool.used_bytes() <= before
    assert pool.n_free_blocks() == 0
    pool.set_limit(size=1 << 20)
    try:
        assert (pool.get_limit(), PyGPU.memory_limit()) == (1 << 20, 1 << 20)
        assert cuda.MemoryAsyncPool().get_limit() == 1 << 20
        with pytest.raises(memory.OutOfMemoryError):
            PyGPU.zeros(1 << 22, "u1").sum().get()
    finally:
        pool.set_limit(size=0)
    assert cuda.MemoryAsyncPool().get_limit() == 2**64 - 1
    with pytest.raises(PyGPU.NotSupportedError, match="one pool for each device"):
        cuda.MemoryAsyncPool("create")


class History(cuda.MemoryHook):
    name = "History"

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, int]]] = []

    def alloc_preprocess(self, **kwargs: int) -> None:
        self.calls.append(("alloc_preprocess", kwargs))

    def alloc_postprocess(self, **kwargs: int) -> None:
        self.calls.append(("alloc_postprocess", kwargs))

    def malloc_preprocess(self, **kwargs: int) -> None:
        self.calls.append(("malloc_preprocess", kwargs))

    def malloc_postprocess(self, **kwargs: int) -> None:
        self.calls.append(("malloc_postprocess", kwargs))

    def free_preprocess(self, **kwargs: int) -> None:
        self.calls.append(("free_preprocess", kwargs))

    def free_postprocess(self, **kwargs: int) -> None:
        self.calls.append(("free_postprocess", kwargs))


def test_memory_hooks_are_called_at_each_step_of_pool(pool: cuda.MemoryPool) -> None:
    with History() as hook:
        block = pool.malloc(1)
        address, identity = block.ptr, id(block.mem)
        del block
        pool.malloc(1)
    pool.malloc(1)
    sizes, of_block = {"device_id": 0, "mem_size": UNIT}, {"mem_ptr": address, "pmem_id": identity}
    assert hook.calls[:6] == [
        ("malloc_preprocess", {**sizes, "size": 1}),
        ("alloc_preprocess", sizes),
        ("alloc_postprocess", {**sizes, "mem_ptr": address}),
        ("malloc_postprocess", {**sizes, "size": 1, **of_block}),
        ("free_preprocess", {**sizes, **of_block}),
        ("free_postprocess", {**sizes, **of_block}),
    ]
    later = [name for name, _ in hook.calls[6:]]
    assert later == ["malloc_preprocess", "malloc_postprocess", "free_preprocess", "free_postprocess"]


def test_memory_hooks_are_called_for_arrays_from_pygpus_pool() -> None:
    outside = PyGPU.ones(3)
    with History() as hook, pytest.raises(KeyError, match="History already exists"), History():
        pass
    with hook:
        a = PyGPU.zeros(5, "f4")
        assert a.tolist() == [0.0] * 5
        del a
        del outside
    names = [name for name, _ in hook.calls]
    assert names == ["malloc_preprocess", "malloc_postprocess", "free_preprocess", "free_postprocess"]
    assert hook.calls[0][1] == {"device_id": 0, "size": 20, "mem_size": UNIT}
    assert PyGPU.get_allocator() is None
    a = PyGPU.zeros(5, "f4")
    assert len(hook.calls) == 4
    assert not isinstance(a.data.mem, memory.PooledMemory)


def test_memory_hook_may_create_arrays() -> None:
    class Creating(History):
        def malloc_postprocess(self, **kwargs: int) -> None:
            super().malloc_postprocess(**kwargs)
            assert PyGPU.ones(2).tolist() == [1.0, 1.0]

    with Creating() as hook:
        a = PyGPU.zeros(5)
    assert [name for name, _ in hook.calls][:2] == ["malloc_preprocess", "malloc_postprocess"]
    assert a.tolist() == [0.0] * 5


def test_memory_hook_is_called_for_failed_allocation(pool: cuda.MemoryPool) -> None:
    pool.set_limit(size=UNIT)
    with History() as hook, pytest.raises(memory.OutOfMemoryError):
        pool.malloc(2 * UNIT)
    name, arguments = hook.calls[-1]
    assert (name, arguments["mem_ptr"], arguments["pmem_id"]) == ("malloc_postprocess", 0, 0)
    assert pool.total_bytes() == 0


def test_debug_and_line_profile_memory_hooks_print_sizes(pool: cuda.MemoryPool) -> None:
    output = io.StringIO()
    lines = memory_hooks.LineProfileHook()
    short = memory_hooks.LineProfileHook(max_depth=1)
    with memory_hooks.DebugPrintHook(output), lines:
        block = pool.malloc(1000)
        address = block.ptr
        del block
        again = pool.malloc(1000)
    with short:
        other = pool.malloc(2000)
    records = [json.loads(line) for line in output.getvalue().splitlines()]
    assert [record["hook"] for record in records] == ["alloc", "malloc", "free", "malloc"]
    assert {record["mem_ptr"] for record in records} == {address}
    report, short_report = io.StringIO(), io.StringIO()
    lines.print_report(report)
    assert report.getvalue().startswith("_root (2.00KB, 1.00KB)\n")
    assert "test_cupy_cuda_memory.py" in report.getvalue()
    short.print_report(short_report)
    assert short_report.getvalue() == "_root (2.00KB, 2.00KB)\n"
    assert (again.ptr, other.mem.size) == (address, 2048)


def test_pinned_memory_pointer_supports_buffer_protocol() -> None:
    pointer = cuda.alloc_pinned_memory(64)
    a = np.frombuffer(pointer, "f4", 8)
    a[:] = np.arange(8)
    later = pointer + 16
    assert (later.ptr - pointer.ptr, later.size(), (later - 16).ptr) == (16, pointer.size() - 16, pointer.ptr)
    assert int(16 + pointer) == later.ptr
    del pointer
    gc.collect()
    np.testing.assert_array_equal(np.frombuffer(later, "f4", 4), np.arange(4) + 4)
    result = PyGPU.to_gpu(a)
    np.testing.assert_array_equal(result.get(), np.arange(8))
    attributes = cuda.runtime.pointerGetAttributes(later.ptr)
    assert attributes.type == cuda.runtime.memoryTypeHost
    with pytest.raises(ValueError, match="has no byte"):
        later + 10**6


def test_pinned_pool_rounds_sizes_to_powers_of_two_and_reuses_blocks() -> None:
    pool = cuda.PinnedMemoryPool()
    first, second = pool.malloc(1000), pool.malloc(1000)
    assert first.mem.size == 1024
    address = first.ptr
    del first
    assert pool.n_free_blocks() == 1
    assert pool.malloc(2000).ptr not in (address, second.ptr)
    assert pool.malloc(513).ptr == address
    second.mem.free()  # type: ignore[attr-defined]
    second.mem.free()  # type: ignore[attr-defined]
    assert pool.n_free_blocks() == 3
    pool.free_all_blocks()
    assert pool.n_free_blocks() == 0
    assert type(pool.malloc(0).mem) is cuda.PinnedMemory


def test_pinned_memory_allocator_can_be_replaced() -> None:
    default = pinned_memory.get_default_pinned_memory_pool()
    cuda.set_pinned_memory_allocator()
    try:
        assert type(cuda.alloc_pinned_memory(10).mem) is cuda.PinnedMemory
    finally:
        cuda.set_pinned_memory_allocator(default.malloc)
    assert type(cuda.alloc_pinned_memory(10).mem) is pinned_memory.PooledPinnedMemory
    with pytest.raises(TypeError, match="an allocator is a function"):
        cuda.set_pinned_memory_allocator(1)  # type: ignore[arg-type]


def test_reduced_view_merges_adjacent_axes_without_gaps() -> None:
    a = PyGPU.to_gpu(np.arange(24.0).reshape(2, 3, 4))
    for view, shape in (
        (a, (24,)),
        (a[:, 1:], (2, 8)),
        (a[:, ::2], (2, 2, 4)),
        (a.transpose(2, 0, 1), (4, 6)),
        (a[:, :1], (2, 4)),
        (a[:1, :1, :1], ()),
        (a[:0], (0,)),
    ):
        reduced = view.reduced_view()
        assert reduced.shape == shape
        np.testing.assert_array_equal(reduced.get().ravel(), view.get().ravel())
        assert reduced.size == 0 or reduced.ptr == view.ptr
    assert a.reduced_view("i4").shape == (48,)
