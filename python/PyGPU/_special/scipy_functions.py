"""SciPy's ufuncs, which compute the functions of `PyGPU.special` for arrays in host memory."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from PyGPU import _core

TRUNCATED = (
    "bdtr", "bdtrc", "bdtri", "expn", "nbdtr", "nbdtrc", "nbdtri", "pdtri", "smirnov", "yn", "_lambertw",
    "_spherical_yn", "_spherical_yn_d",
)  # fmt: skip
"""Functions with integer operands: SciPy warns of truncated floats or rejects them, so PyGPU's kernel computes them."""

ENDLESS = ("hyp1f1",)
"""Functions that never return in SciPy 1.17 if an operand is infinite, so PyGPU's kernel computes them."""


def functions() -> dict[str, Any]:
    """Return SciPy's ufuncs by the names of `PyGPU.special`, or an empty dict if SciPy cannot be imported.

    Some ufuncs of SciPy have names that begin with an underscore, because SciPy's public functions call these ufuncs.
    """
    try:
        special = importlib.import_module("scipy.special")
        others = importlib.import_module("scipy.special._ufuncs")
    except ImportError:
        return {}
    ufuncs = {}
    for name in _core._special_ufuncs():
        function = getattr(special, name, None)
        if not isinstance(function, np.ufunc):
            function = getattr(others, name, None)
        if isinstance(function, np.ufunc) and name not in (*TRUNCATED, *ENDLESS):
            ufuncs[name] = function
    return ufuncs
