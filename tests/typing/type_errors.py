"""Contain invalid lines.

A type checker must report each line that is marked with mypy's error code, and no other line.
"""

import numpy as np

import PyGPU
from PyGPU import GPUArray

a = PyGPU.zeros(3)

PyGPU.sin("x")  # error: arg-type
PyGPU.add(a, None)  # error: arg-type
PyGPU.add(a, [1, 2])  # error: arg-type
a + "x"  # error: operator
a * None  # error: operator
[1] - a  # error: operator
a @ "x"  # error: operator
a < "x"  # error: operator
PyGPU.sum("x")  # error: arg-type
PyGPU.sort([3, 1])  # error: arg-type
PyGPU.argsort(a, axis="rows")  # error: arg-type
PyGPU.argsort(a, ascending=True)  # error: call-arg
PyGPU.zeros("three", "float32", "Q", allocator=None, device=1.5)  # error: arg-type
PyGPU.zeros()  # error: call-arg
PyGPU.zeross(3)  # error: attr-defined
a.shapes  # error: attr-defined
a.sum(axes=0)  # error: call-arg
a.reshape("x")  # error: arg-type
a.astype("float32", casting="sometimes")  # error: arg-type
a.strides = (8,)  # error: misc
number: int = a.sum()  # error: assignment
host: np.ndarray[tuple[int], np.dtype[np.float64]] = a + 1  # error: assignment
pair: tuple[GPUArray, GPUArray] = PyGPU.sin(a)  # error: assignment
one: GPUArray = PyGPU.frexp(a)  # error: assignment
matrix: PyGPU.Stream = a.T  # error: assignment
PyGPU.unique(a).foo  # error: attr-defined
PyGPU.percentile(a)  # error: call-arg
PyGPU.concatenate(a, a, a, a, a, a, a)  # error: call-arg
PyGPU.Module(3)  # error: arg-type
PyGPU.Kernel("", "f")[1.5]  # error: call-overload
PyGPU.LaunchConfig("one", 32)  # error: arg-type
PyGPU.Stream(priority="high")  # error: arg-type
PyGPU.Event().elapsed_time(3)  # error: arg-type
PyGPU.Device([0])  # error: arg-type
PyGPU.memory_info().free  # error: attr-defined
PyGPU.from_dlpack(a, device=1.5)  # error: arg-type
PyGPU.set_device(None, 3)  # error: call-arg


def mean(x: GPUArray) -> float:
    """Return the result of a reduction. The result is an array, but the function declares a float."""
    return x.mean()  # error: return-value
