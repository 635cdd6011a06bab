"""Functions that create arrays in shared memory, and open arrays of other processes."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy

from PyGPU import _core
from PyGPU._names.public import public
from PyGPU._shared_arrays.handle import SharedHandle, checked_bytes, driver_bytes
from PyGPU._shared_arrays.memory import Memory, allocate, holding, opened
from PyGPU._shared_arrays.validation import check_handle

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from PyGPU.typing import DeviceLike, ShapeLike

__all__ = ["new_array", "open_shared", "share"]


def new_array(
    shape: ShapeLike, dtype: DTypeLike | None = None, order: Any = None, device: DeviceLike = None
) -> _core.GPUArray:
    """Return an array in a new memory block that other processes can open."""
    kind = numpy.dtype(numpy.float64 if dtype is None else dtype)
    lengths = _lengths(shape)
    steps = _strides(lengths, kind.itemsize, order)
    nbytes = kind.itemsize * math.prod(lengths)
    if nbytes == 0 or min(lengths, default=1) < 0:
        return _core.empty(lengths, kind, order, device=device)
    target_device = device if isinstance(device, _core.Device) else _core.Device(device)
    with target_device:
        return _over(allocate(nbytes, target_device), 0, lengths, steps, kind, readonly=False)


def share(array: _core.GPUArray) -> SharedHandle:
    """Return a handle by which other processes open an array."""
    dtype, shape, strides = numpy.dtype(array.dtype), tuple(array.shape), tuple(array.strides)
    readonly = not array.flags.writeable
    if array.size == 0:
        return SharedHandle(None, 0, shape, strides, dtype, readonly, None)
    memory = holding(array)
    if memory is None:
        raise ValueError(
            "share: other processes cannot open the memory of this array, which is of PyGPU's pool or another "
            "library's. Make it by PyGPU.empty(shape, dtype, shared=True), or copy it there: "
            "b = PyGPU.empty(a.shape, a.dtype, shared=True); b[...] = a; b.share()"
        )
    event = None
    if memory.is_own and memory.device.kind != "cpu":
        with memory.device:
            _core._order_by_event(array, memory.event(), True)
            event = checked_bytes(bytes(memory.event().ipc_handle()))
    else:
        # The handle contains no event for which other processes could wait, so the host waits for work on the array.
        # On the CPU no event is needed, because each call returns after its work is complete.
        # For memory that another process allocated, the driver cannot share an event of this process.
        array.synchronize()
    return SharedHandle(memory.name, array.ptr - memory.address, shape, strides, dtype, readonly, event)


@public("Making arrays")
def open_shared(handle: SharedHandle) -> _core.GPUArray:
    """Open an array that another process or this process has shared.

    Parameters
    ----------
    handle : SharedHandle
        Result of :meth:`GPUArray.share`. A handle may be opened any number of times, in any number of processes, and
        always refers to the same memory.

    Returns
    -------
    GPUArray
        Array on the owning device, with the shape, strides and dtype of the shared array. The memory is closed
        with the last array over it.

    Raises
    ------
    TypeError
        If `handle` is no handle, or one of its fields has a wrong type.
    ValueError
        If the device is not visible to this process, or the handle belongs to another machine or backend. A changed
        handle raises this error if a field is inconsistent, or if an element would lie outside of the memory.
    RuntimeError
        If the process that shared the array has ended, or has freed the memory.

    Notes
    -----
    A changed handle cannot make PyGPU access memory outside of the block. A checksum detects changes of the driver's
    own bytes, which the driver does not check. Neither the checksum nor unpickling is safe against an attacker: accept
    pickles only from trusted processes.

    Work of this process on the array runs after the work that the sharing process enqueued before ``share``. Later
    work of both processes is not synchronized: call ``synchronize`` and then notify the other process (by a queue, a
    barrier or MPI), or send another handle.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.full((2, 3), 5.0, shared=True)
    >>> PyGPU.open_shared(a[:, 1].share()).tolist()
    [5.0, 5.0]
    """
    check_handle(handle)
    if handle.block is None:
        return _core.empty(handle.shape, handle.dtype)
    memory = opened(handle.block)
    with memory.device:
        parts = (handle.offset, handle.shape, handle.strides, handle.dtype)
        array = _over(memory, *parts, readonly=handle.readonly)
        if handle.event is not None and not memory.is_own:
            _core._order_by_event(array, _opened_event(handle.event), False)
    return array


def _opened_event(handle: bytes) -> _core.Event:
    try:
        return _core.Event.from_ipc_handle(driver_bytes(handle))
    except (_core.CudaError, _core.NotSupportedError) as error:
        raise RuntimeError(
            "open_shared: the event of the handle cannot be opened: the process that shared the array has ended, has "
            f"freed the memory, or sent another handle ({error})"
        ) from error


def _over(
    memory: Memory,
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: numpy.dtype[Any],
    *,
    readonly: bool,
) -> _core.GPUArray:
    return _core._array_in_block(
        memory, memory.address, memory.nbytes, offset, shape, strides, dtype, readonly=readonly
    )


def _lengths(shape: ShapeLike) -> tuple[int, ...]:
    try:
        return (operator.index(shape),)  # type: ignore[arg-type]
    except TypeError:
        return tuple(operator.index(length) for length in shape)  # type: ignore[union-attr]


def _strides(shape: tuple[int, ...], itemsize: int, order: Any) -> tuple[int, ...]:
    """Return the strides of a contiguous array in bytes."""
    if order not in (None, "C", "F", "c", "f"):
        raise ValueError(f"order is 'C' or 'F', not {order!r}")
    steps, step = [], itemsize
    for length in shape if order in ("F", "f") else reversed(shape):
        steps.append(step)
        step *= length
    return tuple(steps if order in ("F", "f") else reversed(steps))
