"""Functions that convert and trim coefficients of polynomials, as in `cupy.polynomial.polyutils`."""

from PyGPU._cupy.functions.power_series import as_series, trimcoef, trimseq
from PyGPU._names import public_modules as _public_modules

__all__ = ["as_series", "trimcoef", "trimseq"]


_public_modules.publish(globals())
