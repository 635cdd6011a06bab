"""Define calls of streams, events, graphs, devices and functions of the driver interface.

The objects that the calls use are created before any operation is pending.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

import PyGPU
from fusion_support.calls import listed
from PyGPU import driver


class CallObjects:
    """Create the streams, events and other objects that the calls of this file use, before any operation is pending."""

    def __init__(self) -> None:
        self.stream = driver.Stream()
        self.other = PyGPU.Stream(non_blocking=True)
        self.event = PyGPU.Event()
        self.first = driver.Event().record()
        self.last = driver.Event().record()
        self.device, self.entered = PyGPU.Device(), PyGPU.Device()
        self.entered.__enter__()
        self.graph = PyGPU.Graph(self.stream)
        self.target = PyGPU.zeros(8, "float32")
        with self.graph:
            self.target.fill(1)
        self.replacement = PyGPU.Graph(self.stream)
        with self.replacement:
            self.target.fill(2)
        self.second = driver.mem_alloc(64)
        self.memory = driver.mem_alloc(64)
        self.pitched = driver.mem_alloc_pitch(32, 4, 4)[0]
        self.host = np.zeros(64, "uint8")
        self.pinned = PyGPU.zeros_pinned(64, "uint8")
        self.raw_stream = PyGPU.cudaStreamCreate()[0]
        self.raw_event = PyGPU.cudaEventCreate()[0]
        PyGPU.cudaEventRecord(self.raw_event)
        self.raw_memory, self.raw_second = int(PyGPU.cudaMalloc(64)[0]), int(PyGPU.cudaMalloc(64)[0])
        self.raw_pinned = int(PyGPU.cudaMallocHost(64)[0])
        self.raw_ordered = [int(PyGPU.cudaMallocAsync(64)[0])]
        PyGPU.synchronize()

    def keep_ordered(self, answer: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return the result of a call of `cudaMallocAsync`, and record its memory, so that `leave` frees it."""
        self.raw_ordered.append(int(answer[0]))
        return answer

    def leave(self) -> None:
        """Free the raw memory, and make the previous device current again, because other tests use that device."""
        for address in (self.raw_memory, self.raw_second):
            PyGPU.cudaFree(address)
        for address in self.raw_ordered:
            PyGPU.cudaFreeAsync(address)
        PyGPU.cudaFreeHost(self.raw_pinned)
        PyGPU.cudaStreamDestroy(self.raw_stream)
        PyGPU.cudaEventDestroy(self.raw_event)
        for device in (self.device, self.entered):
            with contextlib.suppress(RuntimeError):
                device.__exit__(None, None, None)


def captured(place: CallObjects) -> None:
    place.stream.begin_capture()
    place.stream.end_capture()


async def awaited(what: PyGPU.Stream | PyGPU.Event) -> None:
    await what


Call = Callable[[CallObjects], Any]

# For each class: the attributes whose use flushes, each with a function that uses the attribute, and the attributes
# whose use does not flush.
CLASSES: dict[str, tuple[type, dict[str, Call], set[str]]] = {
    "Stream": (
        driver.Stream,
        {
            "_as_parameter_": lambda p: p.stream._as_parameter_,
            "__cuda_stream__": lambda p: p.stream.__cuda_stream__(),
            "__enter__": lambda p: (p.stream.__enter__(), p.stream.__exit__(None, None, None)),
            "__await__": lambda p: asyncio.run(awaited(p.stream)),
            "begin_capture": captured,
            "end_capture": captured,
            "handle": lambda p: p.stream.handle,
            "is_done": lambda p: p.stream.is_done(),
            "launch_host_function": lambda p: p.stream.launch_host_function(int),
            "query": lambda p: p.stream.query(),
            "record": lambda p: p.stream.record(),
            "synchronize": lambda p: p.stream.synchronize(),
            "wait_event": lambda p: p.stream.wait_event(p.first),
            "wait_for_event": lambda p: p.stream.wait_for_event(p.first),
            "wait_stream": lambda p: p.stream.wait_stream(p.other),
        },
        listed("_adopt device from_handle is_capturing is_default is_non_blocking priority"),
    ),
    "Event": (
        driver.Event,
        {
            "_as_parameter_": lambda p: p.event._as_parameter_,
            "__await__": lambda p: asyncio.run(awaited(p.first)),
            "elapsed_time": lambda p: p.first.elapsed_time(p.last),
            "handle": lambda p: p.event.handle,
            "query": lambda p: p.first.query(),
            "record": lambda p: p.event.record(),
            "synchronize": lambda p: p.first.synchronize(),
            "time_since": lambda p: p.last.time_since(p.first),
            "time_till": lambda p: p.first.time_till(p.last),
        },
        listed("device from_ipc_handle ipc_handle"),
    ),
    "Graph": (
        PyGPU.Graph,
        {
            "launch": lambda p: p.graph.launch(),
            "replay": lambda p: p.graph.replay(),
            "upload": lambda p: p.graph.upload(),
        },
        listed("create_condition device if_else if_then nodes num_nodes switch update while_loop _repr_html_"),
    ),
    "Device": (
        PyGPU.Device,
        {
            "make_current": lambda p: p.device.make_current(),
            "mem_info": lambda p: p.device.mem_info,
            "memory_info": lambda p: p.device.memory_info(),
            "synchronize": lambda p: p.device.synchronize(),
            "use": lambda p: p.device.use(),
            "__enter__": lambda p: p.device.__enter__(),
            "__exit__": lambda p: p.entered.__exit__(None, None, None),
        },
        listed(
            "_repr_html_ attributes can_access_peer compute_capability default_stream enable_peer_access "
            "from_pci_bus_id id index kind name pci_bus_id properties uuid"
        ),
    ),
}


