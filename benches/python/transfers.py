"""Define the transfers of each library: to the device and back, pageable, pinned and strided.

"to device" creates an array from an ndarray; the array is deleted, outside the timing, before the next one is created.
"from device" creates an ndarray. In "dropped" the result is dropped inside the timing, as in a loop that uses each
result once; in "fresh" all results are kept, so that no library can reuse the memory of one result for the next. "into"
fills existing memory. A strided host array consists of every second column of a wider array; its size counts only its
own elements. Each call ends when the data has arrived.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy

COLUMNS = 1024
# Largest number of bytes of a strided array.
# A strided array needs twice its size on the host, and every library copies strided arrays slowly.
MOST_STRIDED = 256 << 20
# Greatest number of bytes in results that a measurement keeps, beyond the two results that every measurement needs.
MOST_KEPT = 2 << 30

# When the result of a timed call is dropped: within its timing, after its timing, or after the timing of all calls.
INSIDE, AFTER, NEVER = "inside the clock", "after the clock", "when all are timed"


@dataclass
class TimedTransfer:
    """Describe a timed transfer: the call, the lifetime of the result, the preparation of a call, and the cleanup."""

    call: Callable[[], Any]
    drop: str = INSIDE
    before: Callable[[], Any] | None = None
    release: Callable[[], Any] | None = None


class Arrays:
    """Hold the source and the target of transfers in host memory, of which every page is touched before the timing."""

    def __init__(self, size: int) -> None:
        self.host = numpy.arange(size // 4, dtype=numpy.float32).reshape(-1, COLUMNS)

    @cached_property
    def out(self) -> numpy.ndarray:
        return numpy.full_like(self.host, 1)

    @cached_property
    def strided(self) -> numpy.ndarray:
        wide = numpy.zeros((self.host.shape[0], 2 * COLUMNS), numpy.float32)
        wide[:, ::2] = self.host
        return wide[:, ::2]

    @cached_property
    def strided_out(self) -> numpy.ndarray:
        return numpy.full((self.host.shape[0], 2 * COLUMNS), 1, numpy.float32)[:, ::2]


def plain_numpy(arrays: Arrays) -> dict[str, TimedTransfer]:
    """Return the transfers of NumPy, which are copies in host memory."""
    host = arrays.host
    return {
        "to device": TimedTransfer(lambda: host.copy(), AFTER),
        "to device, strided": TimedTransfer(lambda: arrays.strided.copy(), AFTER),
        "from device, dropped": TimedTransfer(lambda: host.copy()),
        "from device, fresh": TimedTransfer(lambda: host.copy(), NEVER),
        "into device": TimedTransfer(lambda: numpy.copyto(arrays.out, host)),
        "into ndarray": TimedTransfer(lambda: numpy.copyto(arrays.out, host)),
        "into strided": TimedTransfer(lambda: numpy.copyto(arrays.strided_out, host)),
    }


def pygpu(arrays: Arrays) -> dict[str, TimedTransfer]:
    """Return PyGPU's transfers."""
    import PyGPU

    host, wait = arrays.host, PyGPU.synchronize
    array = PyGPU.to_gpu(host)
    pinned = PyGPU.empty_pinned(host.shape, host.dtype)
    pinned[...] = host
    return {
        "to device": TimedTransfer(lambda: (PyGPU.to_gpu(host), wait())[0], AFTER),
        "to device, pinned": TimedTransfer(lambda: (PyGPU.to_gpu(pinned), wait())[0], AFTER),
        "to device, strided": TimedTransfer(lambda: (PyGPU.to_gpu(arrays.strided), wait())[0], AFTER),
        "from device, dropped": TimedTransfer(lambda: array.get()),
        "from device, fresh": TimedTransfer(lambda: array.get(), NEVER),
        "into device": TimedTransfer(lambda: (array.set(host), wait())),
        "into ndarray": TimedTransfer(lambda: array.get(arrays.out)),
        "into pinned": TimedTransfer(lambda: array.get(pinned)),
        "into strided": TimedTransfer(lambda: array.get(arrays.strided_out)),
    }


