"""Fortran through f2py. ``sh f2py/make.sh build && PYTHONPATH=build python f2py/use.py``."""

import heat_f2py
import numpy as np

import PyGPU as gpuarray


def total(x: gpuarray.GPUArray) -> float:
    """Sum; f2py checks nothing of an address, so that it is checked here."""
    if x.dtype != np.float32 or x.ndim != 2:
        raise TypeError(f"x: float32 and 2 dimensions are needed, not {x.dtype} and shape {x.shape}")
    down, right = (stride // x.itemsize for stride in x.strides)
    result, error = heat_f2py.total(x.ptr, down, right, *x.shape, gpuarray.current_stream().handle)
    if error:
        raise RuntimeError(f"heat: error {error}")
    return float(result)


host = np.arange(30, dtype=np.float32).reshape(5, 6)
a = gpuarray.to_gpu(host)
assert total(a) == host.sum()
assert total(a[::-1, ::2]) == host[:, ::2].sum()
print("as it should be")
