"""PyCUDA's `Device`, and what the driver says of itself."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any, SupportsIndex

from PyGPU import _core
from PyGPU._driver_device_enums import compute_mode, device_attribute
from PyGPU._driver_errors import logic_error

if TYPE_CHECKING:
    from PyGPU._driver_contexts import Context

__all__ = ["Device", "get_driver_version", "get_version", "init"]

# The header by whose declarations the driver is called.
HEADER_VERSION = (12, 8, 0)
# What of `device_attribute` follows from the properties that every backend has.
BY_PROPERTY = {
    device_attribute.MAX_THREADS_PER_BLOCK: "max_threads_per_block",
    device_attribute.WARP_SIZE: "warp_size",
    device_attribute.CLOCK_RATE: "clock_rate",
    device_attribute.MULTIPROCESSOR_COUNT: "multiprocessor_count",
    device_attribute.INTEGRATED: "integrated",
    device_attribute.L2_CACHE_SIZE: "l2_cache_size",
    device_attribute.ASYNC_ENGINE_COUNT: "async_engine_count",
    device_attribute.PCI_DOMAIN_ID: "pci_domain",
    device_attribute.PCI_BUS_ID: "pci_bus",
    device_attribute.PCI_DEVICE_ID: "pci_device",
    device_attribute.MEMORY_POOLS_SUPPORTED: "memory_pools",
}
# What of it follows from the shapes that a launch may have.
BY_LIMIT = {
    device_attribute.MAX_BLOCK_DIM_X: ("block", 0),
    device_attribute.MAX_BLOCK_DIM_Y: ("block", 1),
    device_attribute.MAX_BLOCK_DIM_Z: ("block", 2),
    device_attribute.MAX_GRID_DIM_X: ("grid", 0),
    device_attribute.MAX_GRID_DIM_Y: ("grid", 1),
    device_attribute.MAX_GRID_DIM_Z: ("grid", 2),
    device_attribute.MAX_SHARED_MEMORY_PER_BLOCK: ("shared", 0),
    device_attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: ("shared", 1),
}
CODE_INVALID_VALUE = 1
CODE_INVALID_DEVICE = 101


def init(flags: SupportsIndex = 0) -> None:
    """Open the driver. A second call does nothing, and PyGPU does it by itself when it is first needed.

    Parameters
    ----------
    flags : int, optional
        Must be 0.

    Raises
    ------
    BackendUnavailableError
        When no backend can be used; the message says what was searched.

    Examples
    --------
    >>> from PyGPU import driver
    >>> driver.init()
    """
    if operator.index(flags) != 0:
        raise logic_error("cuInit", CODE_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "flags must be 0")
    _core.device_count()


def get_version() -> tuple[int, int, int]:
    """Return the version of CUDA by whose header PyGPU calls the driver.

    Returns
    -------
    major, minor, patch : int

    Examples
    --------
    >>> from PyGPU import driver
    >>> driver.get_version() >= (12, 0, 0)
    True
    """
    return HEADER_VERSION


def get_driver_version() -> int:
    """Return the version of CUDA that the driver serves.

    Returns
    -------
    int
        13000 for 13.0. On other backends that of `get_version`, so that programs ask for what PyGPU has there.

    Examples
    --------
    >>> from PyGPU import driver
    >>> driver.get_driver_version() >= 12000
    True
    """
    if _core.backend_name() == "cuda":
        return _core.driver_version()
    major, minor, patch = HEADER_VERSION
    return 1000 * major + 10 * minor + patch


class Device:
    """A device in PyCUDA's spelling.

    Parameters
    ----------
    dev : int or str
        Its number, or its place on the PCI bus as ``'0000:65:00.0'``.

    Raises
    ------
    LogicError
        For a device that does not exist.

    Notes
    -----
    The members of `device_attribute` are attributes, in lower case: ``device.warp_size``.

    Examples
    --------
    >>> from PyGPU import driver
    >>> device = driver.Device(0)
    >>> len(device.name()) > 0, device.total_memory() > 0
    (True, True)
    >>> device == driver.Device(device.pci_bus_id())
    True
    """

    __slots__ = ("__weakref__", "_native")

    def __init__(self, dev: SupportsIndex | str | _core.Device) -> None:
        if isinstance(dev, _core.Device):
            self._native = dev
        elif isinstance(dev, str):
            self._native = _at(dev)
        else:
            self._native = _numbered(operator.index(dev))

    @property
    def native(self) -> _core.Device:
        """The device in PyGPU's spelling."""
        return self._native

    @staticmethod
    def count() -> int:
        """Return how many devices there are.

        Returns
        -------
        int

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Device.count() > 0
        True
        """
        return _core.device_count()

    def name(self) -> str:
        """Return the vendor's name.

        Returns
        -------
        str

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Device(0).name()  # doctest: +SKIP
        'NVIDIA H200'
        """
        return self._native.name

    def pci_bus_id(self) -> str:
        """Return its place on the PCI bus.

        Returns
        -------
        str
            Domain, bus, device and function, as ``'0000:65:00.0'``.

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Device(0).pci_bus_id()  # doctest: +SKIP
        '0000:65:00.0'
        """
        known = self._native.properties
        return f"{known['pci_domain']:04X}:{known['pci_bus']:02X}:{known['pci_device']:02X}.0"

    def total_memory(self) -> int:
        """Return the bytes of its memory.

        Returns
        -------
        int

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Device(0).total_memory() > 0
        True
        """
        total: int = self._native.properties["total_memory"]
        return total

    def compute_capability(self) -> tuple[int, int]:
        """Return what generation it is of.

        Returns
        -------
        major, minor : int

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Device(0).compute_capability()  # doctest: +SKIP
        (9, 0)
        """
        capability: tuple[int, int] = self._native.properties["compute_capability"]
        return capability

    def get_attribute(self, attr: SupportsIndex) -> int:
        """Return what it tells of itself.

        Parameters
        ----------
        attr : device_attribute
            For example ``device_attribute.WARP_SIZE``.

        Returns
        -------
        int
            A `compute_mode` for ``COMPUTE_MODE``.

        Raises
        ------
        Error
            For what its driver does not tell.

        Examples
        --------
        >>> from PyGPU import driver
        >>> device = driver.Device(0)
        >>> device.get_attribute(driver.device_attribute.WARP_SIZE) == device.warp_size
        True
        """
        number = operator.index(attr)
        value = self._attribute(number)
        return compute_mode(value) if number == device_attribute.COMPUTE_MODE else value

    def _attribute(self, number: int) -> int:
        if self._native.kind == "cuda":
            return _core.device_attribute(number, self._native)
        properties = self._native.properties
        # The driver's own numbers are others there; what follows is what every backend tells.
        if number in BY_PROPERTY:
            return int(properties[BY_PROPERTY[device_attribute(number)]])
        if number in (device_attribute.COMPUTE_CAPABILITY_MAJOR, device_attribute.COMPUTE_CAPABILITY_MINOR):
            capability: tuple[int, int] = properties["compute_capability"]
            return capability[number - device_attribute.COMPUTE_CAPABILITY_MAJOR]
        if number in (device_attribute.COMPUTE_MODE, device_attribute.KERNEL_EXEC_TIMEOUT):
            return 0
        if number in (device_attribute.CAN_MAP_HOST_MEMORY, device_attribute.UNIFIED_ADDRESSING):
            return 1
        if number in BY_LIMIT:
            name, axis = BY_LIMIT[device_attribute(number)]
            return _core.launch_limits(self._native)[name][axis]
        text = f"device_attribute {number} on {self._native}"
        raise logic_error("cuDeviceGetAttribute", CODE_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", text)

    def get_attributes(self) -> dict[device_attribute, int]:
        """Return all that it tells of itself.

        Returns
        -------
        dict of device_attribute to int
            Without those that its driver does not know.

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.device_attribute.WARP_SIZE in driver.Device(0).get_attributes()
        True
        """
        found = {}
        for attr in device_attribute:
            try:
                found[attr] = self.get_attribute(attr)
            except _core.Error:
                continue
        return found

    def make_context(self, flags: SupportsIndex = 0) -> Context:
        """Put the device's primary context on the thread's stack of contexts.

        Parameters
        ----------
        flags : ctx_flags, optional
            Of no effect: the context is shared with every other library.

        Returns
        -------
        Context

        Examples
        --------
        >>> from PyGPU import driver
        >>> context = driver.Device(0).make_context()
        >>> context.get_device() == driver.Device(0)
        True
        >>> context.pop()
        """
        operator.index(flags)
        context = self.retain_primary_context()
        context.push()
        return context

    def retain_primary_context(self) -> Context:
        """Return the device's primary context, which is not made current.

        Returns
        -------
        Context

        Examples
        --------
        >>> from PyGPU import driver
        >>> context = driver.Device(0).retain_primary_context()
        >>> context.push()
        >>> driver.Context.pop()
        >>> context.detach()
        """
        from PyGPU._driver_contexts import Context

        return Context(self)

    def can_access_peer(self, dev: Device) -> bool:
        """Return whether it reads the memory of another device directly.

        Parameters
        ----------
        dev : Device
            The other one.

        Returns
        -------
        bool

        Examples
        --------
        >>> from PyGPU import driver
        >>> driver.Device(0).can_access_peer(driver.Device(0))
        False
        """
        # Drivers say that a device is no peer of itself.
        return self != dev and self._native.can_access_peer(dev._native)

    def __getattr__(self, name: str) -> Any:
        attr = device_attribute.__members__.get(name.upper()) if name == name.lower() else None
        if attr is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.get_attribute(attr)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name.lower() for name in device_attribute.__members__)]

    def __eq__(self, other: object) -> bool:
        return self._native == other._native if isinstance(other, Device) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._native)

    def __repr__(self) -> str:
        return f"<PyGPU.driver.Device {self._native}>"


def _numbered(number: int) -> _core.Device:
    try:
        return _core.Device(number)
    except ValueError as error:
        raise logic_error("cuDeviceGet", CODE_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", str(error)) from None


def _at(place: str) -> _core.Device:
    parts = re.fullmatch(r"(?:([0-9a-fA-F]+):)?([0-9a-fA-F]+):([0-9a-fA-F]+)(?:\.[0-9a-fA-F]+)?", place)
    if parts is not None:
        wanted = tuple(int(part or "0", 16) for part in parts.groups())
        for number in range(_core.device_count()):
            known = _core.device_properties(number)
            if wanted == (known["pci_domain"], known["pci_bus"], known["pci_device"]):
                return _core.Device(number)
    text = f"there is no device at {place!r}"
    raise logic_error("cuDeviceGetByPCIBusId", CODE_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", text)
