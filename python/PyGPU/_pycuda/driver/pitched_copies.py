"""PyCUDA's classes `Memcpy2D`, `Memcpy3D` and `Memcpy3DPeer`, which copy boxes of memory with pitched rows."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy

from PyGPU import _core
from PyGPU._memory.device_memory import bytes_of, on_stream
from PyGPU._pycuda.driver.arrays import native

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from PyGPU.typing import AddressLike, HostBuffer, StreamLike

__all__ = ["Memcpy2D", "Memcpy3D", "Memcpy3DPeer"]


class _LinearEndpoint:
    """Source or destination of a copy that is a host buffer or a device address."""

    __slots__ = ("address", "host")

    def __init__(self, host: NDArray[numpy.uint8] | None = None, address: AddressLike | None = None) -> None:
        self.host = host
        self.address = address

    def box(
        self, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], stream: StreamLike
    ) -> NDArray[numpy.uint8] | _core.GPUArray:
        """Return the copied box as a strided array over the memory."""
        if self.host is None:
            assert self.address is not None
            return _core.array_at(self.address, shape, "u1", strides, stream, offset)
        last = offset + sum((length - 1) * step for length, step in zip(shape, strides, strict=True)) + 1
        if 0 not in shape and last > self.host.size:
            raise ValueError(f"the copy would reach to byte {last} of a buffer of {self.host.size} bytes")
        if 0 in shape:
            return numpy.empty(shape, numpy.uint8)
        return numpy.ndarray(shape, numpy.uint8, self.host, offset, strides)


class _ArrayEndpoint:
    """Source or destination of a copy that is a CUDA array."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = native(array)

    def copy(
        self, memory: _core.GPUArray, box_offset: tuple[int, int, int], stream: StreamLike, *, written: bool
    ) -> None:
        """Copy between the CUDA array and a three-dimensional array of bytes on the device."""
        self.array._copy_box(memory, box_offset, written, on_stream(memory, stream))


