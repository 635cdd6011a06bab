"""Rust through ctypes. ``sh rust/make.sh build && python rust/use.py build``."""

import ctypes
import sys
from pathlib import Path

import numpy as np

import PyGPU as gpuarray

sys.path.append(str(Path(__file__).parents[1]))
from check import expect, one_step

rust = ctypes.CDLL(str(Path(sys.argv[1]).resolve() / "libheat_rust.so"))
grid = gpuarray.as_argtype("float32", ndim=2, flags="C_CONTIGUOUS, WRITEABLE")
number = ctypes.c_int64
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
print("as it should be")
