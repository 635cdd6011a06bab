"""Functions for polynomials, whose coefficients begin with the lowest power, as in `cupy.polynomial.polynomial`."""

from PyGPU._cupy.functions.power_series import polycompanion, polyval, polyvalfromroots, polyvander
from PyGPU._names import public_modules as _public_modules

__all__ = ["polycompanion", "polyval", "polyvalfromroots", "polyvander"]


_public_modules.publish(globals())
