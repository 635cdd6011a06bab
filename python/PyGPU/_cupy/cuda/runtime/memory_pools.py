"""Functions of `cupy.cuda.runtime` for the memory pool of a device; each device has one pool, PyGPU's own.

The handle of a pool is the device's number plus 1. The driver's own handle of the pool is not returned, because only
PyGPU may change the driver's pool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PyGPU import _core
from PyGPU._cupy.cuda.errors import error_of
from PyGPU._cupy.cuda.runtime.constants import (
    cudaMemPoolAttrReleaseThreshold,
    cudaMemPoolAttrReservedMemCurrent,
    cudaMemPoolAttrReservedMemHigh,
    cudaMemPoolAttrUsedMemCurrent,
    cudaMemPoolAttrUsedMemHigh,
    errorInvalidValue,
)
from PyGPU._cupy.cuda.runtime.status_errors import check
from PyGPU._pybindgpu.runtime.device import checked_device
from PyGPU._pybindgpu.status import value_of

__all__ = [
    "deviceGetDefaultMemPool",
    "deviceGetMemPool",
    "memPoolGetAttribute",
    "memPoolSetAttribute",
    "memPoolTrimTo",
]

_STATISTICS = {
    cudaMemPoolAttrReservedMemCurrent: "pool_reserved",
    cudaMemPoolAttrReservedMemHigh: "pool_reserved_peak",
    cudaMemPoolAttrUsedMemCurrent: "pool_used",
    cudaMemPoolAttrUsedMemHigh: "pool_used_peak",
}
_T = TypeVar("_T")


def _checked(default: _T, function: Callable[[], _T]) -> _T:
    value, status = value_of(default, function)
    check(status)
    return value


def _device(pool: int) -> int:
    """Return the device number of a pool's handle; raise an error with status 1 for an unknown handle."""
    if not 1 <= pool <= _core.device_count():
        raise error_of(errorInvalidValue)
    return pool - 1


def deviceGetDefaultMemPool(device: int) -> int:
    """Return the handle of PyGPU's memory pool for a device.

    Parameters
    ----------
    device : int
        Number of the device.

    Returns
    -------
    int
        Handle for the functions of this module. CUDA's own functions do not accept this handle.

    Raises
    ------
    CUDARuntimeError
        With the status 101 for a device that does not exist.

    Examples
    --------
    >>> from PyGPU.cupy.cuda import runtime
    >>> runtime.deviceGetDefaultMemPool(0) == runtime.deviceGetMemPool(0)
    True
    """
    return _checked(0, lambda: checked_device(device)) + 1


def deviceGetMemPool(device: int) -> int:
    """Return the handle of the pool that provides a device's arrays, as `deviceGetDefaultMemPool` does.

    Parameters
    ----------
    device : int
        Number of the device.

    Returns
    -------
    int
    """
    return deviceGetDefaultMemPool(device)


def memPoolTrimTo(pool: int, size: int) -> None:
    """Return unused memory of a pool to the driver.

    Parameters
    ----------
    pool : int
        Handle of the pool.
    size : int
        Number of bytes that the pool keeps.

    Raises
    ------
    CUDARuntimeError
        With the status 1 for an unknown handle.
    """
    device = _device(pool)
    _checked(None, lambda: _core.trim_memory(size, device))


def memPoolGetAttribute(pool: int, attr: int) -> int:
    """Return an attribute of a pool.

    Parameters
    ----------
    pool : int
        Handle of the pool.
    attr : int
        ``cudaMemPoolAttrReleaseThreshold``, or one of ``cudaMemPoolAttrReservedMemCurrent``, ``...ReservedMemHigh``,
        ``...UsedMemCurrent`` and ``...UsedMemHigh``.

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    CUDARuntimeError
        With the status 1 for an unknown handle or attribute, and 801 if the device has no pool.
    """
    device = _device(pool)
    if attr == cudaMemPoolAttrReleaseThreshold:
        return _checked(0, lambda: _core.memory_release_threshold(device))
    if attr not in _STATISTICS:
        raise error_of(errorInvalidValue)
    return _checked({_STATISTICS[attr]: 0}, lambda: _core.memory_statistics(device))[_STATISTICS[attr]]


def memPoolSetAttribute(pool: int, attr: int, value: int) -> None:
    """Set an attribute of a pool.

    Parameters
    ----------
    pool : int
        Handle of the pool.
    attr : int
        Only ``cudaMemPoolAttrReleaseThreshold``: the number of unused bytes that stay in the pool at a synchronization.
    value : int
        Bytes.

    Raises
    ------
    CUDARuntimeError
        With the status 1 for an unknown handle or attribute, and 801 if the device has no pool.
    """
    device = _device(pool)
    if attr != cudaMemPoolAttrReleaseThreshold:
        raise error_of(errorInvalidValue)
    _checked(None, lambda: _core.set_memory_release_threshold(value, device))
