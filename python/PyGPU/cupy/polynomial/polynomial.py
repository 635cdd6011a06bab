"""Functions of polynomials whose coefficients begin with the lowest power, as in `cupy.polynomial.polynomial`."""

from PyGPU._cupy.functions.power_series import polycompanion, polyval, polyvalfromroots, polyvander

__all__ = ["polycompanion", "polyval", "polyvalfromroots", "polyvander"]