def cupy(arrays: Arrays) -> dict[str, TimedTransfer]:
    """Return CuPy's transfers."""
    import cupy
    import cupyx

    host, wait = arrays.host, cupy.cuda.runtime.deviceSynchronize
    array = cupy.asarray(host)
    pinned = cupyx.empty_pinned(host.shape, host.dtype)
    pinned[...] = host
    return {
        "to device": TimedTransfer(lambda: (cupy.asarray(host), wait())[0], AFTER),
        "to device, pinned": TimedTransfer(lambda: (cupy.asarray(pinned), wait())[0], AFTER),
        "to device, strided": TimedTransfer(lambda: (cupy.asarray(arrays.strided), wait())[0], AFTER),
        "from device, dropped": TimedTransfer(lambda: array.get()),
        "from device, fresh": TimedTransfer(lambda: array.get(), NEVER),
        "into device": TimedTransfer(lambda: (array.set(host), wait())),
        "into ndarray": TimedTransfer(lambda: array.get(out=arrays.out)),
        "into pinned": TimedTransfer(lambda: array.get(out=pinned)),
        "into strided": TimedTransfer(lambda: numpy.copyto(arrays.strided_out, array.get())),
    }


def torch(arrays: Arrays) -> dict[str, TimedTransfer]:
    """Return PyTorch's transfers."""
    import torch

    source, wait = torch.from_numpy(arrays.host), torch.cuda.synchronize
    tensor = source.cuda()
    pinned = source.pin_memory()
    return {
        "to device": TimedTransfer(lambda: (source.cuda(), wait())[0], AFTER),
        "to device, pinned": TimedTransfer(lambda: (pinned.cuda(), wait())[0], AFTER),
        "to device, strided": TimedTransfer(lambda: (torch.from_numpy(arrays.strided).cuda(), wait())[0], AFTER),
        "from device, dropped": TimedTransfer(lambda: tensor.cpu()),
        "from device, fresh": TimedTransfer(lambda: tensor.cpu(), NEVER),
        "into device": TimedTransfer(lambda: (tensor.copy_(source), wait())),
        "into ndarray": TimedTransfer(lambda: torch.from_numpy(arrays.out).copy_(tensor)),
        "into pinned": TimedTransfer(lambda: pinned.copy_(tensor)),
        "into strided": TimedTransfer(lambda: torch.from_numpy(arrays.strided_out).copy_(tensor)),
    }


def pycuda(arrays: Arrays) -> dict[str, TimedTransfer]:
    """Return PyCUDA's transfers with its device pool; NumPy packs strided host memory, which PyCUDA rejects."""
    import pycuda.driver as driver
    from pycuda import gpuarray, tools

    host, wait, pool = arrays.host, driver.Context.synchronize, tools.DeviceMemoryPool().allocate
    array = gpuarray.to_gpu(host)
    pinned = driver.pagelocked_empty(host.shape, host.dtype)
    pinned[...] = host

    def strided() -> Any:
        return gpuarray.to_gpu(numpy.ascontiguousarray(arrays.strided), allocator=pool)

    return {
        "to device": TimedTransfer(lambda: (gpuarray.to_gpu(host, allocator=pool), wait())[0], AFTER),
        "to device, pinned": TimedTransfer(lambda: (gpuarray.to_gpu(pinned, allocator=pool), wait())[0], AFTER),
        "to device, strided": TimedTransfer(lambda: (strided(), wait())[0], AFTER),
        "from device, dropped": TimedTransfer(lambda: array.get()),
        "from device, fresh": TimedTransfer(lambda: array.get(), NEVER),
        "into device": TimedTransfer(lambda: (array.set(host), wait())),
        "into ndarray": TimedTransfer(lambda: array.get(arrays.out)),
        "into pinned": TimedTransfer(lambda: array.get(pinned)),
        "into strided": TimedTransfer(lambda: numpy.copyto(arrays.strided_out, array.get())),
    }


