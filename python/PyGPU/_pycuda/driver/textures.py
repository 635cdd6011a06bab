"""PyCUDA's texture and surface references, which CUDA 12 has replaced by texture and surface objects.

In a source, ``texture<float, 2> image;`` at file scope is compiled as a variable that holds a texture object. A
`TextureReference` stores the texture's settings, and creates the texture object before the next launch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from PyGPU import _core
from PyGPU._pycuda.driver.array_copies import matrix_to_array
from PyGPU._pycuda.driver.arrays import Array, ArrayDescriptor, dtype_of_format, dtype_to_array_format, native
from PyGPU._pycuda.driver.enums import address_mode, array_format, filter_mode

if TYPE_CHECKING:
    from PyGPU.typing import AddressLike

__all__ = [
    "TRSA_OVERRIDE_FORMAT",
    "TRSF_NORMALIZED_COORDINATES",
    "TRSF_READ_AS_INTEGER",
    "TR_DEFAULT",
    "SurfaceReference",
    "TextureReference",
    "bind_array_to_texref",
    "matrix_to_texref",
]

TRSA_OVERRIDE_FORMAT = 1
TRSF_READ_AS_INTEGER = 1
TRSF_NORMALIZED_COORDINATES = 2
TR_DEFAULT = -1

# The size in bytes of a texture's variable encodes the texture's read mode (see texture_references.h).
_READS_INTEGERS, _READS_INTEGERS_AS_FLOATS = 16, 24
# Value of CUDA's device attribute for texture alignment, and the alignment in bytes on other backends.
_TEXTURE_ALIGNMENT, _MAX_ALIGNMENT = 14, 256


class TextureReference:
    """Settings and source memory of a module's file-scope texture.

    `Module.get_texref` returns the reference of a module's texture. A reference that the constructor creates belongs to
    no kernel.

    Notes
    -----
    Settings take effect at the next launch. A kernel that declares ``texture<int, ...>`` reads integers, regardless of
    the flags, and a kernel that declares ``cudaReadModeNormalizedFloat`` reads floats.

    Examples
    --------
    >>> import numpy
    >>> import PyGPU.driver as drv
    >>> from PyGPU.compiler import SourceModule
    >>> module = SourceModule('''texture<float, 2> image;
    ... __global__ void row(float *out) { out[threadIdx.x] = tex2D(image, threadIdx.x, 1); }''')
    >>> image = module.get_texref('image')
    >>> drv.matrix_to_texref(numpy.arange(6, dtype='float32').reshape(2, 3), image, order='C')
    >>> out = numpy.empty(3, 'float32')
    >>> module.get_function('row')(drv.Out(out), block=(3, 1, 1), texrefs=[image])
    >>> out
    array([3., 4., 5.], dtype=float32)
    """

    def __init__(self) -> None:
        self._owner: tuple[_core.References, str] | None = None
        self._size = 8
        self._array: Array | None = None
        self._memory: tuple[Any, int] | None = None
        self._rows: tuple[ArrayDescriptor, int] | None = None
        self._address = 0
        self._format, self._channels = int(array_format.FLOAT), 1
        self._modes = [address_mode.WRAP] * 3
        self._filter = filter_mode.POINT
        self._flags = 0
        self._is_bind_scheduled = False

    @classmethod
    def _from_module(cls, references: _core.References, name: str) -> TextureReference:
        reference = cls()
        reference._owner, reference._size = (references, name), references.size(name)
        return reference

    def _schedule_bind(self) -> None:
        is_bound = self._array is not None or self._memory is not None
        if self._owner is not None and is_bound and not self._is_bind_scheduled:
            self._is_bind_scheduled = True
            self._owner[0].call_before_launch(self._bind)

    def _bind(self) -> None:
        self._is_bind_scheduled = False
        if self._owner is not None:
            references, name = self._owner
            references.bind(name, self._texture())

    def _texture(self) -> _core.Texture:
        source, channels = self._source()
        dtype = source.dtype
        is_narrow = dtype.kind in "iu" and dtype.itemsize < 4
        as_integer = self._size == _READS_INTEGERS or (
            self._size != _READS_INTEGERS_AS_FLOATS and bool(self._flags & TRSF_READ_AS_INTEGER)
        )
        return _core.Texture(
            source,
            address_mode=[mode.name.lower() for mode in self._modes],
            filter_mode="linear" if self._filter == filter_mode.LINEAR else "point",
            read_mode="element" if as_integer or not is_narrow else "normalized_float",
            normalized_coords=bool(self._flags & TRSF_NORMALIZED_COORDINATES),
            channels=channels,
        )

    def _source(self) -> tuple[Any, int]:
        if self._array is not None:
            return native(self._array), 1
        assert self._memory is not None
        address, count = self._memory
        dtype, channels = dtype_of_format(self._format), self._channels
        inner = (channels,) if channels > 1 else ()
        item = dtype.itemsize * channels
        if self._rows is None:
            return _core.array_at(address, (count // item, *inner), dtype), channels
        descriptor, pitch = self._rows
        shape = (int(descriptor.height), int(descriptor.width), *inner)
        strides = (pitch, item, *((dtype.itemsize,) if inner else ()))
        return _core.array_at(address, shape, dtype, strides), channels

    def set_array(self, array: Array) -> None:
        """Set the source to a CUDA array; the format of the array replaces the format of the reference.

        Parameters
        ----------
        array : Array or PyGPU.TextureArray
            The CUDA array; the reference keeps it alive.
        """
        texture_array = native(array)
        self._format, self._channels = int(dtype_to_array_format(texture_array.dtype)), texture_array.channels
        self._array, self._memory, self._rows = array, None, None
        self._schedule_bind()

    def set_address(self, devptr: AddressLike, bytes: int, allow_offset: bool = False) -> int:
        """Set the source to contiguous device memory, which kernels read by ``tex1Dfetch``.

        Parameters
        ----------
        devptr : int or object with an address
            Address of the first element.
        bytes : int
            Number of bytes.
        allow_offset : bool, optional
            Whether the texture may begin before `devptr` if the address `devptr` is not aligned as the device requires.

        Returns
        -------
        int
            Offset of `devptr` from the beginning of the texture, in bytes.

        Raises
        ------
        ValueError
            If an offset is required, but not allowed.
        """
        address, offset = _aligned(devptr, int(bytes))
        if offset and not allow_offset:
            raise ValueError(
                f"the memory begins {offset} bytes behind where a texture can begin, and allow_offset was false"
            )
        self._array, self._rows = None, None
        self._memory, self._address = (address, int(bytes) + offset), _core.array_at(address, 1, "u1").ptr
        self._schedule_bind()
        return offset

    def set_address_2d(self, devptr: AddressLike, descr: ArrayDescriptor, pitch: int) -> None:
        """Set the source to rows of device memory, which kernels read by ``tex2D``.

        Parameters
        ----------
        devptr : int or object with an address
            Address of the first element.
        descr : ArrayDescriptor
            Format of the channels, and the width, height and number of channels of the texture.
        pitch : int
            Bytes between the starts of rows.
        """
        self._format, self._channels = int(descr.format), int(descr.num_channels)
        dtype_of_format(self._format)
        self._array, self._rows = None, (descr, int(pitch))
        self._memory, self._address = (devptr, 0), _core.array_at(devptr, 1, "u1").ptr
        self._schedule_bind()

    def set_format(self, format: int, num_components: int) -> None:
        """Set the format of the elements in device memory.

        Parameters
        ----------
        format : array_format
            Format of a channel.
        num_components : int
            Number of channels per element.
        """
        dtype_of_format(format)
        self._format, self._channels = int(format), int(num_components)
        self._schedule_bind()

    def set_address_mode(self, dim: int, am: int) -> None:
        """Set the address mode of an axis, which determines the results of reads beyond the texture's edges.

        Parameters
        ----------
        dim : int
            Axis: 0, 1 or 2 for x, y or z.
        am : address_mode
            Address mode. Unless coordinates are normalised, `WRAP` and `MIRROR` act as `CLAMP`.
        """
        self._modes[_axis(dim)] = address_mode(am)
        self._schedule_bind()

    def set_filter_mode(self, fm: int) -> None:
        """Set the filter mode: whether reads interpolate between elements.

        Parameters
        ----------
        fm : filter_mode
            `POINT` or `LINEAR`.
        """
        self._filter = filter_mode(fm)
        self._schedule_bind()

    def set_flags(self, flags: int) -> None:
        """Set how texture reads interpret elements and coordinates.

        Parameters
        ----------
        flags : int
            `TRSF_READ_AS_INTEGER`, `TRSF_NORMALIZED_COORDINATES`, or both.
        """
        self._flags = int(flags)
        self._schedule_bind()

    def get_address(self) -> int:
        """Return the address of the source memory; 0 if the source is a CUDA array."""
        return self._address if self._memory is not None else 0

    def get_array(self) -> Array:
        """Return the CUDA array that is the source.

        Raises
        ------
        ValueError
            If no CUDA array is set.
        """
        if self._array is None:
            raise ValueError("no array was bound to the texture reference")
        return self._array

    def get_address_mode(self, dim: int) -> address_mode:
        """Return the address mode of an axis.

        Parameters
        ----------
        dim : int
            Axis: 0, 1 or 2 for x, y or z.
        """
        return self._modes[_axis(dim)]

    def get_filter_mode(self) -> filter_mode:
        """Return the filter mode of this texture reference."""
        return self._filter

    def get_format(self) -> tuple[array_format, int]:
        """Return the format of a channel, and the number of channels."""
        return array_format(self._format), self._channels

    def get_flags(self) -> int:
        """Return the flags of this texture reference, which `set_flags` sets."""
        return self._flags


def _axis(dim: int) -> int:
    if dim not in (0, 1, 2):
        raise ValueError(f"a texture has the dimensions 0, 1 and 2, not {dim}")
    return int(dim)


def _aligned(devptr: AddressLike, count: int) -> tuple[Any, int]:
    """Round an address down to the alignment of textures; return the result and the difference in bytes."""
    backend = _core.backend_name()
    if backend == "cpu":
        return devptr, 0
    alignment = _core.device_attribute(_TEXTURE_ALIGNMENT) if backend == "cuda" else _MAX_ALIGNMENT
    address = _core.array_at(devptr, max(count, 1), "u1").ptr
    return (devptr if address % alignment == 0 else address - address % alignment), address % alignment


class SurfaceReference:
    """Reference to a module's file-scope surface, as returned by `Module.get_surfref`.

    Examples
    --------
    >>> import numpy
    >>> import PyGPU.driver as drv
    >>> from PyGPU.compiler import SourceModule
    >>> module = SourceModule('''surface<void, 3> cube;
    ... __global__ void fill() { surf3Dwrite(float(threadIdx.x), cube, threadIdx.x * 4, 0, 0); }''')
    >>> array = drv.np_to_array(numpy.zeros((1, 1, 3), 'float32'), 'C', allowSurfaceBind=True)
    >>> module.get_surfref('cube').set_array(array)
    >>> module.get_function('fill')(block=(3, 1, 1))
    >>> array.array.get().ravel()
    array([0., 1., 2.], dtype=float32)
    """

    def __init__(self) -> None:
        raise TypeError("surface references are made by Module.get_surfref")

    @classmethod
    def _from_module(cls, references: _core.References, name: str) -> SurfaceReference:
        references.size(name)
        reference = object.__new__(cls)
        reference._owner, reference._array = (references, name), None
        return reference

    _owner: tuple[_core.References, str]
    _array: Array | None

    def set_array(self, array: Array, flags: int = 0) -> None:
        """Bind a CUDA array, which kernels then read and write.

        Parameters
        ----------
        array : Array or PyGPU.TextureArray
            CUDA array that was created for surfaces; the reference keeps it alive.
        flags : int, optional
            Accepted for compatibility with PyCUDA; pass 0.
        """
        references, name = self._owner
        references.bind(name, _core.Surface(native(array)))
        self._array = array

    def get_array(self) -> Array:
        """Return the CUDA array that is bound to the surface.

        Raises
        ------
        ValueError
            If no CUDA array is set.
        """
        if self._array is None:
            raise ValueError("no array was bound to the surface reference")
        return self._array


def bind_array_to_texref(ary: Array, texref: TextureReference) -> None:
    """Bind a two-dimensional CUDA array to a texture reference; reads clamp at the edges and do not interpolate.

    Parameters
    ----------
    ary : Array
        The CUDA array.
    texref : TextureReference
        The texture reference.
    """
    texref.set_array(ary)
    texref.set_address_mode(0, address_mode.CLAMP)
    texref.set_address_mode(1, address_mode.CLAMP)
    texref.set_filter_mode(filter_mode.POINT)


def matrix_to_texref(matrix: Any, texref: TextureReference, order: str) -> None:
    """Bind a matrix to a texture reference by `matrix_to_array` and `bind_array_to_texref`.

    Parameters
    ----------
    matrix : array_like
        Matrix.
    texref : TextureReference
        The texture reference.
    order : str
        ``'C'`` or ``'F'``.
    """
    bind_array_to_texref(matrix_to_array(matrix, order), texref)


def bind_gpuarray(array: _core.GPUArray, texref: TextureReference, allow_offset: bool) -> float:
    """Bind an array to a texture reference: the implementation of `GPUArray.bind_to_texref`."""
    return texref.set_address(array, array.nbytes, allow_offset=allow_offset) / array.dtype.itemsize


def bind_gpuarray_with_format(
    array: _core.GPUArray,
    texref: TextureReference,
    channels: int,
    allow_double_hack: bool,
    allow_complex_hack: bool,
    allow_offset: bool,
) -> float:
    """Bind an array to a texture reference and set its format: the implementation of `GPUArray.bind_to_texref_ext`."""
    if not array.flags.forc:
        raise RuntimeError("only contiguous arrays may be used as arguments to this operation")
    name = array.dtype.name
    hacks = {
        "float64": (allow_double_hack, array_format.SIGNED_INT32, 2),
        "complex64": (allow_complex_hack, array_format.UNSIGNED_INT32, 2),
        "complex128": (allow_complex_hack, array_format.SIGNED_INT32, 4),
    }
    is_allowed, format_number, count = hacks.get(name, (False, array_format.FLOAT, 1))
    as_integer = is_allowed
    if is_allowed:
        if channels != 1:
            raise ValueError(f"a texture of {name} elements can have one channel only")
    else:
        format_number, count = array_format(dtype_to_array_format(array.dtype)), channels
        as_integer = numpy.issubdtype(array.dtype, numpy.integer)
    offset = texref.set_address(array, array.nbytes, allow_offset=allow_offset)
    texref.set_format(format_number, count)
    if as_integer:
        texref.set_flags(texref.get_flags() | TRSF_READ_AS_INTEGER)
    return offset / array.dtype.itemsize
