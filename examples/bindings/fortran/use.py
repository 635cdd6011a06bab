"""Fortran through iso_c_binding and ctypes. ``sh fortran/make.sh build && python fortran/use.py build``."""

import ctypes
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import PyGPU as gpuarray

sys.path.append(str(Path(__file__).parents[1]))
from binding_checks import check, expect, one_step

fortran = ctypes.CDLL(str(Path(sys.argv[1]).resolve() / "libheat_fortran.so"))
number, stream_type = ctypes.c_int64, ctypes.c_void_p
pair = number * 2

# Views, with any strides.
line = gpuarray.as_argtype("float32", ndim=1, flags="WRITEABLE")
view = gpuarray.as_argtype("float32", ndim=2, flags="WRITEABLE")
const_view = gpuarray.as_argtype("float32", ndim=2)
fortran.scale_view.argtypes = [line, number, number, ctypes.c_float, stream_type]
fortran.step_view.argtypes = [const_view, pair, view, pair, pair, stream_type]
fortran.total_view.argtypes = [const_view, pair, pair, ctypes.POINTER(ctypes.c_double), stream_type]
fortran.place.argtypes, fortran.place.restype = [gpuarray.as_argtype("float32")], ctypes.c_ssize_t
fortran.create.argtypes, fortran.create.restype = [number], ctypes.c_void_p
fortran.give_back.argtypes, fortran.give_back.restype = [ctypes.c_void_p], None


def strides(x: gpuarray.GPUArray) -> ctypes.Array[ctypes.c_int64]:
    """Return the strides in elements."""
    return pair(*(stride // 4 for stride in x.strides[:2]))


def raise_for(error: int) -> None:
    """Raise an error for the library's return value."""
    if error:
        raise RuntimeError(f"heat: error {error}")


def scale(x: gpuarray.GPUArray, factor: float) -> None:
    """Multiply in place."""
    raise_for(fortran.scale_view(x, x.size, x.strides[0] // 4, factor, gpuarray.current_stream()))


def step(source: gpuarray.GPUArray, target: gpuarray.GPUArray) -> None:
    """Compute one step."""
    if source.shape != target.shape:
        raise ValueError(f"step: the shapes {source.shape} and {target.shape} differ")
    lengths, stream = pair(*source.shape), gpuarray.current_stream()
    raise_for(fortran.step_view(source, strides(source), target, strides(target), lengths, stream))


def total(x: gpuarray.GPUArray) -> float:
    """Sum."""
    result = ctypes.c_double()
    lengths = pair(*x.shape[:2])
    raise_for(fortran.total_view(x, strides(x), lengths, ctypes.byref(result), gpuarray.current_stream()))
    return result.value


def new(count: int) -> gpuarray.GPUArray:
    """Take ownership of the library's memory, which the Fortran subroutine frees."""
    address = fortran.create(count)
    if not address:
        raise MemoryError(f"create({count})")
    return gpuarray.from_pointer(address, count, "float32", owner=fortran.give_back)


heat = SimpleNamespace(scale=scale, step=step, total=total, where=fortran.place, new=new)
check(heat, refusals=(ctypes.ArgumentError, AttributeError))

# Whole arrays in Fortran order.
grid = gpuarray.as_argtype("float32", ndim=2, flags="F_CONTIGUOUS, WRITEABLE")
fortran.relax.argtypes = [grid, grid, number, number, number, ctypes.c_void_p]
fortran.corner.argtypes, fortran.corner.restype = [grid, number, number], ctypes.c_float

host = np.arange(30, dtype=np.float32).reshape(5, 6)
a = gpuarray.to_gpu(np.asfortranarray(host))
b = gpuarray.zeros((5, 6), np.float32, order="F")
assert fortran.relax(a, b, *a.shape, 1, gpuarray.current_stream()) == 0
np.testing.assert_allclose(a.get(), one_step(one_step(host)), rtol=1e-6)
if gpuarray.backend_name() == "cpu":
    assert fortran.corner(a, *a.shape) == host[-1, -1]
rows_first = a.copy("C")
expect(ctypes.ArgumentError, lambda: fortran.corner(rows_first, 5, 6), "argument 1", "F-contiguous")
locked = gpuarray.from_pointer(a.ptr, a.shape, a.dtype, a.strides, owner=a, readonly=True)
expect(ctypes.ArgumentError, lambda: fortran.relax(locked, b, 5, 6, 1, None), "argument 1", "read-only")