def status(answer: Any) -> Any:
    code = answer[-1] if isinstance(answer, tuple) else answer
    assert int(code) == 0, answer
    return answer


RAW: dict[str, Call] = {
    "cudaDeviceSynchronize": lambda _: PyGPU.cudaDeviceSynchronize(),
    "cudaEventElapsedTime": lambda p: PyGPU.cudaEventElapsedTime(p.raw_event, p.raw_event),
    "cudaEventQuery": lambda p: PyGPU.cudaEventQuery(p.raw_event),
    "cudaEventRecord": lambda p: PyGPU.cudaEventRecord(p.raw_event),
    "cudaEventSynchronize": lambda p: PyGPU.cudaEventSynchronize(p.raw_event),
    "cudaFree": lambda _: PyGPU.cudaFree(PyGPU.cudaMalloc(64)[0]),
    "cudaFreeHost": lambda _: PyGPU.cudaFreeHost(PyGPU.cudaMallocHost(64)[0]),
    "cudaLaunchHostFunc": lambda p: PyGPU.cudaLaunchHostFunc(p.raw_stream, lambda _: None),
    "cudaMallocAsync": lambda p: p.keep_ordered(PyGPU.cudaMallocAsync(64)),
    "cudaMemGetInfo": lambda _: PyGPU.cudaMemGetInfo(),
    "cudaMemcpy": lambda p: PyGPU.cudaMemcpy(p.raw_memory, p.host.ctypes.data, 64, 1),
    "cudaMemcpyAsync": lambda p: PyGPU.cudaMemcpyAsync(p.raw_memory, p.pinned.ctypes.data, 64, 1),
    "cudaMemcpy2D": lambda p: PyGPU.cudaMemcpy2D(p.raw_memory, 8, p.host.ctypes.data, 8, 8, 8, 1),
    "cudaMemcpy2DAsync": lambda p: PyGPU.cudaMemcpy2DAsync(p.raw_memory, 8, p.pinned.ctypes.data, 8, 8, 8, 1),
    "cudaMemcpyPeer": lambda p: PyGPU.cudaMemcpyPeer(p.raw_memory, 0, p.raw_second, 0, 64),
    "cudaMemcpyPeerAsync": lambda p: PyGPU.cudaMemcpyPeerAsync(p.raw_memory, 0, p.raw_second, 0, 64),
    "cudaMemset": lambda p: PyGPU.cudaMemset(p.raw_memory, 0, 64),
    "cudaMemsetAsync": lambda p: PyGPU.cudaMemsetAsync(p.raw_memory, 0, 64),
    "cudaSetDevice": lambda _: PyGPU.cudaSetDevice(0),
    "cudaStreamQuery": lambda p: PyGPU.cudaStreamQuery(p.raw_stream),
    "cudaStreamSynchronize": lambda p: PyGPU.cudaStreamSynchronize(p.raw_stream),
    "cudaStreamWaitEvent": lambda p: PyGPU.cudaStreamWaitEvent(p.raw_stream, p.raw_event),
}

