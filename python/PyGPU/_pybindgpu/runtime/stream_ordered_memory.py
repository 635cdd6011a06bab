"""`cuda*` calls that allocate and free in the order of a stream."""

from __future__ import annotations

from typing import SupportsIndex

from PyGPU import _core
from PyGPU._pybindgpu.address_arguments import Address, byte_count, plain_address
from PyGPU._pybindgpu.runtime.stream import StreamLike, as_stream
from PyGPU._pybindgpu.status import cudaError_t, status_of, value_of

__all__ = ["cudaFreeAsync", "cudaMallocAsync"]


def cudaMallocAsync(size: SupportsIndex, stream: StreamLike = None) -> tuple[int, cudaError_t]:
    """Allocate memory from PyGPU's pool, in the order of a stream.

    Parameters
    ----------
    size : int
        Number of bytes, uninitialised. Zero bytes need no memory and have address 0.
    stream : cudaStream_t, PyGPU.Stream, object with ``__cuda_stream__``, int or None
        Stream whose later work may use the memory; None and 0 are the default stream.

    Returns
    -------
    address : int
        Device address for `cudaFreeAsync` or `cudaFree`; 0 after an error.
    status : cudaError_t
        2 (``cudaErrorMemoryAllocation``) if device memory is insufficient, 801 (``cudaErrorNotSupported``) while
        the stream is captured.

    Raises
    ------
    TypeError
        If `size` is not an integer, or `stream` no stream.
    ValueError
        If `size` is negative or does not fit into 63 bits.

    Examples
    --------
    >>> import PyGPU
    >>> stream = PyGPU.cudaStream_t()
    >>> address, err = PyGPU.cudaMallocAsync(1024, stream)
    >>> err, PyGPU.cudaFreeAsync(address, stream)
    (<cudaError: code=0>, <cudaError: code=0>)
    """
    nbytes = byte_count(size)
    return value_of(0, lambda: _core.raw_allocate_async(nbytes, as_stream(stream)))


def cudaFreeAsync(devPtr: Address, stream: StreamLike = None) -> cudaError_t:
    """Free memory that `cudaMallocAsync` allocated, in the order of a stream.

    Parameters
    ----------
    devPtr : int or ctypes.c_void_p
        Address to free; 0 has no effect and is no error.
    stream : cudaStream_t, PyGPU.Stream, object with ``__cuda_stream__``, int or None
        Stream whose earlier work may still use the memory; None and 0 are the default stream.

    Returns
    -------
    cudaError_t
        1 (``cudaErrorInvalidValue``) for any other address.

    Raises
    ------
    TypeError
        If `devPtr` is not an address, or `stream` no stream.
    ValueError
        If `devPtr` is negative or has more than 64 bits.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaFreeAsync(0)
    <cudaError: code=0>
    """
    address = plain_address(devPtr)
    return status_of(lambda: _core.raw_free_async(address, as_stream(stream)))
