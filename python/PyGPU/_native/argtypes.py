"""`as_argtype`: checked types for the `argtypes` of ctypes functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy

from PyGPU import _core
from PyGPU._names.public import public

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

_FLAGS = {
    "C_CONTIGUOUS": "c_contiguous",
    "C": "c_contiguous",
    "CONTIGUOUS": "c_contiguous",
    "F_CONTIGUOUS": "f_contiguous",
    "F": "f_contiguous",
    "FORTRAN": "f_contiguous",
    "WRITEABLE": "writeable",
    "W": "writeable",
    "OWNDATA": "owndata",
    "O": "owndata",
}
_WORDS = {
    "c_contiguous": "C-contiguous (x.copy('C') is)",
    "f_contiguous": "F-contiguous (x.copy('F') is)",
    "writeable": "writeable",
    "owndata": "the owner of its memory",
}


class ArrayArgument:
    """Base of the classes of `as_argtype`; ctypes calls `from_param` with each argument."""

    _dtype: ClassVar[numpy.dtype[Any] | None]
    _ndim: ClassVar[int | None]
    _shape: ClassVar[tuple[int | None, ...] | None]
    _flags: ClassVar[tuple[str, ...]]
    _device: ClassVar[_core.Device | None]

    @classmethod
    def from_param(cls, value: object) -> object:
        """Return the value that ctypes passes for an array.

        Raises
        ------
        TypeError
            If the argument is no array or does not fit; ctypes converts it to an `ArgumentError` with the number.
        """
        if not isinstance(value, _core.GPUArray):
            raise TypeError(f"a GPUArray{cls._wanted()} is needed, not {type(value).__name__}")
        if cls._dtype is not None and value.dtype != cls._dtype:
            raise cls._refusal(value, f"dtype {cls._dtype}")
        if cls._ndim is not None and value.ndim != cls._ndim:
            raise cls._refusal(value, f"{cls._ndim} dimension{'s' * (cls._ndim != 1)}")
        if cls._shape is not None and not _fits(value.shape, cls._shape):
            raise cls._refusal(value, f"shape {cls._shape}")
        if cls._flags:
            flags = value.flags
            for flag in cls._flags:
                if not getattr(flags, flag):
                    raise cls._refusal(value, f"an array that is {_WORDS[flag]}")
        if cls._device is not None and value.device != cls._device:
            raise cls._refusal(value, f"device {cls._device}")
        return value._as_parameter_

    @classmethod
    def _wanted(cls) -> str:
        return "" if cls._dtype is None else f" of {cls._dtype}"

    @staticmethod
    def _refusal(value: _core.GPUArray, needed: str) -> TypeError:
        locked = "" if value.flags.writeable else ", read-only"
        return TypeError(
            f"{needed} is needed; given is a {type(value).__name__} of {value.dtype}, shape {value.shape}, "
            f"strides {value.strides}, on {value.device}{locked}"
        )


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    pairs = zip(shape, wanted, strict=False)
    return len(shape) == len(wanted) and all(length in (found, None) for found, length in pairs)


def _flag_names(flags: str | Sequence[str] | None) -> tuple[str, ...]:
    words = flags.split(",") if isinstance(flags, str) else flags or ()
    names = []
    for word in (word.strip().upper() for word in words):
        if word not in _FLAGS:
            raise ValueError(f"as_argtype: {word!r} is no flag; there are {', '.join(sorted(_FLAGS))}")
        names.append(_FLAGS[word])
    return tuple(dict.fromkeys(names))


_made: dict[Any, type[ArrayArgument]] = {}


@public("Bindings")
def as_argtype(
    dtype: DTypeLike | None = None,
    ndim: int | None = None,
    flags: str | Sequence[str] | None = None,
    *,
    shape: int | Sequence[int | None] | None = None,
    device: _core.Device | str | int | None = None,
) -> type[ArrayArgument]:
    """Return a type for the `argtypes` of a ctypes function that takes and checks a `GPUArray`.

    It is the counterpart of `numpy.ctypeslib.ndpointer` for device memory.

    Parameters
    ----------
    dtype : data-type, optional
        Type of the elements; arbitrary by default, as for all following parameters.
    ndim : int, optional
        Number of axes.
    flags : str or sequence of str, optional
        ``C_CONTIGUOUS``, ``F_CONTIGUOUS``, ``WRITEABLE``, ``OWNDATA``, or their first letters; in one string, separated
        by commas. Each parameter that the function writes needs ``WRITEABLE``.
    shape : int or sequence of int, optional
        Lengths of the axes; None for an arbitrary length.
    device : Device, str or int, optional
        Device of the array.

    Returns
    -------
    type
        The same type for equal requests. A mismatch raises a `ctypes.ArgumentError` with the requirement and
        the argument, and the function is not called.

    Raises
    ------
    ValueError
        For a flag that does not exist.

    Examples
    --------
    >>> import ctypes
    >>> import PyGPU
    >>> strlen = ctypes.CDLL(None).strlen
    >>> strlen.argtypes = [PyGPU.as_argtype('uint8', ndim=1, flags='C_CONTIGUOUS')]
    >>> try:
    ...     strlen(PyGPU.zeros(3, 'float32'))
    ... except ctypes.ArgumentError as error:
    ...     print('uint8' in str(error), 'float32' in str(error))
    True True
    """
    wanted = None if dtype is None else numpy.dtype(dtype)
    lengths = (shape,) if isinstance(shape, int) else None if shape is None else tuple(shape)
    place = None if device is None else _core.Device(device)
    key = (wanted, ndim, lengths, _flag_names(flags), place)
    if key not in _made:
        fields = dict(zip(("_dtype", "_ndim", "_shape", "_flags", "_device"), key, strict=True))
        name = f"as_argtype({'any' if wanted is None else wanted}, ndim={'any' if ndim is None else ndim})"
        _made[key] = type(name, (ArrayArgument,), {**fields, "__module__": "PyGPU"})
    return _made[key]
