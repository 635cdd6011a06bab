"""Polynomials whose coefficients begin with the lowest power, as in `cupy.polynomial`."""

from PyGPU._names import public_modules as _public_modules
from PyGPU.cupy.polynomial import polynomial as polynomial, polyutils as polyutils

__all__ = ["polynomial", "polyutils"]


_public_modules.publish(globals())
