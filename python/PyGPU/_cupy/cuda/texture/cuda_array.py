"""CuPy's class of arrays in texture memory, which wraps a `PyGPU.TextureArray`."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.cuda.runtime import constants
from PyGPU._cupy.cuda.texture.descriptors import ChannelFormatDescriptor

__all__ = ["CUDAarray"]

_LAYERED, _SURFACE = constants.cudaArrayLayered, constants.cudaArraySurfaceLoadStore


class CUDAarray:
    """Array in texture memory with one, two or three axes.

    Parameters
    ----------
    desc : ChannelFormatDescriptor
        Format of the elements.
    width, height, depth : int
        Number of elements along each axis; 0 for an axis that the array lacks.
    flags : int, optional
        Sum of ``runtime.cudaArrayLayered``, for which `depth` is the number of layers, and
        ``cudaArraySurfaceLoadStore``.

    Raises
    ------
    ValueError
        If `width` is 0, or `depth` is given without `height`, or if no texture supports the channels of `desc`.
    NotImplementedError
        For flags other than ``cudaArrayLayered`` and ``cudaArraySurfaceLoadStore``.

    Notes
    -----
    Copies accept arrays of the shape ``(depth, height, channels * width)``, in which the channels of an element are
    adjacent.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.cupy.cuda import runtime, texture
    >>> channel = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
    >>> memory = texture.CUDAarray(channel, 3, 2)
    >>> memory.copy_from(np.arange(6, dtype='float32').reshape(2, 3))
    >>> out = np.zeros((2, 3), 'float32')
    >>> memory.copy_to(out)
    >>> out.tolist()
    [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    """

    def __init__(
        self, desc: ChannelFormatDescriptor, width: int, height: int = 0, depth: int = 0, flags: int = 0
    ) -> None:
        if width == 0:
            raise ValueError("To create a CUDA array, width must be nonzero.")
        if height == 0 and depth > 0:
            raise ValueError("To create a 2D CUDA array, height must be nonzero.")
        if flags & ~(_LAYERED | _SURFACE):
            raise NotImplementedError(f"flags={flags}: cube maps and gathered reads are not supported, only 0, 1 and 2")
        self.desc, self.width, self.height, self.depth, self.flags = desc, width, height, depth, flags
        self.ndim = 3 if depth > 0 else 2 if height > 0 else 1
        self._shape = (depth, height, width)[3 - self.ndim :]
        is_layered, is_surface = bool(flags & _LAYERED), bool(flags & _SURFACE)
        self.array = _core.TextureArray(self._shape, desc.dtype, desc.channels, layered=is_layered, surface=is_surface)

    @property
    def ptr(self) -> int:
        """The driver's handle of the array."""
        return self.array.handle

    def copy_from(self, in_arr: Any, stream: Any = None) -> None:
        """Copy an array of the device or the host into the texture memory.

        Parameters
        ----------
        in_arr : cupy.ndarray or numpy.ndarray
            The source, of any strides.
        stream : Stream, optional
            Stream of the copy; by default the current stream.

        Raises
        ------
        ValueError
            If the shape or the dtype differs from the texture's.
        """
        self._check(in_arr)
        channels = (self.desc.channels,) if self.desc.channels > 1 else ()
        with stream or nullcontext():
            self.array.set(in_arr.reshape(self._shape + channels), stream)

    def copy_to(self, out_arr: Any, stream: Any = None) -> None:
        """Copy the texture memory into an array of the device or the host.

        Parameters
        ----------
        out_arr : cupy.ndarray or numpy.ndarray
            The target, in C order.
        stream : Stream, optional
            Stream of the copy; by default the current stream.

        Raises
        ------
        ValueError
            If the target is not in C order, or if its shape or dtype differs from the texture's.
        """
        if not out_arr.flags.c_contiguous:
            raise ValueError("The output array must be C-contiguous")
        self._check(out_arr)
        with stream or nullcontext():
            is_on_host = isinstance(out_arr, np.ndarray)
            values = self.array.get(stream) if is_on_host else self.array.to_gpu(stream)
            out_arr[...] = values.reshape(out_arr.shape)

    def _check(self, array: Any) -> None:
        """Raise an error if the shape or the dtype of an array differs from the texture's."""
        shape = (*self._shape[:-1], self._shape[-1] * self.desc.channels)
        if array.shape != shape:
            raise ValueError(f"shape mismatch: the array has the shape {array.shape}, the texture memory {shape}")
        if array.dtype != self.desc.dtype:
            raise ValueError(f"dtype mismatch: the array is {array.dtype}, the texture memory {self.desc.dtype}")
