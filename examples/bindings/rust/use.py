"""Rust through ctypes. ``sh rust/make.sh build && python rust/use.py build``."""

import ctypes
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import PyGPU as gpuarray

sys.path.append(str(Path(__file__).parents[1]))
from binding_checks import check, expect, one_step

rust = ctypes.CDLL(str(Path(sys.argv[1]).resolve() / "libheat_rust.so"))
number, stream_type = ctypes.c_int64, ctypes.c_void_p
pair = number * 2

# Views, with any strides.
line = gpuarray.as_argtype("float32", ndim=1, flags="WRITEABLE")
view = gpuarray.as_argtype("float32", ndim=2, flags="WRITEABLE")
const_view = gpuarray.as_argtype("float32", ndim=2)
rust.scale_view.argtypes = [line, number, number, ctypes.c_float, stream_type]
rust.step_view.argtypes = [const_view, pair, view, pair, pair, stream_type]
rust.total_view.argtypes = [const_view, pair, pair, ctypes.POINTER(ctypes.c_double), stream_type]
rust.place.argtypes, rust.place.restype = [gpuarray.as_argtype("float32")], ctypes.c_size_t
rust.create.argtypes, rust.create.restype = [number], ctypes.c_void_p
rust.give_back.argtypes, rust.give_back.restype = [ctypes.c_void_p], None


def strides(x: gpuarray.GPUArray) -> ctypes.Array[ctypes.c_int64]:
    """Return the strides in elements."""
    return pair(*(stride // 4 for stride in x.strides[:2]))


def raise_for(error: int) -> None:
    """Raise an error for the library's return value."""
    if error:
        raise RuntimeError(f"heat: error {error}")


def scale(x: gpuarray.GPUArray, factor: float) -> None:
    """Multiply in place."""
    raise_for(rust.scale_view(x, x.size, x.strides[0] // 4, factor, gpuarray.current_stream()))


def step(source: gpuarray.GPUArray, target: gpuarray.GPUArray) -> None:
    """Compute one step."""
    if source.shape != target.shape:
        raise ValueError(f"step: the shapes {source.shape} and {target.shape} differ")
    lengths, stream = pair(*source.shape), gpuarray.current_stream()
    raise_for(rust.step_view(source, strides(source), target, strides(target), lengths, stream))


def total(x: gpuarray.GPUArray) -> float:
    """Sum."""
    result = ctypes.c_double()
    lengths = pair(*x.shape[:2])
    raise_for(rust.total_view(x, strides(x), lengths, ctypes.byref(result), gpuarray.current_stream()))
    return result.value


def new(count: int) -> gpuarray.GPUArray:
    """Take ownership of the library's memory, which the Rust function frees."""
    address = rust.create(count)
    if not address:
        raise MemoryError(f"create({count})")
    return gpuarray.from_pointer(address, count, "float32", owner=rust.give_back)


heat = SimpleNamespace(scale=scale, step=step, total=total, where=rust.place, new=new)
check(heat, refusals=(ctypes.ArgumentError, AttributeError))

# Whole arrays, and memory of the Rust library.
grid = gpuarray.as_argtype("float32", ndim=2, flags="C_CONTIGUOUS, WRITEABLE")
rust.relax.argtypes = [grid, grid, number, number, number, ctypes.c_void_p]
rust.ramp.argtypes, rust.ramp.restype = [number], ctypes.c_void_p
rust.free_ramp_of_4.argtypes, rust.free_ramp_of_4.restype = [ctypes.c_void_p], None

host = np.arange(30, dtype=np.float32).reshape(5, 6)
a, b = gpuarray.to_gpu(host), gpuarray.zeros((5, 6), np.float32)
assert rust.relax(a, b, *a.shape, 1, gpuarray.current_stream()) == 0
np.testing.assert_allclose(a.get(), one_step(one_step(host)), rtol=1e-6)
expect(ctypes.ArgumentError, lambda: rust.relax(a.T, b, 6, 5, 1, None), "argument 1", "C-contiguous")
if gpuarray.backend_name() == "cpu":
    made = gpuarray.from_pointer(rust.ramp(4), 4, "float32", owner=rust.free_ramp_of_4)
    assert made.tolist() == [0.0, 1.0, 2.0, 3.0]
