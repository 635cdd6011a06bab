"""Discrete Fourier transforms with SciPy's parameters, which call the functions of `PyGPU.fft`."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.fft.plan_checks import check_plan
from PyGPU._cupy.fft.plans import get_current_plan
from PyGPU._cupy.fft.transform_types import ValueType
from PyGPU._fft import frequencies as _frequencies, one_axis as _axis
from PyGPU._fft.one_axis import of_other_way
from PyGPU._functions import array_arguments

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "next_fast_len", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

_Transform = Callable[..., _core.GPUArray]

fftfreq, fftshift, ifftshift, rfftfreq = (
    _frequencies.fftfreq, _frequencies.fftshift, _frequencies.ifftshift, _frequencies.rfftfreq,
)  # fmt: skip


def _input(x: Any, name: str) -> _core.GPUArray:
    """Return the input of a transform. SciPy, unlike NumPy, returns float32 for float16 in every transform."""
    a = array_arguments.array(x, name)
    return a.astype(np.float32) if a.dtype == np.float16 else a


def _output(x: Any, lengths: Any, axes: Any) -> _core.GPUArray | None:
    """Return the input array if the result of a complex transform fits into its memory; otherwise None."""
    if not isinstance(x, _core.GPUArray) or x.dtype.kind != "c" or not x.flags.writeable:
        return None
    if not (x.flags.c_contiguous or x.flags.f_contiguous):  # Elements of other layouts can overlap.
        return None
    same = lengths is None or all(
        length in (None, -1) or (-x.ndim <= axis < x.ndim and x.shape[axis] == length)
        for length, axis in zip(lengths, axes, strict=False)
    )
    return x if same else None


def _no_plan(name: str, plan: Any) -> None:
    if plan is not None:
        raise NotImplementedError(f"{name}: plan={plan!r} is not yet supported; pass None")


def _sequence(number: Any) -> Any:
    """Return a number as a tuple, and a sequence unchanged, because SciPy accepts a number in place of a sequence."""
    return (number,) if isinstance(number, Number) else number


def _axes(s: Any, axes: Any) -> Any:
    """Return `axes`; if only the lengths `s` are given, return the last ``len(s)`` axes, as SciPy does."""
    return tuple(range(-len(s), 0)) if axes is None and s is not None else axes


def _along_axis(own: Callable[..., _core.GPUArray], value_type: ValueType, takes_plan: bool = True) -> _Transform:
    name, is_complex = own.__name__, value_type == "C2C"

    def transform(
        x: Any, n: int | None = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False, *, plan: Any = None
    ) -> _core.GPUArray:
        if not takes_plan:
            _no_plan(name, plan)
        if plan is not None or get_current_plan() is not None:
            check_plan(plan, value_type, x, (n,), (axis,), is_along_axis=True)
        return own(_input(x, name), n, axis, norm, _output(x, (n,), (axis,)) if overwrite_x and is_complex else None)

    return _described(transform, name, f"`PyGPU.fft.{name}`", takes_plan)


def _along_axes(name: str, value_type: ValueType, transform_name: str, default: tuple[int, ...] | None) -> _Transform:
    def transform(
        x: Any, s: Any = None, axes: Any = default, norm: Any = None, overwrite_x: bool = False, *, plan: Any = None
    ) -> _core.GPUArray:
        s, axes = _sequence(s), _sequence(axes)
        axes = _axes(s, axes)
        if plan is not None or get_current_plan() is not None:
            check_plan(plan, value_type, x, s, axes)
        out = _output(x, s, axes) if overwrite_x and value_type == "C2C" else None
        return _core._fft(transform_name, _input(x, name), s, axes, norm, out)

    return _described(transform, name, f"`PyGPU.fft.{name}`", True)


def _described(transform: Callable[..., Any], name: str, as_own: str, takes_plan: bool) -> _Transform:
    transform.__name__ = transform.__qualname__ = name
    of_plan = "the call is checked against `plan`." if takes_plan else "`plan` must be None, as in CuPy."
    transform.__doc__ = (
        f"Transform as {as_own}, with SciPy's parameters.\n\n"
        f"    With `overwrite_x`, the result of a transform of complex numbers may be the array itself; {of_plan}"
    )
    return transform


def _hermitian(name: str, default: tuple[int, ...] | None) -> _Transform:
    def transform(
        x: Any, s: Any = None, axes: Any = default, norm: Any = None, overwrite_x: bool = False, *, plan: Any = None
    ) -> _core.GPUArray:
        _no_plan(name, plan)
        return irfftn(_core.conj(_input(x, name)), s, axes, of_other_way(norm))

    return _described(transform, name, f"`PyGPU.fft.ir{name[1:]}` of the conjugate", False)


def _inverse_hermitian(name: str, default: tuple[int, ...] | None) -> _Transform:
    def transform(
        x: Any, s: Any = None, axes: Any = default, norm: Any = None, overwrite_x: bool = False, *, plan: Any = None
    ) -> _core.GPUArray:
        _no_plan(name, plan)
        return _core.conj(rfftn(x, s, axes, of_other_way(norm)))

    return _described(transform, name, f"the conjugate of `PyGPU.fft.r{name[2:]}`", False)


fft, ifft = _along_axis(_axis.fft, "C2C"), _along_axis(_axis.ifft, "C2C")
rfft, irfft = _along_axis(_axis.rfft, "R2C"), _along_axis(_axis.irfft, "C2R")
hfft, ihfft = _along_axis(_axis.hfft, "C2R", False), _along_axis(_axis.ihfft, "R2C", False)
fft2, fftn = _along_axes("fft2", "C2C", "fftn", (-2, -1)), _along_axes("fftn", "C2C", "fftn", None)
ifft2, ifftn = _along_axes("ifft2", "C2C", "ifftn", (-2, -1)), _along_axes("ifftn", "C2C", "ifftn", None)
rfft2, rfftn = _along_axes("rfft2", "R2C", "rfftn", (-2, -1)), _along_axes("rfftn", "R2C", "rfftn", None)
irfft2, irfftn = _along_axes("irfft2", "C2R", "irfftn", (-2, -1)), _along_axes("irfftn", "C2R", "irfftn", None)
hfft2, hfftn = _hermitian("hfft2", (-2, -1)), _hermitian("hfftn", None)
ihfft2, ihfftn = _inverse_hermitian("ihfft2", (-2, -1)), _inverse_hermitian("ihfftn", None)


def next_fast_len(target: int, real: bool = False) -> int:
    """Return the smallest length of at least `target` whose only prime factors are 2, 3, 5 and 7.

    Parameters
    ----------
    target : int
        Minimum length.
    real : bool, optional
        Accepted for compatibility with SciPy; it has no effect, because transforms of real and complex data are fast
        for the same lengths.

    Returns
    -------
    int

    Examples
    --------
    >>> from PyGPU.cupyx.scipy.fft import next_fast_len
    >>> next_fast_len(11)
    12
    """
    del real
    if target < 1:
        raise ValueError(f"next_fast_len: a transform has at least one element, not {target}")
    while not _is_smooth(target):
        target += 1
    return target


def _is_smooth(number: int) -> bool:
    for prime in (2, 3, 5, 7):
        while number % prime == 0:
            number //= prime
    return number == 1
