"""PyCUDA's class `Array` for CUDA arrays, whose layout is optimized for textures, and its descriptors."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy

from PyGPU import _core
from PyGPU._pycuda.driver.enums import array_format

__all__ = [
    "Array",
    "ArrayDescriptor",
    "ArrayDescriptor3D",
    "array3d_flags",
    "dtype_to_array_format",
]

_DTYPES = {
    array_format.UNSIGNED_INT8: "uint8",
    array_format.UNSIGNED_INT16: "uint16",
    array_format.UNSIGNED_INT32: "uint32",
    array_format.SIGNED_INT8: "int8",
    array_format.SIGNED_INT16: "int16",
    array_format.SIGNED_INT32: "int32",
    array_format.HALF: "float16",
    array_format.FLOAT: "float32",
}
_FORMATS = {name: number for number, name in _DTYPES.items()}


class array3d_flags:
    """Flags of three-dimensional arrays.

    Examples
    --------
    >>> from PyGPU.driver import array3d_flags
    >>> array3d_flags.SURFACE_LDST
    2
    """

    ARRAY3D_2DARRAY = 1
    ARRAY3D_LAYERED = 1
    SURFACE_LDST = 2
    CUBEMAP = 4
    TEXTURE_GATHER = 8


setattr(array3d_flags, "2DARRAY", 1)  # PyCUDA's name `2DARRAY` is not a valid Python identifier.


class ArrayDescriptor:
    """Description of a CUDA array: `width`, `height`, `format`, `num_channels`.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> descriptor = drv.ArrayDescriptor()
    >>> descriptor.width = 3
    """

    width = 0
    height = 0
    format = 0
    num_channels = 1


class ArrayDescriptor3D(ArrayDescriptor):
    """Description of a CUDA array of up to three dimensions: `ArrayDescriptor` with `depth` and `flags`.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.ArrayDescriptor3D().depth
    0
    """

    depth = 0
    flags = 0


Descriptor = TypeVar("Descriptor", bound=ArrayDescriptor)


def dtype_to_array_format(dtype: Any) -> int:
    """Return the array format of a dtype.

    Parameters
    ----------
    dtype : dtype
        An integer of 8, 16 or 32 bits, float16 or float32.

    Returns
    -------
    array_format

    Raises
    ------
    TypeError
        For any other dtype.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.dtype_to_array_format('float32').name
    'FLOAT'
    """
    name = numpy.dtype(dtype).name
    if name not in _FORMATS:
        raise TypeError(f"arrays of the driver have no format for {name}")
    return _FORMATS[name]


def dtype_of_format(number: int) -> numpy.dtype[Any]:
    """Return the dtype of an array format.

    Raises
    ------
    ValueError
        For an unknown array format.
    """
    try:
        return numpy.dtype(_DTYPES[array_format(number)])
    except ValueError:
        raise ValueError(f"{number} is no array_format; dtype_to_array_format gives one") from None


def _shape(descriptor: ArrayDescriptor) -> tuple[tuple[int, ...], int]:
    """Return the shape and the flags that a descriptor contains."""
    width, height = int(descriptor.width), int(descriptor.height)
    depth, flags = int(getattr(descriptor, "depth", 0)), int(getattr(descriptor, "flags", 0))
    unsupported = flags & ~(array3d_flags.ARRAY3D_LAYERED | array3d_flags.SURFACE_LDST)
    if unsupported:
        raise _core.NotSupportedError(
            f"arrays with the flags {unsupported:#x} are not supported: ARRAY3D_LAYERED and SURFACE_LDST are"
        )
    if flags & array3d_flags.ARRAY3D_LAYERED:
        return ((depth, height, width) if height else (depth, width)), flags
    if depth:
        return (depth, height, width), flags
    return ((height, width) if height else (width,)), flags


class Array:
    """CUDA array: memory in a layout that is optimized for textures and surfaces.

    Parameters
    ----------
    descriptor : ArrayDescriptor or ArrayDescriptor3D
        Description of the array.

    Raises
    ------
    ValueError
        For unsupported lengths or formats.

    Notes
    -----
    PyGPU's own class is `PyGPU.TextureArray`; the attribute `array` is such an object.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> descriptor = drv.ArrayDescriptor()
    >>> descriptor.width, descriptor.height, descriptor.format = 3, 2, drv.array_format.FLOAT
    >>> drv.Array(descriptor).array.shape
    (2, 3)
    """

    def __init__(self, descriptor: ArrayDescriptor) -> None:
        shape, flags = _shape(descriptor)
        self._array: _core.TextureArray | None = _core.TextureArray(
            shape,
            dtype_of_format(descriptor.format),
            int(descriptor.num_channels),
            layered=bool(flags & array3d_flags.ARRAY3D_LAYERED),
            surface=bool(flags & array3d_flags.SURFACE_LDST),
        )

    @property
    def array(self) -> _core.TextureArray:
        """The underlying `PyGPU.TextureArray`."""
        if self._array is None:
            raise ValueError("the array was freed")
        return self._array

    @property
    def handle(self) -> int:
        """The driver's handle of the array, as an integer."""
        return self.array.handle

    def free(self) -> None:
        """Release the array's memory; textures that are bound to the array keep the memory alive."""
        self._array = None

    def get_descriptor(self) -> ArrayDescriptor:
        """Return the description of the array.

        Returns
        -------
        ArrayDescriptor
        """
        return self._describe(ArrayDescriptor())

    def get_descriptor_3d(self) -> ArrayDescriptor3D:
        """Return the description of the array, with its depth and its flags.

        Returns
        -------
        ArrayDescriptor3D
        """
        array, descriptor = self.array, self._describe(ArrayDescriptor3D())
        if array.layered or len(array.shape) == 3:
            descriptor.depth = array.shape[0]
        descriptor.flags = array3d_flags.ARRAY3D_LAYERED * array.layered | array3d_flags.SURFACE_LDST * array.surface
        return descriptor

    def _describe(self, descriptor: Descriptor) -> Descriptor:
        array = self.array
        axes = array.shape[1:] if array.layered else array.shape
        descriptor.width = axes[-1]
        descriptor.height = axes[-2] if len(axes) > 1 else 0
        descriptor.format = dtype_to_array_format(array.dtype)
        descriptor.num_channels = array.channels
        return descriptor


def native(array: Any) -> _core.TextureArray:
    """Return the `PyGPU.TextureArray` of a CUDA array.

    Raises
    ------
    TypeError
        For any other object.
    """
    if isinstance(array, _core.TextureArray):
        return array
    if isinstance(array, Array):
        return array.array
    raise TypeError(f"expected a driver.Array or a PyGPU.TextureArray, not {type(array).__name__}")
