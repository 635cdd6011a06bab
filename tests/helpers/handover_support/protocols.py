"""Define the protocols by which `tests/helpers/handovers.py` passes memory between libraries.

Each protocol is a function: it takes the array of the current library, on the stream of this library, and returns the
object that the next library imports.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import hostile_consumer
import PyGPU
from handover_support.libraries import Baton, CoreView, CudaCore, CuPy, Host, Jax, Library, Numba, Own, Torch
from installed.numpy_version import is_numpy


class Tensor:
    """Export a tensor by DLPack only; the capsule to export is created in advance."""

    def __init__(self, capsule: Any, device: tuple[int, int]) -> None:
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **_: Any) -> Any:
        capsule, self.capsule = self.capsule, None
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class Shown:
    """Export an array by a single attribute of the array interface, such as `__cuda_array_interface__`."""

    def __init__(self, of: Any, name: str) -> None:
        self.of = of
        setattr(self, name, getattr(of, name))


HandoverProtocol = Callable[[Any, Baton, Random], Any]


def capsule_of(holder: Any, baton: Baton, stream: int | None) -> Any:
    """Return a DLPack capsule of the newest version that the producer supports."""
    keywords: list[dict[str, Any]] = [{"max_version": (1, 0)}, {}]
    for keyword in keywords:
        try:
            return holder.__dlpack__(**keyword, **({} if stream is None else {"stream": stream}))
        except TypeError:
            continue
    raise TypeError(f"{type(holder)} exports no DLPack")


def current_stream() -> int:
    """Return the integer by which DLPack identifies PyGPU's current stream on a device."""
    handle = PyGPU.current_stream().handle
    return handle if handle > 2 else (0 if PyGPU.backend_name() == "hip" else 1)


def hostile(holder: Any, baton: Baton, choices: Random) -> Any:
    """Return an object that exports the memory by DLPack; its deleter, wrapped one to three times, releases the GIL."""
    library = hostile_consumer.library()
    # The capsule is created for PyGPU's current stream, because a consumer cannot pass its stream to the wrapper.
    capsule = capsule_of(holder, baton, None if baton.device == "cpu" else current_stream())
    for _ in range(choices.randrange(1, 4)):
        # The C extension `hostile_consumer` cannot wrap an unversioned capsule, so the capsule stays as it is.
        with contextlib.suppress(ValueError):
            capsule = library.wrap(capsule, choices.choice([0, 1, 2, 3]))
    return Tensor(capsule, holder.__dlpack_device__())


def through_table(holder: Any, baton: Baton, choices: Random) -> Any:
    """Export a tensor by DLPack's C exchange table, without a wait; a wrapper makes its deleter release the GIL."""
    library = hostile_consumer.library()
    capsule = library.exported(holder if isinstance(holder, PyGPU.GPUArray) else synchronized(holder))
    capsule = library.wrap(capsule, choices.choice([0, 1, 2, 3]))
    return library.imported(capsule, PyGPU.GPUArray)


def by_address(holder: Any, baton: Baton, choices: Random) -> Any:
    """Pass only an address: the caller waits for the producer's work and keeps the owner of the memory alive."""
    if baton.device != "cpu":
        synchronized(holder)
        if hasattr(holder, "synchronize"):
            holder.synchronize()
    if isinstance(holder, PyGPU.GPUArray):
        address = holder.ptr
    else:
        name = "__array_interface__" if baton.device == "cpu" else "__cuda_array_interface__"
        address = getattr(holder, name)["data"][0]
    return PyGPU.GPUArray(baton.expected.shape, np.float32, gpudata=address, base=holder)


def interface_of(baton: Baton) -> str:
    return "__array_interface__" if baton.device == "cpu" else "__cuda_array_interface__"


def shown(holder: Any, baton: Baton) -> Shown:
    """Return an object that has only the array interface of the producer's array.

    If the interface has no stream, like PyTorch's, the function first waits for the producer's work.
    """
    producer = Shown(holder, interface_of(baton))
    if baton.device != "cpu" and "stream" not in producer.__cuda_array_interface__:
        synchronized(holder)
    return producer


def by_interface(holder: Any, baton: Baton) -> PyGPU.GPUArray:
    """Import by the array interface. JAX's interface is read-only, so PyGPU copies the memory to allow later writes."""
    array = PyGPU.asarray(shown(holder, baton), device="cpu" if baton.device == "cpu" else None)
    if array.flags.writeable:
        return array
    copied = array.copy()
    # JAX may reuse its array's memory as soon as PyGPU drops the import, so this function waits until PyGPU's copy is
    # complete.
    return synchronized(copied)


