"""Indices of the parts of an array, and functions that are called for parts of it."""

from PyGPU._functions.places.applying import apply_along_axis, apply_over_axes, piecewise
from PyGPU._functions.places.rows import c_, r_
from PyGPU._functions.places.triangles import (
    diag_indices,
    diag_indices_from,
    ix_,
    mask_indices,
    tril_indices,
    tril_indices_from,
    triu_indices,
    triu_indices_from,
)

__all__ = [
    "apply_along_axis",
    "apply_over_axes",
    "c_",
    "diag_indices",
    "diag_indices_from",
    "ix_",
    "mask_indices",
    "piecewise",
    "r_",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
]
