"""Use arrays of other libraries and of the host in a program that type checkers read.

The program imports arrays by NumPy, by DLPack, by the CUDA array interface, and by address.
"""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import PyGPU
from PyGPU import GPUArray
from PyGPU.typing import SupportsCudaArrayInterface, SupportsDLPack


def there_and_back(host: NDArray[np.float64]) -> NDArray[Any]:
    """Copy an array to a device and back to the host."""
    array = PyGPU.to_gpu(host)
    assert_type(array, GPUArray)
    array.set(host)
    assert_type(array.get(), NDArray[Any])
    assert_type(PyGPU.asnumpy(array), NDArray[Any])
    assert_type(array.tolist(), Any)
    pinned = PyGPU.empty_pinned(3, "float64")
    assert_type(pinned, NDArray[Any])
    return array.get(pinned)


def shared(array: GPUArray, foreign: SupportsDLPack, on_device: SupportsCudaArrayInterface) -> GPUArray:
    """Import another library's memory by a protocol, and use the other library's arrays as operands."""
    lent: SupportsDLPack = array
    described: SupportsCudaArrayInterface = array
    assert_type(PyGPU.from_dlpack(lent), GPUArray)
    assert_type(PyGPU.asarray(described), GPUArray)
    assert_type(array.__dlpack_device__(), tuple[int, int])
    assert_type(PyGPU.from_pointer(array.ptr, array.shape, array.dtype, owner=array), GPUArray)
    assert_type(PyGPU.add(array, on_device), GPUArray)
    return PyGPU.from_dlpack(foreign) + on_device


def main() -> None:
    """Run the functions above."""
    there_and_back(np.arange(3.0))
    array = PyGPU.arange(3.0)
    shared(array, array, array)
