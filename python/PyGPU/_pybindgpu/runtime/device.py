"""`cuda*` calls that query and select devices, and the class `cudaDeviceProp`."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

from PyGPU import _core
from PyGPU._pybindgpu.status import (
    INVALID_DEVICE,
    INVALID_VALUE,
    NO_DEVICE,
    StatusError,
    cudaError_t,
    status_of,
    value_of,
)

__all__ = [
    "cudaDeviceCanAccessPeer",
    "cudaDeviceEnablePeerAccess",
    "cudaDeviceProp",
    "cudaDeviceReset",
    "cudaDeviceSynchronize",
    "cudaDriverGetVersion",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaSetDevice",
]


def checked_device(device: SupportsIndex) -> int:
    """Check the number of a device; an invalid number raises an error that the `cuda*` call returns as a status."""
    ordinal = operator.index(device)
    if not 0 <= ordinal < _device_count():
        raise StatusError(INVALID_DEVICE)
    return ordinal


def _device_count() -> int:
    count = _core.device_count()
    if count == 0:
        raise StatusError(NO_DEVICE)
    return count


def cudaGetDeviceCount() -> tuple[int, cudaError_t]:
    """Count the devices.

    Returns
    -------
    count : int
        Number of devices; the CPU backend has one.
    status : cudaError_t
        100 (``cudaErrorNoDevice``) if none exists.

    Examples
    --------
    >>> import PyGPU
    >>> count, err = PyGPU.cudaGetDeviceCount()
    >>> count > 0, err
    (True, <cudaError: code=0>)
    """
    return value_of(0, _device_count)


def cudaGetDevice() -> tuple[int, cudaError_t]:
    """Return the current device of this thread, which all libraries in the thread share.

    Returns
    -------
    device : int
        Ordinal of the device.
    status : cudaError_t

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaGetDevice()
    (0, <cudaError: code=0>)
    """
    return value_of(0, _core.current_device)


def cudaSetDevice(device: SupportsIndex) -> cudaError_t:
    """Make a device the current device of this thread, also for other libraries in the thread.

    Parameters
    ----------
    device : int
        Ordinal of the device.

    Returns
    -------
    cudaError_t
        101 (``cudaErrorInvalidDevice``) if the device does not exist; the current device is then unchanged.

    Raises
    ------
    TypeError
        If `device` is not an integer.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaSetDevice(0), PyGPU.cudaSetDevice(-1)
    (<cudaError: code=0>, <cudaError: code=101>)
    """

    def set_device() -> None:
        _core.set_device(checked_device(device))

    return status_of(set_device)


def cudaDeviceSynchronize() -> cudaError_t:
    """Wait until all streams of the current device have completed their work. Other Python threads run during the wait.

    Returns
    -------
    cudaError_t
        The error of previously enqueued work, if such work failed.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaDeviceSynchronize()
    <cudaError: code=0>
    """
    return status_of(_core.synchronize)


def cudaDeviceReset() -> cudaError_t:
    """Destroy all resources of this process on the current device, including resources of other libraries.

    Returns
    -------
    cudaError_t

    Notes
    -----
    Arrays, streams and events on the device become unusable. Call this function only at the end of a program.
    """
    return status_of(_core.reset_device)


def cudaDriverGetVersion() -> tuple[int, cudaError_t]:
    """Return the version of the CUDA or HIP driver.

    Returns
    -------
    version : int
        In the driver's format: 1000 * major + 10 * minor for CUDA, so that 13.0 is 13000; 10000000 * major +
        100000 * minor + patch for HIP; 0 on the CPU backend.
    status : cudaError_t

    Examples
    --------
    >>> import PyGPU
    >>> version, err = PyGPU.cudaDriverGetVersion()
    >>> version >= 0, err
    (True, <cudaError: code=0>)
    """
    return value_of(0, _core.driver_version)


def cudaDeviceCanAccessPeer(device: SupportsIndex, peerDevice: SupportsIndex) -> tuple[bool, cudaError_t]:
    """Test whether a device can read and write the memory of another device.

    Parameters
    ----------
    device, peerDevice : int
        Ordinals of the accessing device and of the owner of the memory.

    Returns
    -------
    possible : bool
        Whether access is possible; False if both ordinals name the same device.
    status : cudaError_t
        101 if one of the devices does not exist.

    Raises
    ------
    TypeError
        If an ordinal is not an integer.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaDeviceCanAccessPeer(0, 0)
    (False, <cudaError: code=0>)
    """

    def can_access() -> bool:
        ordinal, peer = checked_device(device), checked_device(peerDevice)
        return ordinal != peer and _core.can_access_peer(ordinal, peer)

    return value_of(False, can_access)


def cudaDeviceEnablePeerAccess(peerDevice: SupportsIndex, flags: SupportsIndex = 0) -> cudaError_t:
    """Allow the current device to access the memory of another device, but not the reverse.

    Parameters
    ----------
    peerDevice : int
        Ordinal of the device whose memory becomes accessible.
    flags : int
        Must be 0.

    Returns
    -------
    cudaError_t
        101 if `peerDevice` does not exist or is the current device, 1 if `flags` is not 0, 217 if the devices do not
        support peer access.

    Raises
    ------
    TypeError
        If an argument is not an integer.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaDeviceEnablePeerAccess(PyGPU.cudaGetDevice()[0])
    <cudaError: code=101>
    """

    def enable() -> None:
        if operator.index(flags) != 0:
            raise StatusError(INVALID_VALUE)
        ordinal, peer = _core.current_device(), checked_device(peerDevice)
        if ordinal == peer:
            raise StatusError(INVALID_DEVICE)
        _core.enable_peer_access(ordinal, peer)

    return status_of(enable)


class cudaDeviceProp:
    """Properties of a device, read once at the creation of the object.

    Parameters
    ----------
    device : int
        Ordinal of the device. For a device that does not exist, the name is empty, the numbers are 0, and the status is
        101.

    Raises
    ------
    TypeError
        If `device` is not an integer.

    Examples
    --------
    >>> import PyGPU
    >>> properties = PyGPU.cudaDeviceProp(0)
    >>> properties.last_status(), len(properties.uuid()), properties.pciBusID() >= 0
    (<cudaError: code=0>, 32, True)
    """

    __slots__ = ("__weakref__", "_properties", "_status")

    def __init__(self, device: SupportsIndex) -> None:
        def read() -> dict[str, Any]:
            return _core.device_properties(checked_device(device))

        no_properties: dict[str, Any] = {}
        self._properties, self._status = value_of(no_properties, read)

    def name(self) -> str:
        """Return the marketing name of the device."""
        return str(self._properties.get("name", ""))

    def uuid(self) -> str:
        """Return the device's UUID as 32 hexadecimal digits; the UUID does not depend on the device's slot."""
        return bytes(self._properties.get("uuid", bytes(16))).hex()

    def pciBusID(self) -> int:
        """Return the identifier of the PCI bus to which the device is attached."""
        return int(self._properties.get("pci_bus", 0))

    def pciDeviceID(self) -> int:
        """Return the identifier of the device on its PCI bus."""
        return int(self._properties.get("pci_device", 0))

    def pciDomainID(self) -> int:
        """Return the identifier of the PCI domain that contains the device's bus."""
        return int(self._properties.get("pci_domain", 0))

    def get(self) -> dict[str, Any]:
        """Return all properties as a new dictionary: sizes in bytes, clock rates in kHz."""
        return dict(self._properties)

    def last_status(self) -> cudaError_t:
        """Return the status with which the constructor read the properties from the driver."""
        return self._status

    def __repr__(self) -> str:
        return f"<cudaDeviceProp of {self.name()!r}>"
