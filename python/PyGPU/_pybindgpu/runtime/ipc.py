"""`cuda*` calls that share device memory and events between processes."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from PyGPU import _core
from PyGPU._process.fork_lock import fork_safe_lock
from PyGPU._pybindgpu.address_arguments import Address, plain_address
from PyGPU._pybindgpu.runtime.event import EventLike, as_event, cudaEvent_t
from PyGPU._pybindgpu.status import INVALID_VALUE, StatusError, cudaError_t, status_of, value_of

__all__ = [
    "cudaIpcCloseMemHandle",
    "cudaIpcEventHandle_t",
    "cudaIpcGetEventHandle",
    "cudaIpcGetMemHandle",
    "cudaIpcMemHandle_t",
    "cudaIpcMemLazyEnablePeerAccess",
    "cudaIpcOpenEventHandle",
    "cudaIpcOpenMemHandle",
]

cudaIpcMemLazyEnablePeerAccess = 1
"""Peer access to the memory's device is enabled when needed. No other flag exists."""

_HANDLE_BYTES = 64
_lock = fork_safe_lock()
# Opened memory of other processes, in a list for each address, because the same handle, opened twice, has one address.
_opened: dict[int, list[_core.DeviceAllocation]] = {}


class _Handle(bytes):
    __slots__ = ()

    def __new__(cls, handle: bytes | bytearray = bytes(_HANDLE_BYTES)) -> _Handle:
        if len(handle) != _HANDLE_BYTES:
            raise ValueError(f"a {cls.__name__} has {_HANDLE_BYTES} bytes, not {len(handle)}")
        return super().__new__(cls, handle)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self[:8].hex()}...>"


class cudaIpcMemHandle_t(_Handle):
    """Handle by which another process opens a block of device memory: 64 bytes, which can be pickled and sent.

    Parameters
    ----------
    handle : bytes-like
        The 64 bytes of a handle; defaults to zeros.

    Raises
    ------
    ValueError
        If `handle` does not have 64 bytes.

    Examples
    --------
    >>> import PyGPU
    >>> len(PyGPU.cudaIpcMemHandle_t(bytes(64)))
    64
    """

    __slots__ = ()


class cudaIpcEventHandle_t(_Handle):
    """Handle by which another process opens an event: 64 bytes, which can be pickled and sent.

    Parameters
    ----------
    handle : bytes-like
        The 64 bytes of a handle; defaults to zeros.

    Raises
    ------
    ValueError
        If `handle` does not have 64 bytes.

    Examples
    --------
    >>> import PyGPU
    >>> len(PyGPU.cudaIpcEventHandle_t(bytes(64)))
    64
    """

    __slots__ = ()


def cudaIpcGetMemHandle(devPtr: Address) -> tuple[cudaIpcMemHandle_t, cudaError_t]:
    """Return a handle by which other processes open device memory.

    Parameters
    ----------
    devPtr : int or ctypes.c_void_p
        Memory from `cudaMalloc`. Memory of arrays and from `cudaMallocAsync` comes from a pool, and drivers do not
        share such memory by handles.

    Returns
    -------
    handle : cudaIpcMemHandle_t
        The handle; zeros after an error. This process must not free the memory while another process uses the handle.
    status : cudaError_t
        1 (``cudaErrorInvalidValue``) for memory that cannot be shared by a handle, 801 (``cudaErrorNotSupported``) on
        the CPU.

    Raises
    ------
    TypeError
        If `devPtr` is not an address.

    Examples
    --------
    >>> import PyGPU
    >>> address, err = PyGPU.cudaMalloc(1024)
    >>> handle, err = PyGPU.cudaIpcGetMemHandle(address)
    >>> len(handle), PyGPU.cudaFree(address)
    (64, <cudaError: code=0>)
    """
    address = plain_address(devPtr)
    return value_of(cudaIpcMemHandle_t(), lambda: cudaIpcMemHandle_t(_core.share_memory(address)))


