"""Functions of `cupy.cuda.runtime` about devices and memory. Errors are raised as `CUDARuntimeError`."""

from __future__ import annotations

from typing import Any

from PyGPU import _core
from PyGPU._cupy.cuda.device import from_pci_bus_id, pci_bus_id
from PyGPU._cupy.cuda.errors import CUDARuntimeError, error_of
from PyGPU._cupy.cuda.runtime.device_properties import properties_of
from PyGPU._cupy.cuda.runtime.status_errors import check, raising
from PyGPU._pybindgpu.runtime import (
    attributes,
    copy_2d,
    device,
    host_memory,
    ipc,
    managed_memory,
    memory,
    stream_ordered_memory,
)
from PyGPU._pybindgpu.status import INVALID_DEVICE, status_of
from PyGPU._pycuda.driver.device import get_driver_version
from PyGPU._pycuda.driver.profiler import start_profiler as profilerStart, stop_profiler as profilerStop

__all__ = [
    "CUDARuntimeError",
    "deviceCanAccessPeer",
    "deviceEnablePeerAccess",
    "deviceGetAttribute",
    "deviceGetByPCIBusId",
    "deviceGetLimit",
    "deviceGetPCIBusId",
    "deviceSetLimit",
    "deviceSynchronize",
    "driverGetVersion",
    "free",
    "freeAsync",
    "freeHost",
    "getDevice",
    "getDeviceCount",
    "getDeviceProperties",
    "hostAlloc",
    "hostRegister",
    "hostUnregister",
    "ipcCloseMemHandle",
    "ipcGetMemHandle",
    "ipcOpenMemHandle",
    "malloc",
    "mallocAsync",
    "mallocManaged",
    "memAdvise",
    "memGetInfo",
    "memPrefetchAsync",
    "memcpy",
    "memcpy2D",
    "memcpy2DAsync",
    "memcpyAsync",
    "memcpyPeer",
    "memcpyPeerAsync",
    "memset",
    "memsetAsync",
    "pointerGetAttributes",
    "pointerGetMemoryType",
    "profilerStart",
    "profilerStop",
    "runtimeGetVersion",
    "setDevice",
]

getDevice = raising(device.cudaGetDevice)
getDeviceCount = raising(device.cudaGetDeviceCount)
setDevice = raising(device.cudaSetDevice)
deviceSynchronize = raising(device.cudaDeviceSynchronize)
deviceCanAccessPeer = raising(device.cudaDeviceCanAccessPeer)
deviceEnablePeerAccess = raising(device.cudaDeviceEnablePeerAccess)
deviceGetAttribute = raising(attributes.cudaDeviceGetAttribute)

malloc = raising(memory.cudaMalloc)
free = raising(memory.cudaFree)
mallocAsync = raising(stream_ordered_memory.cudaMallocAsync)
freeAsync = raising(stream_ordered_memory.cudaFreeAsync)
mallocManaged = raising(managed_memory.cudaMallocManaged)
hostAlloc = raising(host_memory.cudaHostAlloc)
freeHost = raising(host_memory.cudaFreeHost)
hostRegister = raising(host_memory.cudaHostRegister)
hostUnregister = raising(host_memory.cudaHostUnregister)

memGetInfo = raising(memory.cudaMemGetInfo)
memcpy = raising(memory.cudaMemcpy)
memcpyAsync = raising(memory.cudaMemcpyAsync)
memcpyPeer = raising(copy_2d.cudaMemcpyPeer)
memcpyPeerAsync = raising(copy_2d.cudaMemcpyPeerAsync)
memcpy2D = raising(copy_2d.cudaMemcpy2D)
memcpy2DAsync = raising(copy_2d.cudaMemcpy2DAsync)
memset = raising(memory.cudaMemset)
memsetAsync = raising(memory.cudaMemsetAsync)
memPrefetchAsync = raising(managed_memory.cudaMemPrefetchAsync)
memAdvise = raising(managed_memory.cudaMemAdvise)
pointerGetAttributes = raising(attributes.cudaPointerGetAttributes)

