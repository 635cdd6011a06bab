"""The values of cuFFT's enumeration of transform types, and the dtypes of their inputs and outputs."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

__all__ = [
    "CUFFT_C2C", "CUFFT_C2R", "CUFFT_D2Z", "CUFFT_FORWARD", "CUFFT_INVERSE", "CUFFT_R2C", "CUFFT_Z2D", "CUFFT_Z2Z",
    "ValueType", "computed_dtype", "dtypes_of", "type_of", "value_type_of",
]  # fmt: skip

ValueType: TypeAlias = Literal["C2C", "R2C", "C2R"]

CUFFT_FORWARD, CUFFT_INVERSE = -1, 1
CUFFT_R2C, CUFFT_C2R, CUFFT_C2C = 0x2A, 0x2C, 0x29
CUFFT_D2Z, CUFFT_Z2D, CUFFT_Z2Z = 0x6A, 0x6C, 0x69

_TYPES: dict[int, tuple[ValueType, str, str]] = {
    CUFFT_C2C: ("C2C", "c8", "c8"),
    CUFFT_R2C: ("R2C", "f4", "c8"),
    CUFFT_C2R: ("C2R", "c8", "f4"),
    CUFFT_Z2Z: ("C2C", "c16", "c16"),
    CUFFT_D2Z: ("R2C", "f8", "c16"),
    CUFFT_Z2D: ("C2R", "c16", "f8"),
}
"""For each transform type: the kind of transform, and the dtypes of input and output."""


def computed_dtype(dtype: np.dtype[Any], value_type: ValueType) -> np.dtype[Any]:
    """Return the dtype, of single or double precision, to which the input of a transform is converted."""
    is_single = dtype.name in ("float16", "bfloat16", "float32", "complex64")
    if value_type == "R2C":
        return np.dtype("f4" if is_single else "f8")
    return np.dtype("c8" if is_single else "c16")


def type_of(dtype: np.dtype[Any], value_type: ValueType) -> int:
    """Return cuFFT's transform type, such as ``CUFFT_Z2Z``, for a dtype and a kind of transform such as ``'C2C'``.

    Raises
    ------
    ValueError
        If `value_type` is not ``'C2C'``, ``'R2C'`` or ``'C2R'``.
    """
    source = computed_dtype(dtype, value_type)
    for number, (kind, one, _) in _TYPES.items():
        if kind == value_type and np.dtype(one) == source:
            return number
    raise ValueError(f"value_type={value_type!r} is not a kind of transform: write 'C2C', 'R2C' or 'C2R'")


def value_type_of(fft_type: int) -> ValueType:
    """Return the kind, such as ``'C2C'``, of a cuFFT transform type; raise ValueError for an unknown type."""
    if fft_type not in _TYPES:
        raise ValueError(
            f"fft_type={fft_type!r} is not a type of transform: write cufft.CUFFT_C2C or another CUFFT name"
        )
    return _TYPES[fft_type][0]


def dtypes_of(fft_type: int) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Return the input dtype and the output dtype of a cuFFT transform type."""
    _, source, result = _TYPES[fft_type]
    return np.dtype(source), np.dtype(result)