def cudaIpcOpenMemHandle(
    handle: cudaIpcMemHandle_t | bytes | bytearray, flags: SupportsIndex = cudaIpcMemLazyEnablePeerAccess
) -> tuple[int, cudaError_t]:
    """Open device memory of another process.

    Parameters
    ----------
    handle : cudaIpcMemHandle_t or 64 bytes
        Result of `cudaIpcGetMemHandle` in the other process.
    flags : int
        ``cudaIpcMemLazyEnablePeerAccess`` (1).

    Returns
    -------
    address : int
        Address for `cudaIpcCloseMemHandle`; 0 after an error.
    status : cudaError_t
        1 (``cudaErrorInvalidValue``) for other flags, the driver's error for a handle that the driver did not create
        or that this process created, 801 (``cudaErrorNotSupported``) on the CPU.

    Raises
    ------
    ValueError
        If the handle does not have 64 bytes.

    Examples
    --------
    >>> import PyGPU
    >>> address, err = PyGPU.cudaIpcOpenMemHandle(bytes(64))
    >>> address, bool(err)
    (0, True)
    """
    checked_handle, bits = cudaIpcMemHandle_t(handle), operator.index(flags)

    def open_handle() -> int:
        if bits != cudaIpcMemLazyEnablePeerAccess:
            raise StatusError(INVALID_VALUE)
        memory = _core.open_shared_memory(checked_handle)
        address = memory.ptr
        # `memory` is not used after the lock, because another thread may then close the address and free `memory`.
        with _lock:
            _opened.setdefault(address, []).append(memory)
        return address

    return value_of(0, open_handle)


def cudaIpcCloseMemHandle(devPtr: Address) -> cudaError_t:
    """Wait for the device and close memory that `cudaIpcOpenMemHandle` opened.

    Parameters
    ----------
    devPtr : int or ctypes.c_void_p
        Address that `cudaIpcOpenMemHandle` returned.

    Returns
    -------
    cudaError_t
        1 (``cudaErrorInvalidValue``) for an address that `cudaIpcOpenMemHandle` did not return.

    Raises
    ------
    TypeError
        If `devPtr` is not an address.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaIpcCloseMemHandle(4096)
    <cudaError: code=1>
    """
    address = plain_address(devPtr)

    def close() -> None:
        with _lock:
            memories = _opened.get(address)
            if not memories:
                raise StatusError(INVALID_VALUE)
            memory = memories.pop()
            if not memories:
                _opened.pop(address, None)
        memory.free()

    return status_of(close)


def cudaIpcGetEventHandle(event: EventLike) -> tuple[cudaIpcEventHandle_t, cudaError_t]:
    """Return a handle by which other processes open an event.

    Parameters
    ----------
    event : cudaEvent_t or PyGPU.Event
        An event created with ``cudaEventInterprocess | cudaEventDisableTiming``.

    Returns
    -------
    handle : cudaIpcEventHandle_t
        The handle; zeros after an error.
    status : cudaError_t
        The driver's error, if the event was created with other flags; 801 (``cudaErrorNotSupported``) on the CPU.

    Raises
    ------
    TypeError
        If `event` is no event.

    Examples
    --------
    >>> import PyGPU
    >>> event = PyGPU.cudaEvent_t(PyGPU.cudaEventInterprocess | PyGPU.cudaEventDisableTiming)
    >>> handle, err = PyGPU.cudaIpcGetEventHandle(event)
    >>> len(handle)
    64
    """
    return value_of(cudaIpcEventHandle_t(), lambda: cudaIpcEventHandle_t(as_event(event).ipc_handle()))


def cudaIpcOpenEventHandle(handle: cudaIpcEventHandle_t | bytes | bytearray) -> tuple[cudaEvent_t, cudaError_t]:
    """Open an event of another process.

    Parameters
    ----------
    handle : cudaIpcEventHandle_t or 64 bytes
        Result of `cudaIpcGetEventHandle` in the other process.

    Returns
    -------
    event : cudaEvent_t
        The event; its handle is 0 after an error.
    status : cudaError_t
        The driver's error for a handle that the driver did not create or that this process created, 801
        (``cudaErrorNotSupported``) on the CPU.

    Raises
    ------
    ValueError
        If the handle does not have 64 bytes.

    Examples
    --------
    >>> import PyGPU
    >>> event, err = PyGPU.cudaIpcOpenEventHandle(bytes(64))
    >>> event.handle, bool(err)
    (0, True)
    """
    checked_handle = cudaIpcEventHandle_t(handle)
    event = cudaEvent_t._from_factory(lambda: _core.Event.from_ipc_handle(checked_handle))
    return event, event.last_status()
