"""Unnamed files in memory: the shared memory blocks of the CPU backend on Linux."""

from __future__ import annotations

import fcntl
import mmap
import os
import weakref
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from PyGPU._shared_arrays.handle import BlockName

__all__ = ["create_file", "open_file"]

_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
"""Seals that prevent all processes from changing the size of a file."""


def create_file(token: str, nbytes: int) -> tuple[int, Any, int]:
    """Create and map a file of fixed size; return the address, the object that owns the mapping, and the descriptor.

    The descriptor is closed with the mapping.

    Raises
    ------
    OSError, ValueError
        If memory is insufficient.
    """
    file = os.memfd_create(_file_name(token), os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(file, nbytes)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, _SEALS)
        address, keeper = _map(file, nbytes)
    except BaseException:
        os.close(file)
        raise
    weakref.finalize(keeper, os.close, file).atexit = False
    return address, keeper, file


def open_file(name: BlockName) -> tuple[int, Any]:
    """Map the file of another process's block; return the address and the object that owns the mapping.

    Raises
    ------
    OSError
        If the other process has ended or has closed the file.
    ValueError
        If the file has another size than the handle states, or if its size may change.
    """
    # If the other process has closed the file, the descriptor's number may belong to a pipe by now.
    # O_NONBLOCK keeps `os.open` from waiting for such a pipe.
    file = os.open(f"/proc/{name.process}/fd/{name.memory!r}", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        # The name of the opened file is checked, because the descriptor's number may belong to another file by now.
        if os.readlink(f"/proc/self/fd/{file}") != f"/memfd:{_file_name(name.token)} (deleted)":
            raise FileNotFoundError("its number is another file's by now")
        _check_size(file, name.nbytes)
        return _map(file, name.nbytes)
    finally:
        os.close(file)


def _check_size(file: int, nbytes: int) -> None:
    """Require that a file has this size and cannot shrink: an access past its end terminates the process (SIGBUS)."""
    size = os.fstat(file).st_size
    if size != nbytes:
        raise ValueError(f"open_shared: the handle states {nbytes} bytes of memory, and the file has {size}")
    if not fcntl.fcntl(file, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK:
        raise ValueError(
            f"open_shared: any process may truncate the file of {size} bytes, because it has no seals: use the same "
            "version of PyGPU in both processes"
        )


def _file_name(token: str) -> str:
    return f"pygpu-{token}"


def _map(file: int, nbytes: int) -> tuple[int, Any]:
    keeper = numpy.frombuffer(mmap.mmap(file, nbytes), numpy.uint8)
    return keeper.ctypes.data, keeper
