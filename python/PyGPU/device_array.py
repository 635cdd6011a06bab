"""The classes `DeviceArray_float32` and so on: arrays with a host and a device buffer, which the program copies.

The array owns or borrows the memory of each side, and keeps the owners of borrowed memory alive. The host side is
always contiguous, so that a copy is one block of bytes. A device error raises no exception: its status is stored in
`last_status`. Only wrong arguments raise exceptions.
"""

from typing import TYPE_CHECKING

from PyGPU._pybindgpu.device_array import DeviceArray as DeviceArray

if TYPE_CHECKING:
    from PyGPU._pybindgpu.dtype_classes import (
        DeviceArray_complex64 as DeviceArray_complex64,
        DeviceArray_complex128 as DeviceArray_complex128,
        DeviceArray_float32 as DeviceArray_float32,
        DeviceArray_float64 as DeviceArray_float64,
        DeviceArray_int16 as DeviceArray_int16,
        DeviceArray_int32 as DeviceArray_int32,
        DeviceArray_int64 as DeviceArray_int64,
        DeviceArray_uint16 as DeviceArray_uint16,
        DeviceArray_uint32 as DeviceArray_uint32,
        DeviceArray_uint64 as DeviceArray_uint64,
    )
else:
    from PyGPU._names import public_modules as _public_modules
    from PyGPU._pybindgpu import dtype_classes as _labelled

    __all__ = ["DeviceArray", *(name for name in _labelled.__all__ if name.startswith("DeviceArray_"))]

    def __getattr__(name: str):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(_labelled, name)

    _public_modules.publish(globals())
