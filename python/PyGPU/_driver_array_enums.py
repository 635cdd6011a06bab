"""PyCUDA's enumerations about CUDA arrays and textures, which PyGPU has not; the numbers are CUDA's."""

from __future__ import annotations

from enum import IntEnum

__all__ = [
    "TRSA_OVERRIDE_FORMAT",
    "TRSF_NORMALIZED_COORDINATES",
    "TRSF_READ_AS_INTEGER",
    "TR_DEFAULT",
    "address_mode",
    "array3d_flags",
    "array_cubemap_face",
    "array_format",
    "filter_mode",
    "graphics_register_flags",
]


class array_format(IntEnum):
    """What an element of a CUDA array is.

    Examples
    --------
    >>> from PyGPU.driver import array_format
    >>> int(array_format.FLOAT)
    32
    """

    UNSIGNED_INT8 = 1
    UNSIGNED_INT16 = 2
    UNSIGNED_INT32 = 3
    SIGNED_INT8 = 8
    SIGNED_INT16 = 9
    SIGNED_INT32 = 10
    HALF = 16
    FLOAT = 32


class address_mode(IntEnum):
    """What a texture gives outside of its array.

    Examples
    --------
    >>> from PyGPU.driver import address_mode
    >>> int(address_mode.CLAMP)
    1
    """

    WRAP = 0
    CLAMP = 1
    MIRROR = 2
    BORDER = 3


class filter_mode(IntEnum):
    """What a texture gives between its elements.

    Examples
    --------
    >>> from PyGPU.driver import filter_mode
    >>> int(filter_mode.LINEAR)
    1
    """

    POINT = 0
    LINEAR = 1


class graphics_register_flags(IntEnum):
    """How a buffer of a graphics library is used.

    Examples
    --------
    >>> from PyGPU.driver import graphics_register_flags
    >>> int(graphics_register_flags.READ_ONLY)
    1
    """

    NONE = 0
    READ_ONLY = 1
    WRITE_DISCARD = 2
    SURFACE_LDST = 4
    TEXTURE_GATHER = 8


class array_cubemap_face(IntEnum):
    """A side of a cube map.

    Examples
    --------
    >>> from PyGPU.driver import array_cubemap_face
    >>> int(array_cubemap_face.NEGATIVE_Z)
    5
    """

    POSITIVE_X = 0
    NEGATIVE_X = 1
    POSITIVE_Y = 2
    NEGATIVE_Y = 3
    POSITIVE_Z = 4
    NEGATIVE_Z = 5


class array3d_flags:
    """How a CUDA array is made. One of its names is no word of Python: ``getattr(array3d_flags, '2DARRAY')``.

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


setattr(array3d_flags, "2DARRAY", array3d_flags.ARRAY3D_2DARRAY)

TRSA_OVERRIDE_FORMAT = 1
TRSF_READ_AS_INTEGER = 1
TRSF_NORMALIZED_COORDINATES = 2
TR_DEFAULT = -1
