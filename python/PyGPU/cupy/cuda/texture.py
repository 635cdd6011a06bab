"""CuPy's module `cupy.cuda.texture`: textures and surfaces, implemented by PyGPU's texture classes."""

# ruff: noqa: F403
from typing import Any as _Any

from PyGPU._cupy.cuda.texture import cuda_array as _cuda_array, descriptors as _descriptors, objects as _objects
from PyGPU._cupy.cuda.texture.cuda_array import *
from PyGPU._cupy.cuda.texture.descriptors import *
from PyGPU._cupy.cuda.texture.objects import *
from PyGPU._names import public_modules as _public_modules

__all__ = [*_cuda_array.__all__, *_descriptors.__all__, *_objects.__all__]


def __getattr__(name: str) -> _Any:
    from PyGPU._cupy.lazy_names import no_attribute

    raise no_attribute(__name__, name)


_public_modules.publish(globals())
