"""PyCUDA's `Device`, `Context` and driver version, based on PyGPU's own classes."""

from __future__ import annotations

import builtins
import warnings
from typing import Any, SupportsIndex

from PyGPU import _core
from PyGPU._pycuda.driver.device_attributes import device_attribute
from PyGPU._pycuda.driver.enums import compute_mode
from PyGPU._pycuda.primary_context import PrimaryContext, innermost

__all__ = ["Device", "get_driver_version", "get_version", "init"]


def init(flags: int = 0) -> None:
    """Open the driver at this call instead of at the first use of a device.

    Parameters
    ----------
    flags : int, optional
        Accepted for compatibility with PyCUDA; pass 0.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.init()
    """
    _core.backend_name()


def get_version() -> tuple[int, int, int]:
    """Return the version of the CUDA API in use.

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.get_version() >= (12, 0, 0)
    True
    """
    return (12, 8, 0)


def get_driver_version() -> int:
    """Return the version of the driver.

    Returns
    -------
    int
        The version in the driver's format: 12080 for CUDA 12.8. Without a driver, the version that `get_version`
        returns, so that programs use all features of this version.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.get_driver_version() >= 12000
    True
    """
    major, minor, _ = get_version()
    return _core.driver_version() or 1000 * major + 10 * minor


def _find_device(ordinal: SupportsIndex | str) -> _core.Device:
    if isinstance(ordinal, str):
        for index in range(_core.device_count()):
            device = _core.Device(index)
            if Device._pci_text(device).lower() == ordinal.lower():
                return device
        raise _core.InvalidValueError(f"there is no device {ordinal!r}: a PCI bus id is 'domain:bus:device.0'")
    try:
        return _core.Device(ordinal.__index__())
    except (ValueError, IndexError) as error:
        raise _core.InvalidValueError(str(error)) from error


