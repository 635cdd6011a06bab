"""Define the measured libraries: the names that their statements in small_calls.py use, and how to wait for the device.

For every library `a` is a float32 array of shape (4, 8, 16), `five` an ndarray of five float32, `short` a copy of
`five` in the library's memory, `host` an ndarray, `f32` is `numpy.float32` and `f4` the dtype. Each function imports
its library, so that a process imports only its own library.
"""

from __future__ import annotations

import importlib
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

SHAPE = (4, 8, 16)
HOST = numpy.arange(numpy.prod(SHAPE), dtype=numpy.float32).reshape(SHAPE)
FIVE = numpy.arange(5, dtype=numpy.float32)
COMMON = {"np": numpy, "five": FIVE, "f32": numpy.float32, "f4": numpy.dtype("f4"), "host": HOST}


def _nothing() -> None:
    pass


@dataclass
class Library:
    """Describe a measured library: the names that timed statements use, and the function that waits for its device."""

    name: str
    names: dict[str, Any]
    synchronize: Callable[[], Any] = _nothing
    backend: str = ""
    # Remark about the library, which the printed table shows beside the library's values.
    note: str = ""

    def timer(self, statement: str) -> Callable[[int], float]:
        """Return a function that runs a statement a given number of times and returns the seconds of the whole run."""
        return timeit.Timer(statement, globals=self.names).timeit


def plain_numpy() -> Library:
    """Describe NumPy, whose arrays are in host memory."""
    return Library("NumPy", {**COMMON, "a": HOST.copy(), "short": FIVE.copy()})


def pygpu() -> Library:
    """Describe PyGPU on its default backend."""
    import PyGPU

    names = {
        "g": PyGPU,
        "a": PyGPU.to_gpu(HOST),
        "short": PyGPU.to_gpu(FIVE),
        "stream": PyGPU.Stream(),
        "event": PyGPU.Event(),
    }
    return Library("PyGPU", {**COMMON, **names}, PyGPU.synchronize, PyGPU.backend_name())


def cupy() -> Library:
    """Describe CuPy."""
    import cupy

    names = {
        "cupy": cupy,
        "a": cupy.asarray(HOST),
        "short": cupy.asarray(FIVE),
        "stream": cupy.cuda.Stream(),
        "event": cupy.cuda.Event(),
    }
    return Library("CuPy", {**COMMON, **names}, cupy.cuda.runtime.deviceSynchronize)


def torch() -> Library:
    """Describe PyTorch."""
    import torch

    if not torch.cuda.is_available():
        raise ImportError("this PyTorch has no CUDA")
    names = {
        "torch": torch,
        "a": torch.from_numpy(HOST).cuda(),
        "short": torch.from_numpy(FIVE).cuda(),
        "stream": torch.cuda.Stream(),
        "event": torch.cuda.Event(),
    }
    return Library("torch", {**COMMON, **names}, torch.cuda.synchronize)


def pycuda() -> Library:
    """Describe PyCUDA with its memory pool, which is its fastest configuration."""
    importlib.import_module("pycuda.autoprimaryctx")
    import pycuda.driver
    from pycuda import gpuarray, tools

    names = {
        "gpuarray": gpuarray,
        "pool": tools.DeviceMemoryPool().allocate,
        "a": gpuarray.to_gpu(HOST),
        "short": gpuarray.to_gpu(FIVE),
        "stream": pycuda.driver.Stream(),
        "event": pycuda.driver.Event(),
    }
    return Library("PyCUDA", {**COMMON, **names}, pycuda.driver.Context.synchronize)


def pybindgpu() -> Library:
    """Describe PybindGPU, whose `get` always fills and returns the same host buffer of an array."""
    import PybindGPU

    names = {
        "g": PybindGPU,
        "a": PybindGPU.to_gpu(HOST.copy()),
        "short": PybindGPU.to_gpu(FIVE.copy()),
        "stream": PybindGPU.cudaStream_t(),
        "event": PybindGPU.cudaEvent_t(),
    }
    return Library("PybindGPU", {**COMMON, **names}, PybindGPU.cudaDeviceSynchronize)


