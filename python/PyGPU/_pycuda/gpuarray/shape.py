"""Shape functions of PyCUDA's ``pycuda.gpuarray``."""

from __future__ import annotations

from typing import Any

from PyGPU import _core
from PyGPU._functions import joining
from PyGPU._pycuda.driver.device import Device
from PyGPU._pycuda.gpuarray.result_allocation import allocating
from PyGPU._pycuda.tools.occupancy import DeviceData

__all__ = ["concatenate", "reshape", "splay", "stack", "transpose"]

_THREADS = 128
# Number of blocks per multiprocessor, used if the device does not report the maximum.
_BLOCKS = 16


def splay(n: int, dev: Device | None = None) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """Choose grid and block for a launch of a kernel with a grid-stride loop.

    Parameters
    ----------
    n : int
        Number of elements.
    dev : driver.Device, optional
        Device that runs the kernel; defaults to the current device.

    Returns
    -------
    grid, block : tuple of int
        Lengths of grid and block: at most four times as many blocks of 128 threads as can reside on the device.

    Examples
    --------
    >>> from PyGPU.gpuarray import splay
    >>> splay(1)
    ((1, 1), (32, 1, 1))
    """
    data = DeviceData(dev)
    threads = _THREADS if n > data.warp_size else data.warp_size
    properties = _core.device_properties(_core.current_device())
    max_blocks = 4 * getattr(data, "thread_blocks_per_mp", _BLOCKS) * int(properties["multiprocessor_count"])
    return (max(min(-(-n // threads), max_blocks), 1), 1), (threads, 1, 1)


def transpose(a: _core.GPUArray, axes: Any = None) -> _core.GPUArray:
    """Return a view with permuted axes.

    Parameters
    ----------
    a : GPUArray
        The array.
    axes : sequence of int, optional
        Source axis of each new axis; by default the axes are reversed.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.transpose(gpuarray.empty((2, 3), "float32")).shape
    (3, 2)
    """
    return a.transpose(axes)


def reshape(a: _core.GPUArray, *shape: Any, order: Any = "C") -> _core.GPUArray:
    """Return the elements of an array in another shape.

    Parameters
    ----------
    a : GPUArray
        The array.
    *shape : int, or one sequence of int
        Lengths of the result; one may be -1.
    order : {'C', 'F', 'A'}, optional
        Order in which elements are read and written.

    Returns
    -------
    GPUArray
        A view in the cases in which NumPy returns a view, otherwise a copy.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.reshape(gpuarray.arange(6, dtype="int32"), 2, -1).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    return a.reshape(*shape, order=order)


def concatenate(arrays: Any, axis: int = 0, allocator: Any = None) -> _core.GPUArray:
    """Concatenate arrays along an axis.

    Parameters
    ----------
    arrays : sequence of GPUArray
        Arrays of equal shape, except along `axis`.
    axis : int, optional
        Axis of the operation.
    allocator : callable, optional
        Allocator of the result; defaults to the first allocator that an array in `arrays` has.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.concatenate([gpuarray.to_gpu([1, 2]), gpuarray.to_gpu([3])]).tolist()
    [1, 2, 3]
    """
    with allocating(allocator):
        return joining.concatenate(arrays, axis)


def stack(arrays: Any, axis: int = 0, allocator: Any = None) -> _core.GPUArray:
    """Stack arrays of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of GPUArray
        Arrays of one shape.
    axis : int, optional
        Index of the new axis.
    allocator : callable, optional
        Allocator of the result; defaults to the first allocator that an array in `arrays` has.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.stack([gpuarray.to_gpu([1, 2]), gpuarray.to_gpu([3, 4])]).tolist()
    [[1, 2], [3, 4]]
    """
    with allocating(allocator):
        return joining.stack(arrays, axis)
