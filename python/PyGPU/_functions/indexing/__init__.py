"""Indices of the parts of an array, and functions that are called for parts of it."""

from PyGPU._functions.indexing.apply_along import apply_along_axis, apply_over_axes, piecewise
from PyGPU._functions.indexing.index_arrays import (
    diag_indices,
    diag_indices_from,
    ix_,
    mask_indices,
    tril_indices,
    tril_indices_from,
    triu_indices,
    triu_indices_from,
)
from PyGPU._functions.indexing.index_tricks import c_, r_

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
