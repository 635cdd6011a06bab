"""PyCUDA's older function `register_dtype`, which registers the C name of a dtype."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from PyGPU._arguments.c_types import get_or_register_dtype, name_of

__all__ = ["register_dtype"]


def register_dtype(dtype: Any, name: str | Iterable[str], alias_ok: bool = False) -> None:
    """Register a C name of a dtype, as `get_or_register_dtype` does; PyCUDA's older function.

    Parameters
    ----------
    dtype : data-type
        The dtype, usually a structured dtype with the layout of the C type.
    name : str or sequence of str
        C names; generated sources use the first name.
    alias_ok : bool, optional
        Whether a dtype that already has a name is accepted.

    Raises
    ------
    RuntimeError
        If the dtype already has a name, or the name belongs to another dtype.

    Warns
    -----
    DeprecationWarning
        Always, as in PyCUDA.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.tools import dtype_to_ctype, register_dtype
    >>> pair = np.dtype([("low", np.int32), ("high", np.int32)])
    >>> import warnings
    >>> with warnings.catch_warnings(action='ignore'):
    ...     register_dtype(pair, "int_pair")
    >>> dtype_to_ctype(pair)
    'int_pair'
    """
    warnings.warn("register_dtype: use get_or_register_dtype", DeprecationWarning, stacklevel=2)
    dtype = np.dtype(dtype)
    names = [name] if isinstance(name, str) else list(name)
    if (existing := name_of(dtype)) is not None and not alias_ok:
        raise RuntimeError(f"dtype {dtype} has the name '{existing}' already")
    get_or_register_dtype(names, dtype)
