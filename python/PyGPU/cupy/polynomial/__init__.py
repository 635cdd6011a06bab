"""Polynomials whose coefficients begin with the lowest power, as in `cupy.polynomial`."""

from PyGPU._native.public import listing as _listing
from PyGPU.cupy.polynomial import polynomial as polynomial, polyutils as polyutils

__all__ = ["polynomial", "polyutils"]


_listing.publish(globals())
