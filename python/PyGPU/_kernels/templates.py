"""Format the name of a kernel template's instance as C++ source text, such as ``axpy<float, 4>``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from PyGPU._arguments.c_types import dtype_to_ctype

__all__ = ["spelled"]

# Names of the 16-bit types in CUDA's headers, which sources with template instances use.
_SIXTEEN_BITS = {"float16": "__half", "bfloat16": "__nv_bfloat16"}


def spelled(name: str, arguments: Iterable[Any], backend: str) -> str:
    """Return the name of a template instance as C++ source text.

    Parameters
    ----------
    name : str
        Name of the template, with or without ``<...>`` after it.
    arguments : iterable
        Template arguments: dtypes, integers, booleans, and strings, which are used unchanged.
    backend : str
        Backend of the device; its vendor's headers determine the names of 16-bit types.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU._kernels.templates import spelled
    >>> spelled("axpy", [np.float32, 4, True, "Tag"], "cuda")
    'axpy<float, 4, true, Tag>'
    """
    spelled_arguments = [_spelled_argument(argument, backend) for argument in arguments]
    return f"{name.split('<')[0].strip()}<{', '.join(spelled_arguments)}>"


def _spelled_argument(argument: Any, backend: str) -> str:
    if isinstance(argument, str):
        return argument
    if isinstance(argument, (bool, np.bool_)):
        return "true" if argument else "false"
    if isinstance(argument, (int, np.integer)):
        return str(int(argument))
    if argument is None or isinstance(argument, (float, complex, np.generic)):
        raise TypeError(
            f"a template's arguments are dtypes, integers, truth values and texts, not {argument!r}: "
            "a text stays as it is"
        )
    dtype = np.dtype(argument)
    if dtype.name == "bfloat16" and backend == "hip":
        return "__hip_bfloat16"
    return _SIXTEEN_BITS.get(dtype.name) or dtype_to_ctype(dtype)