def numba() -> Library:
    """Describe numba-cuda."""
    from numba import cuda

    names = {
        "cuda": cuda,
        "a": cuda.to_device(HOST),
        "short": cuda.to_device(FIVE),
        "stream": cuda.stream(),
        "event": cuda.event(),
    }
    return Library("numba-cuda", {**COMMON, **names}, cuda.synchronize)


def jax() -> Library:
    """Describe JAX, for which a wait for the device means to compute one more result and wait for this result."""
    import jax

    if jax.default_backend() != "gpu":
        raise ImportError(f"this JAX has no CUDA, only {jax.default_backend()!r}")
    a = jax.device_put(HOST)
    names = {"jax": jax, "jnp": jax.numpy, "a": a, "short": jax.device_put(FIVE)}
    return Library("JAX", {**COMMON, **names}, lambda: (a + 1).block_until_ready())


def cuda_core() -> Library:
    """Describe cuda.core, which has memory, streams and events, but no arrays."""
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    names = {
        "device": device,
        "stream": stream,
        "event": stream.record(),
        "buffer": device.allocate(36, stream=stream),
    }
    return Library("cuda.core", {**COMMON, **names}, device.sync)


def floor() -> Library:
    """Describe the driver's own calls as a library."""
    from driver_calls import Floor

    return Floor()


def exchange() -> Library:
    """Describe a process that loads PyGPU and all installed libraries that import PyGPU's arrays."""
    import PyGPU

    on_cpu = PyGPU.backend_name() == "cpu"
    names = {"g": PyGPU, "ours": PyGPU.to_gpu(HOST)}
    missing: list[str] = []
    for add in (_exchange_torch, _exchange_cupy, _exchange_jax, _exchange_cuda_core, _exchange_numba):
        try:
            names |= add(on_cpu)
        except Exception as error:
            missing.append(f"{type(error).__name__}: {error}")
    return Library("exchange", {**COMMON, **names}, PyGPU.synchronize, PyGPU.backend_name(), "; ".join(missing))


def _exchange_torch(on_cpu: bool) -> dict[str, Any]:
    import torch

    tensor = torch.from_numpy(HOST.copy())
    return {"torch": torch, "torchs": tensor if on_cpu else tensor.cuda()}


def _exchange_cupy(on_cpu: bool) -> dict[str, Any]:
    if on_cpu:
        return {}
    import cupy

    return {"cupy": cupy, "cupys": cupy.asarray(HOST)}


def _exchange_jax(_on_cpu: bool) -> dict[str, Any]:
    import jax

    return {"jnp": jax.numpy, "jaxs": jax.device_put(HOST)}


def _exchange_cuda_core(on_cpu: bool) -> dict[str, Any]:
    if on_cpu:
        return {}
    from cuda.core.utils import StridedMemoryView

    return {"StridedMemoryView": StridedMemoryView}


def _exchange_numba(on_cpu: bool) -> dict[str, Any]:
    if on_cpu:
        return {}
    from numba import cuda

    return {"cuda": cuda}


# Maps the name of a library on the command line to the function that describes the library.
# The benchmark measures each library in a separate process.
PROCESSES: dict[str, Callable[[], Library]] = {
    "PyGPU": pygpu,
    "NumPy": plain_numpy,
    "floor": floor,
    "exchange": exchange,
    "CuPy": cupy,
    "torch": torch,
    "PyCUDA": pycuda,
    "PybindGPU": pybindgpu,
    "numba-cuda": numba,
    "JAX": jax,
    "cuda.core": cuda_core,
}
PEERS = ("CuPy", "torch", "PyCUDA", "PybindGPU", "numba-cuda", "JAX", "cuda.core")
