"""The libraries that small_calls.py measures: what their statements may name, and how their work is waited for.

In every namespace `a` is a float32 array of shape (4, 8, 16), `five` an ndarray of five float32, `short` those five in
the library's memory, `f32` is `numpy.float32` and `f4` the dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

import PyGPU

SHAPE = (4, 8, 16)
HOST = numpy.arange(numpy.prod(SHAPE), dtype=numpy.float32).reshape(SHAPE)
FIVE = numpy.arange(5, dtype=numpy.float32)
COMMON = {"np": numpy, "five": FIVE, "f32": numpy.float32, "f4": numpy.dtype("f4"), "host": HOST}


def _nothing() -> None:
    pass


@dataclass
class Library:
    """A library, the names its statements use, and how to wait for what they have put on the device."""

    name: str
    names: dict[str, Any]
    synchronize: Callable[[], Any] = _nothing
    on_cpu: bool = False


def _numpy() -> Library:
    return Library("NumPy", {**COMMON, "a": HOST.copy(), "short": FIVE.copy(), "other": HOST.copy()}, on_cpu=True)


def _pygpu() -> Library:
    on_cpu = PyGPU.backend_name() == "cpu"
    stream = PyGPU.Stream()
    names = {
        **COMMON,
        "g": PyGPU,
        "a": PyGPU.to_gpu(HOST),
        "short": PyGPU.to_gpu(FIVE),
        "stream": stream,
        "event": PyGPU.Event(),
        "other": HOST.copy() if on_cpu else PyGPU.to_gpu(HOST),
    }
    return Library("PyGPU", names, PyGPU.synchronize, on_cpu)


def _cupy() -> Library:
    import cupy

    stream = cupy.cuda.Stream()
    names = {
        "cupy": cupy,
        "a": cupy.asarray(HOST),
        "short": cupy.asarray(FIVE),
        "stream": stream,
        "event": cupy.cuda.Event(),
        "other": PyGPU.to_gpu(HOST),
    }
    return Library("CuPy", {**COMMON, **names}, cupy.cuda.runtime.deviceSynchronize)


def _torch() -> Library:
    import torch

    if not torch.cuda.is_available():
        raise ImportError("this PyTorch has no CUDA")
    names = {
        "torch": torch,
        "a": torch.from_numpy(HOST).cuda(),
        "short": torch.from_numpy(FIVE).cuda(),
        "stream": torch.cuda.Stream(),
        "event": torch.cuda.Event(),
        "other": PyGPU.to_gpu(HOST),
    }
    return Library("torch", {**COMMON, **names}, torch.cuda.synchronize)


def _numba() -> Library:
    from numba import cuda

    names = {
        "cuda": cuda,
        "a": cuda.to_device(HOST),
        "short": cuda.to_device(FIVE),
        "stream": cuda.stream(),
        "event": cuda.event(),
        "other": PyGPU.to_gpu(HOST),
    }
    return Library("numba-cuda", {**COMMON, **names}, cuda.synchronize)


def _cuda_core() -> Library:
    from cuda.core import Device
    from cuda.core.utils import StridedMemoryView

    device = Device(PyGPU.current_device())
    device.set_current()
    stream = device.create_stream()
    names = {
        "device": device,
        "stream": stream,
        "event": stream.record(),
        "buffer": device.allocate(36, stream=stream),
        "other": PyGPU.to_gpu(HOST),
        "StridedMemoryView": StridedMemoryView,
    }
    return Library("cuda.core", {**COMMON, **names}, device.sync)


PEERS = {"CuPy": _cupy, "torch": _torch, "numba-cuda": _numba, "cuda.core": _cuda_core}


def libraries(*, peers: bool) -> tuple[list[Library], dict[str, str]]:
    """PyGPU, NumPy and, on CUDA and if asked for, the peers that are there; and why others are not."""
    found, missing = [_pygpu(), _numpy()], {}
    if not peers:
        return found, missing
    if PyGPU.backend_name() != "cuda":
        return found, {"peers": f"they compute on CUDA, and PyGPU's backend here is {PyGPU.backend_name()!r}"}
    for name, make in PEERS.items():
        try:
            found.append(make())
        except Exception as error:  # a peer that is broken must not end the measurement
            missing[name] = f"{type(error).__name__}: {error}"
    return found, missing
