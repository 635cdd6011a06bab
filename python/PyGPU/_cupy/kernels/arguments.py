"""Convert arguments of elementwise and reduction kernels: arrays, scalars and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from PyGPU import _core

__all__ = [
    "LIMIT_32_BITS",
    "ArrayForm",
    "ScalarCast",
    "as_array",
    "check_ranges",
    "extent",
    "extent_dtype",
    "first_element",
    "scalar_cast",
]

_Array = _core.GPUArray
_EXTENTS: dict[tuple[Any, ...], np.void] = {}
_EXTENTS_KEPT = 1024
LIMIT_32_BITS = 1 << 31
# For each type of Python number: the kinds of dtypes to which the native module converts a number of this type.
_NATIVE: dict[type, str] = {int: "iufc", bool: "biufc", float: "fc", complex: "c"}


@dataclass(frozen=True)
class ArrayForm:
    """Properties of an array argument on which the generated source of a kernel depends."""

    ndim: int
    is_contiguous: bool
    is_short: bool
    """Whether indices and byte offsets fit into 32 bits."""

    @classmethod
    def of(cls, array: Any) -> ArrayForm:
        """Return the properties of an array on which the source of a kernel depends."""
        is_short = array.nbytes < LIMIT_32_BITS
        if not array.flags.c_contiguous:
            spans = (abs(stride) * length for stride, length in zip(array.strides, array.shape, strict=True))
            # Elements of a broadcast array share memory, so the number of elements may exceed 32 bits although the byte
            # offsets fit.
            is_short = array.size < LIMIT_32_BITS and sum(spans) < LIMIT_32_BITS
        return cls(array.ndim, array.flags.c_contiguous, is_short)

    def type_of(self, element: str) -> str:
        """Return the name of the C++ class by which a kernel accesses an array."""
        return f"CArray<{element}, {self.ndim}, {str(self.is_contiguous).lower()}, {str(self.is_short).lower()}>"


def extent_dtype(ndim: int) -> np.dtype[Any]:
    """Return the dtype of the C++ type `pygpu_cupy::extent`, which contains size, lengths and strides."""
    return np.dtype([("numbers", np.int64, (1 + 2 * ndim,))])


def as_array(value: Any) -> Any:
    """Convert an array of another library to a view; return a `GPUArray`, a number or a texture unchanged.

    Parameters
    ----------
    value : array, number or Texture
        Argument of a kernel. Arrays of other libraries are accepted by CUDA's array interface and by DLPack.

    Returns
    -------
    GPUArray, number or Texture

    Raises
    ------
    TypeError
        For host arrays, and for objects that are neither arrays, numbers nor textures.

    Examples
    --------
    >>> from PyGPU._cupy.kernels.arguments import as_array
    >>> as_array(2.5)
    2.5
    """
    if isinstance(value, _Array | int | float | complex | np.generic | _core.Texture):
        return value
    if hasattr(value, "kernel_argument"):  # The argument is a texture.
        return value.kernel_argument
    if hasattr(value, "__cupy_get_ndarray__"):
        return value.__cupy_get_ndarray__()
    if isinstance(value, np.ndarray) or not (
        hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__")
    ):
        hint = ": copy it to the device first, with cupy.asarray(x)" if isinstance(value, np.ndarray) else ""
        raise TypeError(f"Unsupported type {type(value)}: a kernel takes arrays on the device and numbers{hint}")
    return _core.asarray(value)


class ScalarCast:
    """Converter from scalars to the dtype of a kernel's parameter, by NumPy's rules for assignment to an element."""

    __slots__ = ("_cell",)

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._cell = np.empty((), dtype)

    def __call__(self, value: Any) -> Any:
        """Convert a scalar to a NumPy scalar of the parameter's dtype."""
        cell = np.empty_like(self._cell)
        cell[()] = value
        return cell[()]


def scalar_cast(kind: type, dtype: np.dtype[Any]) -> ScalarCast | None:
    """Return a function that converts scalars of the class `kind` to the dtype of a kernel's parameter.

    Return None if PyGPU's compiled core itself converts scalars of this class at each launch.

    Parameters
    ----------
    kind : type
        Class of the scalar.
    dtype : numpy.dtype
        Type of the parameter.

    Returns
    -------
    ScalarCast or None

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU._cupy.kernels.arguments import scalar_cast
    >>> scalar_cast(float, np.dtype('float32')) is None, scalar_cast(float, np.dtype('int32'))(2.5)
    (True, np.int32(2))
    """
    if dtype.kind in _NATIVE.get(kind, "") or kind is dtype.type:
        return None
    return ScalarCast(dtype)


def extent(shape: Sequence[int], strides: Sequence[int]) -> np.void:
    """Return a shape and strides as a kernel argument of the C++ type `pygpu_cupy::extent`.

    Parameters
    ----------
    shape, strides : tuple of int
        Lengths of the axes, and strides in bytes.

    Returns
    -------
    numpy.void

    Examples
    --------
    >>> from PyGPU._cupy.kernels.arguments import extent
    >>> extent((2, 3), (24, 8))['numbers'].tolist()
    [6, 2, 3, 24, 8]
    """
    key = (*shape, *strides)
    value = _EXTENTS.get(key)
    if value is None:
        size = 1
        for length in shape:
            size *= length
        value = np.array([size, *key], np.int64).view(extent_dtype(len(shape)))[0]
        if len(_EXTENTS) >= _EXTENTS_KEPT:
            _EXTENTS.clear()
        _EXTENTS[key] = value
    return value


def first_element(array: Any, form: ArrayForm) -> Any:
    """Return a contiguous view of an array's first element, which is passed for a pointer parameter."""
    return array if form.is_contiguous else array[(slice(0, 1),) * form.ndim]


def check_ranges(args: Sequence[Any], dtypes: Sequence[np.dtype[Any]]) -> None:
    """Raise NumPy's error if an integer argument is out of range of its parameter's dtype.

    Parameters
    ----------
    args : sequence
        Arguments of a launch that the native module rejected.
    dtypes : sequence of numpy.dtype
        Dtypes of the inputs.

    Raises
    ------
    OverflowError
        If an integer is out of the range of its parameter's dtype.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU._cupy.kernels.arguments import check_ranges
    >>> check_ranges((300,), (np.dtype('int8'),))
    Traceback (most recent call last):
    OverflowError: Python integer 300 out of bounds for int8, which holds -128 to 127
    """
    for value, dtype in zip(args, dtypes, strict=False):
        if type(value) is int and dtype.kind in "iu":
            least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
            if not least <= value <= most:
                raise OverflowError(f"Python integer {value} out of bounds for {dtype}, which holds {least} to {most}")
