"""Define the libraries between which `tests/helpers/handovers.py` passes memory: PyGPU, NumPy and other libraries."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import PyGPU
import simulated_driver

HISTORY = 24
SPIN = """
extern "C" __global__ void spin(long long ticks) {
    long long start = clock64();
    while (clock64() - start < ticks) {}
}
"""
FILL = """
extern "C" __global__ void fill(float* out, int count, float value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = value;
}
"""
# Clock cycles of the kernel that keeps a stream busy: a few tenths of a millisecond.
TICKS = 400_000


class Library:
    """Define a library that uses a baton, which is a piece of memory that `handovers.py` passes between libraries."""

    name = ""
    on_device = True

    def write(self, baton: Baton, part: slice, value: float) -> None:
        """Write into a part of the baton's memory, asynchronously if the library supports this."""
        raise NotImplementedError

    def read(self, baton: Baton) -> np.ndarray:
        """Return the values of the baton's memory."""
        raise NotImplementedError

    @contextlib.contextmanager
    def working(self, baton: Baton) -> Iterator[None]:
        """Make the stream on which the library received the memory its current stream during a `with` block."""
        yield

    def stream(self, choices: Random) -> Any:
        """Return the stream on which the library works after it has received the memory."""
        return None

    def finish(self, baton: Baton) -> None:
        """Wait for the work that the library has started on the baton's memory.

        Work of NumPy and numba is complete when the call that starts it returns.
        """


@dataclass(eq=False)
class Baton:
    """Hold a piece of memory that libraries pass to each other, and its expected contents.

    The current library uses the memory through the array `holder`.
    """

    holder: Any
    library: Library
    expected: np.ndarray
    device: str
    stream: Any = None
    # True if PyGPU, which owns the memory, has received the stream on which the current library uses the memory. If the
    # value is False, the test finishes the work on that stream before it deletes the library's array, because PyGPU
    # cannot wait for that stream. A library passes its stream only to the library from which it imports the memory. If
    # one library in the chain passes no stream (`synchronization_rules.py`), the value therefore stays False for all
    # later libraries.
    is_stream_known: bool = True
    # Whether JAX allocated the memory. When the last owner of such memory is dropped,
    # JAX reuses the memory without waiting for other libraries.
    is_of_jax: bool = False
    # The arrays of earlier libraries. Each still keeps the memory alive, and the test may delete any of them at any
    # time.
    kept: list[Any] = field(default_factory=list)
    history: deque[str] = field(default_factory=lambda: deque(maxlen=HISTORY))


class Own(Library):
    """Use a baton's memory through a PyGPU array; PyGPU itself orders the accesses on all of its streams."""

    name = "PyGPU"

    def __init__(self, device: str) -> None:
        self.device, self.on_device = device, device != "cpu"
        self.streams = [PyGPU.Stream() for _ in range(3)] if self.on_device else []
        self.spin = spinner() if self.on_device else None

    def stream(self, choices: Random) -> Any:
        return choices.choice([None, *self.streams])

    def write(self, baton: Baton, part: slice, value: float) -> None:
        with baton.stream or contextlib.nullcontext():
            if self.spin and baton.stream:
                self.spin(baton.stream)
            view, number = baton.holder[part], np.float32(value)
            match int(value) % 4:
                case 0:
                    view.fill(number)
                case 1:
                    view *= np.float32(0)
                    view += number
                case 2:
                    baton.holder[part] = view * np.float32(0) + number
                case _:
                    self.replace(baton, part, number)

    def replace(self, baton: Baton, part: slice, number: np.float32) -> None:
        """Copy the values into a new array, which replaces the current one as `baton.holder`, and write into it.

        If PyGPU defers arithmetic, the new array is pending at that time.
        """
        before = baton.holder
        baton.holder = before * np.float32(1)
        baton.holder[part] = number
        # The kernel may still read the old memory, and PyGPU may not have passed the kernel's stream to the owner of
        # this memory.
        if not baton.is_stream_known or baton.is_of_jax:
            self.finish(baton)
        baton.is_stream_known, baton.is_of_jax = True, False

    def read(self, baton: Baton) -> np.ndarray:
        return baton.holder.get()

    def finish(self, baton: Baton) -> None:
        if self.on_device:
            PyGPU.synchronize()


class Host(Library):
    """Use a baton's memory through a NumPy array."""

    name, on_device = "NumPy", False

    def write(self, baton: Baton, part: slice, value: float) -> None:
        baton.holder[part] = value

    def read(self, baton: Baton) -> np.ndarray:
        return baton.holder.copy()


class Torch(Library):
    """Use a baton's memory through a PyTorch tensor.

    Each object works on one of PyTorch's streams.
    """

    name = "torch"

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.streams = [torch.cuda.default_stream(), *(torch.cuda.Stream() for _ in range(2))]
        self.spin = spinner()

    def stream(self, choices: Random) -> Any:
        return choices.choice(self.streams)

    @contextlib.contextmanager
    def working(self, baton: Baton) -> Iterator[None]:
        with self.torch.cuda.stream(baton.stream):
            yield

    def write(self, baton: Baton, part: slice, value: float) -> None:
        if self.spin:
            self.spin(PyGPU.Stream.from_handle(baton.stream.cuda_stream) if baton.stream.cuda_stream else None)
        baton.holder[part] = value

    def read(self, baton: Baton) -> np.ndarray:
        return baton.holder.cpu().numpy()

    def finish(self, baton: Baton) -> None:
        baton.stream.synchronize()


