"""Test each device control and launch attribute by name: the call succeeds, or gives a reason by its status or
error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import PyGPU
import simulated_driver
from PyGPU import runtime
from support_kernels import needs_kernels

BACKEND = PyGPU.backend_name()
NOT_SUPPORTED = 801
INVALID_DEVICE = 101


def moves_pages() -> bool:
    attribute = runtime.cudaDeviceAttr.cudaDevAttrConcurrentManagedAccess
    return (
        BACKEND == "cpu"
        or simulated_driver.driver() is not None
        or runtime.cudaDeviceGetAttribute(attribute, 0)[0] == 1
    )


def status_of_creation_and_end(pair: tuple[object, int], end: Callable[..., int]) -> int:
    """Create an object and pass it to `end`. Return the status of `end`, or the status of the creation if the creation
    fails."""
    thing, status = pair
    return status or end(thing)


def with_managed(call: Callable[[int], int]) -> int:
    address, status = runtime.cudaMallocManaged(4096)
    status = status or call(address)
    runtime.cudaDeviceSynchronize()
    return runtime.cudaFree(address) or status


def in_order() -> int:
    stream, _ = runtime.cudaStreamCreate()
    address, status = runtime.cudaMallocAsync(64, stream)
    return status or runtime.cudaFreeAsync(address, stream) or runtime.cudaStreamSynchronize(stream)


def rows(*stream: object) -> int:
    source, target = PyGPU.arange(48, dtype="u1"), PyGPU.zeros(48, "u1")
    copy = runtime.cudaMemcpy2DAsync if stream else runtime.cudaMemcpy2D
    kind = runtime.cudaMemcpyDeviceToDevice
    status = copy(target.ptr, 12, source.ptr, 12, 7, 4, kind, *stream) or runtime.cudaDeviceSynchronize()
    assert status or np.array_equal(target.get().reshape(4, 12)[:, :7], np.arange(48).reshape(4, 12)[:, :7])
    return status


def peers(*stream: object) -> int:
    source, target = PyGPU.arange(16, dtype="u1"), PyGPU.zeros(16, "u1")
    copy = runtime.cudaMemcpyPeerAsync if stream else runtime.cudaMemcpyPeer
    status = copy(target.ptr, 0, source.ptr, 0, 16, *stream) or runtime.cudaDeviceSynchronize()
    assert status or target.tolist() == list(range(16))
    return status


def shared(is_opened: bool) -> int:
    """Create a handle of memory, open the handle if `is_opened` is set, and free the memory. Return the first error
    status of these calls.

    Only a simulated driver opens the handle, because a real driver opens a handle in another process only.
    """
    address, _ = runtime.cudaMalloc(16)
    handle, status = runtime.cudaIpcGetMemHandle(address)
    if not status and is_opened and simulated_driver.driver() is not None:
        opened, status = runtime.cudaIpcOpenMemHandle(handle)
        status = status or runtime.cudaIpcCloseMemHandle(opened)
    return runtime.cudaFree(address) or status


CONTROLS: dict[str, Callable[[], int]] = {
    "cudaStreamCreate": lambda: status_of_creation_and_end(runtime.cudaStreamCreate(), runtime.cudaStreamSynchronize),
    "cudaStreamCreateWithFlags": lambda: status_of_creation_and_end(
        runtime.cudaStreamCreateWithFlags(runtime.cudaStreamNonBlocking), runtime.cudaStreamSynchronize
    ),
    "cudaStreamCreateWithPriority": lambda: status_of_creation_and_end(
        runtime.cudaStreamCreateWithPriority(runtime.cudaStreamDefault, -1), runtime.cudaStreamSynchronize
    ),
    "cudaStreamDestroy": lambda: status_of_creation_and_end(runtime.cudaStreamCreate(), runtime.cudaStreamDestroy),
    "cudaEventCreate": lambda: status_of_creation_and_end(runtime.cudaEventCreate(), runtime.cudaEventRecord),
    "cudaEventCreateWithFlags": lambda: status_of_creation_and_end(
        runtime.cudaEventCreateWithFlags(runtime.cudaEventDisableTiming), runtime.cudaEventRecord
    ),
    "cudaEventDestroy": lambda: status_of_creation_and_end(runtime.cudaEventCreate(), runtime.cudaEventDestroy),
    "cudaMallocManaged": lambda: status_of_creation_and_end(runtime.cudaMallocManaged(64), runtime.cudaFree),
    "cudaMallocAsync": in_order,
    "cudaFreeAsync": in_order,
    "cudaMemcpy2D": rows,
    "cudaMemcpy2DAsync": lambda: rows(PyGPU.Stream()),
    "cudaMemcpyPeer": peers,
    "cudaMemcpyPeerAsync": lambda: peers(PyGPU.Stream()),
    "cudaMemAdvise": lambda: with_managed(
        lambda address: runtime.cudaMemAdvise(address, 4096, runtime.cudaMemAdviseSetReadMostly, 0)
    ),
    "cudaMemPrefetchAsync": lambda: with_managed(lambda address: runtime.cudaMemPrefetchAsync(address, 4096, 0)),
    "cudaIpcGetMemHandle": lambda: shared(is_opened=False),
    "cudaIpcOpenMemHandle": lambda: shared(is_opened=True),
    "cudaIpcCloseMemHandle": lambda: shared(is_opened=True),
    "cudaDeviceGetAttribute": lambda: runtime.cudaDeviceGetAttribute(runtime.cudaDeviceAttr.cudaDevAttrWarpSize, 0)[1],
    "cudaPointerGetAttributes": lambda: runtime.cudaPointerGetAttributes(PyGPU.zeros(4).ptr)[1],
}


@pytest.mark.parametrize("name", CONTROLS)
def test_each_device_control_succeeds_or_returns_status(name: str) -> None:
    assert callable(getattr(runtime, name))
    runtime.cudaGetLastError()
    stated = {
        "cudaMemPrefetchAsync": 0 if moves_pages() else INVALID_DEVICE,
        **dict.fromkeys(
            ("cudaIpcGetMemHandle", "cudaIpcOpenMemHandle", "cudaIpcCloseMemHandle"), NOT_SUPPORTED * (BACKEND == "cpu")
        ),
    }
    status = CONTROLS[name]()
    assert status == stated.get(name, 0)
    assert repr(runtime.cudaError_t(status)).startswith("<cudaError")


@needs_kernels
def test_func_get_attributes_reports_attributes_of_kernel() -> None:
    kernel = PyGPU.Kernel("__global__ void one(int *x) { x[threadIdx.x] += 1; }")
    attributes, status = runtime.cudaFuncGetAttributes(kernel)
    assert status == 0
    assert attributes.maxThreadsPerBlock > 0
    assert PyGPU.use_hip is (BACKEND == "hip")


ATTRIBUTES = {
    "cluster": {"cluster": 2},
    "cluster_scheduling_policy": {"cluster": 2, "cluster_scheduling_policy": "spread"},
    "programmatic_dependent_launch": {"programmatic_dependent_launch": True},
    "priority": {"priority": -1},
    "cooperative": {"cooperative": True},
    "preferred_shared_memory_carveout": {"preferred_shared_memory_carveout": 50},
}


@needs_kernels
@pytest.mark.parametrize("name", ATTRIBUTES)
def test_launch_attribute_is_applied_or_rejected(name: str) -> None:
    kernel = PyGPU.Kernel("__global__ void one(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }")
    x = PyGPU.zeros(64, "int32")
    config = PyGPU.LaunchConfig(2, 32, **ATTRIBUTES[name])  # type: ignore[arg-type]
    if name.startswith("cluster") and BACKEND != "cuda":
        with pytest.raises(PyGPU.NotSupportedError, match="cluster"):
            kernel[config](x)
        return
    kernel[config](x)
    assert (x.get() == 1).all()
