"""SciPy's ufuncs for arrays in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core


def functions() -> dict[str, Any]:
    """Return SciPy's ufuncs under the names of `PyGPU.special`; an empty dictionary if SciPy cannot be imported.

    Some ufuncs of SciPy have names that begin with an underscore, because public functions call them.
    """
    try:
        from scipy import special
        from scipy.special import _ufuncs
    except ImportError:
        return {}
    found = {}
    for name in _core._special_ufuncs():
        function = getattr(special, name, None)
        if not isinstance(function, np.ufunc):
            function = getattr(_ufuncs, name, None)
        if isinstance(function, np.ufunc):
            found[name] = function
    return found
