"""Map dtypes to C type names, for kernels that are generated from expressions.

The native module has the C names of NumPy's types. The names of CUDA's short vectors are built in. Programs register
the names of other structured types with `get_or_register_dtype`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._arguments.vector_types import VECTORS
from PyGPU._process.fork_lock import fork_safe_lock

__all__ = ["dtype_to_ctype", "get_or_register_dtype"]

_lock = fork_safe_lock()
registered: dict[str, np.dtype[Any]] = dict(VECTORS)
# If a dtype has two names, such as `long2` and `longlong2`, generated sources use the first name.
_names: dict[np.dtype[Any], str] = {dtype: name for name, dtype in reversed(VECTORS.items())}
# Words in a C declaration that do not affect the dtype.
SILENT = re.compile(r"\b(const|volatile|restrict|__restrict__|__restrict|struct)\b")
_SIXTEEN_BITS = {
    "half": "float16",
    "float16": "float16",
    "pygpu::float16": "float16",
    "bfloat16": "bfloat16",
    "pygpu::bfloat16": "bfloat16",
}


def get_or_register_dtype(c_names: str | Sequence[str], dtype: Any = None) -> np.dtype[Any]:
    """Register C names of a dtype, or return the dtype of a C name.

    Parameters
    ----------
    c_names : str or sequence of str
        C names of the dtype; generated sources use the first name.
    dtype : data-type, optional
        Dtype to register. If omitted, the dtype of the name is looked up.

    Returns
    -------
    numpy.dtype
        The dtype of the names; if an equal dtype is already registered, the registered object.

    Raises
    ------
    ValueError
        If `dtype` is omitted and the name is unknown.
    RuntimeError
        If a name is registered for another dtype.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.tools import get_or_register_dtype
    >>> get_or_register_dtype("unsigned int")
    dtype('uint32')
    """
    names = [c_names] if isinstance(c_names, str) else list(c_names)
    if dtype is None:
        return parse_type(names[0])
    registered_dtype: np.dtype[Any] = np.dtype(dtype)
    with _lock:
        for name in names:
            existing = _find_dtype(name)
            if existing is not None and existing != registered_dtype:
                raise RuntimeError(f"the name '{name}' means {existing} already")
        for name in names:
            registered_dtype = registered.setdefault(name, registered_dtype)
        _names.setdefault(registered_dtype, names[0])
    return registered_dtype


def name_of(dtype: np.dtype[Any]) -> str | None:
    """Return the registered C name of a dtype, or None."""
    return _names.get(dtype)


def dtype_to_ctype(dtype: Any, with_fp_tex_hack: bool = False) -> str:
    """Return the C name of a dtype.

    Parameters
    ----------
    dtype : data-type
        A scalar dtype of NumPy, or a registered dtype.
    with_fp_tex_hack : bool, optional
        Whether floating-point and complex types get the names in PyCUDA's texture header, which CUDA's removed texture
        references required.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the dtype has no C name.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.tools import dtype_to_ctype
    >>> dtype_to_ctype(np.uint8), dtype_to_ctype(np.complex64)
    ('unsigned char', 'pycuda::complex<float>')
    """
    if dtype is None:
        raise ValueError("dtype may not be None")
    dtype = np.dtype(dtype)
    if with_fp_tex_hack:
        texture_types = {
            "float32": "fp_tex_float",
            "float64": "fp_tex_double",
            "complex64": "fp_tex_cfloat",
            "complex128": "fp_tex_cdouble",
        }
        if dtype.name in texture_types:
            return texture_types[dtype.name]
    name = _names.get(dtype) or (None if dtype.names else _core._c_name(dtype))
    if name is None:
        raise ValueError(
            f"unable to map dtype '{dtype}' to a C type: register it with PyGPU.tools.get_or_register_dtype"
        )
    return name


def parse_type(name: str) -> np.dtype[Any]:
    """Return the dtype of a C type name.

    Parameters
    ----------
    name : str
        C type name, without ``*``.

    Returns
    -------
    numpy.dtype

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    name = " ".join(SILENT.sub(" ", name).split())
    dtype = _find_dtype(name)
    if dtype is None:
        raise ValueError(f"unknown type '{name}': register its dtype with PyGPU.tools.get_or_register_dtype")
    return dtype


def _find_dtype(name: str) -> np.dtype[Any] | None:
    """Return the dtype registered for a C type name, or the dtype of a built-in C type."""
    dtype = registered.get(name)
    if dtype is None and name in _SIXTEEN_BITS:
        if _SIXTEEN_BITS[name] == "float16":
            return np.dtype(np.float16)
        import ml_dtypes

        brain: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return brain
    return _core._dtype_of_c_name(name) if dtype is None else dtype
