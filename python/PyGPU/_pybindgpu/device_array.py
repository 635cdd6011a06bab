"""The classes `DeviceArray_float32` and so on: arrays with a host and a device buffer, which the program copies.

The array owns or borrows the memory of each side, and keeps the owners of borrowed memory alive. The host side is
always contiguous, so that a copy is one block of bytes. A device error raises no exception: its status is stored in
`last_status`. Only wrong arguments raise exceptions.
"""

from __future__ import annotations

import ctypes
import operator
from typing import TYPE_CHECKING, Any, ClassVar, Literal, SupportsIndex

import numpy

from PyGPU import _core
from PyGPU._pybindgpu.address_arguments import plain_address
from PyGPU._pybindgpu.owned_block import Block, DeviceBlock, checked_nbytes
from PyGPU._pybindgpu.pointer import PointerWrapper, host_pointer, pointer_to
from PyGPU._pybindgpu.runtime.stream import StreamLike, as_stream
from PyGPU._pybindgpu.status import INVALID_VALUE, SUCCESS, StatusError, cudaError_t, status_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from PyGPU.typing import CopyKind

_SIGNATURES = (
    ("n",),
    ("l", "flag_c_contiguous"),
    ("a", "l", "flag_c_contiguous"),
    ("host_addr", "device_addr", "l", "flag_c_contiguous"),
    ("b",),
)