# Functions that do not flush: they only create, query or destroy objects that no pending operation can use.
# Functions that the tests cannot call are also listed, such as functions that need another process.
RAW_QUIET = listed(
    """
    cudaDeviceCanAccessPeer cudaDeviceEnablePeerAccess cudaDeviceGetAttribute cudaDeviceReset
    cudaDriverGetVersion cudaEventCreate cudaEventCreateWithFlags cudaEventDestroy cudaFreeAsync
    cudaFuncGetAttributes cudaGetDevice cudaGetDeviceCount cudaGetErrorName cudaGetErrorString
    cudaGetLastError cudaHostAlloc cudaHostRegister cudaHostUnregister cudaIpcCloseMemHandle
    cudaIpcGetEventHandle cudaIpcGetMemHandle cudaIpcOpenEventHandle cudaIpcOpenMemHandle cudaMalloc
    cudaMallocHost cudaMallocManaged cudaMemAdvise cudaMemPrefetchAsync cudaPeekAtLastError
    cudaPointerGetAttributes cudaStreamCreate cudaStreamCreateWithFlags cudaStreamCreateWithPriority
    cudaStreamDestroy nvmlInit nvmlShutdown
    """
)

DRIVER: dict[str, Call] = {
    "from_device": lambda p: driver.from_device(p.memory, (64,), "uint8"),
    "from_device_like": lambda p: driver.from_device_like(p.memory, p.host),
    "mem_get_info": lambda _: driver.mem_get_info(),
    "memcpy_dtod": lambda p: driver.memcpy_dtod(p.memory, p.second, 64),
    "memcpy_dtod_async": lambda p: driver.memcpy_dtod_async(p.memory, p.second, 64),
    "memcpy_dtoh": lambda p: driver.memcpy_dtoh(p.host, p.memory),
    "memcpy_dtoh_async": lambda p: driver.memcpy_dtoh_async(p.pinned, p.memory),
    "memcpy_htod": lambda p: driver.memcpy_htod(p.memory, p.host),
    "memcpy_htod_async": lambda p: driver.memcpy_htod_async(p.memory, p.pinned),
    "memset_d8": lambda p: driver.memset_d8(p.memory, 0, 64),
    "memset_d16": lambda p: driver.memset_d16(p.memory, 0, 32),
    "memset_d32": lambda p: driver.memset_d32(p.memory, 0, 16),
    "memset_d8_async": lambda p: driver.memset_d8_async(p.memory, 0, 64),
    "memset_d16_async": lambda p: driver.memset_d16_async(p.memory, 0, 32),
    "memset_d32_async": lambda p: driver.memset_d32_async(p.memory, 0, 16),
    "memset_d2d8": lambda p: driver.memset_d2d8(p.memory, 8, 0, 8, 8),
    "memset_d2d16": lambda p: driver.memset_d2d16(p.memory, 8, 0, 4, 8),
    "memset_d2d32": lambda p: driver.memset_d2d32(p.memory, 8, 0, 2, 8),
    "memset_d2d8_async": lambda p: driver.memset_d2d8_async(p.memory, 8, 0, 8, 8),
    "memset_d2d16_async": lambda p: driver.memset_d2d16_async(p.memory, 8, 0, 4, 8),
    "memset_d2d32_async": lambda p: driver.memset_d2d32_async(p.memory, 8, 0, 2, 8),
    "start_profiler": lambda _: driver.start_profiler(),
    "stop_profiler": lambda _: driver.stop_profiler(),
    "to_device": lambda p: driver.to_device(p.host),
}

# Functions that do not flush: they only allocate or query, or use texture arrays, whose memory
# no pending operation uses. `tests/pycuda` tests texture arrays.
DRIVER_QUIET = listed(
    """
    aligned_empty aligned_empty_like aligned_zeros aligned_zeros_like bind_array_to_texref
    dtype_to_array_format get_driver_version get_version gpuarray_to_array have_gl_ext init
    initialize_profiler make_multichannel_2d_array managed_empty managed_empty_like managed_zeros
    managed_zeros_like matrix_to_array matrix_to_texref mem_alloc mem_alloc_like mem_alloc_pitch
    mem_get_address_range mem_get_ipc_handle memcpy_atoa memcpy_atod memcpy_dtoa memcpy_peer memcpy_peer_async
    module_from_buffer module_from_file np_to_array pagelocked_empty pagelocked_empty_like pagelocked_zeros
    pagelocked_zeros_like py_memcpy_atoh py_memcpy_htoa register_host_memory set_debugging
    """
)