def to_pygpu(device: str) -> dict[str, HandoverProtocol]:
    """Return the protocols by which PyGPU can receive memory of a device."""
    ways: dict[str, HandoverProtocol] = {
        "from_dlpack": lambda holder, baton, choices: PyGPU.from_dlpack(holder),
        "asarray": lambda holder, baton, choices: PyGPU.asarray(holder, device="cpu" if device == "cpu" else None),
        "interface": lambda holder, baton, choices: by_interface(holder, baton),
        "hostile": lambda holder, baton, choices: PyGPU.from_dlpack(hostile(holder, baton, choices)),
    }
    if device == "cpu" or PyGPU.backend_name() != "cpu":
        ways["table"] = through_table
    if device == "cpu" and PyGPU.backend_name() == "cpu":
        ways["address"] = by_address
    if device != "cpu":
        ways["address"] = by_address
    return ways


def synchronized(holder: Any) -> Any:
    """Wait for the producer's work and return its array, for a consumer that does not wait by itself."""
    # A thread of JAX may enqueue the work later. `PyGPU.synchronize` alone would not wait for such work.
    if hasattr(holder, "block_until_ready"):
        holder.block_until_ready()
    PyGPU.synchronize()
    return holder


def core_view(holder: Any, target: CudaCore) -> CoreView:
    """Return a view of cuda.core on its current stream, by DLPack or else by the array interface."""
    from cuda.core.utils import StridedMemoryView

    stream = target.current.stream
    has_stream = hasattr(holder, "__dlpack__") or "stream" in holder.__cuda_array_interface__
    view = StridedMemoryView.from_any_interface(
        holder if has_stream else synchronized(holder), stream_ptr=int(stream.handle)
    )
    return CoreView(view, stream)


def ways_to(baton: Baton, target: Library) -> dict[str, HandoverProtocol]:
    """Return the protocols by which the target library can receive the memory from its current library."""
    source = baton.library
    if isinstance(target, Own):
        ways = to_pygpu(baton.device)
        if not hasattr(baton.holder, "__dlpack__"):
            ways = {name: ways[name] for name in ("asarray", "interface", "address") if name in ways}
        if not hasattr(type(baton.holder), "__dlpack_c_exchange_api__"):
            ways.pop("table", None)
        return ways
    if isinstance(target, Host):
        ways = {"asarray": lambda holder, baton, choices: np.asarray(holder)}
        # Before NumPy 2.2, the arrays of `from_dlpack` are read-only.
        if is_numpy("2.2"):
            ways["from_dlpack"] = lambda holder, baton, choices: np.from_dlpack(holder)
            ways["hostile"] = lambda holder, baton, choices: np.from_dlpack(hostile(holder, baton, choices))
        return ways
    if source is target:
        return {}
    if isinstance(target, Jax):
        from_dlpack = target.jax.numpy.from_dlpack
        return (
            {"from_dlpack": lambda holder, baton, choices: from_dlpack(holder)}
            if hasattr(baton.holder, "__dlpack__")
            else {}
        )
    if isinstance(target, CudaCore):
        return {"view": lambda holder, baton, choices: core_view(holder, target)}
    if isinstance(source, Jax) and isinstance(target, Numba):
        return {}  # Numba would ignore that JAX's array interface is read-only.
    if isinstance(target, Torch):
        torch = target.torch
        ways = {}
        if not isinstance(source, Jax):
            ways["as_tensor"] = lambda holder, baton, choices: torch.as_tensor(synchronized(holder), device="cuda")
        if hasattr(baton.holder, "__dlpack__"):
            ways["from_dlpack"] = lambda holder, baton, choices: torch.from_dlpack(holder)
            ways["hostile"] = lambda holder, baton, choices: torch.from_dlpack(
                synchronized(hostile(holder, baton, choices))
            )
        return ways
    if isinstance(target, CuPy):
        cupy = target.cupy
        # `cupy.asarray` prefers the array interface. The interfaces of PyTorch and JAX name no stream,
        # so their work must be complete before the import.
        has_stream = not isinstance(source, Torch | Jax)
        ways = {"asarray": lambda holder, baton, choices: cupy.asarray(holder if has_stream else synchronized(holder))}
        if hasattr(baton.holder, "__dlpack__"):
            ways["from_dlpack"] = lambda holder, baton, choices: cupy.from_dlpack(holder)
        return ways
    assert isinstance(target, Numba)
    return {"as_cuda_array": lambda holder, baton, choices: target.cuda.as_cuda_array(synchronized(holder))}
