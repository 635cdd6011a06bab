"""The library through pybind11. ``sh pybind11/make.sh build && PYTHONPATH=build python pybind11/use.py``."""

import sys
from pathlib import Path

import heat_pybind11 as heat
import numpy as np

import PyGPU as gpuarray
from PyGPU import driver

sys.path.append(str(Path(__file__).parents[1]))
from binding_checks import check, expect

check(heat)

a = gpuarray.to_gpu(np.arange(3, dtype=np.float32))
assert heat.first(a) == heat.first(a.ptr) == a.ptr
low = gpuarray.DeviceArray_float32(np.arange(3, dtype=np.float32))
low.allocate()
assert heat.first(low.device_data()) == int(low.device_data())
expect(TypeError, lambda: heat.first(gpuarray.zeros(3)), "float32", "float64")
expect(TypeError, lambda: heat.first(gpuarray.ptr_wrapper_int64()))

freed = driver.mem_alloc(64)
assert heat.where(freed) == freed.ptr
freed.free()
expect(gpuarray.CudaError, lambda: heat.where(freed), "freed")
expect(TypeError, lambda: heat.where(None))
expect(TypeError, lambda: heat.where(1.5))

expect(TypeError, lambda: heat.named(gpuarray.zeros(3)), "x: float32 is needed", "float64")
assert heat.kind(a) == "float"
assert heat.kind(a.astype(np.int32)) == "int"
assert heat.where(gpuarray.default_stream()) == gpuarray.default_stream().handle
