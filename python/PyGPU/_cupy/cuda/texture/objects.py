"""CuPy's classes of textures and surfaces, which programs pass to kernels as arguments."""

from __future__ import annotations

from PyGPU import _core
from PyGPU._cupy.cuda.texture.cuda_array import CUDAarray
from PyGPU._cupy.cuda.texture.descriptors import ResourceDescriptor, TextureDescriptor

__all__ = ["SurfaceObject", "TextureObject"]


class TextureObject:
    """Texture; a program passes it to a kernel's parameter of the type ``cudaTextureObject_t``.

    Parameters
    ----------
    ResDesc : ResourceDescriptor
        The memory.
    TexDesc : TextureDescriptor
        The rules by which kernels read the texture.

    Raises
    ------
    ValueError
        If the device cannot read the memory by these rules.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy.cuda import runtime, texture
    >>> channel = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
    >>> memory = texture.ResourceDescriptor(
    ...     runtime.cudaResourceTypeArray, cuArr=texture.CUDAarray(channel, 4)
    ... )
    >>> texture.TextureObject(memory, texture.TextureDescriptor()).ResDesc is memory
    True
    """

    def __init__(self, ResDesc: ResourceDescriptor, TexDesc: TextureDescriptor) -> None:
        self.ResDesc, self.TexDesc = ResDesc, TexDesc
        if isinstance(ResDesc.cuArr, CUDAarray):
            self.kernel_argument = _core.Texture(ResDesc.cuArr.array, **TexDesc.options())
        else:
            assert ResDesc.chDesc is not None
            channels = ResDesc.chDesc.channels
            self.kernel_argument = _core.Texture(ResDesc.elements(), channels=channels, **TexDesc.options())

    @property
    def ptr(self) -> int:
        """The driver's handle of the texture."""
        return self.kernel_argument.handle


class SurfaceObject:
    """Surface; a program passes it to a kernel's parameter of the type ``cudaSurfaceObject_t``.

    Parameters
    ----------
    ResDesc : ResourceDescriptor
        Description of a `CUDAarray` that was created with the flag ``runtime.cudaArraySurfaceLoadStore``.

    Raises
    ------
    ValueError
        If the memory is not a `CUDAarray` with this flag.

    Examples
    --------
    >>> from PyGPU.cupy.cuda import runtime, texture
    >>> channel = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
    >>> memory = texture.CUDAarray(channel, 4, flags=runtime.cudaArraySurfaceLoadStore)
    >>> surface = texture.SurfaceObject(texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=memory))
    """

    def __init__(self, ResDesc: ResourceDescriptor) -> None:
        if ResDesc.cuArr is None:
            raise ValueError("a surface writes a CUDAarray: give the resource type cudaResourceTypeArray and cuArr=")
        self.ResDesc = ResDesc
        self.kernel_argument = _core.Surface(ResDesc.cuArr.array)

    @property
    def ptr(self) -> int:
        """The driver's handle of the surface."""
        return self.kernel_argument.handle
