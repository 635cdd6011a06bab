"""Types for annotations, as in `cupy.typing`."""

from types import GenericAlias
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NBitBase

from PyGPU._core import GPUArray
from PyGPU._names import public_modules as _public_modules

__all__ = ["ArrayLike", "DTypeLike", "NBitBase", "NDArray"]

_Scalar = TypeVar("_Scalar", bound=np.generic)

NDArray = GenericAlias(GPUArray, (Any, GenericAlias(np.dtype, (_Scalar,))))
"""Array of a device with a dtype, for annotations: ``NDArray[cupy.float32]``."""


_public_modules.publish(globals())
