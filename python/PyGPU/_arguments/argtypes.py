"""The function `as_argtype`, which returns types that check arguments of ctypes functions."""

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
_FLAG_DESCRIPTIONS = {
    "c_contiguous": "C-contiguous (x.copy('C') is)",
    "f_contiguous": "F-contiguous (x.copy('F') is)",
    "writeable": "writeable",
    "owndata": "the owner of its memory",
}


class ArrayArgument:
    """Base class of the types that `as_argtype` returns; ctypes calls `from_param` with each argument."""

    _dtype: ClassVar[numpy.dtype[Any] | None]
    _ndim: ClassVar[int | None]
    _shape: ClassVar[tuple[int | None, ...] | None]
    _flags: ClassVar[tuple[str, ...]]
    _device: ClassVar[_core.Device | None]

    @classmethod
    def from_param(cls, value: object) -> object:
        """Check an array and return its address, which ctypes passes to the function.

        Raises
        ------
        TypeError
            If the argument is no array or violates a requirement; ctypes converts the error to a `ctypes.ArgumentError`
            that names the argument's number.
        """
        if not isinstance(value, _core.GPUArray):
            raise TypeError(f"a GPUArray{cls._dtype_text()} is needed, not {type(value).__name__}")
        if cls._dtype is not None and value.dtype != cls._dtype:
            raise cls._mismatch_error(value, f"dtype {cls._dtype}")
        if cls._ndim is not None and value.ndim != cls._ndim:
            raise cls._mismatch_error(value, f"{cls._ndim} dimension{'s' * (cls._ndim != 1)}")
        if cls._shape is not None and not _shape_matches(value.shape, cls._shape):
            raise cls._mismatch_error(value, f"shape {cls._shape}")
        if cls._flags:
            flags = value.flags
            for flag in cls._flags:
                if not getattr(flags, flag):
                    raise cls._mismatch_error(value, f"an array that is {_FLAG_DESCRIPTIONS[flag]}")
        if cls._device is not None and value.device != cls._device:
            raise cls._mismatch_error(value, f"device {cls._device}")
        return value._as_parameter_

    @classmethod
    def _dtype_text(cls) -> str:
        return "" if cls._dtype is None else f" of {cls._dtype}"

    @staticmethod
    def _mismatch_error(value: _core.GPUArray, needed: str) -> TypeError:
        locked = "" if value.flags.writeable else ", read-only"
        return TypeError(
            f"{needed} is needed; given is a {type(value).__name__} of {value.dtype}, shape {value.shape}, "
            f"strides {value.strides}, on {value.device}{locked}"
        )


def _shape_matches(shape: tuple[int, ...], expected: tuple[int | None, ...]) -> bool:
    pairs = zip(shape, expected, strict=False)
    return len(shape) == len(expected) and all(length in (required, None) for required, length in pairs)


def _flag_names(flags: str | Sequence[str] | None) -> tuple[str, ...]:
    flag_list = flags.split(",") if isinstance(flags, str) else flags or ()
    names = []
    for flag in (flag.strip().upper() for flag in flag_list):
        if flag not in _FLAGS:
            raise ValueError(f"as_argtype: {flag!r} is no flag; there are {', '.join(sorted(_FLAGS))}")
        names.append(_FLAGS[flag])
    return tuple(dict.fromkeys(names))


_cache: dict[Any, type[ArrayArgument]] = {}


@public("Bindings")
def as_argtype(
    dtype: DTypeLike | None = None,
    ndim: int | None = None,
    flags: str | Sequence[str] | None = None,
    *,
    shape: int | Sequence[int | None] | None = None,
    device: _core.Device | str | int | None = None,
) -> type[ArrayArgument]:
    """Return a type for the `argtypes` of a ctypes function: it accepts a `GPUArray` that meets the requirements.

    It is the counterpart of `numpy.ctypeslib.ndpointer` for device memory.

    Parameters
    ----------
    dtype : data-type, optional
        Required type of the elements; any type by default. All further requirements are optional, too.
    ndim : int, optional
        Required number of axes.
    flags : str or sequence of str, optional
        ``C_CONTIGUOUS`` (or ``CONTIGUOUS``), ``F_CONTIGUOUS`` (or ``FORTRAN``), ``WRITEABLE``, ``OWNDATA``, or their
        first letters; a string of several flags separates them by commas. Each parameter that the function writes needs
        ``WRITEABLE``.
    shape : int or sequence of int, optional
        Required lengths of the axes; None stands for any length.
    device : Device, str or int, optional
        Required device of the array; ``PyGPU.Device()`` is the current device of the backend.

    Returns
    -------
    type
        A type for `argtypes`; equal requirements return the same type. For an argument that violates a requirement,
        ctypes raises a `ctypes.ArgumentError` that names the requirement and the argument, and does not call the
        function.

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
    checked_dtype = None if dtype is None else numpy.dtype(dtype)
    lengths = (shape,) if isinstance(shape, int) else None if shape is None else tuple(shape)
    checked_device = None if device is None else _core.Device(device)
    key = (checked_dtype, ndim, lengths, _flag_names(flags), checked_device)
    if key not in _cache:
        fields = dict(zip(("_dtype", "_ndim", "_shape", "_flags", "_device"), key, strict=True))
        others = {"ndim": ndim, "shape": lengths, "flags": fields["_flags"] or None, "device": checked_device}
        requirements = [f"{name}={value}" for name, value in others.items() if value is not None]
        name = f"as_argtype({', '.join(['any' if checked_dtype is None else str(checked_dtype), *requirements])})"
        # If two threads create a type at once, `setdefault` keeps one type.
        return _cache.setdefault(key, type(name, (ArrayArgument,), {**fields, "__module__": "PyGPU"}))
    return _cache[key]
