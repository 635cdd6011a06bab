"""Where PyCUDA has texture and surface references and arrays of the driver: what says why they are gone.

CUDA 12 removed references from the language and the driver; what replaced them are texture and surface objects.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy

from PyGPU import _core
from PyGPU._pycuda.driver.enums import array_format

__all__ = [
    "TRSA_OVERRIDE_FORMAT",
    "TRSF_NORMALIZED_COORDINATES",
    "TRSF_READ_AS_INTEGER",
    "TR_DEFAULT",
    "Array",
    "ArrayDescriptor",
    "ArrayDescriptor3D",
    "SurfaceReference",
    "TextureReference",
    "array3d_flags",
    "bind_array_to_texref",
    "dtype_to_array_format",
    "gpuarray_to_array",
    "make_multichannel_2d_array",
    "matrix_to_array",
    "matrix_to_texref",
    "np_to_array",
]

TRSA_OVERRIDE_FORMAT = 1
TRSF_READ_AS_INTEGER = 1
TRSF_NORMALIZED_COORDINATES = 2
TR_DEFAULT = -1


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


setattr(array3d_flags, "2DARRAY", 1)  # PyCUDA's name, which no source can spell


def no_textures(name: str) -> _core.NotSupportedError:
    """Make the error for texture references and what feeds them."""
    return _core.NotSupportedError(
        f"{name}: texture references were removed in CUDA 12. Read through a `const T *__restrict__` argument, whose "
        "loads take the same cache; for interpolation or border modes make a texture object (cudaTextureObject_t) by "
        "another library and pass it as a 64-bit integer"
    )


def no_surfaces(name: str) -> _core.NotSupportedError:
    """Make the error for surface references."""
    return _core.NotSupportedError(
        f"{name}: surface references were removed in CUDA 12. Write through a pointer argument, or make a surface "
        "object (cudaSurfaceObject_t; its sibling for reading is a texture object) by another library and pass it as a "
        "64-bit integer"
    )


class TextureReference:
    """Raises when made: texture references are gone.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.TextureReference()
    Traceback (most recent call last):
        ...
    PyGPU.NotSupportedError: TextureReference: texture references were removed in CUDA 12. ...
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise no_textures("TextureReference")


class SurfaceReference:
    """Raises when made, as `TextureReference` does: surface references are gone."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise no_surfaces("SurfaceReference")


class Array:
    """Raises when made, as `TextureReference` does: arrays of the driver serve textures only."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise no_textures("Array")


class ArrayDescriptor:
    """What an array of the driver is to be: `width`, `height`, `format`, `num_channels`.

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
    """As `ArrayDescriptor`, with `depth` and `flags`.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.ArrayDescriptor3D().depth
    0
    """

    depth = 0
    flags = 0


def dtype_to_array_format(dtype: Any) -> int:
    """Give the format of an array's elements.

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
        For others.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.dtype_to_array_format('float32').name
    'FLOAT'
    """
    names = {
        "uint8": "UNSIGNED_INT8",
        "uint16": "UNSIGNED_INT16",
        "uint32": "UNSIGNED_INT32",
        "int8": "SIGNED_INT8",
        "int16": "SIGNED_INT16",
        "int32": "SIGNED_INT32",
        "float16": "HALF",
        "float32": "FLOAT",
    }
    name = numpy.dtype(dtype).name
    if name not in names:
        raise TypeError(f"arrays of the driver have no format for {name}")
    return array_format[names[name]]


def np_to_array(nparray: Any, order: str, allowSurfaceBind: bool = False) -> NoReturn:
    """Raise: arrays of the driver are for textures, of which CUDA 12 has no references. Its siblings do the same.

    Parameters
    ----------
    nparray, order, allowSurfaceBind : object
        As in PyCUDA.

    Raises
    ------
    NotSupportedError
        Always; it names what to use.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.np_to_array(None, None)
    Traceback (most recent call last):
        ...
    PyGPU.NotSupportedError: np_to_array: texture references were removed in CUDA 12. ...
    """
    raise no_textures("np_to_array")


def gpuarray_to_array(gpuarray: Any, order: str, allowSurfaceBind: bool = False) -> NoReturn:
    """Copy a GPUArray into an array of the driver: raises, as `np_to_array` does."""
    raise no_textures("gpuarray_to_array")


def matrix_to_texref(matrix: Any, texref: Any, order: str) -> NoReturn:
    """Bind a matrix to a texture reference: raises, as `np_to_array` does."""
    raise no_textures("matrix_to_texref")


def matrix_to_array(matrix: Any, order: str, allow_double_hack: bool = False) -> NoReturn:
    """Copy a matrix into an array of the driver: raises, as `np_to_array` does."""
    raise no_textures("matrix_to_array")


def make_multichannel_2d_array(matrix: Any, order: str) -> NoReturn:
    """Copy channels into an array of the driver: raises, as `np_to_array` does."""
    raise no_textures("make_multichannel_2d_array")


def bind_array_to_texref(ary: Any, texref: Any) -> NoReturn:
    """Bind an array to a texture reference: raises, as `np_to_array` does."""
    raise no_textures("bind_array_to_texref")
