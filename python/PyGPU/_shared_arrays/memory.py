"""Memory blocks that processes share: memory of the driver, or on the CPU an unnamed file."""

from __future__ import annotations

import os
import uuid
import weakref
from pathlib import Path
from typing import Any

from PyGPU import _core
from PyGPU._process.fork_lock import fork_safe_lock
from PyGPU._shared_arrays.handle import BlockName, checked_bytes, driver_bytes

__all__ = ["Memory", "allocate", "holding", "opened"]

_PAGE_BYTES = 2 << 20
"""Page size of drivers in bytes. Drivers share whole pages, and may put several smaller blocks into one page."""

_lock = fork_safe_lock()
"""Lock that a thread holds while it opens a block for the first time."""

_blocks: weakref.WeakValueDictionary[str, Memory] = weakref.WeakValueDictionary()
"""Blocks of this and other processes by token. A process opens each block once, so that it tracks all uses together."""


class Memory:
    """Block of shared memory; the memory is freed when no array refers to this object any more."""

    def __init__(self, name: BlockName, device: _core.Device, address: int, keeper: Any, is_own: bool) -> None:
        self.name, self.device, self.address, self.is_own = name, device, address, is_own
        self._keeper = keeper
        self._events: dict[str, _core.Event] = {}

    @property
    def nbytes(self) -> int:
        """Return the block's size in bytes; the driver's memory may be larger, because its size is rounded up."""
        return self.name.nbytes

    def event(self) -> _core.Event:
        """Return the block's event, for which other processes wait before they use the block for the first time."""
        if not self._events:
            # No lock is used here, because a lock could remain locked in a forked child.
            # If two threads create an event at the same time, `setdefault` keeps the first event.
            self._events.setdefault("", _core.Event(timing=False, interprocess=True, device=self.device))
        return self._events[""]


def machine() -> str:
    """Return a unique identifier of this machine and its current boot."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return os.uname().nodename


def allocate(nbytes: int, device: _core.Device) -> Memory:
    """Allocate a block of at least one byte.

    Raises
    ------
    OutOfMemoryError
        If memory is insufficient.
    NotSupportedError
        On the CPU of a system without in-memory files.
    """
    token = uuid.uuid4().hex
    if device.kind == "cpu":
        if not hasattr(os, "memfd_create"):
            raise _core.NotSupportedError("shared=True on the CPU needs memfd_create, which this system does not have")
        from PyGPU._shared_arrays.memory_file import create_file

        handle: bytes | int
        try:
            address, keeper, handle = create_file(token, nbytes)
        except (OSError, ValueError) as error:
            raise _core.OutOfMemoryError(f"{nbytes} bytes of shared memory: {error}") from None
    else:
        from PyGPU._memory.device_memory import mem_alloc

        with device:
            keeper = mem_alloc(-(-nbytes // _PAGE_BYTES) * _PAGE_BYTES)
            address, handle = keeper.ptr, checked_bytes(bytes(_core.share_memory(keeper)))
    name = BlockName(token, os.getpid(), machine(), _kind(device), device.uuid, nbytes, handle)
    return _entered(Memory(name, device, address, keeper, is_own=True))


def holding(array: _core.GPUArray) -> Memory | None:
    """Return the block that contains an array's elements; None if other processes cannot open this block."""
    address = array.ptr
    blocks = (reference() for reference in _blocks.valuerefs())
    return next((block for block in blocks if block and 0 <= address - block.address < block.nbytes), None)


def opened(name: BlockName) -> Memory:
    """Return the memory block that a handle names; open the block unless this process has already opened it.

    Raises
    ------
    ValueError
        If the block belongs to another machine or backend, or to an invisible device, or if `name` was changed.
    RuntimeError
        If the block was freed.
    """
    with _lock:
        existing = _blocks.get(name.token)
        return _matching(_opened_elsewhere(name) if existing is None else existing, name)


def _opened_elsewhere(name: BlockName) -> Memory:
    """Open a block that this process has not opened yet."""
    if name.process == os.getpid():
        raise RuntimeError(
            f"open_shared: the memory was this process's ({name.process}) and is gone: keep an array over it as long "
            "as anybody uses the handle"
        )
    if name.machine != machine():
        raise ValueError("open_shared: the handle is of another machine, or from before this one was started again")
    device = _visible(name)
    try:
        with device:
            address, keeper = _opened_file(name) if device.kind == "cpu" else _opened_by_driver(name)
    except (OSError, _core.CudaError) as error:
        raise RuntimeError(
            f"open_shared: process {name.process} has ended, or has freed the memory: the process that shares an array "
            f"keeps it until the others are done ({error})"
        ) from error
    return _entered(Memory(name, device, address, keeper, is_own=False))


def _matching(memory: Memory, name: BlockName) -> Memory:
    """Return an open block if all fields of its name equal the fields of `name`; otherwise raise an error."""
    if memory.name != name:
        raise ValueError(f"open_shared: the handle was changed: the block is known as {memory.name}, not as {name}")
    return memory


def _entered(memory: Memory) -> Memory:
    """Store a memory block in `_blocks` under the block's token, and return the block."""
    _blocks[memory.name.token] = memory
    return memory


def _opened_file(name: BlockName) -> tuple[int, Any]:
    if not isinstance(name.memory, int):
        raise ValueError(f"open_shared: the handle of the block on {name.device} has no file descriptor")
    from PyGPU._shared_arrays.memory_file import open_file

    return open_file(name)


def _opened_by_driver(name: BlockName) -> tuple[int, Any]:
    if not isinstance(name.memory, bytes):
        raise ValueError(f"open_shared: the handle of the block on {name.device} has no driver's handle")
    keeper = _core.open_shared_memory(driver_bytes(name.memory))
    if keeper.nbytes < name.nbytes:
        raise ValueError(
            f"open_shared: the handle states {name.nbytes} bytes of memory, and the block has {keeper.nbytes}"
        )
    return keeper.ptr, keeper


def _kind(device: _core.Device) -> str:
    return f"cpu:{device.index}" if device.kind == "cpu" else device.kind


def _visible(name: BlockName) -> _core.Device:
    """Return the device that contains a block; the device's number may differ in the process that created the block."""
    backend = _core.backend_name()
    if name.device.partition(":")[0] != backend:
        raise ValueError(f"open_shared: the handle is of {name.device}, and this process uses {backend}")
    devices = [_core.Device(index) for index in range(_core.device_count())]
    if backend == "cpu":
        # All CPU devices access the same host memory, so any of them can use the block.
        return next((device for device in devices if _kind(device) == name.device), devices[0])
    for device in devices:
        if device.uuid == name.uuid:
            return device
    shown = ", ".join(f"{device.index}: {device.uuid}" for device in devices)
    visible = [
        (name, os.environ.get(name)) for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
    ]
    limits = [f"{key}={value}" for key, value in visible if value is not None]
    raise ValueError(
        f"open_shared: the array is on device {name.uuid}, which this process does not see; it sees {shown}"
        + (f" ({', '.join(limits)})" if limits else "")
    )
