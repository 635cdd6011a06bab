"""CuPy's attributes of devices, for `PyGPU.Device`, and the functions of `cupy.cuda.device`."""

from __future__ import annotations

import re
from contextlib import suppress

from PyGPU import _core
from PyGPU._core import Device
from PyGPU._cupy.cuda.errors import error_of
from PyGPU._pybindgpu.runtime.attributes import cudaDeviceAttr
from PyGPU._pybindgpu.status import INVALID_DEVICE, INVALID_VALUE
from PyGPU._pycuda.driver.device import Device as _PycudaDevice

__all__ = ["Device", "from_pointer", "get_compute_capability", "get_device_id"]

_PREFIX = "cudaDevAttr"


def compute_capability(device: Device) -> str:
    """Return the digits of a device's compute capability or AMD architecture, such as ``'90'``."""
    major, minor = device.properties["compute_capability"]
    return f"{major}{minor}"


def attributes(device: Device) -> dict[str, int]:
    """Return a device's attributes in a dict; its keys are CUDA's names without the prefix ``cudaDevAttr``."""
    values = {}
    for attribute in cudaDeviceAttr:
        # Older drivers lack some attributes; HIP and the CPU lack other attributes.
        with suppress(_core.NotSupportedError, _core.LogicError):
            values[attribute.name.removeprefix(_PREFIX)] = _core.device_attribute(attribute.value, device)
    return values


def pci_bus_id(device: Device) -> str:
    """Return the PCI address of a device, such as ``0000:3b:00.0``."""
    return _PycudaDevice._pci_text(device)


def from_pci_bus_id(text: str) -> Device:
    """Return the device that has the given PCI address.

    Raises
    ------
    CudaError
        With code 1 for a text that is not a PCI address, with code 101 if no device has the address.
    """
    if not re.fullmatch(r"[0-9a-fA-F]+:[0-9a-fA-F]+:[0-9a-fA-F]+\.[0-9a-fA-F]", text):
        raise error_of(INVALID_VALUE)
    for index in range(_core.device_count()):
        device = Device(index)
        if pci_bus_id(device).lower() == text.lower():
            return device
    raise error_of(INVALID_DEVICE)


def get_device_id() -> int:
    """Return the number of the calling thread's current device.

    Returns
    -------
    int

    Examples
    --------
    >>> from PyGPU.cupy.cuda.device import get_device_id
    >>> get_device_id()
    0
    """
    return _core.current_device()


def get_compute_capability() -> str:
    """Return the digits of the current device's compute capability.

    Returns
    -------
    str
        For example ``'90'``; the CPU has ``'70'``.

    Examples
    --------
    >>> from PyGPU.cupy.cuda.device import get_compute_capability
    >>> get_compute_capability().isdigit()
    True
    """
    return compute_capability(Device())


def from_pointer(ptr: int) -> Device:
    """Return the device whose memory contains an address.

    Parameters
    ----------
    ptr : int
        Address in the memory of a device.

    Returns
    -------
    Device
        The device; for an address in host memory, the current device.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy.cuda.device import from_pointer
    >>> from_pointer(PyGPU.zeros(3).ptr) == PyGPU.Device()
    True
    """
    attributes = _core.pointer_attributes(ptr)
    return Device() if attributes is None or attributes[1] < 0 else Device(attributes[1])
