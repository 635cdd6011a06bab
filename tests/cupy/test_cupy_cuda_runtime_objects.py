"""Test functions of `cupy.cuda.runtime` that represent graphs, pools, streams and shared events by integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
import PyGPU.cupy.cuda as cuda
from PyGPU.cupy.cuda import runtime

pytestmark = pytest.mark.provokes_errors

HAS_POOL = PyGPU.memory_statistics()["pool_reserved"] > 0 or PyGPU.backend_name() != "cpu"


def _status(call: Callable[..., Any], *arguments: Any) -> int:
    """Call a function that must fail, and return the status code of the error."""
    with pytest.raises(runtime.CUDARuntimeError) as raised:
        call(*arguments)
    return raised.value.status


def test_runtime_graph_identified_by_integer_is_captured_and_launched() -> None:
    stream = runtime.streamCreateWithFlags(runtime.streamNonBlocking)
    memory = PyGPU.zeros(4, "u1")
    PyGPU.synchronize()
    runtime.streamBeginCapture(stream, runtime.streamCaptureModeThreadLocal)
    assert runtime.streamIsCapturing(stream)
    assert _status(runtime.streamBeginCapture, stream) != 0
    runtime.memsetAsync(memory.ptr, 3, 2, stream)
    graph = runtime.streamEndCapture(stream)
    assert not runtime.streamIsCapturing(stream)
    executable, other = runtime.graphInstantiate(graph), runtime.graphInstantiate(graph)
    assert len({graph, executable, other}) == 3
    runtime.graphDestroy(graph)
    assert memory.tolist() == [0, 0, 0, 0]
    runtime.graphUpload(executable, stream)
    runtime.graphLaunch(executable, stream)
    runtime.streamSynchronize(stream)
    assert memory.tolist() == [3, 3, 0, 0]
    memory.fill(0)
    runtime.graphExecDestroy(executable)
    runtime.graphLaunch(other, 0)
    assert memory.tolist() == [3, 3, 0, 0]
    for call, handle in ((runtime.graphDestroy, graph), (runtime.graphExecDestroy, executable)):
        assert _status(call, handle) == 400
    assert _status(runtime.graphInstantiate, graph) == 400
    assert _status(runtime.graphLaunch, executable, 0) == 400
    assert _status(runtime.streamEndCapture, stream) == 401
    with pytest.raises(ValueError, match="capture mode 7"):
        runtime.streamBeginCapture(stream, 7)
    runtime.graphExecDestroy(other)
    runtime.streamDestroy(stream)


def test_streams_have_flags_and_priority() -> None:
    blocking, free = runtime.streamCreate(), runtime.streamCreateWithPriority(runtime.streamNonBlocking, -1)
    assert [runtime.streamGetFlags(one) for one in (0, blocking, free)] == [0, 0, runtime.streamNonBlocking]
    assert (runtime.streamGetPriority(blocking), runtime.streamGetPriority(free)) in ((0, -1), (0, 0))
    stream = cuda.Stream(non_blocking=True)
    assert runtime.streamGetFlags(stream.ptr) == runtime.streamNonBlocking
    runtime.streamDestroy(blocking)
    runtime.streamDestroy(free)


def test_pool_of_device_has_attributes_and_frees_memory() -> None:
    pool = runtime.deviceGetDefaultMemPool(0)
    assert pool == runtime.deviceGetMemPool(0) != 0
    array = PyGPU.empty(1 << 20, "u1")
    used = runtime.memPoolGetAttribute(pool, runtime.cudaMemPoolAttrUsedMemCurrent)
    reserved = runtime.memPoolGetAttribute(pool, runtime.cudaMemPoolAttrReservedMemCurrent)
    if HAS_POOL:
        assert 0 < array.nbytes <= used <= reserved
        before = runtime.memPoolGetAttribute(pool, runtime.cudaMemPoolAttrReleaseThreshold)
        runtime.memPoolSetAttribute(pool, runtime.cudaMemPoolAttrReleaseThreshold, 1 << 16)
        assert runtime.memPoolGetAttribute(pool, runtime.cudaMemPoolAttrReleaseThreshold) == 1 << 16
        runtime.memPoolSetAttribute(pool, runtime.cudaMemPoolAttrReleaseThreshold, before)
        del array
        runtime.memPoolTrimTo(pool, 0)
        assert runtime.memPoolGetAttribute(pool, runtime.cudaMemPoolAttrReservedMemCurrent) <= reserved
    assert _status(runtime.deviceGetDefaultMemPool, 99) == 101
    for handle in (0, 99):
        assert _status(runtime.memPoolTrimTo, handle, 0) == 1
    assert _status(runtime.memPoolGetAttribute, pool, runtime.cudaMemPoolReuseAllowOpportunistic) == 1
    assert _status(runtime.memPoolSetAttribute, pool, runtime.cudaMemPoolAttrUsedMemHigh, 0) == 1


def test_ipc_event_handle_is_bytes_and_raises_status_801_on_cpu() -> None:
    flags = runtime.eventInterprocess | runtime.eventDisableTiming
    if PyGPU.backend_name() == "cpu":
        assert _status(runtime.eventCreateWithFlags, flags) == 801
        assert _status(runtime.ipcOpenEventHandle, bytes(64)) == 801
        return
    event = runtime.eventCreateWithFlags(flags)
    handle = runtime.ipcGetEventHandle(event)
    assert (type(handle), len(handle)) == (bytes, 64)
    assert _status(runtime.ipcOpenEventHandle, bytes(64)) != 0
    runtime.eventDestroy(event)


@pytest.mark.enough_on("cpu")
def test_error_for_missing_runtime_function_recommends_replacement() -> None:
    for name, text in (
        ("malloc3DArray", "create the objects of cupy.cuda.texture"),
        ("memPoolCreate", "create a cupy.cuda.MemoryPool"),
        ("graphDebugDotPrint", "PyGPU.Graph.nodes lists the nodes"),
        ("deviceDisablePeerAccess", "stays enabled"),
    ):
        with pytest.raises(AttributeError, match=rf"module 'cupy.cuda.runtime' has no attribute '{name}'; .*{text}"):
            getattr(runtime, name)
    with pytest.raises(
        AttributeError, match=r"'cupy.cuda.device' has no attribute 'get_cublas_handle'; PyGPU shares no"
    ):
        _ = cuda.device.get_cublas_handle


def test_memory_hooks_receive_address_zero_after_failed_allocation() -> None:
    calls: list[tuple[str, int]] = []

    class Recording(cuda.MemoryHook):
        name = "Recording"

        def alloc_postprocess(self, **arguments: int) -> None:
            calls.append(("alloc", arguments["mem_ptr"]))

        def malloc_postprocess(self, **arguments: int) -> None:
            calls.append(("malloc", arguments["mem_ptr"]))

    pool = cuda.MemoryPool()
    pool.set_limit(size=512)
    with Recording():
        pointer = pool.malloc(100)
        with pytest.raises(MemoryError):
            pool.malloc(1024)
    assert calls == [("alloc", pointer.ptr), ("malloc", pointer.ptr), ("alloc", 0), ("malloc", 0)]
    np.testing.assert_array_equal(pool.used_bytes(), 512)
