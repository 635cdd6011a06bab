"""The runtime-style interface: names that start with `cuda` return statuses and do not raise for a device error.

Without a value a call returns a `cudaError_t`, with one the tuple ``(value, cudaError_t)``; after an error the value is
zero. Arguments of a wrong kind raise `TypeError` or `ValueError`. The names are CUDA's on every backend, HIP and the
CPU included. Nothing here opens a library before a function is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU import _core
from PyGPU._runtime_device import (
    cudaDeviceCanAccessPeer,
    cudaDeviceEnablePeerAccess,
    cudaDeviceProp,
    cudaDeviceReset,
    cudaDeviceSynchronize,
    cudaDriverGetVersion,
    cudaGetDevice,
    cudaGetDeviceCount,
    cudaSetDevice,
)
from PyGPU._runtime_event import (
    cudaEvent_t,
    cudaEventBlockingSync,
    cudaEventDefault,
    cudaEventDisableTiming,
    cudaEventElapsedTime,
    cudaEventInterprocess,
    cudaEventQuery,
    cudaEventRecord,
    cudaEventSynchronize,
    cudaStreamWaitEvent,
)
from PyGPU._runtime_host import (
    cudaFreeHost,
    cudaHostAlloc,
    cudaHostAllocDefault,
    cudaHostAllocMapped,
    cudaHostAllocPortable,
    cudaHostAllocWriteCombined,
    cudaHostRegister,
    cudaHostRegisterDefault,
    cudaHostRegisterIoMemory,
    cudaHostRegisterMapped,
    cudaHostRegisterPortable,
    cudaHostRegisterReadOnly,
    cudaHostUnregister,
    cudaMallocHost,
)
from PyGPU._runtime_memory import (
    cudaFree,
    cudaMalloc,
    cudaMemcpy,
    cudaMemcpyAsync,
    cudaMemcpyDefault,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyHostToHost,
    cudaMemGetInfo,
    cudaMemset,
    cudaMemsetAsync,
)
from PyGPU._runtime_stream import (
    cudaStream_t,
    cudaStreamDefault,
    cudaStreamNonBlocking,
    cudaStreamQuery,
    cudaStreamSynchronize,
)
from PyGPU._status import (
    cudaError_t,
    cudaGetErrorName,
    cudaGetErrorString,
    cudaGetLastError,
    cudaPeekAtLastError,
)

if TYPE_CHECKING:
    use_hip: bool

# Without use_hip, see __getattr__.
__all__ = [
    "cudaDeviceCanAccessPeer",
    "cudaDeviceEnablePeerAccess",
    "cudaDeviceProp",
    "cudaDeviceReset",
    "cudaDeviceSynchronize",
    "cudaDriverGetVersion",
    "cudaError_t",
    "cudaEventBlockingSync",
    "cudaEventDefault",
    "cudaEventDisableTiming",
    "cudaEventElapsedTime",
    "cudaEventInterprocess",
    "cudaEventQuery",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaEvent_t",
    "cudaFree",
    "cudaFreeHost",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaGetLastError",
    "cudaHostAlloc",
    "cudaHostAllocDefault",
    "cudaHostAllocMapped",
    "cudaHostAllocPortable",
    "cudaHostAllocWriteCombined",
    "cudaHostRegister",
    "cudaHostRegisterDefault",
    "cudaHostRegisterIoMemory",
    "cudaHostRegisterMapped",
    "cudaHostRegisterPortable",
    "cudaHostRegisterReadOnly",
    "cudaHostUnregister",
    "cudaMalloc",
    "cudaMallocHost",
    "cudaMemGetInfo",
    "cudaMemcpy",
    "cudaMemcpyAsync",
    "cudaMemcpyDefault",
    "cudaMemcpyDeviceToDevice",
    "cudaMemcpyDeviceToHost",
    "cudaMemcpyHostToDevice",
    "cudaMemcpyHostToHost",
    "cudaMemset",
    "cudaMemsetAsync",
    "cudaPeekAtLastError",
    "cudaSetDevice",
    "cudaStreamDefault",
    "cudaStreamNonBlocking",
    "cudaStreamQuery",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
    "cudaStream_t",
    "cuda_enabled",
    "major_version",
    "minor_version",
    "release_version",
]

# A pre-release is written 1.2.3-rc.1: its last number ends at the hyphen.
major_version, minor_version, release_version = (int(part) for part in _core.__version__.split("-")[0].split("."))

cuda_enabled = True
"""The `cuda*` names are there, on every backend."""


def __getattr__(name: str) -> bool:
    # Only looking at it asks for the backend, which opens a library. Hence it is no constant and not in __all__: a star
    # import would look at it.
    if name == "use_hip":
        return _core.backend_name() == "hip"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
