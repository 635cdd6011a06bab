"""PyCUDA's ndarrays over page-locked, aligned and managed memory of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy

from PyGPU._pycuda.driver.host_allocations import (
    AlignedHostAllocation,
    ManagedAllocation,
    PagelockedHostAllocation,
    new_over,
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


def pagelocked_empty(
    shape: ShapeLike, dtype: DTypeLike, order: str = "C", mem_flags: SupportsIndex = 0
) -> NDArray[Any]:
    """Make an ndarray over page-locked memory, uninitialised.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of the axes.
    dtype : data-type
        Any but one with Python objects.
    order : {'C', 'F'}, optional
        How elements follow each other.
    mem_flags : int, optional
        Of `host_alloc_flags`.

    Returns
    -------
    numpy.ndarray
        Its ``base`` is a `PagelockedHostAllocation`.

    Raises
    ------
    TypeError, ValueError
        As for :func:`numpy.empty`, and for other flags.
    OutOfMemoryError
        If the system pins no more memory.

    Examples
    --------
    >>> from PyGPU.driver import pagelocked_empty
    >>> pagelocked_empty((2, 3), "f4", order="F").flags.f_contiguous
    True
    """
    memory = PagelockedHostAllocation(size_of(shape, dtype, order), mem_flags)
    return new_over(memory, memory._address, shape, dtype, order)


def pagelocked_empty_like(ary: NDArray[Any], mem_flags: SupportsIndex = 0) -> NDArray[Any]:
    """Make an ndarray like another one over page-locked memory, uninitialised.

    Parameters
    ----------
    ary : numpy.ndarray or GPUArray
        Contiguous; its shape, dtype and order are taken.
    mem_flags : int, optional
        Of `host_alloc_flags`.

    Returns
    -------
    numpy.ndarray
        Its ``base`` is a `PagelockedHostAllocation`.

    Raises
    ------
    ValueError
        If the array is not contiguous, and for other flags.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import pagelocked_empty_like
    >>> pagelocked_empty_like(numpy.ones((2, 3))).shape
    (2, 3)
    """
    return pagelocked_empty(ary.shape, ary.dtype, order_of(ary), mem_flags)


def pagelocked_zeros(
    shape: ShapeLike, dtype: DTypeLike, order: str = "C", mem_flags: SupportsIndex = 0
) -> NDArray[Any]:
    """Make an ndarray over page-locked memory, filled with zeros.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of the axes.
    dtype : data-type
        Any but one with Python objects.
    order : {'C', 'F'}, optional
        How elements follow each other.
    mem_flags : int, optional
        Of `host_alloc_flags`.

    Returns
    -------
    numpy.ndarray
        Its ``base`` is a `PagelockedHostAllocation`.

    Raises
    ------
    TypeError, ValueError
        As for :func:`numpy.empty`, and for other flags.
    OutOfMemoryError
        If the system pins no more memory.

    Examples
    --------
    >>> from PyGPU.driver import pagelocked_zeros
    >>> pagelocked_zeros((2, 3), "f4", order="F").flags.f_contiguous
    True
    """
    result = pagelocked_empty(shape, dtype, order, mem_flags)
    result.view(numpy.ndarray).reshape(-1, order="A").view("u1")[:] = 0
    return result


def pagelocked_zeros_like(ary: NDArray[Any], mem_flags: SupportsIndex = 0) -> NDArray[Any]:
    """Make an ndarray like another one over page-locked memory, filled with zeros.

    Parameters
    ----------
    ary : numpy.ndarray or GPUArray
        Contiguous; its shape, dtype and order are taken.
    mem_flags : int, optional
        Of `host_alloc_flags`.

    Returns
    -------
    numpy.ndarray
        Its ``base`` is a `PagelockedHostAllocation`.

    Raises
    ------
    ValueError
        If the array is not contiguous, and for other flags.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import pagelocked_zeros_like
    >>> pagelocked_zeros_like(numpy.ones((2, 3))).shape
    (2, 3)
    """
    return pagelocked_zeros(ary.shape, ary.dtype, order_of(ary), mem_flags)


def aligned_empty(
    shape: ShapeLike, dtype: DTypeLike, order: str = "C", alignment: SupportsIndex = 4096
) -> NDArray[Any]:
    """Make an ndarray over memory that begins at a multiple of `alignment`, uninitialised.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of the axes.
    dtype : data-type
        Any but one with Python objects.
    order : {'C', 'F'}, optional
        How elements follow each other.
    alignment : int, optional
        A power of two.

    Returns
    -------
    numpy.ndarray
        Its ``base`` is an `AlignedHostAllocation`.

    Raises
    ------
    TypeError, ValueError
        As for :func:`numpy.empty`, and for an alignment that is no power of two.

    Examples
    --------
    >>> from PyGPU.driver import aligned_empty
    >>> aligned_empty((2, 3), "f4", order="F").flags.f_contiguous
    True
    """
    memory = AlignedHostAllocation(size_of(shape, dtype, order), alignment)
    return new_over(memory, memory._address, shape, dtype, order)


def aligned_empty_like(ary: NDArray[Any], alignment: SupportsIndex = 4096) -> NDArray[Any]:
    """Make an ndarray like another one over memory that begins at a multiple of `alignment`, uninitialised.

    Parameters
    ----------
    ary : numpy.ndarray or GPUArray
        Contiguous; its shape, dtype and order are taken.
    alignment : int, optional
        A power of two.

    Returns
    -------
    numpy.ndarray
        Its ``base`` is an `AlignedHostAllocation`.

    Raises
    ------
    ValueError
        If the array is not contiguous, and for an alignment that is no power of two.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import aligned_empty_like
    >>> aligned_empty_like(numpy.ones((2, 3))).shape
    (2, 3)
    """
    return aligned_empty(ary.shape, ary.dtype, order_of(ary), alignment)


def aligned_zeros(
    shape: ShapeLike, dtype: DTypeLike, order: str = "C", alignment: SupportsIndex = 4096
) -> NDArray[Any]:
    """Make an ndarray over memory that begins at a multiple of `alignment`, filled with zeros.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of the axes.
    dtype : data-type
        Any but one with Python objects.
    order : {'C', 'F'}, optional
        How elements follow each other.
    alignment : int, optional
        A power of two.

    Returns
    -------
    numpy.ndarray
        Its ``base`` is an `AlignedHostAllocation`.

    Raises
    ------
    TypeError, ValueError
        As for :func:`numpy.empty`, and for an alignment that is no power of two.

    Examples
    --------
    >>> from PyGPU.driver import aligned_zeros
    >>> aligned_zeros((2, 3), "f4", order="F").flags.f_contiguous
    True
    """
    result = aligned_empty(shape, dtype, order, alignment)
    result.view(numpy.ndarray).reshape(-1, order="A").view("u1")[:] = 0
    return result


def aligned_zeros_like(ary: NDArray[Any], alignment: SupportsIndex = 4096) -> NDArray[Any]:
    """Make an ndarray like another one over memory that begins at a multiple of `alignment`, filled with zeros.

    Parameters
    ----------
    ary : numpy.ndarray or GPUArray
        Contiguous; its shape, dtype and order are taken.
    alignment : int, optional
        A power of two.

    Returns
    -------
    numpy.ndarray
        Its ``base`` is an `AlignedHostAllocation`.

    Raises
    ------
    ValueError
        If the array is not contiguous, and for an alignment that is no power of two.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import aligned_zeros_like
    >>> aligned_zeros_like(numpy.ones((2, 3))).shape
    (2, 3)
    """
    return aligned_zeros(ary.shape, ary.dtype, order_of(ary), alignment)


def managed_empty(shape: ShapeLike, dtype: DTypeLike, order: str = "C", mem_flags: SupportsIndex = 0) -> NDArray[Any]:
    """Make an ndarray over memory that host and device both reach, uninitialised.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of the axes.
    dtype : data-type
        Any but one with Python objects.
    order : {'C', 'F'}, optional
        How elements follow each other.
    mem_flags : int, optional
        Of `mem_attach_flags`, GLOBAL or HOST; 0 is GLOBAL.

    Returns
    -------
    numpy.ndarray
        Its ``base`` is a `ManagedAllocation`, unless it has no elements.

    Raises
    ------
    TypeError, ValueError
        As for :func:`numpy.empty`, and for other flags.
    OutOfMemoryError
        If the device has no room.

    Examples
    --------
    >>> from PyGPU.driver import managed_empty
    >>> managed_empty((2, 3), "f4", order="F").flags.f_contiguous
    True
    """
    nbytes = size_of(shape, dtype, order)
    if nbytes == 0:
        return numpy.empty(shape, dtype, order)  # type: ignore[call-overload, no-any-return]
    memory = ManagedAllocation(nbytes, mem_flags)
    return new_over(memory, memory.ptr, shape, dtype, order)


def managed_empty_like(ary: NDArray[Any], mem_flags: SupportsIndex = 0) -> NDArray[Any]:
    """Make an ndarray like another one over memory that host and device both reach, uninitialised.

    Parameters
    ----------
    ary : numpy.ndarray or GPUArray
        Contiguous; its shape, dtype and order are taken.
    mem_flags : int, optional
        Of `mem_attach_flags`, GLOBAL or HOST; 0 is GLOBAL.

    Returns
    -------
    numpy.ndarray
        Its ``base`` is a `ManagedAllocation`, unless it has no elements.

    Raises
    ------
    ValueError
        If the array is not contiguous, and for other flags.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import managed_empty_like
    >>> managed_empty_like(numpy.ones((2, 3))).shape
    (2, 3)
    """
    return managed_empty(ary.shape, ary.dtype, order_of(ary), mem_flags)


def managed_zeros(shape: ShapeLike, dtype: DTypeLike, order: str = "C", mem_flags: SupportsIndex = 0) -> NDArray[Any]:
    """Make an ndarray over memory that host and device both reach, filled with zeros.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of the axes.
    dtype : data-type
        Any but one with Python objects.
    order : {'C', 'F'}, optional
        How elements follow each other.
    mem_flags : int, optional
        Of `mem_attach_flags`, GLOBAL or HOST; 0 is GLOBAL.

    Returns
    -------
    numpy.ndarray
        Its ``base`` is a `ManagedAllocation`, unless it has no elements.

    Raises
    ------
    TypeError, ValueError
        As for :func:`numpy.empty`, and for other flags.
    OutOfMemoryError
        If the device has no room.

    Examples
    --------
    >>> from PyGPU.driver import managed_zeros
    >>> managed_zeros((2, 3), "f4", order="F").flags.f_contiguous
    True
    """
    result = managed_empty(shape, dtype, order, mem_flags)
    result.view(numpy.ndarray).reshape(-1, order="A").view("u1")[:] = 0
    return result


def managed_zeros_like(ary: NDArray[Any], mem_flags: SupportsIndex = 0) -> NDArray[Any]:
    """Make an ndarray like another one over memory that host and device both reach, filled with zeros.

    Parameters
    ----------
    ary : numpy.ndarray or GPUArray
        Contiguous; its shape, dtype and order are taken.
    mem_flags : int, optional
        Of `mem_attach_flags`, GLOBAL or HOST; 0 is GLOBAL.

    Returns
    -------
    numpy.ndarray
        Its ``base`` is a `ManagedAllocation`, unless it has no elements.

    Raises
    ------
    ValueError
        If the array is not contiguous, and for other flags.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import managed_zeros_like
    >>> managed_zeros_like(numpy.ones((2, 3))).shape
    (2, 3)
    """
    return managed_zeros(ary.shape, ary.dtype, order_of(ary), mem_flags)
