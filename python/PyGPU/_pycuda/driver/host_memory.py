"""PyCUDA's ndarrays over page-locked, aligned and managed host memory.

PyGPU's own functions are `PyGPU.empty_pinned`, `PyGPU.empty_like_pinned` and `PyGPU.zeros_pinned`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy

from PyGPU._pycuda.driver.host_allocations import (
    AlignedHostAllocation,
    ManagedAllocation,
    PagelockedHostAllocation,
    array_over,
    order_of,
    size_of,
)

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from PyGPU.typing import ShapeLike

__all__ = [
    "aligned_empty",
    "aligned_empty_like",
    "aligned_zeros",
    "aligned_zeros_like",
    "managed_empty",
    "managed_empty_like",
    "managed_zeros",
    "managed_zeros_like",
    "pagelocked_empty",
    "pagelocked_empty_like",
    "pagelocked_zeros",
    "pagelocked_zeros_like",
]


def _zeroed(array: NDArray[Any]) -> NDArray[Any]:
    array.reshape(-1, order="A").view("u1")[:] = 0
    return array


def pagelocked_empty(
    shape: ShapeLike, dtype: DTypeLike, order: str = "C", mem_flags: SupportsIndex = 0
) -> NDArray[Any]:
    """Create an uninitialised ndarray over page-locked memory.

    The functions ``aligned_*`` allocate aligned memory, and ``managed_*`` memory that host and device both access.
    Functions with ``zeros`` in the name fill the memory with zeros. Functions with ``like`` in the name create an
    ndarray with the shape, dtype and order of a contiguous array.

    Parameters
    ----------
    shape : int or sequence of int
        Lengths of the axes.
    dtype : data-type
        Type of the elements; Python objects are not supported.
    order : {'C', 'F'}, optional
        Memory order of the elements.
    mem_flags : int, optional
        A combination of `host_alloc_flags`; for managed memory GLOBAL or HOST of `mem_attach_flags`, where 0 stands for
        GLOBAL.
    alignment : int, optional
        For aligned memory: the alignment in bytes, a power of two.
    ary : numpy.ndarray or GPUArray
        For functions with ``like``: the array from which shape, dtype and order are taken.

    Returns
    -------
    numpy.ndarray
        Array whose ``base`` is a `PagelockedHostAllocation`, an `AlignedHostAllocation`, or (unless the array is empty)
        a `ManagedAllocation`.

    Raises
    ------
    TypeError, ValueError
        As from :func:`numpy.empty`; for unknown flags or an invalid alignment; and if `ary` is not contiguous.
    OutOfMemoryError
        If the system cannot pin more memory, or device memory is insufficient.

    See Also
    --------
    PyGPU.empty_pinned : PyGPU's own function.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import aligned_empty, managed_zeros_like, pagelocked_empty
    >>> pagelocked_empty((2, 3), "f4", order="F").flags.f_contiguous
    True
    >>> aligned_empty(3, "f4", alignment=64).ctypes.data % 64
    0
    >>> managed_zeros_like(numpy.ones((2, 3))).sum()
    np.float64(0.0)
    """
    memory = PagelockedHostAllocation(size_of(shape, dtype, order), mem_flags)
    return array_over(memory, memory._address, shape, dtype, order)


def aligned_empty(
    shape: ShapeLike, dtype: DTypeLike, order: str = "C", alignment: SupportsIndex = 4096
) -> NDArray[Any]:
    """Create an uninitialised ndarray over memory that is aligned to `alignment` bytes.

    See `pagelocked_empty`.
    """
    memory = AlignedHostAllocation(size_of(shape, dtype, order), alignment)
    return array_over(memory, memory._address, shape, dtype, order)


def managed_empty(shape: ShapeLike, dtype: DTypeLike, order: str = "C", mem_flags: SupportsIndex = 0) -> NDArray[Any]:
    """Create an uninitialised ndarray over memory that host and device both access.

    See `pagelocked_empty`.
    """
    nbytes = size_of(shape, dtype, order)
    if nbytes == 0:
        return numpy.empty(shape, dtype, order)  # type: ignore[call-overload, no-any-return]
    memory = ManagedAllocation(nbytes, mem_flags)
    return array_over(memory, memory.ptr, shape, dtype, order)


def pagelocked_zeros(
    shape: ShapeLike, dtype: DTypeLike, order: str = "C", mem_flags: SupportsIndex = 0
) -> NDArray[Any]:
    """Create an ndarray of zeros over page-locked memory, with the same parameters as `pagelocked_empty`."""
    return _zeroed(pagelocked_empty(shape, dtype, order, mem_flags))


def aligned_zeros(
    shape: ShapeLike, dtype: DTypeLike, order: str = "C", alignment: SupportsIndex = 4096
) -> NDArray[Any]:
    """Create an ndarray of zeros over aligned memory, with the same parameters as `aligned_empty`."""
    return _zeroed(aligned_empty(shape, dtype, order, alignment))


def managed_zeros(shape: ShapeLike, dtype: DTypeLike, order: str = "C", mem_flags: SupportsIndex = 0) -> NDArray[Any]:
    """Create an ndarray of zeros over managed memory, with the same parameters as `managed_empty`."""
    return _zeroed(managed_empty(shape, dtype, order, mem_flags))


def pagelocked_empty_like(ary: NDArray[Any], mem_flags: SupportsIndex = 0) -> NDArray[Any]:
    """Create an uninitialised ndarray over page-locked memory with the shape, dtype and order of an array.

    See `pagelocked_empty`.
    """
    return pagelocked_empty(ary.shape, ary.dtype, order_of(ary), mem_flags)


def aligned_empty_like(ary: NDArray[Any], alignment: SupportsIndex = 4096) -> NDArray[Any]:
    """Create an uninitialised ndarray over aligned memory with the shape, dtype and order of an array.

    See `pagelocked_empty`.
    """
    return aligned_empty(ary.shape, ary.dtype, order_of(ary), alignment)


def managed_empty_like(ary: NDArray[Any], mem_flags: SupportsIndex = 0) -> NDArray[Any]:
    """Create an uninitialised ndarray over managed memory with the shape, dtype and order of an array.

    See `pagelocked_empty`.
    """
    return managed_empty(ary.shape, ary.dtype, order_of(ary), mem_flags)


def pagelocked_zeros_like(ary: NDArray[Any], mem_flags: SupportsIndex = 0) -> NDArray[Any]:
    """Create an ndarray of zeros over page-locked memory with the shape, dtype and order of an array.

    See `pagelocked_empty`.
    """
    return _zeroed(pagelocked_empty_like(ary, mem_flags))


def aligned_zeros_like(ary: NDArray[Any], alignment: SupportsIndex = 4096) -> NDArray[Any]:
    """Create an ndarray of zeros over aligned memory with the shape, dtype and order of an array.

    See `pagelocked_empty`.
    """
    return _zeroed(aligned_empty_like(ary, alignment))


def managed_zeros_like(ary: NDArray[Any], mem_flags: SupportsIndex = 0) -> NDArray[Any]:
    """Create an ndarray of zeros over managed memory with the shape, dtype and order of an array.

    See `pagelocked_empty`.
    """
    return _zeroed(managed_empty_like(ary, mem_flags))