def pybindgpu(arrays: Arrays) -> dict[str, TimedTransfer]:
    """Return PybindGPU's transfers; a plain `get` returns the array's single host buffer, `copy=True` a new ndarray."""
    import PybindGPU

    host, wait = arrays.host, PybindGPU.cudaDeviceSynchronize
    array = PybindGPU.to_gpu(host.copy())

    def strided() -> Any:
        return PybindGPU.to_gpu(numpy.ascontiguousarray(arrays.strided))

    return {
        "to device": TimedTransfer(lambda: (PybindGPU.to_gpu(host), wait())[0], AFTER),
        "to device, strided": TimedTransfer(lambda: (strided(), wait())[0], AFTER),
        "from device, dropped": TimedTransfer(lambda: array.get()),
        "from device, fresh": TimedTransfer(lambda: array.get(copy=True), NEVER),
        "into device": TimedTransfer(lambda: (array.set(host), wait())),
        "into strided": TimedTransfer(lambda: numpy.copyto(arrays.strided_out, array.get())),
    }


def numba(arrays: Arrays) -> dict[str, TimedTransfer]:
    """Return the transfers of numba-cuda."""
    from numba import cuda

    host, wait = arrays.host, cuda.synchronize
    array = cuda.to_device(host)
    pinned = cuda.pinned_array(host.shape, host.dtype)
    pinned[...] = host
    return {
        "to device": TimedTransfer(lambda: (cuda.to_device(host), wait())[0], AFTER),
        "to device, pinned": TimedTransfer(lambda: (cuda.to_device(pinned), wait())[0], AFTER),
        "to device, strided": TimedTransfer(
            lambda: (cuda.to_device(numpy.ascontiguousarray(arrays.strided)), wait())[0], AFTER
        ),
        "from device, dropped": TimedTransfer(lambda: array.copy_to_host()),
        "from device, fresh": TimedTransfer(lambda: array.copy_to_host(), NEVER),
        "into device": TimedTransfer(lambda: (array.copy_to_device(host), wait())),
        "into ndarray": TimedTransfer(lambda: array.copy_to_host(arrays.out)),
        "into pinned": TimedTransfer(lambda: array.copy_to_host(pinned)),
        "into strided": TimedTransfer(lambda: numpy.copyto(arrays.strided_out, array.copy_to_host())),
    }


def jax(arrays: Arrays) -> dict[str, TimedTransfer]:
    """Return JAX's transfers; each download needs a fresh array, because an array of JAX caches its ndarray."""
    import jax

    array = jax.device_put(arrays.host).block_until_ready()
    unasked = [array]

    def renew() -> None:
        unasked[0] = array.copy().block_until_ready()

    return {
        "to device": TimedTransfer(lambda: jax.device_put(arrays.host).block_until_ready(), AFTER),
        "to device, strided": TimedTransfer(lambda: jax.device_put(arrays.strided).block_until_ready(), AFTER),
        "from device, dropped": TimedTransfer(lambda: numpy.asarray(unasked[0]), before=renew),
        "from device, fresh": TimedTransfer(lambda: numpy.asarray(unasked[0]), NEVER, before=renew),
    }


WAYS: dict[str, Callable[[Arrays], dict[str, TimedTransfer]]] = {
    "PyGPU": pygpu,
    "NumPy": plain_numpy,
    "CuPy": cupy,
    "torch": torch,
    "PyCUDA": pycuda,
    "PybindGPU": pybindgpu,
    "numba-cuda": numba,
    "JAX": jax,
}


def seconds(way: TimedTransfer, size: int, budget: float) -> float:
    """Return the median seconds of at least two calls, after one warm-up call."""
    times: list[float] = []
    kept: list[Any] = []
    began = time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - began < budget and len(times) < 1000):
        if way.before is not None:
            way.before()
        start = time.perf_counter()
        result = way.call()
        if way.drop == INSIDE:
            result = None
        times.append(time.perf_counter() - start)
        if way.drop == NEVER:
            kept.append(result)
            if len(times) >= 3 and len(kept) * size >= MOST_KEPT:
                break
        result = None
    return statistics.median(times[1:])