class Device:
    """Device with PyCUDA's methods.

    Parameters
    ----------
    ordinal : int or str
        Number of the device, or its PCI bus id.

    Raises
    ------
    LogicError
        If the device does not exist.

    Notes
    -----
    Each member of `device_attribute` is an attribute of the object, with its name in lower case: ``device.warp_size``.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> device = drv.Device(0)
    >>> len(device.compute_capability())
    2
    >>> device.max_threads_per_block >= 256
    True
    """

    def __init__(self, ordinal: SupportsIndex | str) -> None:
        self._device = _find_device(ordinal)

    @staticmethod
    def count() -> int:
        """Return the number of devices.

        Returns
        -------
        int

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Device.count() >= 1
        True
        """
        return _core.device_count()

    @staticmethod
    def _pci_text(device: _core.Device) -> str:
        properties = device.properties
        return f"{properties['pci_domain']:04x}:{properties['pci_bus']:02x}:{properties['pci_device']:02x}.0".upper()

    @property
    def device(self) -> _core.Device:
        """The `PyGPU.Device` that this object of PyCUDA's interface wraps."""
        return self._device

    def name(self) -> str:
        """Return the name of the device.

        Returns
        -------
        str

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Device(0).name() != ''
        True
        """
        return self._device.name

    def pci_bus_id(self) -> str:
        """Return the PCI bus id of the device.

        Returns
        -------
        str

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Device(drv.Device(0).pci_bus_id()) == drv.Device(0)
        True
        """
        return self._pci_text(self._device)

    def total_memory(self) -> int:
        """Return the size of the device's memory in bytes.

        Returns
        -------
        int

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Device(0).total_memory() > 0
        True
        """
        return int(self._device.properties["total_memory"])

    def compute_capability(self) -> tuple[int, int]:
        """Return the major and minor compute capability, or AMD's architecture numbers; the CPU backend returns (7, 0).

        Returns
        -------
        tuple of int

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> major, minor = drv.Device(0).compute_capability()
        """
        major, minor = self._device.properties["compute_capability"]
        return major, minor

    def get_attribute(self, attr: int) -> int:
        """Query an attribute of the device.

        Parameters
        ----------
        attr : int
            A member of `device_attribute`, or the number of a newer attribute.

        Returns
        -------
        int
            The value; for ``COMPUTE_MODE`` a member of `compute_mode`.

        Raises
        ------
        LogicError
            For an attribute unknown to the driver.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Device(0).get_attribute(drv.device_attribute.WARP_SIZE) > 0
        True
        """
        value = _core.device_attribute(int(attr), self._device)
        return compute_mode(value) if attr == device_attribute.COMPUTE_MODE else value

    def get_attributes(self) -> dict[device_attribute, int]:
        """Return a dict of all attributes that the driver supports; its keys are members of `device_attribute`.

        Returns
        -------
        dict

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.device_attribute.WARP_SIZE in drv.Device(0).get_attributes()
        True
        """
        attributes = {}
        for attr in device_attribute:
            try:
                attributes[attr] = self.get_attribute(attr)
            except _core.NotSupportedError:
                pass  # Only the CUDA backend supports `attr`.
            except _core.LogicError as error:
                warnings.warn(f"the driver does not tell {attr.name}: {error}", stacklevel=2)
        return attributes

    def __getattr__(self, name: str) -> int:
        attr = None if name.startswith("_") else device_attribute.__members__.get(name.upper())
        if attr is None or name != name.lower():
            raise AttributeError(f"Device has no attribute {name!r}")
        try:
            return self.get_attribute(attr)
        except _core.Error as error:
            raise AttributeError(str(error)) from error

    def make_context(self, flags: int = 0) -> Context:
        """Make the device's primary context, which all libraries share, the current context.

        Parameters
        ----------
        flags : int, optional
            A member of `ctx_flags`. It is ignored, because the primary context has its own flags.

        Returns
        -------
        Context

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> context = drv.Device(0).make_context()
        >>> context.pop()
        """
        context = self.retain_primary_context()
        context.push()
        return context

    def retain_primary_context(self) -> Context:
        """Return the device's primary context, without making it current.

        Returns
        -------
        Context

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> context = drv.Device(0).retain_primary_context()
        """
        return Context(self._device)

    def can_access_peer(self, dev: Device) -> bool:
        """Test whether kernels on this device can access the memory of another device.

        Parameters
        ----------
        dev : Device
            The device whose memory would be accessed.

        Returns
        -------
        bool

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Device(0).can_access_peer(drv.Device(0))
        False
        """
        return self != dev and self._device.can_access_peer(dev._device)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self._device == other._device

    def __hash__(self) -> int:
        return hash(self._device)

    def __repr__(self) -> str:
        return f"<PyGPU.driver.Device {self._device}>"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name.lower() for name in device_attribute.__members__)})

    def __reduce__(self) -> tuple[Any, builtins.tuple[int]]:
        return Device, (self._device.index,)


class Context(PrimaryContext):
    """Primary context of a device, with PyCUDA's methods.

    `Device.make_context` and `Device.retain_primary_context` create the object.

    Parameters
    ----------
    device : PyGPU.Device
        Device of the context.

    Notes
    -----
    Two contexts of one device are the same context: allocations of the first exist in the second, and detaching
    frees nothing. ``pop``, ``get_device``, ``get_current`` and ``synchronize`` are static, as in PyCUDA.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> context = drv.Device(0).make_context()
    >>> drv.Context.get_device() == drv.Device(0)
    True
    >>> drv.Context.pop()
    """

    @staticmethod
    def attach(flags: int = 0) -> Context:
        """Return the current context.

        Parameters
        ----------
        flags : int, optional
            Accepted for compatibility with PyCUDA; pass 0.

        Returns
        -------
        Context

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> context = drv.Context.attach()
        """
        return Context.get_current()

    @staticmethod
    def get_current() -> Context:
        """Return the current context: the last pushed context, or the context of the current device.

        Returns
        -------
        Context

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> context = drv.Context.get_current()
        """
        context, device = innermost(), _core.Device()
        return context if isinstance(context, Context) and context._device == device else Context(device)

    @staticmethod
    def get_device() -> Device:
        """Return the current device.

        Returns
        -------
        Device

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> device = drv.Context.get_device()
        """
        return Device(_core.current_device())
