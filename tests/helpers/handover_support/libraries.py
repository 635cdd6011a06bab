"""Define the libraries between which `tests/helpers/handovers.py` passes memory: PyGPU, NumPy, and installed peers."""

from __future__ import annotations

import contextlib
import importlib.util
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import PyGPU
import simulated

HISTORY = 24
SPIN = """
extern "C" __global__ void spin(long long ticks) {
    long long start = clock64();
    while (clock64() - start < ticks) {}
}
"""
TICKS = 400_000  # This takes a few tenths of a millisecond.


class Library:
    """A library that can hold the memory of a baton."""

    name = ""
    on_device = True

    def write(self, baton: Baton, part: slice, value: float) -> None:
        """Write a part of the memory, asynchronously if the library can."""
        raise NotImplementedError

    def read(self, baton: Baton) -> np.ndarray:
        """Read the values of the memory."""
        raise NotImplementedError

    @contextlib.contextmanager
    def working(self, baton: Baton) -> Iterator[None]:
        """Make the stream of the current holder current."""
        yield

    def stream(self, choices: Random) -> Any:
        """Return the stream on which a new holder works."""
        return None


@dataclass(eq=False)
class Baton:
    """Hold a piece of memory that libraries pass on, with its current holder and its expected contents."""

    holder: Any
    library: Library
    expected: np.ndarray
    device: str
    stream: Any = None
    # Earlier holders of the memory. They own it, and are dropped at any time.
    kept: list[Any] = field(default_factory=list)
    history: deque[str] = field(default_factory=lambda: deque(maxlen=HISTORY))


class Own(Library):
    """PyGPU on any stream; it orders the accesses itself."""

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
            baton.holder[part].fill(np.float32(value))

    def read(self, baton: Baton) -> np.ndarray:
        return baton.holder.get()


class Host(Library):
    """NumPy."""

    name, on_device = "NumPy", False

    def write(self, baton: Baton, part: slice, value: float) -> None:
        baton.holder[part] = value

    def read(self, baton: Baton) -> np.ndarray:
        return baton.holder.copy()


class Torch(Library):
    """PyTorch; each holder works on one of PyTorch's streams."""

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


class CuPy(Library):
    """CuPy; each holder works on one of CuPy's streams."""

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


class Numba(Library):
    """numba-cuda on the default stream."""

    name = "numba"

    def __init__(self, cuda: Any) -> None:
        self.cuda = cuda

    def write(self, baton: Baton, part: slice, value: float) -> None:
        # This does not use numba's own assignment, whose kernel some versions cannot compile with a newer NumPy.
        count = len(range(*part.indices(len(baton.holder))))
        if count:
            baton.holder[part].copy_to_device(np.full(count, value, np.float32))

    def read(self, baton: Baton) -> np.ndarray:
        return baton.holder.copy_to_host()


def spinner() -> Callable[[Any], None] | None:
    """Return a function that keeps a stream busy; None on a simulated driver or without a compiler."""
    if simulated.driver() is not None or PyGPU.backend_name() != "cuda":
        return None
    try:
        kernel = PyGPU.Kernel(SPIN, "spin")
    except PyGPU.Error:
        return None
    return lambda stream: kernel[1, 1, stream](np.int64(TICKS))


def peers() -> list[Library]:
    """Return the other installed libraries that work on the same device."""
    found: list[Library] = []
    if simulated.driver() is not None or PyGPU.backend_name() != "cuda":
        return found
    if importlib.util.find_spec("torch"):
        import torch

        if torch.cuda.is_available():
            found.append(Torch(torch))
    if importlib.util.find_spec("cupy"):
        import cupy

        found.append(CuPy(cupy))
    with contextlib.suppress(Exception):
        from numba import cuda

        if cuda.is_available():
            found.append(Numba(cuda))
    return found
