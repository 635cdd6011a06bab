"""`cuda*` calls that copy rows with a pitch, or copy between devices."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from PyGPU import _core
from PyGPU._pybindgpu.address_arguments import Address, address_of, byte_count
from PyGPU._pybindgpu.runtime.device import checked_device
from PyGPU._pybindgpu.runtime.memory import KINDS, cudaMemcpyDefault
from PyGPU._pybindgpu.runtime.stream import StreamLike, as_stream
from PyGPU._pybindgpu.status import (
    INVALID_MEMCPY_DIRECTION,
    INVALID_PITCH_VALUE,
    INVALID_VALUE,
    StatusError,
    cudaError_t,
    status_of,
)

__all__ = ["cudaMemcpy2D", "cudaMemcpy2DAsync", "cudaMemcpyPeer", "cudaMemcpyPeerAsync"]


def _copy_rows(
    destination: tuple[Address, int],
    source: tuple[Address, int],
    extent: tuple[int, int],
    kind: int,
    stream: _core.Stream | None,
) -> None:
    if not 0 <= kind < len(KINDS):
        raise StatusError(INVALID_MEMCPY_DIRECTION)
    (dst, dpitch), (src, spitch), (width, height) = destination, source, extent
    if width == 0 or height == 0:
        return
    if width > dpitch or width > spitch:
        raise StatusError(INVALID_PITCH_VALUE)
    dst_address = address_of(dst, dpitch * (height - 1) + width, written=True)
    src_address = address_of(src, spitch * (height - 1) + width)
    if not dst_address or not src_address:
        raise StatusError(INVALID_VALUE)
    _core.raw_copy_rows(dst_address, dpitch, src_address, spitch, width, height, KINDS[kind], stream)


def cudaMemcpy2D(
    dst: Address,
    dpitch: SupportsIndex,
    src: Address,
    spitch: SupportsIndex,
    width: SupportsIndex,
    height: SupportsIndex,
    kind: SupportsIndex = cudaMemcpyDefault,
) -> cudaError_t:
    """Copy rows of bytes and wait for the end of the copy. Other Python threads run during the wait.

    Parameters
    ----------
    dst, src : int, ctypes.c_void_p, pointer wrapper or contiguous ndarray
        Addresses of the first row at the destination and the source, as for `cudaMemcpy`.
    dpitch, spitch : int
        Number of bytes between the starts of adjacent rows at the destination and the source, at least `width`.
    width : int
        Number of bytes to copy from each row.
    height : int
        Number of rows.
    kind : int
        Direction of the copy, as for `cudaMemcpy`.

    Returns
    -------
    cudaError_t
        12 (``cudaErrorInvalidPitchValue``) for a pitch shorter than a row, 801 (``cudaErrorNotSupported``) for
        rows on two different devices, and the errors of `cudaMemcpy`.

    Raises
    ------
    TypeError
        If the type of an argument is wrong.
    ValueError
        If a number is negative or too large, or if an ndarray is too short, not contiguous, or a read-only
        destination.

    Examples
    --------
    >>> import numpy, PyGPU
    >>> source, result = numpy.arange(6, dtype="u1").reshape(2, 3), numpy.zeros((2, 2), "u1")
    >>> PyGPU.cudaMemcpy2D(result, 2, source, 3, 2, 2)
    <cudaError: code=0>
    >>> result
    array([[0, 1],
           [3, 4]], dtype=uint8)
    """
    destination, source = (dst, byte_count(dpitch)), (src, byte_count(spitch))
    extent = byte_count(width), byte_count(height)
    return status_of(_copy_rows, destination, source, extent, operator.index(kind), None)


def cudaMemcpy2DAsync(
    dst: Address,
    dpitch: SupportsIndex,
    src: Address,
    spitch: SupportsIndex,
    width: SupportsIndex,
    height: SupportsIndex,
    kind: SupportsIndex = cudaMemcpyDefault,
    stream: StreamLike = None,
) -> cudaError_t:
    """Copy rows of bytes like `cudaMemcpy2D`, but in the order of a stream and without waiting for the copy.

    The caller keeps source and destination alive, and the source unchanged, until the stream has completed the copy.

    Examples
    --------
    >>> import numpy, PyGPU
    >>> source, result = numpy.arange(4, dtype="u1"), numpy.zeros(2, "u1")
    >>> PyGPU.cudaMemcpy2DAsync(result, 1, source, 2, 1, 2, stream=PyGPU.cudaStream_t())
    <cudaError: code=0>
    >>> PyGPU.cudaDeviceSynchronize(), result
    (<cudaError: code=0>, array([0, 2], dtype=uint8))
    """
    destination, source = (dst, byte_count(dpitch)), (src, byte_count(spitch))
    extent, direction = (byte_count(width), byte_count(height)), operator.index(kind)
    return status_of(lambda: _copy_rows(destination, source, extent, direction, as_stream(stream)))


def _copy_to_peer(
    dst: Address, dst_device: int, src: Address, src_device: int, count: int, stream: _core.Stream | None
) -> None:
    devices = checked_device(dst_device), checked_device(src_device)
    dst_address, src_address = address_of(dst, count, written=True), address_of(src, count)
    if count == 0:
        return
    for address, device in zip((dst_address, src_address), devices, strict=True):
        attributes = _core.pointer_attributes(address)
        if attributes is None or attributes[0] == "host" or (attributes[0] == "device" and attributes[1] != device):
            raise StatusError(INVALID_VALUE)
    _core.raw_copy(dst_address, src_address, count, "default", stream)


def cudaMemcpyPeer(
    dst: Address, dstDevice: SupportsIndex, src: Address, srcDevice: SupportsIndex, count: SupportsIndex
) -> cudaError_t:
    """Copy bytes from the memory of one device to the memory of another, and wait for the end of the copy.

    If the devices support peer access, the copy is direct; if not, it goes through the host.

    Parameters
    ----------
    dst, src : int, ctypes.c_void_p or pointer wrapper
        Device addresses.
    dstDevice, srcDevice : int
        Ordinals of the devices that own the memory; they may be equal.
    count : int
        Number of bytes.

    Returns
    -------
    cudaError_t
        101 (``cudaErrorInvalidDevice``) for a device that does not exist, 1 (``cudaErrorInvalidValue``) for an address
        that is not memory of its device.

    Raises
    ------
    TypeError
        If the type of an argument is wrong.
    ValueError
        If an address or `count` is negative or too large.

    Examples
    --------
    >>> import PyGPU
    >>> first, err = PyGPU.cudaMalloc(16)
    >>> second, err = PyGPU.cudaMalloc(16)
    >>> PyGPU.cudaMemcpyPeer(second, 0, first, 0, 16)
    <cudaError: code=0>
    >>> PyGPU.cudaFree(first), PyGPU.cudaFree(second)
    (<cudaError: code=0>, <cudaError: code=0>)
    """
    return status_of(
        _copy_to_peer, dst, operator.index(dstDevice), src, operator.index(srcDevice), byte_count(count), None
    )


def cudaMemcpyPeerAsync(
    dst: Address,
    dstDevice: SupportsIndex,
    src: Address,
    srcDevice: SupportsIndex,
    count: SupportsIndex,
    stream: StreamLike = None,
) -> cudaError_t:
    """Copy between devices like `cudaMemcpyPeer`, but in the order of a stream of the source device, without waiting.

    The memory must stay allocated until the stream has completed the copy.

    Examples
    --------
    >>> import PyGPU
    >>> first, err = PyGPU.cudaMalloc(16)
    >>> second, err = PyGPU.cudaMalloc(16)
    >>> PyGPU.cudaMemcpyPeerAsync(second, 0, first, 0, 16, PyGPU.cudaStream_t())
    <cudaError: code=0>
    >>> err = PyGPU.cudaDeviceSynchronize()
    >>> PyGPU.cudaFree(first), PyGPU.cudaFree(second)
    (<cudaError: code=0>, <cudaError: code=0>)
    """
    dst_device, src_device, nbytes = operator.index(dstDevice), operator.index(srcDevice), byte_count(count)
    return status_of(lambda: _copy_to_peer(dst, dst_device, src, src_device, nbytes, as_stream(stream)))