class DeviceArray:
    """Array with a host buffer and a device buffer. Its subclasses are `DeviceArray_float32` and so on for ten dtypes.

    Parameters
    ----------
    n : int
        Number of elements of an uninitialised host buffer.
    l : list of int
        Shape of an uninitialised host buffer, or of the existing memory at `a`, `host_addr` or `device_addr`.
    flag_c_contiguous : int, default 1
        0 for Fortran order, any other number for C order.
    a : ptr_wrapper_<L>
        Pointer to host memory, which becomes the host side.
    host_addr, device_addr : int or ptr_wrapper_<L>
        Address of the host memory and of the device memory; 0 for a missing side.
    b : buffer
        An ndarray or other buffer of the same dtype that becomes the host side. It is copied if it is not contiguous.

    Raises
    ------
    TypeError
        If the arguments are none of ``(n)``, ``(l)``, ``(a, l)``, ``(host_addr, device_addr, l)`` and ``(b)``, or if
        the dtype of `b` or `a` differs from the dtype of the class.
    ValueError
        If a length is negative, if the size in bytes exceeds 64 bits, or if the memory at a pointer is known to be
        smaller.
    MemoryError
        If host memory is insufficient.

    Notes
    -----
    The array keeps the owner of its memory alive, unless the address was passed as an int. Both
    ``numpy.asarray(x)`` and the buffer protocol (since Python 3.12) return the host side without a copy.

    Examples
    --------
    >>> import numpy, PyGPU
    >>> source = numpy.array([1.0, 2.0, 3.0])
    >>> array = PyGPU.DeviceArray_float64(source)
    >>> array.allocate()
    >>> array.to_device()
    >>> array.set_val(0, 43)
    >>> array.to_host()
    >>> source, array.last_status()
    (array([43.,  2.,  3.]), <cudaError: code=0>)
    """

    __slots__ = ("__weakref__", "_device", "_host", "_nbytes", "_order", "_owns_device", "_shape", "_status")
    _dtype: ClassVar[numpy.dtype[Any]]

    _device: Block | None
    _host: NDArray[Any] | None
    _order: Literal["C", "F"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._host = None
        self._device = None
        self._owns_device = False
        self._order = "C"
        self._status = SUCCESS
        for signature in _SIGNATURES:
            arguments = _bind(signature, args, kwargs)
            if arguments is not None and _accepts(signature[0], arguments[signature[0]]):
                self._shape = self._describe(signature[0], arguments)
                self._nbytes = checked_nbytes(self._shape, self._dtype.itemsize)
                return
        type_names = [type(value).__name__ for value in args] + [f"{k}={type(v).__name__}" for k, v in kwargs.items()]
        raise TypeError(
            f"{type(self).__name__} takes (n), (l, flag_c_contiguous=1), (a, l, flag_c_contiguous=1), "
            f"(host_addr, device_addr, l, flag_c_contiguous=1) or (b), not ({', '.join(type_names)})"
        )

    def _describe(self, signature: str, arguments: dict[str, Any]) -> tuple[int, ...]:
        """Store the constructor's arguments and return the array's shape; `signature` is the first parameter's name."""
        if signature == "b":
            self._host = _contiguous(arguments["b"], self._dtype)
            self._order = "C" if self._host.flags.c_contiguous else "F"
            return self._host.shape
        shape = tuple(operator.index(extent) for extent in (arguments["l"] if signature != "n" else (arguments["n"],)))
        self._order = "C" if operator.index(arguments.get("flag_c_contiguous", 1)) else "F"
        nbytes = checked_nbytes(shape, self._dtype.itemsize)
        if signature == "a":
            self._host = self._host_at(arguments["a"], shape, nbytes)
        elif signature == "host_addr":
            self._host = self._host_at(arguments["host_addr"], shape, nbytes)
            device = self._block_at(arguments["device_addr"], nbytes, on_device=True)
            self._device = device if device.address else None
        else:
            self._host = numpy.empty(shape, self._dtype, self._order)
        return shape

    def _host_at(self, pointer: Any, shape: tuple[int, ...], nbytes: int) -> NDArray[Any] | None:
        block = self._block_at(pointer, nbytes, on_device=False)
        if block.on_device:
            raise ValueError(f"{pointer!r} points to device memory, which cannot be the host side")
        return block.as_array(self._dtype, shape, self._order) if block.address else None

    def _block_at(self, pointer: Any, nbytes: int, *, on_device: bool) -> Block:
        if not isinstance(pointer, PointerWrapper):
            return Block(plain_address(pointer), nbytes, on_device=on_device)
        if pointer._dtype != self._dtype:
            raise TypeError(f"{pointer!r} cannot be used by {type(self).__name__}: the dtypes differ")
        extent = 0 if pointer._block is None else pointer._block.nbytes
        if extent < nbytes:
            raise ValueError(f"{pointer!r} points to {extent} bytes, but {nbytes} are needed")
        return pointer._block or Block(0, 0, on_device=on_device)

    def allocate(self) -> None:
        """Allocate the device side. If the array already has a device side, owned or borrowed, nothing happens."""
        self._status = status_of(self._ensure_device)

    def allocated(self) -> bool:
        """Return whether the array owns its device side."""
        return self._owns_device

    def to_device(self, stream: StreamLike = None) -> None:
        """Copy the host side to the device side, which is allocated if missing, and wait for the copy.

        Parameters
        ----------
        stream : cudaStream_t, PyGPU.Stream, object with ``__cuda_stream__``, int or None
            Stream in whose order the copy runs; None and 0 are the default stream.

        Notes
        -----
        If the host side is missing, nothing is copied and `last_status` is 1 (``cudaErrorInvalidValue``).

        Raises
        ------
        TypeError
            If `stream` is no stream.
        """

        def copy() -> None:
            if self._host is None:
                raise StatusError(INVALID_VALUE)
            self._copy(self._ensure_device().address, self._host.ctypes.data, "host_to_device", stream)

        self._status = status_of(copy)

    def to_host(self, stream: StreamLike = None) -> None:
        """Copy the device side to the host side and wait for the copy.

        Parameters
        ----------
        stream : cudaStream_t, PyGPU.Stream, object with ``__cuda_stream__``, int or None
            Stream in whose order the copy runs; None and 0 are the default stream.

        Notes
        -----
        If a side is missing or the host side is read-only, nothing is copied and the status is 1
        (``cudaErrorInvalidValue``).

        Raises
        ------
        TypeError
            If `stream` is no stream.
        """

        def copy() -> None:
            if self._device is None or self._host is None or not self._host.flags.writeable:
                raise StatusError(INVALID_VALUE)
            self._copy(self._host.ctypes.data, self._device.address, "device_to_host", stream)

        self._status = status_of(copy)

    def set(self, host_addr: Any, stream: StreamLike = None) -> None:
        """Copy `nbytes()` bytes from a host address to the device side; allocate a missing device side first.

        Parameters
        ----------
        host_addr : int, ctypes.c_void_p or ptr_wrapper_<L>
            Source address; the elements are in the memory order of the array. If the address is passed as an int, the
            length of the memory at this address is not checked.
        stream : cudaStream_t, PyGPU.Stream, object with ``__cuda_stream__``, int or None
            Stream in whose order the copy runs; None and 0 are the default stream.

        Notes
        -----
        If `host_addr` is null, nothing is copied and `last_status` is 1 (``cudaErrorInvalidValue``).

        Raises
        ------
        TypeError
            If `host_addr` is no address or points to elements of another dtype, or `stream` is no stream.
        ValueError
            If `host_addr` is known to point to less memory than `nbytes()`, or to device memory.
        """
        block = self._block_at(host_addr, self._nbytes, on_device=False)
        if block.on_device:
            raise ValueError(f"{host_addr!r} points to device memory, not to the host's")

        def copy() -> None:
            if not block.address and self._nbytes:
                raise StatusError(INVALID_VALUE)
            self._copy(self._ensure_device().address, block.address, "host_to_device", stream)

        self._status = status_of(copy)

    def set_val(self, idx: SupportsIndex, val: complex | numpy.number[Any]) -> None:
        """Write one element of the device side.

        Parameters
        ----------
        idx : int
            Index in memory order, from 0 to ``size() - 1``. For any other index, and if the device side is missing,
            nothing is written and no error is raised; `last_status` is 1 (``cudaErrorInvalidValue``).
        val : scalar
            Value to write, converted as in a NumPy assignment.

        Raises
        ------
        TypeError, ValueError, OverflowError
            If `idx` is not an integer or `val` cannot be converted.
        """
        address = 0 if self._device is None else self._device.address
        self._status = write_element(address, self.size(), self._dtype, idx, val)

    def size(self) -> int:
        """Return the number of elements."""
        return self._nbytes // self._dtype.itemsize

    def nbytes(self) -> int:
        """Return the number of bytes of one side."""
        return self._nbytes

    def shape(self) -> list[int]:
        """Return the lengths of the axes."""
        return list(self._shape)

    def strides(self) -> list[int]:
        """Return the strides: the number of bytes between adjacent elements along each axis."""
        if self._host is not None:
            return list(self._host.strides)
        strides, step = [], self._dtype.itemsize
        for extent in self._shape if self._order == "F" else self._shape[::-1]:
            strides.append(step)
            step *= extent
        return strides if self._order == "F" else strides[::-1]

    def host_data(self) -> PointerWrapper:
        """Return a pointer object that keeps the host side alive; a null pointer if the array has no host side."""
        return host_pointer(self._host, self._dtype)

    def device_data(self) -> PointerWrapper:
        """Return a pointer object that keeps the device side alive; a null pointer if the array has no device side."""
        return pointer_to(self._device, self._dtype)

    def last_status(self) -> cudaError_t:
        """Return the status of the last allocation, copy or `set_val`; success if there was none."""
        return self._status

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._checked_host().__array_interface__

    def __buffer__(self, flags: int, /) -> memoryview:
        # Python compares the flags of a buffer request with the returned view, and raises an error for unsupported
        # flags.
        return self._checked_host().data

    def __repr__(self) -> str:
        return f"<{type(self).__name__} shape={self.shape()} allocated={int(self.allocated())}>"

    def _checked_host(self) -> NDArray[Any]:
        if self._host is None:
            raise BufferError("this array has no host side")
        return self._host

    def _ensure_device(self) -> Block:
        if self._device is None:
            self._device = DeviceBlock(self._nbytes)
            self._owns_device = True
        return self._device

    def _copy(self, dst: int, src: int, kind: CopyKind, stream: StreamLike) -> None:
        ordered = None if stream is None else as_stream(stream)
        if self._nbytes == 0:
            return
        # The call waits for the copy, so that the caller cannot free either buffer during the copy.
        _core.raw_copy(dst, src, self._nbytes, kind, ordered, wait=True)


def write_element(
    address: int, size: int, dtype: numpy.dtype[Any], idx: SupportsIndex, val: complex | numpy.number[Any]
) -> cudaError_t:
    """Write one element in device memory, given its index in memory order.

    If the index is out of range or the address is null, nothing is written and the status is 1
    (``cudaErrorInvalidValue``).
    """
    index = operator.index(idx)
    element = numpy.empty((), dtype)
    element[()] = val

    def write() -> None:
        if not address or not 0 <= index < size:
            raise StatusError(INVALID_VALUE)
        _core.raw_copy(address + index * dtype.itemsize, element.ctypes.data, dtype.itemsize, "host_to_device")

    return status_of(write)


def _bind(signature: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """Return the arguments by name if they match the parameters in `signature`, otherwise None."""
    arguments = dict(zip(signature, args, strict=False)) | kwargs
    required = {name for name in signature if name != "flag_c_contiguous"}
    complete = len(arguments) == len(args) + len(kwargs) and required <= arguments.keys() <= set(signature)
    return arguments if complete else None


def _accepts(name: str, value: object) -> bool:
    """Test whether the type of `value` is valid for the constructor's first parameter, whose name is `name`."""
    if name == "n":
        return isinstance(value, int | numpy.integer)
    if name == "l":
        return isinstance(value, list | tuple)
    if name == "a":
        return isinstance(value, PointerWrapper)
    if name == "host_addr":
        return isinstance(value, int | numpy.integer | ctypes.c_void_p | PointerWrapper)
    return not isinstance(value, list | tuple | PointerWrapper)


def _contiguous(source: object, dtype: numpy.dtype[Any]) -> NDArray[Any]:
    """Return an ndarray over the memory of a host buffer, or a copy if the buffer is not contiguous."""
    if isinstance(source, numpy.generic):
        # A NumPy scalar is copied, because the memory of its buffer is temporary.
        array: NDArray[Any] = numpy.array(source)
    elif hasattr(source, "__array_interface__"):
        array = numpy.asarray(source)
    else:
        array = numpy.asarray(memoryview(source))  # type: ignore[arg-type]
    if array.dtype != dtype:
        raise TypeError(f"a buffer of dtype {array.dtype} cannot be the host side of an array of {dtype}")
    return array if array.flags.c_contiguous or array.flags.f_contiguous else numpy.ascontiguousarray(array)
