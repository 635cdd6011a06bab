"""Test `cupy.cuda.runtime`, the exceptions of `cupy.cuda`, and its modules that no other file tests."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import PyGPU
import PyGPU.cupy.cuda as cuda
from gpu import support
from PyGPU import _core
from PyGPU.cupy.cuda import compiler, driver, memory, nvrtc, nvtx, profiler, runtime

pytestmark = pytest.mark.provokes_errors


def test_runtime_functions_copy_and_fill_memory() -> None:
    source, result = np.arange(8, dtype="i4"), np.zeros(8, "i4")
    address, other = runtime.malloc(32), runtime.malloc(32)
    runtime.memcpy(address, source.ctypes.data, 32, runtime.memcpyHostToDevice)
    runtime.memcpyAsync(other, address, 32, runtime.memcpyDeviceToDevice, cuda.Stream.null.ptr)
    runtime.memset(other, 0, 8)
    runtime.memsetAsync(other + 8, 255, 4, 0)
    runtime.memcpy(result.ctypes.data, other, 32, runtime.memcpyDeviceToHost)
    np.testing.assert_array_equal(result, [0, 0, -1, 3, 4, 5, 6, 7])
    assert runtime.pointerGetAttributes(address).device == 0
    assert runtime.pointerGetMemoryType(address) == runtime.memoryTypeDevice
    runtime.free(other)
    runtime.free(address)
    pinned = runtime.hostAlloc(64, runtime.hostAllocPortable)
    assert runtime.pointerGetMemoryType(pinned) == runtime.memoryTypeHost
    runtime.freeHost(pinned)


def test_runtime_functions_allocate_and_free_each_memory_kind() -> None:
    stream = runtime.streamCreateWithFlags(runtime.streamNonBlocking)
    address = runtime.mallocAsync(64, stream)
    runtime.freeAsync(address, stream)
    runtime.streamSynchronize(stream)
    runtime.streamDestroy(stream)
    managed = runtime.mallocManaged(64)
    assert runtime.pointerGetMemoryType(managed) == runtime.memoryTypeManaged
    runtime.memPrefetchAsync(managed, 64, 0, 0)
    runtime.free(managed)
    with pytest.raises(runtime.CUDARuntimeError):
        runtime.free(managed)


def test_runtime_functions_report_device_properties() -> None:
    device = cuda.Device()
    assert runtime.getDeviceCount() == PyGPU.device_count()
    assert runtime.getDevice() == device.id
    runtime.setDevice(device.id)
    runtime.deviceSynchronize()
    properties = runtime.getDeviceProperties(device.id)
    assert properties["name"] == device.name.encode()
    assert (properties["major"], properties["minor"]) == device.properties["compute_capability"]
    assert properties["maxThreadsDim"][0] == device.attributes["MaxBlockDimX"]
    assert properties["warpSize"] == runtime.deviceGetAttribute(runtime.cudaDevAttrWarpSize, 0)
    assert runtime.deviceGetByPCIBusId(runtime.deviceGetPCIBusId(0)) == 0
    assert runtime.is_hip is (PyGPU.backend_name() == "hip")
    assert runtime.memGetInfo()[1] == device.mem_info[1]
    assert runtime.runtimeGetVersion() == runtime.driverGetVersion() == driver.get_build_version() >= 12000
    assert not runtime.deviceCanAccessPeer(0, 0)


def test_runtime_errors_have_status_and_text_of_cupy() -> None:
    with pytest.raises(runtime.CUDARuntimeError, match=r"^cudaErrorInvalidDevice: invalid device ordinal$") as raised:
        runtime.setDevice(10**6)
    assert raised.value.status == 101
    assert isinstance(raised.value, RuntimeError)
    assert PyGPU.cudaGetLastError() == 0
    for missing in (10**6, -1):
        with pytest.raises(runtime.CUDARuntimeError, match=f"device {missing} does not exist") as raised:
            cuda.Device(missing)
        assert isinstance(raised.value, ValueError)
        assert raised.value.status == 101
    for call in (lambda: runtime.getDeviceProperties(-1), lambda: runtime.deviceGetPCIBusId(10**6)):
        with pytest.raises(runtime.CUDARuntimeError):
            call()


def test_errors_of_pygpu_are_instances_of_cupys_error_classes() -> None:
    assert runtime.CUDARuntimeError is driver.CUDADriverError is PyGPU.CudaError
    assert memory.OutOfMemoryError is PyGPU.OutOfMemoryError
    assert compiler.CompileException is nvrtc.NVRTCError is PyGPU.CompileError
    with pytest.raises(runtime.CUDARuntimeError) as raised:
        _core.raw_free(1)
    assert raised.value.status == raised.value.code == 1
    error = memory.OutOfMemoryError(124, 1024, 1024)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.args, str(copy)) == (error.args, str(error))
    assert runtime.CUDARuntimeError.status == 0


def test_runtime_functions_accept_streams_and_events_as_integers() -> None:
    stream = runtime.streamCreate()
    start, end = runtime.eventCreate(), runtime.eventCreateWithFlags(runtime.eventBlockingSync)
    results: list[object] = []
    runtime.eventRecord(start, stream)
    runtime.launchHostFunc(stream, results.append, 1)
    runtime.streamAddCallback(stream, lambda *arguments: results.append(arguments), 2)
    runtime.eventRecord(end, stream)
    runtime.streamWaitEvent(0, end)
    runtime.eventSynchronize(end)
    assert runtime.eventQuery(end) == runtime.streamQuery(stream) == 0
    assert runtime.eventElapsedTime(start, end) >= 0
    assert results == [1, (stream, 0, 2)]
    assert runtime.streamIsCapturing(stream) is False
    assert runtime.streamIsCapturing(cuda.Stream()) is False  # type: ignore[arg-type]
    wrapped = cuda.Event()
    runtime.eventRecord(wrapped.ptr, cuda.Stream.null.ptr)
    runtime.eventSynchronize(wrapped.ptr)
    for destroy, handle in (
        (runtime.eventDestroy, start),
        (runtime.eventDestroy, end),
        (runtime.streamDestroy, stream),
    ):
        destroy(handle)
        with pytest.raises(runtime.CUDARuntimeError) as raised:
            destroy(handle)
        assert raised.value.status == runtime.errorInvalidResourceHandle


def test_runtime_limits_are_supported_on_real_cuda_devices_only() -> None:
    if PyGPU.backend_name() != "cuda" or support.is_simulated():
        with pytest.raises(PyGPU.NotSupportedError):
            runtime.deviceGetLimit(runtime.cudaLimitStackSize)
        return
    size = runtime.deviceGetLimit(runtime.cudaLimitStackSize)
    runtime.deviceSetLimit(runtime.cudaLimitStackSize, size)
    assert size > 0


def test_driver_returns_context_of_stream() -> None:
    assert driver.ctxGetDevice() == 0
    if PyGPU.backend_name() == "cuda":
        stream = cuda.Stream()
        assert driver.streamGetCtx(stream.ptr) == driver.ctxGetCurrent() != 0


def test_profiler_and_range_functions_raise_no_error() -> None:
    with pytest.warns(UserWarning, match="deprecated"), cuda.profile():
        pass
    nvtx.RangePush("outer", 1)
    nvtx.RangePushC("inner", 0xFF0000)
    nvtx.Mark("here")
    nvtx.MarkC("there")
    nvtx.RangePop()
    nvtx.RangePop()
    nvtx.RangePop()  # All profiler ranges have ended, so this call has no effect.
    profiler.start()
    profiler.stop()
    assert isinstance(nvtx.available, bool)
    PyGPU.profile.annotate(False)


def test_environment_functions_return_paths_and_values_of_variables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    assert cuda.is_available()
    monkeypatch.setenv("CUDA_PATH", str(tmp_path))
    monkeypatch.setenv("NVCC", "some nvcc")
    assert cuda.get_cuda_path() == str(tmp_path)
    assert cuda.get_nvcc_path() == "some nvcc"
    assert cuda.get_local_runtime_version() == runtime.runtimeGetVersion()


def test_cuda_modules_have_public_names_of_cupy() -> None:
    for name in cuda.__all__:
        assert getattr(cuda, name) is not None
    for name in ("memory", "stream", "runtime", "pinned_memory", "memory_hook", "nvtx", "graph"):
        assert importlib.import_module(f"PyGPU.cupy.cuda.{name}") is getattr(cuda, name)
    assert {"Stream", "MemoryPool", "runtime"} <= set(dir(cuda))


def test_missing_cuda_name_raises_error_with_replacement() -> None:
    for name, hint in (
        ("nccl", "nccl4py, torch or mpi4py"),
        ("curand", "use cupy.random"),
        ("get_cublas_handle", "cupy.linalg"),
    ):
        with pytest.raises(AttributeError, match=hint):
            getattr(cuda, name)
    with pytest.raises(ImportError, match="nccl4py, torch or mpi4py"):
        from PyGPU.cupy.cuda import nccl  # type: ignore[attr-defined]  # noqa: F401
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        cuda.nothing  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.starts_processes
@pytest.mark.enough_on("cpu")
def test_cuda_modules_are_imported_at_first_use() -> None:
    program = (
        "import sys, PyGPU\n"
        "PyGPU.zeros(3).tolist()\n"
        "assert not [name for name in sys.modules if 'cupy' in name]\n"
        "import PyGPU.cupy.cuda as cuda\n"
        "assert 'PyGPU._cupy.cuda.stream' not in sys.modules\n"
        "cuda.Stream().use()\n"
        "assert 'PyGPU._cupy.cuda.pools.pool' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
