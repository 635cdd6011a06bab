"""The library through cffi. ``python cffi/make.py build && PYTHONPATH=build python cffi/use.py``."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from heat_cffi import ffi, lib

import PyGPU as gpuarray

sys.path.append(str(Path(__file__).parents[1]))
from binding_checks import check


def pointer(x: gpuarray.GPUArray, name: str, ndim: int, write: bool = False) -> Any:
    """Return the C argument; cffi accepts any address, so that this module does the checks."""
    if not isinstance(x, gpuarray.GPUArray):
        raise TypeError(f"{name}: a GPUArray is needed, not {type(x).__name__}")
    if x.dtype != np.float32:
        raise TypeError(f"{name}: float32 is needed, not {x.dtype}")
    if x.ndim != ndim:
        raise ValueError(f"{name}: {ndim} dimensions are needed, not shape {x.shape}")
    if write and not x.flags.writeable:
        raise ValueError(f"{name} is read-only")
    return ffi.cast("float *", x.ptr)


def pair(values: tuple[int, ...], unit: int = 1) -> Any:
    """Return a C array."""
    return ffi.new("int64_t[]", [value // unit for value in values])


def stream() -> Any:
    """Return the handle of PyGPU's current stream."""
    return ffi.cast("void *", gpuarray.current_stream().handle)


def raise_for(error: int) -> None:
    """Raise an error for the library's return value."""
    if error:
        raise RuntimeError(f"heat: error {error}")


def scale(x: gpuarray.GPUArray, factor: float) -> None:
    """Multiply in place."""
    raise_for(lib.heat_scale(pointer(x, "x", 1, write=True), x.size, x.strides[0] // 4, factor, stream()))


def step(source: gpuarray.GPUArray, target: gpuarray.GPUArray) -> None:
    """Compute one step."""
    a, b = pointer(source, "source", 2), pointer(target, "target", 2, write=True)
    if source.shape != target.shape:
        raise ValueError(f"step: the shapes {source.shape} and {target.shape} differ")
    raise_for(lib.heat_step(a, pair(source.strides, 4), b, pair(target.strides, 4), pair(source.shape), stream()))


def total(x: gpuarray.GPUArray) -> float:
    """Sum."""
    result = ffi.new("double *")
    raise_for(lib.heat_total(pointer(x, "x", 2), pair(x.strides, 4), pair(x.shape), result, stream()))
    return float(result[0])


def new(count: int) -> gpuarray.GPUArray:
    """Take ownership of the library's memory: `gc` frees it when it is unreferenced."""
    values = lib.heat_new(count)
    if values == ffi.NULL:
        raise MemoryError(f"heat_new({count})")
    owner = ffi.gc(values, lib.heat_free, size=4 * count)
    return gpuarray.from_pointer(int(ffi.cast("uintptr_t", values)), count, "float32", owner=owner)


def where(x: gpuarray.GPUArray) -> int:
    """Return the address passed to C."""
    return int(ffi.cast("uintptr_t", ffi.cast("void *", x.ptr)))


check(SimpleNamespace(scale=scale, step=step, total=total, where=where, new=new))
