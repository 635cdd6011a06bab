"""Generate C++ structures for structured dtypes; a kernel accesses a field by its number: ``x.at<0>()``."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = ["record_definition", "record_name"]

DType = np.dtype[Any]


def record_name(dtype: DType) -> str:
    """Return the name of the C++ structure for a structured dtype.

    Parameters
    ----------
    dtype : numpy.dtype
        A structured dtype.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU._cupy.kernels.struct_source import record_name
    >>> record_name(np.dtype('i4,f4')) == record_name(np.dtype('i4,i4'))
    False
    """
    return f"record_{zlib.crc32(repr(dtype).encode()):08x}"


def record_definition(dtype: DType, name_of: Callable[[DType], str]) -> str:
    """Return the C++ definition of a structure for a structured dtype, preceded by the structures of its fields.

    Parameters
    ----------
    dtype : numpy.dtype
        A structured dtype, whose fields have the alignment of the device.
    name_of : callable
        Function that returns the C++ name of a field's dtype.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If a field is an array, or is not aligned to its size.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU._cupy.kernels.parameters import c_name
    >>> from PyGPU._cupy.kernels.struct_source import record_definition
    >>> 'field_count = 2' in record_definition(np.dtype('i4,f4'), c_name)
    True
    """
    fields_of: Mapping[str, Any] = dtype.fields or {}
    inner, fields = [], []
    for number, field in enumerate(dtype.names or ()):
        kind, offset = fields_of[field][:2]
        if kind.subdtype is not None:
            raise ValueError(
                f"the field {field} of {dtype} is an array, which kernels do not access: use single fields"
            )
        if offset % _alignment(kind) or dtype.itemsize % _alignment(kind):
            raise ValueError(
                f"the field {field} of {dtype} begins at byte {offset} of {dtype.itemsize}, and a device needs "
                f"multiples of {_alignment(kind)}: make the dtype with numpy.dtype(..., align=True)"
            )
        if kind.names:
            inner.append(record_definition(kind, name_of))
        fields.append(
            f"    template <int unused> struct field<{number}, unused> "
            f"{{ typedef {name_of(kind)} type; static const int offset = {offset}; }};\n"
        )
    name = record_name(dtype)
    type_of, location = "typename field<number>::type", "(stored + field<number>::offset)"
    head = "    template <int number> __device__"
    return "".join(
        [
            *inner,
            f"#ifndef seen_{name}\n#define seen_{name}\nstruct alignas({_alignment(dtype)}) {name} {{\n",
            f"    static const int field_count = {len(fields)};\n    char stored[{dtype.itemsize}];\n",
            "    template <int number, int unused = 0> struct field;\n",
            *fields,
            f"{head} {type_of} &at() {{ return *({type_of} *){location}; }}\n",
            f"{head} const {type_of} &at() const {{ return *(const {type_of} *){location}; }}\n",
            "};\n#endif\n",
        ]
    )


def _alignment(dtype: DType) -> int:
    """Return the alignment of a dtype on a device: its size, or the largest alignment of a field."""
    if dtype.names and dtype.fields is not None:
        return max(_alignment(dtype.fields[name][0]) for name in dtype.names)
    return dtype.base.itemsize
