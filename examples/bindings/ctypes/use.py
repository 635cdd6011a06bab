"""The library through ctypes, without a compiler. ``sh library/make.sh build && python ctypes/use.py build``."""

import ctypes
import sys
from pathlib import Path
from types import SimpleNamespace

import PyGPU as gpuarray

sys.path.append(str(Path(__file__).parents[1]))
from binding_checks import check, expect

library = ctypes.CDLL(str(Path(sys.argv[1]).resolve() / "libheat.so"))
stream_type = ctypes.c_void_p
pair = ctypes.c_int64 * 2

# Each array is checked before the call: an output must be writeable.
line = gpuarray.as_argtype("float32", ndim=1, flags="WRITEABLE")
grid = gpuarray.as_argtype("float32", ndim=2, flags="WRITEABLE")
const_grid = gpuarray.as_argtype("float32", ndim=2)
library.heat_new.argtypes, library.heat_new.restype = [ctypes.c_int64], ctypes.c_void_p
library.heat_free.argtypes, library.heat_free.restype = [ctypes.c_void_p], None
library.heat_scale.argtypes = [line, ctypes.c_int64, ctypes.c_int64, ctypes.c_float, stream_type]
library.heat_step.argtypes = [const_grid, pair, grid, pair, pair, stream_type]
library.heat_total.argtypes = [const_grid, pair, pair, ctypes.POINTER(ctypes.c_double), stream_type]


def elements(strides: tuple[int, ...]) -> tuple[int, ...]:
    """Count strides in elements of float32."""
    return tuple(stride // 4 for stride in strides)


def raise_for(error: int) -> None:
    """Raise an error for the library's return value."""
    if error:
        raise RuntimeError(f"heat: error {error}")


def scale(x: gpuarray.GPUArray, factor: float) -> None:
    """Multiply in place."""
    raise_for(library.heat_scale(x, x.size, x.strides[0] // 4, factor, gpuarray.current_stream()))


def step(source: gpuarray.GPUArray, target: gpuarray.GPUArray) -> None:
    """Compute one step."""
    if source.shape != target.shape:
        raise ValueError(f"step: the shapes {source.shape} and {target.shape} differ")
    strides = pair(*elements(source.strides)), pair(*elements(target.strides))
    raise_for(library.heat_step(source, strides[0], target, strides[1], pair(*source.shape), gpuarray.current_stream()))


def total(x: gpuarray.GPUArray) -> float:
    """Sum."""
    result = ctypes.c_double()
    # ctypes rejects arrays with other than two dimensions, but `pair` truncates the shape first.
    strides, shape = pair(*elements(x.strides)[:2]), pair(*x.shape[:2])
    raise_for(library.heat_total(x, strides, shape, ctypes.byref(result), gpuarray.current_stream()))
    return result.value


def where(x: gpuarray.GPUArray) -> int:
    """Return the address passed to C."""
    return ctypes.cast(x._as_parameter_, ctypes.c_void_p).value or 0


def new(count: int) -> gpuarray.GPUArray:
    """Take ownership of the library's memory, which its own function frees."""
    address = library.heat_new(count)
    if not address:
        raise MemoryError(f"heat_new({count})")
    return gpuarray.from_pointer(address, count, "float32", owner=library.heat_free)


check(
    SimpleNamespace(scale=scale, step=step, total=total, where=where, new=new),
    refusals=(ctypes.ArgumentError, AttributeError),
)
x = gpuarray.zeros((2, 2))
expect(ctypes.ArgumentError, lambda: total(x), "argument 1", "dtype float32 is needed", "float64")
locked = gpuarray.from_pointer(x.ptr, (2, 2), "float32", owner=x, readonly=True)
expect(ctypes.ArgumentError, lambda: step(locked, locked), "argument 3", "writeable", "read-only")
