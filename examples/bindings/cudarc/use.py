"""Rust's cudarc through ctypes, on an NVIDIA GPU. ``sh cudarc/make.sh build && python cudarc/use.py build``."""

import ctypes
import gc
import sys
from pathlib import Path

import numpy as np

import PyGPU as gpuarray

sys.path.append(str(Path(__file__).parents[1]))
from binding_checks import expect

rust = ctypes.CDLL(str(Path(sys.argv[1]).resolve() / "libheat_cudarc.so"))
vector = gpuarray.as_argtype("float32", ndim=1, flags="C_CONTIGUOUS, WRITEABLE")
rust.scale.argtypes = [vector, ctypes.c_size_t, ctypes.c_float]
rust.zeros.argtypes, rust.zeros.restype = [ctypes.c_size_t], ctypes.c_void_p
rust.free_zeros_of_4.argtypes, rust.free_zeros_of_4.restype = [ctypes.c_void_p], None

a = gpuarray.to_gpu(np.arange(1000, dtype=np.float32))
assert rust.scale(a, a.size, 2.0) == 0
np.testing.assert_array_equal(a.get(), 2 * np.arange(1000))
assert rust.scale(a[100:], 900, 0.5) == 0
np.testing.assert_array_equal(a.get()[98:102], [196, 198, 100, 101])
expect(ctypes.ArgumentError, lambda: rust.scale(a[::2], 500, 1.0), "argument 1", "C-contiguous")

made = gpuarray.from_pointer(rust.zeros(4), 4, "float32", owner=rust.free_zeros_of_4)
assert (made + 1).tolist() == [1.0, 1.0, 1.0, 1.0]
del made
gc.collect()
print("as it should be")