class _PitchedCopy:
    """Base class of `Memcpy2D`, `Memcpy3D` and `Memcpy3DPeer`; a two-dimensional copy has one plane."""

    def __init__(self) -> None:
        self._source: _LinearEndpoint | _ArrayEndpoint | None = None
        self._target: _LinearEndpoint | _ArrayEndpoint | None = None
        self.src_x_in_bytes = self.src_y = self.src_z = self.src_pitch = self.src_height = 0
        self.dst_x_in_bytes = self.dst_y = self.dst_z = self.dst_pitch = self.dst_height = 0
        self.width_in_bytes = self.height = 0
        self.depth = 1

    def set_src_host(self, buffer: HostBuffer) -> None:
        """Set the source to host memory.

        Parameters
        ----------
        buffer : buffer
            Contiguous host buffer.
        """
        self._source = _LinearEndpoint(host=bytes_of(buffer))

    def set_dst_host(self, buffer: HostBuffer) -> None:
        """Set the destination to writable host memory, with the same parameters as `set_src_host`."""
        self._target = _LinearEndpoint(host=bytes_of(buffer, written=True))

    def set_src_device(self, devptr: AddressLike) -> None:
        """Set the source to device memory.

        Parameters
        ----------
        devptr : int or object with an address
            Source address.
        """
        self._source = _LinearEndpoint(address=devptr)

    def set_dst_device(self, devptr: AddressLike) -> None:
        """Set the destination to device memory, with the same parameters as `set_src_device`."""
        self._target = _LinearEndpoint(address=devptr)

    def set_src_unified(self, buffer: HostBuffer | AddressLike) -> None:
        """Set the source to host or device memory.

        Parameters
        ----------
        buffer : buffer, int or object with an address
            A buffer is host memory; an int or an object with an address is device memory.
        """
        if _is_buffer(buffer):
            self.set_src_host(buffer)  # type: ignore[arg-type]
        else:
            self.set_src_device(buffer)  # type: ignore[arg-type]

    def set_dst_unified(self, buffer: HostBuffer | AddressLike) -> None:
        """Set the destination to host or device memory, as for `set_src_unified`."""
        if _is_buffer(buffer):
            self.set_dst_host(buffer)  # type: ignore[arg-type]
        else:
            self.set_dst_device(buffer)  # type: ignore[arg-type]

    def set_src_array(self, array: Any) -> None:
        """Set the source to a CUDA array, which has no pitch.

        Parameters
        ----------
        array : Array or PyGPU.TextureArray
            The CUDA array; the copy object keeps it alive.
        """
        self._source = _ArrayEndpoint(array)

    def set_dst_array(self, array: Any) -> None:
        """Set the destination to a CUDA array, as for `set_src_array`."""
        self._target = _ArrayEndpoint(array)

    def _field(self, field: str) -> int:
        value = operator.index(getattr(self, field))
        if not 0 <= value < 1 << 63:
            raise ValueError(f"{field} is {value}: it must be in 0 .. 2**63 - 1")
        return value

    def _offset(self, name: str) -> tuple[int, int, int]:
        """Return the offset (bytes, rows, planes) of the copied box in the source or destination."""
        x, y, z = (self._field(f"{name}_{field}") for field in ("x_in_bytes", "y", "z"))
        return x, y, z

    def _box_of(
        self, name: str, endpoint: _LinearEndpoint | None, extent: tuple[int, int, int], stream: StreamLike
    ) -> NDArray[numpy.uint8] | _core.GPUArray:
        depth, height, width = extent
        if endpoint is None:
            raise ValueError(f"set_{name}_host() or set_{name}_device() was not called")

        x, y, z = self._offset(name)
        pitch, rows = self._field(f"{name}_pitch"), self._field(f"{name}_height")
        if (height > 1 or depth > 1 or y or z) and pitch < x + width:
            raise ValueError(f"{name}_pitch is {pitch}, and a row takes {x} + {width} bytes")
        if (depth > 1 or z) and rows < y + height:
            raise ValueError(f"{name}_height is {rows}, and a plane takes {y} + {height} rows")
        plane = pitch * rows
        # An axis of length 1 gets the stride 1, which has no effect, but must be valid.
        strides = (plane if depth > 1 else 1, pitch if height > 1 else 1, 1)
        return endpoint.box(x + y * pitch + z * plane, extent, strides, stream)

    def _copy(self, wait: bool, stream: StreamLike) -> None:
        fields = ("depth", "height", "width_in_bytes")
        extent = tuple(operator.index(getattr(self, field)) for field in fields)
        for field, length in zip(fields, extent, strict=True):
            if length < 0:
                raise ValueError(f"{field} is {length}, and cannot be negative")
        if isinstance(self._target, _ArrayEndpoint) or isinstance(self._source, _ArrayEndpoint):
            self._copy_array(extent, wait, stream)  # type: ignore[arg-type]
            return
        target = self._box_of("dst", self._target, extent, stream)  # type: ignore[arg-type]
        source = self._box_of("src", self._source, extent, stream)  # type: ignore[arg-type]
        _copy_between(target, source, wait, stream)

    def _copy_array(self, extent: tuple[int, int, int], wait: bool, stream: StreamLike) -> None:
        """Copy a box to or from a CUDA array through a contiguous buffer in device memory."""
        # `_box_of` checks source and destination before the first of the two copies.
        if isinstance(self._source, _ArrayEndpoint):
            memory = _new_buffer(self._source, extent)
            target = (
                None if isinstance(self._target, _ArrayEndpoint) else self._box_of("dst", self._target, extent, stream)
            )
            self._source.copy(memory, self._offset("src"), stream, written=False)
        else:
            assert isinstance(self._target, _ArrayEndpoint)
            source, target = self._box_of("src", self._source, extent, stream), None
            memory = _new_buffer(self._target, extent)
            _copy_between(memory, source, False, stream)
        if isinstance(self._target, _ArrayEndpoint):
            self._target.copy(memory, self._offset("dst"), stream, written=True)
            if wait:
                on_stream(memory, stream).synchronize()  # type: ignore[union-attr]
        elif target is not None:
            _copy_between(target, memory, wait, stream)


def _new_buffer(endpoint: _ArrayEndpoint, extent: tuple[int, int, int]) -> _core.GPUArray:
    """Create a contiguous buffer on the device of a CUDA array."""
    with endpoint.array.device:
        return _core.empty(extent, "u1")


def _copy_between(
    target: NDArray[numpy.uint8] | _core.GPUArray,
    source: NDArray[numpy.uint8] | _core.GPUArray,
    wait: bool,
    stream: StreamLike,
) -> None:
    """Copy a box between host memory, device memory or two devices."""
    if isinstance(target, _core.GPUArray) and isinstance(source, _core.GPUArray):
        _core.copy_array(target, source, stream)
        if wait:
            target.synchronize()
    elif isinstance(target, _core.GPUArray):
        target.set(source, async_=not wait, stream=on_stream(target, stream))
    elif isinstance(source, _core.GPUArray):
        if wait:
            source.get(target, stream=on_stream(source, stream))
        else:
            source.get_async(on_stream(source, stream), target)
    else:
        if isinstance(stream, _core.Stream):
            stream.synchronize()
        target[...] = source


