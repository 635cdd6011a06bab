"""Fortran through iso_c_binding and ctypes. ``sh fortran/make.sh build && python fortran/use.py build``."""

import ctypes
import sys
from pathlib import Path

import numpy as np

import PyGPU as gpuarray

sys.path.append(str(Path(__file__).parents[1]))
from check import expect, one_step

fortran = ctypes.CDLL(str(Path(sys.argv[1]).resolve() / "libheat_fortran.so"))
grid = gpuarray.as_argtype("float32", ndim=2, flags="F_CONTIGUOUS, WRITEABLE")
number = ctypes.c_int64
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

fortran.create.argtypes, fortran.create.restype = [number], ctypes.c_void_p
fortran.give_back.argtypes, fortran.give_back.restype = [ctypes.c_void_p], None
made = gpuarray.from_pointer(fortran.create(4), 4, "float32", owner=fortran.give_back)
assert (made + 1).tolist() == [1.0, 1.0, 1.0, 1.0]
print("as it should be")