class CuPy(Library):
    """Use a baton's memory through a CuPy array.

    Each object works on one of CuPy's streams.
    """

    name = "CuPy"

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy
        self.streams = [cupy.cuda.Stream.null, *(cupy.cuda.Stream() for _ in range(2))]
        self.spin = spinner()

    def stream(self, choices: Random) -> Any:
        return choices.choice(self.streams)

    @contextlib.contextmanager
    def working(self, baton: Baton) -> Iterator[None]:
        with baton.stream:
            yield

    def write(self, baton: Baton, part: slice, value: float) -> None:
        if self.spin:
            self.spin(PyGPU.Stream.from_handle(baton.stream.ptr) if baton.stream.ptr else None)
        baton.holder[part] = value

    def read(self, baton: Baton) -> np.ndarray:
        return self.cupy.asnumpy(baton.holder)

    def finish(self, baton: Baton) -> None:
        baton.stream.synchronize()


class Numba(Library):
    """Use a baton's memory through a device array of numba-cuda, on the default stream."""

    name = "numba"

    def __init__(self, cuda: Any) -> None:
        self.cuda = cuda

    def write(self, baton: Baton, part: slice, value: float) -> None:
        # Do not write `holder[part] = ...`, because some versions of numba cannot compile the kernel of this assignment
        # with a newer NumPy.
        count = len(range(*part.indices(len(baton.holder))))
        if count:
            baton.holder[part].copy_to_device(np.full(count, value, np.float32))

    def read(self, baton: Baton) -> np.ndarray:
        return baton.holder.copy_to_host()


class Jax(Library):
    """Use a baton's memory through a JAX array.

    JAX's arrays are constant, so a write makes a new array. JAX chooses its streams.
    """

    name = "JAX"

    def __init__(self, jax: Any) -> None:
        self.jax = jax
        numpy = jax.numpy

        @jax.jit
        def replaced(array: Any, start: Any, stop: Any, value: Any) -> Any:
            index = numpy.arange(array.shape[0])
            return numpy.where((index >= start) & (index < stop), value, array)

        self.replaced = replaced

    def write(self, baton: Baton, part: slice, value: float) -> None:
        baton.holder = self.replaced(baton.holder, part.start, part.stop, np.float32(value))

        baton.is_of_jax = True
        if not baton.is_stream_known:  # JAX's kernel may still read the array dropped by the assignment above.
            self.finish(baton)

    def read(self, baton: Baton) -> np.ndarray:
        return np.array(baton.holder)

    def finish(self, baton: Baton) -> None:
        baton.holder.block_until_ready()


class CoreView:
    """Hold a memory view of cuda.core and its stream, and export both by an array interface."""

    def __init__(self, view: Any, stream: Any) -> None:
        self.view, self.stream = view, stream

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        handle = int(self.stream.handle)
        return {
            "shape": tuple(self.view.shape),
            "typestr": "<f4",
            "data": (self.view.ptr, False),
            "version": 3,
            "stream": handle,
        }


class CudaCore(Library):
    """Use a baton's memory through cuda.core.

    Each object works on one of cuda.core's streams.
    """

    name = "cuda.core"

    def __init__(self, core: Any) -> None:
        self.core = core
        self.device = core.Device()
        self.device.set_current()
        self.streams = [self.device.create_stream() for _ in range(3)]
        options = core.ProgramOptions(arch=f"sm_{self.device.arch}")
        self.fill = core.Program(FILL, "c++", options).compile("cubin").get_kernel("fill")
        self.spin = spinner()
        self.current = threading.local()

    def stream(self, choices: Random) -> Any:
        return choices.choice(self.streams)

    @contextlib.contextmanager
    def working(self, baton: Baton) -> Iterator[None]:
        self.device.set_current()
        self.current.stream = baton.stream
        yield

    def write(self, baton: Baton, part: slice, value: float) -> None:
        if self.spin:
            self.spin(PyGPU.Stream.from_handle(int(baton.stream.handle)))
        count = part.stop - part.start
        config = self.core.LaunchConfig(grid=-(-count // 256), block=256)
        address = baton.holder.view.ptr + 4 * part.start
        self.core.launch(baton.stream, config, self.fill, address, np.int32(count), np.float32(value))

    def read(self, baton: Baton) -> np.ndarray:
        baton.stream.sync()
        return PyGPU.GPUArray(baton.expected.shape, np.float32, gpudata=baton.holder.view.ptr, base=baton.holder).get()

    def finish(self, baton: Baton) -> None:
        baton.stream.sync()


def spinner() -> Callable[[Any], None] | None:
    """Return a function that keeps a stream busy, or None on a simulated driver or without a compiler."""
    if simulated_driver.driver() is not None or PyGPU.backend_name() != "cuda":
        return None
    try:
        kernel = PyGPU.Kernel(SPIN, "spin")
    except PyGPU.Error:
        return None
    return lambda stream: kernel[1, 1, stream](np.int64(TICKS))


def torch_peer() -> Library | None:
    import torch

    return Torch(torch) if torch.cuda.is_available() else None


def cupy_peer() -> Library | None:
    import cupy

    return CuPy(cupy)


def numba_peer() -> Library | None:
    from numba import cuda

    return Numba(cuda) if cuda.is_available() else None


def jax_peer() -> Library | None:
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    return Jax(jax) if jax.default_backend() == "gpu" else None


def cuda_core_peer() -> Library | None:
    from cuda import core

    return CudaCore(core)


PEERS = {"torch": torch_peer, "CuPy": cupy_peer, "numba": numba_peer, "JAX": jax_peer, "cuda.core": cuda_core_peer}


def peers(names: Sequence[str] | None = None) -> list[Library]:
    """Return those of the named libraries, by default of all, that are installed and can use PyGPU's device."""
    found: list[Library] = []
    if simulated_driver.driver() is not None or PyGPU.backend_name() != "cuda":
        return found
    for name, create in PEERS.items():
        if names is None or name in names:
            with contextlib.suppress(ImportError):
                library = create()
                found += [] if library is None else [library]
    return found
