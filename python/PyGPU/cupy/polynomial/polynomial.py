"""Functions for polynomials, whose coefficients begin with the lowest power, as in `cupy.polynomial.polynomial`."""

from PyGPU._cupy.functions.power_series import polycompanion, polyval, polyvalfromroots, polyvander
from PyGPU._native.public import listing as _listing

__all__ = ["polycompanion", "polyval", "polyvalfromroots", "polyvander"]


_listing.publish(globals())
