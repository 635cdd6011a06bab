"""Derivatives, integrals and values between samples; filters and polynomials."""

from PyGPU._functions.calculus.filters import convolve, correlate
from PyGPU._functions.calculus.polynomials import polyadd, polyder, polyint, polymul, polysub, polyval, vander
from PyGPU._functions.calculus.sampled import gradient, interp, trapezoid, unwrap

__all__ = [
    "convolve",
    "correlate",
    "gradient",
    "interp",
    "polyadd",
    "polyder",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "trapezoid",
    "unwrap",
    "vander",
]
