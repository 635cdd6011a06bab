"""CuPy's module `cupy.cuda.cufft`: plans, and the constants that programs pass to plans."""

from PyGPU._core import CudaError as CuFFTError
from PyGPU._cupy.fft.library_version import getVersion
from PyGPU._cupy.fft.plans import Plan1d, PlanNd, get_current_plan
from PyGPU._cupy.fft.transform_types import (
    CUFFT_C2C,
    CUFFT_C2R,
    CUFFT_D2Z,
    CUFFT_FORWARD,
    CUFFT_INVERSE,
    CUFFT_R2C,
    CUFFT_Z2D,
    CUFFT_Z2Z,
)
from PyGPU._names import public_modules as _public_modules

__all__ = [
    "CUFFT_C2C", "CUFFT_C2R", "CUFFT_D2Z", "CUFFT_FORWARD", "CUFFT_INVERSE", "CUFFT_R2C", "CUFFT_Z2D", "CUFFT_Z2Z",
    "CuFFTError", "Plan1d", "PlanNd", "getVersion", "get_current_plan",
]  # fmt: skip


_public_modules.publish(globals())
