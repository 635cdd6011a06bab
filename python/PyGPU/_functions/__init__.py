"""Functions of arrays that are a few calls of others: loaded when they are first asked for.

A function is written once, here or in the native module, and is found as ``PyGPU.f(a)`` and as ``np.f(a)`` (NEP 18).
"""

from __future__ import annotations

import importlib
from typing import Any

NAMES = {
    "comparison": (
        "allclose",
        "array_equal",
        "array_equiv",
        "can_cast",
        "isclose",
        "iscomplex",
        "iscomplexobj",
        "isneginf",
        "isposinf",
        "isreal",
        "isrealobj",
        "result_type",
    ),
    "differences": ("diff", "ediff1d"),
    "grids": ("indices", "meshgrid", "ravel_multi_index", "unravel_index"),
    "joining": ("append", "block", "column_stack", "concat", "concatenate", "dstack", "hstack", "stack", "vstack"),
    "manipulation": ("copy", "fliplr", "flipud", "resize", "roll", "rot90", "tile"),
    "matrices": ("diag", "diagflat", "diagonal", "eye", "identity", "trace", "tri", "tril", "triu"),
    "padding": ("pad",),
    "products": (
        "corrcoef",
        "cov",
        "cross",
        "dot",
        "einsum",
        "einsum_path",
        "inner",
        "kron",
        "outer",
        "tensordot",
        "vdot",
    ),
    "shapes": (
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "broadcast_arrays",
        "broadcast_shapes",
        "matrix_transpose",
        "ndim",
        "permute_dims",
        "ravel",
        "reshape",
        "rollaxis",
        "shape",
        "size",
        "squeeze",
        "swapaxes",
        "transpose",
    ),
    "splitting": ("array_split", "dsplit", "hsplit", "split", "unstack", "vsplit"),
    "statistics": ("average", "cumulative_prod", "cumulative_sum"),
    "masks": ("argwhere", "compress", "extract", "flatnonzero", "nonzero", "place", "putmask"),
    "histograms": ("bincount", "histogram", "histogram_bin_edges"),
    "quantiles": ("median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"),
    "searching": ("argpartition", "digitize", "lexsort", "partition", "searchsorted", "topk"),
    "sets": (
        "intersect1d",
        "isin",
        "setdiff1d",
        "setxor1d",
        "union1d",
        "unique",
        "unique_all",
        "unique_counts",
        "unique_inverse",
        "unique_values",
    ),
    "creation": (
        "array",
        "asanyarray",
        "asarray_chkfinite",
        "ascontiguousarray",
        "asfortranarray",
        "asnumpy",
        "bartlett",
        "blackman",
        "frombuffer",
        "fromfile",
        "fromfunction",
        "fromiter",
        "fromstring",
        "genfromtxt",
        "geomspace",
        "hamming",
        "hanning",
        "kaiser",
        "load",
        "loadtxt",
        "logspace",
        "mgrid",
        "ogrid",
        "require",
        "save",
        "savetxt",
        "savez",
        "savez_compressed",
    ),
    "calculus": (
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
    ),
    "modification": (
        "delete",
        "fill_diagonal",
        "insert",
        "packbits",
        "trim_zeros",
        "unpackbits",
    ),
    "indexing": (
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
    ),
    "inspection": (
        "common_type",
        "fix",
        "isfortran",
        "may_share_memory",
        "min_scalar_type",
        "real_if_close",
        "shares_memory",
        "sort_complex",
    ),
    "selection": ("choose", "put", "put_along_axis", "repeat", "select", "take", "take_along_axis"),
}
"""The names of each module; ``tests/functions/test_names.py`` holds it to what they define."""

_HOMES = {name: module for module, names in NAMES.items() for name in names}


def find(name: str) -> Any:
    """Return the function of a name; None if it has no home here."""
    home = _HOMES.get(name)
    return None if home is None else getattr(importlib.import_module(f"PyGPU._functions.{home}"), name)


def names() -> set[str]:
    """Return the names of all of them."""
    return set(_HOMES)
