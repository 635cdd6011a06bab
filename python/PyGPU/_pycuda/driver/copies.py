"""PyCUDA's functions that copy linear memory.

If `stream` is None, the legacy default stream is used, even inside ``with stream:``. A copy waits for earlier uses of
memory that PyGPU allocated. For other memory, only the stream's order applies.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

from PyGPU import _core
from PyGPU._memory.device_memory import bytes_of, memcpy_dtoh, memcpy_htod, on_stream

if TYPE_CHECKING:
    from PyGPU.typing import AddressLike, HostBuffer, StreamLike

__all__ = [
    "memcpy_dtod",
    "memcpy_dtod_async",
    "memcpy_dtoh",
    "memcpy_dtoh_async",
    "memcpy_htod",
    "memcpy_htod_async",
    "memcpy_peer",
    "memcpy_peer_async",
]


def memcpy_htod_async(dest: AddressLike, src: HostBuffer, stream: StreamLike = None) -> None:
    """Copy host memory to a device like `memcpy_htod`, but in the order of a stream and without waiting.

    Page-locked host memory must stay unchanged until the stream has completed the copy. Other host memory is read
    before the call returns. For arrays, use `PyGPU.GPUArray.set_async`.

    Examples
    --------
    >>> from PyGPU.driver import from_device, mem_alloc, memcpy_htod_async
    >>> memory = mem_alloc(4)
    >>> memcpy_htod_async(memory, b"abcd")
    >>> from_device(memory, 2, "S2")
    array([b'ab', b'cd'], dtype='|S2')
    """
    host = bytes_of(src)
    target = _core.array_at(dest, host.size, "u1", stream=stream)
    target.set_async(host, on_stream(target, stream))


def memcpy_dtoh_async(dest: HostBuffer, src: AddressLike, stream: StreamLike = None) -> None:
    """Copy device memory to the host like `memcpy_dtoh`, but in the order of a stream.

    The call waits for the copy unless the destination is page-locked. For arrays, use `PyGPU.GPUArray.get_async`.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.driver import memcpy_dtoh_async, pagelocked_empty, to_device
    >>> memory, result, stream = to_device(b"abc"), pagelocked_empty(3, "u1"), PyGPU.Stream()
    >>> memcpy_dtoh_async(result, memory, stream)
    >>> stream.synchronize()
    >>> result
    array([97, 98, 99], dtype=uint8)
    """
    host = bytes_of(dest, written=True)
    source = _core.array_at(src, host.size, "u1", stream=stream)
    source.get_async(on_stream(source, stream), host)


def memcpy_dtod(dest: AddressLike, src: AddressLike, size: SupportsIndex) -> None:
    """Copy device memory to device memory, in the order of the legacy default stream.

    `memcpy_dtod_async` copies in the order of a given stream, and `memcpy_peer` between devices.

    Parameters
    ----------
    dest, src : int or object with an address
        Address of the destination and of the source, whose memory may overlap.
    size : int
        Bytes.
    stream : Stream or None
        Parameter of the functions that end in ``_async``; None stands for the legacy default stream.
    dest_context, src_context : Context, optional
        Parameters of the copies between devices; accepted for compatibility with PyCUDA.

    Raises
    ------
    ValueError
        If the memory at `dest` or `src` is smaller than `size`. Only memory that PyGPU allocated is checked.

    Examples
    --------
    >>> from PyGPU.driver import from_device, mem_alloc, memcpy_dtod, to_device
    >>> memory = mem_alloc(3)
    >>> memcpy_dtod(memory, to_device(b"abc"), 3)
    >>> from_device(memory, 3, "S1")
    array([b'a', b'b', b'c'], dtype='|S1')
    """
    memcpy_dtod_async(dest, src, size)


def memcpy_dtod_async(dest: AddressLike, src: AddressLike, size: SupportsIndex, stream: StreamLike = None) -> None:
    """Copy device memory to device memory like `memcpy_dtod`, but in the order of a stream."""
    count = operator.index(size)
    target = _core.array_at(dest, count, "u1", stream=stream)
    _core.copy_array(target, _core.array_at(src, count, "u1", stream=stream), stream)


def memcpy_peer(
    dest: AddressLike, src: AddressLike, size: SupportsIndex, dest_context: Any = None, src_context: Any = None
) -> None:
    """Copy memory of one device to another device like `memcpy_dtod`."""
    memcpy_dtod_async(dest, src, size)


def memcpy_peer_async(
    dest: AddressLike,
    src: AddressLike,
    size: SupportsIndex,
    dest_context: Any = None,
    src_context: Any = None,
    stream: StreamLike = None,
) -> None:
    """Copy memory of one device to another device like `memcpy_dtod`, but in the order of a stream."""
    memcpy_dtod_async(dest, src, size, stream)
