"""Functions that convert and trim coefficients of polynomials, as in `cupy.polynomial.polyutils`."""

from PyGPU._cupy.functions.power_series import as_series, trimcoef, trimseq
from PyGPU._native.public import listing as _listing

__all__ = ["as_series", "trimcoef", "trimseq"]


_listing.publish(globals())
