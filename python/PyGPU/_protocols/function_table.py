"""Which functions of NumPy's compute with which of ours (NEP 18): the one table.

A function that is in no part of it is refused; nothing is converted but by the functions of ``ON_HOST``.
"""

from __future__ import annotations

from PyGPU import _functions

NATIVE = frozenset({
    "all", "amax", "amin", "angle", "any", "argmax", "argmin", "argsort", "around", "astype", "broadcast_to", "clip",
    "copyto", "count_nonzero", "cumprod", "cumsum", "empty_like", "expand_dims", "flip", "full_like", "i0", "imag",
    "linspace", "max", "mean", "min", "moveaxis", "nan_to_num", "nanargmax", "nanargmin", "nancumprod", "nancumsum",
    "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar", "ones_like", "prod", "ptp", "real",
    "round", "sinc", "sort", "std", "sum", "var", "where", "zeros_like",
})  # fmt: skip
"""Functions of the native module under the names that NumPy gives them; `_functions.NAMES` has all others."""

LIKE = frozenset({
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty", "eye", "frombuffer",
    "fromfile", "fromfunction", "fromiter", "fromstring", "full", "genfromtxt", "identity", "loadtxt", "ones",
    "require", "tri", "zeros",
})  # fmt: skip
"""Functions with ``like=``: NumPy asks the array that it names, and what they make is where that is."""

ON_HOST = frozenset({
    "array2string", "array_repr", "array_str", "save", "savetxt", "savez", "savez_compressed",
})  # fmt: skip
"""Functions whose purpose is the host, files and texts: NumPy's own, on what ``get()`` brings there."""

WITH_HOST_ARRAYS = frozenset({"array_equal"})
"""Functions that take arrays in host memory beside ours, since somebody who looks at the values asks: on the host."""

SUBMODULES = frozenset({"fft", "linalg"})
"""Modules of NumPy's whose functions are those of our modules of the same names, as far as these have them."""

HOST_PARAMETERS: dict[str, frozenset[str]] = {
    "choose": frozenset({"a"}),
    "compress": frozenset({"condition"}),
    "copyto": frozenset({"src"}),
    "delete": frozenset({"obj"}),
    "insert": frozenset({"obj"}),
    "nanpercentile": frozenset({"q"}),
    "nanquantile": frozenset({"q"}),
    "pad": frozenset({"pad_width"}),
    "percentile": frozenset({"q"}),
    "put": frozenset({"ind"}),
    "put_along_axis": frozenset({"indices"}),
    "quantile": frozenset({"q"}),
    "repeat": frozenset({"repeats"}),
    "take": frozenset({"indices"}),
    "take_along_axis": frozenset({"indices"}),
}
"""Parameters that say where or how often and not what: an ndarray is as good as a list, as in ``a[indices]``."""

OTHER_NAMES = {"a_max": "max", "a_min": "min"}
"""NumPy's names of parameters that have others with us."""

WITHOUT_EFFECT = frozenset({"subok"})
"""Parameters that change nothing here: the class of a result is always that of our array."""


def has(name: str) -> bool:
    """Whether a function of NumPy's main module computes with one of the package's own of the same name."""
    return name in NATIVE or name in _functions.names()


def names() -> set[str]:
    """Return the names of NumPy's main module that the table has."""
    return {*NATIVE, *_functions.names(), *ON_HOST, *LIKE}
