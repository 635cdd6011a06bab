"""Types for annotations: argument types of PyGPU's functions, and protocols of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex, SupportsInt, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Buffer

    from PyGPU._core import Device, DeviceAllocation, GPUArray, Stream

from PyGPU._names import public_modules as _public_modules

__all__ = [
    "AddressLike",
    "BasicIndex",
    "Casting",
    "CopyKind",
    "DeviceLike",
    "HostBuffer",
    "Key",
    "Operand",
    "Order",
    "OrderACFK",
    "ShapeLike",
    "StreamLike",
    "SupportsCudaArrayInterface",
    "SupportsCudaStream",
    "SupportsDLPack",
]


@runtime_checkable
class SupportsCudaStream(Protocol):
    """Stream of any library that implements the ``__cuda_stream__`` protocol."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the protocol's version, 0, and the driver's handle of the stream."""
        ...


@runtime_checkable
class SupportsDLPack(Protocol):
    """Array of any library that exports its memory through DLPack."""

    def __dlpack__(self, *, stream: Any = None) -> object:
        """Return a DLPack capsule that contains the array."""
        ...

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the DLPack device type and number."""
        ...


@runtime_checkable
class SupportsCudaArrayInterface(Protocol):
    """Array of any library that implements the CUDA array interface."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Return the description of the array."""
        ...


AddressLike: TypeAlias = "DeviceAllocation | GPUArray | SupportsIndex | SupportsInt"
"""An address of device memory: an object with an address, or a number."""
HostBuffer: TypeAlias = "Buffer | NDArray[Any]"
"""Host memory: any object with the buffer protocol."""
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
"""A shape or axes: one integer, or a sequence of integers."""
Order: TypeAlias = Literal["C", "F"] | None
"""Memory order of a new array."""
OrderACFK: TypeAlias = Literal["A", "C", "F", "K"] | None
"""Memory order as in `Order`, or NumPy's ``'A'`` or ``'K'``, which select the memory order of an existing array."""
Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
"""NumPy's rules that determine which dtype may be cast to which other dtype."""
DeviceLike: TypeAlias = "Device | str | int | None"
"""A device: an object, a name such as ``'cuda:1'``, a number, or None for the current device."""
StreamLike: TypeAlias = "Stream | SupportsCudaStream | int | None"
"""A stream: an object of any library, a handle, or None for the current stream."""
CopyKind: TypeAlias = Literal["host_to_host", "host_to_device", "device_to_host", "device_to_device", "default"]
"""Direction of a copy by `_core.raw_copy`: the kinds of source and destination memory."""
Operand: TypeAlias = "GPUArray | SupportsCudaArrayInterface | complex | numpy.number[Any] | numpy.bool"
"""An operand of a function: a device array, or a Python or NumPy number."""
BasicIndex: TypeAlias = SupportsIndex | slice | EllipsisType | None
"""An index that selects a view."""
Key: TypeAlias = "BasicIndex | str | tuple[Any, ...] | ArrayLike | GPUArray"
"""An index of an array, as written in brackets after the array."""


_public_modules.publish(globals())
