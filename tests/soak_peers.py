"""Operations of a soak that share device memory with CuPy and PyTorch, where they are installed and find a device."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import PyGPU
from soak_operations import COMMON, Dice, Made, Operation, Pair, equal


def _is_shareable(pair: Pair) -> bool:
    """What both libraries take: common dtypes and, for PyTorch's sake, nothing read-only and no negative strides."""
    is_common = pair.host.dtype in COMMON and pair.device.flags.writeable
    return is_common and pair.device.device.kind == "cuda" and min((0, *pair.host.strides)) == 0


def with_cupy(cupy: Any) -> Operation:
    def share(dice: Dice, pair: Pair, _: Any) -> Made:
        device, host = pair
        if not _is_shareable(pair):
            return None
        with cupy.cuda.Device(device.device.index):
            shared = cupy.asarray(device) if dice.chance(2) else cupy.from_dlpack(device)
            if shared.size and dice.chance(2):
                value = dice.scalar(host.dtype)
                shared[...] = value
                host[...] = value
            assert equal(cupy.asnumpy(shared), host), "CuPy sees other values"
            return Pair(PyGPU.asarray(shared), host.view())

    return share


def with_torch(torch: Any) -> Operation:
    def share(dice: Dice, pair: Pair, _: Any) -> Made:
        device, host = pair
        if not _is_shareable(pair):
            return None
        with torch.cuda.device(device.device.index):
            shared = torch.from_dlpack(device)
            if shared.numel() and dice.chance(2):
                value = dice.scalar(host.dtype)
                shared.fill_(value.item())
                host[...] = value
            assert equal(np.asarray(shared.cpu().numpy()), host), "PyTorch sees other values"
            return Pair(PyGPU.from_dlpack(shared), host.view())

    return share


def available() -> dict[str, Operation]:
    """The operations with the libraries that are here; none but on CUDA."""
    if PyGPU.backend_name() != "cuda":
        return {}
    found: dict[str, Operation] = {}
    for name, make in (("cupy", with_cupy), ("torch", with_torch)):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        if name == "cupy" or library.cuda.is_available():
            found[name] = make(library)
    return found