def _is_buffer(memory: object) -> bool:
    try:
        memoryview(memory)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


class Memcpy2D(_PitchedCopy):
    """Two-dimensional copy: rows with a pitch on each side.

    Set source, destination and the attributes, then call the object. The call waits for the copy unless a stream is
    passed. A bool is accepted instead of a stream; in PyCUDA this bool states that the driver chose the pitches.

    Attributes
    ----------
    src_x_in_bytes, src_y, src_pitch : int
        Offset in the source (bytes within a row, and rows), and bytes between the starts of rows.
    dst_x_in_bytes, dst_y, dst_pitch : int
        Values for the destination, with the same meaning as for the source.
    width_in_bytes, height : int
        Size of the copied box.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import Memcpy2D
    >>> from PyGPU.driver import from_device, to_device
    >>> memory = to_device(bytes(8))
    >>> copy = Memcpy2D()
    >>> copy.set_src_host(numpy.arange(1, 5, dtype="u1"))
    >>> copy.set_dst_device(memory)
    >>> copy.src_pitch = copy.width_in_bytes = copy.height = 2
    >>> copy.dst_pitch = 4
    >>> copy(aligned=False)
    >>> from_device(memory, (2, 4), "u1")
    array([[1, 2, 0, 0],
           [3, 4, 0, 0]], dtype=uint8)
    """

    def __call__(self, stream: StreamLike | bool = None, *, aligned: bool | None = None) -> None:
        """Copy the box.

        Parameters
        ----------
        stream : Stream or bool, optional
            Stream of the copy; if given, the call does not wait. A bool is PyCUDA's ``aligned``, which has no effect.
        aligned : bool, optional
            Accepted for compatibility with PyCUDA; it has no effect.

        Raises
        ------
        ValueError
            If source or destination is not set, if rows do not fit into their pitch, or if the copy exceeds memory that
            PyGPU allocated. Nothing is copied then.
        """
        if stream is None or isinstance(stream, bool | numpy.bool_) or aligned is not None:
            self._copy(True, None)
        else:
            self._copy(False, stream)


class Memcpy3D(_PitchedCopy):
    """Three-dimensional copy: planes of rows with a pitch on each side.

    Set source, destination and the attributes, then call the object. The call waits for the copy unless a stream is
    passed.

    Attributes
    ----------
    src_x_in_bytes, src_y, src_z : int
        Offset of the box in the source: bytes within a row, rows, and planes.
    src_pitch, src_height : int
        Bytes between the starts of rows, and rows between the starts of planes.
    src_lod : int
        Mipmap level; arrays with several levels are not supported.
    dst_x_in_bytes, dst_y, dst_z, dst_pitch, dst_height, dst_lod : int
        Values for the destination, with the same meaning as for the source.
    width_in_bytes, height, depth : int
        Size of the copied box.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import Memcpy3D
    >>> from PyGPU.driver import to_device
    >>> result = numpy.zeros((2, 1, 2), "u1")
    >>> copy = Memcpy3D()
    >>> copy.set_src_device(to_device(bytes(range(8))))
    >>> copy.set_dst_host(result)
    >>> copy.src_pitch = copy.src_height = copy.dst_pitch = copy.width_in_bytes = copy.depth = 2
    >>> copy.dst_height = copy.height = copy.src_y = 1
    >>> copy()
    >>> result.ravel()
    array([2, 3, 6, 7], dtype=uint8)
    """

    def __init__(self) -> None:
        super().__init__()
        self.src_lod = self.dst_lod = 0

    def __call__(self, stream: StreamLike = None) -> None:
        """Copy the box.

        Parameters
        ----------
        stream : Stream, optional
            Stream of the copy; if given, the call does not wait.

        Raises
        ------
        ValueError
            If source or destination is not set, if rows do not fit into their pitch or planes into their height, or if
            the copy exceeds memory that PyGPU allocated. Nothing is copied then.
        """
        self._copy(stream is None, stream)


class Memcpy3DPeer(Memcpy3D):
    """Three-dimensional copy between devices.

    The class behaves like `Memcpy3D`, which copies between devices as well.

    Examples
    --------
    >>> from PyGPU.driver import Memcpy3DPeer
    >>> copy = Memcpy3DPeer()
    >>> copy.depth
    1
    """

    def set_src_context(self, context: Any) -> None:
        """Accept the context of the source, which has no effect, because the address determines the device.

        Parameters
        ----------
        context : Context
            Ignored.
        """

    def set_dst_context(self, context: Any) -> None:
        """Accept the context of the destination, which has no effect, as in `set_src_context`."""
