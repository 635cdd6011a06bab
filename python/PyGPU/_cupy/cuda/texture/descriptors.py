"""Classes that describe channels, texture memory and texture reads, with CuPy's interface.

CUDA's runtime receives these descriptions as C structures. The classes store only the values, which
`PyGPU._cupy.cuda.texture.objects` passes to `PyGPU.Texture` and `PyGPU.Surface`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._cupy.cuda.runtime import constants

if TYPE_CHECKING:
    from PyGPU._cupy.cuda.texture.cuda_array import CUDAarray

__all__ = ["ChannelFormatDescriptor", "ResourceDescriptor", "TextureDescriptor"]

_KINDS = {
    constants.cudaChannelFormatKindSigned: ("i", (8, 16, 32)),
    constants.cudaChannelFormatKindUnsigned: ("u", (8, 16, 32)),
    constants.cudaChannelFormatKindFloat: ("f", (16, 32)),
}
"""The letter of the dtype and the permitted bits of each kind of channel."""


class ChannelFormatDescriptor:
    """Format of the elements of a texture.

    Parameters
    ----------
    x, y, z, w : int
        Number of bits of each channel; 0 for a channel that the format lacks.
    f : int
        ``runtime.cudaChannelFormatKindSigned``, ``...Unsigned`` or ``...Float``.

    Examples
    --------
    >>> from PyGPU.cupy.cuda import runtime, texture
    >>> texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat).get_channel_format()
    {'x': 32, 'y': 0, 'z': 0, 'w': 0, 'f': 2}
    """

    def __init__(self, x: int, y: int, z: int, w: int, f: int) -> None:
        self._bits = (int(x), int(y), int(z), int(w))
        self._kind = int(f)

    def get_channel_format(self) -> dict[str, int]:
        """Return a dict with the bits of each channel (keys ``x``, ``y``, ``z``, ``w``) and their kind (key ``f``)."""
        return {**dict(zip("xyzw", self._bits, strict=True)), "f": self._kind}

    @property
    def channels(self) -> int:
        """Number of channels: 1, 2 or 4."""
        return sum(bits > 0 for bits in self._bits)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of a channel.

        Raises
        ------
        ValueError
            If textures do not support the number of channels, their bits or their kind.
        """
        letter, sizes = _KINDS.get(self._kind, ("", ()))
        count, bits = self.channels, self._bits[0]
        if count not in (1, 2, 4) or self._bits != (bits,) * count + (0,) * (4 - count) or bits not in sizes:
            raise ValueError(
                f"channels of {self._bits} bits and the kind {self._kind}: a texture has 1, 2 or 4 equal channels of "
                "8, 16 or 32 bits of integers (kinds 0 and 1), or of 16 or 32 bits of floats (kind 2)"
            )
        return np.dtype(f"{letter}{bits // 8}")


