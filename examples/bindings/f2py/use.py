"""Fortran through f2py. ``sh f2py/make.sh build && PYTHONPATH=build python f2py/use.py``."""

import ctypes
import sys
from pathlib import Path
from types import SimpleNamespace

import heat_f2py
import numpy as np

import PyGPU as gpuarray

sys.path.append(str(Path(__file__).parents[1]))
from binding_checks import check

# f2py has no function addresses: the library's own function frees memory.
heat_free = ctypes.CDLL(str(Path(heat_f2py.__file__).with_name("libheat.so"))).heat_free
heat_free.argtypes, heat_free.restype = [ctypes.c_void_p], None


def address(x: gpuarray.GPUArray, name: str, ndim: int, write: bool = False) -> int:
    """Return the Fortran argument; f2py accepts any number, so that this module does the checks."""
    if not isinstance(x, gpuarray.GPUArray):
        raise TypeError(f"{name}: a GPUArray is needed, not {type(x).__name__}")
    if x.dtype != np.float32:
        raise TypeError(f"{name}: float32 is needed, not {x.dtype}")
    if x.ndim != ndim:
        raise ValueError(f"{name}: {ndim} dimensions are needed, not shape {x.shape}")
    if write and not x.flags.writeable:
        raise ValueError(f"{name} is read-only")
    return x.ptr


def elements(x: gpuarray.GPUArray) -> list[int]:
    """Return the strides in elements."""
    return [stride // x.itemsize for stride in x.strides]


def stream() -> int:
    """Return the handle of PyGPU's current stream."""
    return gpuarray.current_stream().handle


def raise_for(error: int) -> None:
    """Raise an error for the library's return value."""
    if error:
        raise RuntimeError(f"heat: error {error}")


def scale(x: gpuarray.GPUArray, factor: float) -> None:
    """Multiply in place."""
    raise_for(heat_f2py.scale(address(x, "x", 1, write=True), x.size, elements(x)[0], factor, stream()))


def step(source: gpuarray.GPUArray, target: gpuarray.GPUArray) -> None:
    """Compute one step."""
    a, b = address(source, "source", 2), address(target, "target", 2, write=True)
    if source.shape != target.shape:
        raise ValueError(f"step: the shapes {source.shape} and {target.shape} differ")
    raise_for(heat_f2py.step(a, elements(source), b, elements(target), source.shape, stream()))


def total(x: gpuarray.GPUArray) -> float:
    """Sum."""
    result, error = heat_f2py.total(address(x, "x", 2), elements(x), x.shape, stream())
    raise_for(error)
    return float(result)


def new(count: int) -> gpuarray.GPUArray:
    """Take ownership of the library's memory, which its own function frees."""
    address = heat_f2py.create(count)
    if not address:
        raise MemoryError(f"heat_new({count})")
    return gpuarray.from_pointer(address, count, "float32", owner=heat_free)


def where(x: gpuarray.GPUArray) -> int:
    """Return the address passed to Fortran."""
    return heat_f2py.place(x.ptr)


check(SimpleNamespace(scale=scale, step=step, total=total, where=where, new=new))
