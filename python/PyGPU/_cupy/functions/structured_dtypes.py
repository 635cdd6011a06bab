"""Create structured dtypes with the alignment that kernels require."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["make_aligned_dtype"]

_ALIGNMENT = "__cuda_alignment__"


def make_aligned_dtype(dtype: Any, *, alignment: int = -1, recurse: bool = True) -> np.dtype[Any]:
    """Create a structured dtype whose fields are aligned as in CUDA C++.

    NumPy aligns a complex number like its real part. A device requires complex64 at multiples of 8 bytes and complex128
    at multiples of 16 bytes.

    Parameters
    ----------
    dtype : data-type
        Structured dtype, whose offsets are ignored.
    alignment : int, optional
        Alignment of the dtype in bytes, a power of 2 that divides the item size; defaults to the largest alignment of a
        field. A greater alignment is stored in the metadata ``"__cuda_alignment__"``, and applies to dtypes that
        contain this dtype.
    recurse : bool, optional
        Whether to align the fields inside structured fields, too.

    Returns
    -------
    numpy.dtype

    Raises
    ------
    ValueError
        For a dtype without fields, overlapping or unordered fields, or an `alignment` below a field's alignment.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import cupy
    >>> np.dtype("?,c8", align=True).itemsize, cupy.make_aligned_dtype("?,c8").itemsize
    (12, 16)
    """
    unchecked = np.dtype(dtype, align=True)
    if unchecked.fields is None:
        raise ValueError(f"make_aligned_dtype() only supports structured dtypes; {unchecked} has no fields")
    if alignment != -1 and (alignment <= 0 or alignment.bit_count() != 1):
        raise ValueError(f"make_aligned_dtype: alignment={alignment} is not a power of 2")
    aligned, least = _aligned(unchecked, recurse)
    if alignment == -1:
        return aligned
    if alignment < least:
        raise ValueError(f"make_aligned_dtype: alignment={alignment} is below {least}, the alignment of a field")
    description = {**_description(aligned), "itemsize": _rounded(aligned.itemsize, alignment)}
    return _created(description, metadata={_ALIGNMENT: alignment})


def _created(description: Any, **keywords: Any) -> np.dtype[Any]:
    """Create a structured dtype with NumPy's alignment from a description that `numpy.dtype` accepts."""
    dtype: np.dtype[Any] = np.dtype(description, align=True, **keywords)
    return dtype


def _rounded(offset: int, alignment: int) -> int:
    """Round an offset up to a multiple of an alignment."""
    return -(-offset // alignment) * alignment


def _description(dtype: np.dtype[Any]) -> dict[str, Any]:
    fields: Mapping[str, Any] = dtype.fields or {}
    parts = [fields[name] for name in dtype.names or ()]
    return {"names": list(dtype.names or ()), "formats": [part[0] for part in parts], "offsets": [p[1] for p in parts]}


def _aligned(dtype: np.dtype[Any], recurse: bool) -> tuple[np.dtype[Any], int]:
    """Return a structured dtype with aligned fields, and the alignment of the dtype in bytes."""
    description = _description(dtype)
    ends = [offset + part.itemsize for part, offset in zip(description["formats"], description["offsets"], strict=True)]
    if any(offset < end for offset, end in zip(description["offsets"][1:], ends, strict=False)):
        raise ValueError(f"make_aligned_dtype: the fields of {dtype} overlap or are not in order")
    offset, alignment, formats, offsets = 0, 1, [], []
    for part in description["formats"]:
        field, least = _aligned_field(part, recurse)
        offset = _rounded(offset, least)
        alignment = max(alignment, least)
        formats.append(field)
        offsets.append(offset)
        offset += field.itemsize
    itemsize = _rounded(offset, alignment)
    description |= {"formats": formats, "offsets": offsets, "itemsize": itemsize}
    return _created(description), alignment


def _aligned_field(dtype: np.dtype[Any], recurse: bool) -> tuple[np.dtype[Any], int]:
    """Return the dtype of a field, in which nested fields are aligned too, and the alignment of the dtype."""
    if dtype.metadata and _ALIGNMENT in dtype.metadata:
        return dtype, int(dtype.metadata[_ALIGNMENT])
    if dtype.subdtype is not None:
        element, shape = dtype.subdtype
        aligned, alignment = _aligned_field(element, recurse)
        return np.dtype((aligned, shape)), alignment
    if dtype.fields is not None and recurse:
        return _aligned(dtype, recurse)
    return dtype, dtype.itemsize if dtype.kind == "c" else dtype.alignment