ipcGetMemHandle = raising(ipc.cudaIpcGetMemHandle)
ipcOpenMemHandle = raising(ipc.cudaIpcOpenMemHandle)
ipcCloseMemHandle = raising(ipc.cudaIpcCloseMemHandle)


def driverGetVersion() -> int:
    """Return the version of the CUDA or HIP driver.

    Returns
    -------
    int
        1000 times the major plus 10 times the minor version; for the CPU backend,
        the version of CUDA whose interface PyGPU follows.

    Examples
    --------
    >>> from PyGPU.cupy.cuda import runtime
    >>> runtime.driverGetVersion() >= 12000
    True
    """
    return get_driver_version()


def runtimeGetVersion() -> int:
    """Return the version of the driver, because PyGPU uses no runtime library.

    Returns
    -------
    int

    Examples
    --------
    >>> from PyGPU.cupy.cuda import runtime
    >>> runtime.runtimeGetVersion() == runtime.driverGetVersion()
    True
    """
    return get_driver_version()


def getDeviceProperties(device: int) -> dict[str, Any]:
    """Return the properties of a device that its driver reports.

    Parameters
    ----------
    device : int
        Number of the device.

    Returns
    -------
    dict
        Values of properties by their field names in ``cudaDeviceProp``. The device's name is a `bytes` object.

    Raises
    ------
    CUDARuntimeError
        With status 101 for a device that does not exist.

    Examples
    --------
    >>> from PyGPU.cupy.cuda import runtime
    >>> properties = runtime.getDeviceProperties(0)
    >>> properties["warpSize"] > 0, properties["maxThreadsDim"][0] > 0
    (True, True)
    """
    if not 0 <= device < _core.device_count():
        raise error_of(INVALID_DEVICE)
    return properties_of(device)


def deviceGetByPCIBusId(pci_bus_id: str) -> int:
    """Return the number of the device that has the given PCI address.

    Parameters
    ----------
    pci_bus_id : str
        Address as ``'domain:bus:device.function'``.

    Returns
    -------
    int

    Raises
    ------
    CUDARuntimeError
        With status 1 for a text that is not a PCI address, and 101 if no device has the address.

    Examples
    --------
    >>> from PyGPU.cupy.cuda import runtime
    >>> runtime.deviceGetByPCIBusId(runtime.deviceGetPCIBusId(0))
    0
    """
    return from_pci_bus_id(pci_bus_id).index


def deviceGetPCIBusId(device: int) -> str:
    """Return the PCI address of a device.

    Parameters
    ----------
    device : int
        Number of the device.

    Returns
    -------
    str

    Examples
    --------
    >>> from PyGPU.cupy.cuda import runtime
    >>> len(runtime.deviceGetPCIBusId(0).split(":"))
    3
    """
    if not 0 <= device < _core.device_count():
        raise error_of(INVALID_DEVICE)
    return pci_bus_id(_core.Device(device))


def deviceGetLimit(limit: int) -> int:
    """Return a resource limit of the current device, such as its stack size.

    Parameters
    ----------
    limit : int
        CUDA's number of the limit, such as ``cudaLimitStackSize``.

    Returns
    -------
    int
        Limit in bytes.

    Raises
    ------
    NotSupportedError
        On the CPU.
    """
    return _core.context_limit(limit)


def deviceSetLimit(limit: int, value: int) -> None:
    """Set a resource limit of the current device, such as its stack size.

    Parameters
    ----------
    limit : int
        CUDA's number of the limit, such as ``cudaLimitStackSize``.
    value : int
        Limit in bytes.

    Raises
    ------
    NotSupportedError
        On the CPU.
    """
    check(status_of(_core.set_context_limit, limit, value))


def pointerGetMemoryType(ptr: int) -> int:
    """Return the type of the memory at an address.

    Parameters
    ----------
    ptr : int
        The address.

    Returns
    -------
    int
        ``memoryTypeUnregistered``, ``memoryTypeHost``, ``memoryTypeDevice`` or ``memoryTypeManaged``.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy.cuda import runtime
    >>> a = PyGPU.zeros(3)
    >>> runtime.pointerGetMemoryType(a.ptr) == runtime.memoryTypeDevice
    True
    """
    return pointerGetAttributes(ptr).type