class ResourceDescriptor:
    """Memory that a texture reads or a surface writes.

    Parameters
    ----------
    restype : int
        ``runtime.cudaResourceTypeArray``, ``cudaResourceTypeLinear`` or ``cudaResourceTypePitch2D``.
    cuArr : CUDAarray, optional
        Texture memory, for ``cudaResourceTypeArray``.
    arr : cupy.ndarray, optional
        Device memory, for ``cudaResourceTypeLinear`` and ``cudaResourceTypePitch2D``.
    chDesc : ChannelFormatDescriptor, optional
        Format of the elements of `arr`.
    sizeInBytes : int, optional
        For ``cudaResourceTypeLinear``: length of the memory in bytes.
    width, height, pitchInBytes : int, optional
        For ``cudaResourceTypePitch2D``: number of elements of a row, number of rows, and bytes from one row to the
        next.

    Raises
    ------
    NotImplementedError
        For mipmapped arrays.
    ValueError
        If the array, memory or format that `restype` requires is missing.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy.cuda import runtime, texture
    >>> channel = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
    >>> memory = PyGPU.zeros(8, 'float32')
    >>> resource = texture.ResourceDescriptor(
    ...     runtime.cudaResourceTypeLinear, arr=memory, chDesc=channel, sizeInBytes=memory.nbytes
    ... )
    >>> resource.get_resource_desc()['linear']['sizeInBytes']
    32
    """

    def __init__(
        self,
        restype: int,
        cuArr: CUDAarray | None = None,
        arr: Any = None,
        chDesc: ChannelFormatDescriptor | None = None,
        sizeInBytes: int = 0,
        width: int = 0,
        height: int = 0,
        pitchInBytes: int = 0,
    ) -> None:
        if restype == constants.cudaResourceTypeMipmappedArray:
            raise NotImplementedError("cudaResourceTypeMipmappedArray is not supported: PyGPU has no mipmaps")
        if restype == constants.cudaResourceTypeArray:
            if cuArr is None:
                raise ValueError("cudaResourceTypeArray: give the array as cuArr=")
        elif restype not in (constants.cudaResourceTypeLinear, constants.cudaResourceTypePitch2D):
            raise ValueError(f"restype is {restype}; it is one of the constants cudaResourceType*, 0, 2 or 3")
        elif arr is None or chDesc is None:
            raise ValueError(f"the resource type {restype}: give the memory as arr= and its elements as chDesc=")
        self.restype = int(restype)
        self.cuArr, self.arr, self.chDesc = cuArr, arr, chDesc
        self._size, self._width, self._height, self._pitch = sizeInBytes, width, height, pitchInBytes

    def get_resource_desc(self) -> dict[str, Any]:
        """Return the parameters and the memory's address as a dict with the field names of ``cudaResourceDesc``."""
        if self.cuArr is not None and self.restype == constants.cudaResourceTypeArray:
            return {"resType": self.restype, "array": {"array": self.cuArr.ptr}}
        assert self.chDesc is not None
        memory = {"devPtr": self.arr.ptr, "desc": self.chDesc.get_channel_format()}
        if self.restype == constants.cudaResourceTypeLinear:
            return {"resType": self.restype, "linear": {**memory, "sizeInBytes": self._size}}
        rows = {"width": self._width, "height": self._height, "pitchInBytes": self._pitch}
        return {"resType": self.restype, "pitch2D": {**memory, **rows}}

    def elements(self) -> Any:
        """Return the memory as an array of the texture's elements; channels are the last axis, if there are several."""
        assert self.chDesc is not None
        dtype, channels = self.chDesc.dtype, self.chDesc.channels
        of_element: tuple[int, ...] = (channels,) if channels > 1 else ()
        inner = (dtype.itemsize,) if channels > 1 else ()
        size = dtype.itemsize * channels
        if self.restype == constants.cudaResourceTypeLinear:
            shape, strides = (self._size // size,), (size,)
        else:
            shape, strides = (self._height, self._width), (self._pitch, size)  # type: ignore[assignment]
        return type(self.arr)(shape + of_element, dtype, gpudata=self.arr, strides=strides + inner)


class TextureDescriptor:
    """Rules by which kernels read a texture.

    Parameters
    ----------
    addressModes : sequence of int, optional
        Address mode of each axis (at most three): ``runtime.cudaAddressModeWrap``, ``...Clamp``, ``...Mirror`` or
        ``...Border``; defaults to wrap.
    filterMode : int, optional
        ``runtime.cudaFilterModePoint`` or ``cudaFilterModeLinear``.
    readMode : int, optional
        ``runtime.cudaReadModeElementType`` or ``cudaReadModeNormalizedFloat``.
    sRGB : int, optional
        Must be 0: PyGPU converts no colours.
    borderColors : sequence of float, optional
        Value of the elements beyond the border, for at most four channels.
    normalizedCoords : int, optional
        Whether coordinates range from 0 to 1.
    maxAnisotropy : int, optional
        No effect, because there are no mipmaps.

    Raises
    ------
    NotImplementedError
        If `sRGB` is set.
    ValueError
        For an unknown mode, for more than 3 address modes, or for more than 4 border colors.

    Examples
    --------
    >>> from PyGPU.cupy.cuda import runtime, texture
    >>> modes = (runtime.cudaAddressModeClamp,)
    >>> texture.TextureDescriptor(modes, runtime.cudaFilterModeLinear).get_texture_desc()['filterMode']
    1
    """

    _ADDRESS = ("wrap", "clamp", "mirror", "border")
    _FILTER = ("point", "linear")
    _READ = ("element", "normalized_float")

    def __init__(
        self,
        addressModes: Sequence[int] | None = None,
        filterMode: int = 0,
        readMode: int = 0,
        sRGB: int | None = None,
        borderColors: Sequence[float] | None = None,
        normalizedCoords: int | None = None,
        maxAnisotropy: int | None = None,
    ) -> None:
        if sRGB:
            raise NotImplementedError("sRGB=1 is not supported: PyGPU's textures convert no colours")
        address, border = tuple(addressModes or ()), tuple(borderColors or ())
        if len(address) > 3 or len(border) > 4:
            raise ValueError(
                f"{len(address)} address modes and {len(border)} border colors: at most 3 and 4 are expected"
            )
        for name, modes, names in (
            ("addressModes", address, self._ADDRESS),
            ("filterMode", (filterMode,), self._FILTER),
            ("readMode", (readMode,), self._READ),
        ):
            if any(mode not in range(len(names)) for mode in modes):
                raise ValueError(f"{name} is {modes}: pass numbers below {len(names)}, which mean {', '.join(names)}")
        self._address = address + (0,) * (3 - len(address))
        self._border = tuple(map(float, border)) + (0.0,) * (4 - len(border))
        self._filter, self._read = int(filterMode), int(readMode)
        self._normalized, self._anisotropy = int(normalizedCoords or 0), int(maxAnisotropy or 0)

    def get_texture_desc(self) -> dict[str, Any]:
        """Return the parameters as a dict whose keys are the field names of CUDA's structure ``cudaTextureDesc``."""
        return {
            "addressMode": self._address, "filterMode": self._filter, "readMode": self._read, "sRGB": 0,
            "borderColor": self._border, "normalizedCoords": self._normalized, "maxAnisotropy": self._anisotropy,
        }  # fmt: skip

    def options(self) -> dict[str, Any]:
        """Return the parameters as keyword arguments of the constructor of `PyGPU.Texture`."""
        return {
            "address_mode": [self._ADDRESS[mode] for mode in self._address], "filter_mode": self._FILTER[self._filter],
            "read_mode": self._READ[self._read], "normalized_coords": bool(self._normalized),
            "border_color": list(self._border),
        }  # fmt: skip
