"""Discrete Fourier transforms with the parameters of `scipy.fft`, which call the functions of `PyGPU.fft`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PyGPU import _core
from PyGPU._fft import axes as _axes, axis as _axis, frequencies as _frequencies

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "next_fast_len", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

_OPPOSITE: dict[Any, Any] = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}

fftfreq, fftshift, ifftshift, rfftfreq = (
    _frequencies.fftfreq, _frequencies.fftshift, _frequencies.ifftshift, _frequencies.rfftfreq,
)  # fmt: skip


def _check_plan(name: str, plan: Any) -> None:
    if plan is not None:
        raise NotImplementedError(f"{name}: plan={plan!r} is not supported; PyGPU keeps the plans itself: pass None")


def _of_axis(own: Callable[..., _core.GPUArray]) -> Callable[..., _core.GPUArray]:
    name = own.__name__

    def transform(
        x: Any, n: int | None = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False, *, plan: Any = None
    ) -> _core.GPUArray:
        _check_plan(name, plan)
        return own(x, n, axis, norm)

    return _described(transform, name, f"`PyGPU.fft.{name}`")


def _of_axes(name: str, own: Callable[..., _core.GPUArray], default: tuple[int, ...] | None, as_own: str) -> Any:
    def transform(
        x: Any, s: Any = None, axes: Any = default, norm: Any = None, overwrite_x: bool = False, *, plan: Any = None
    ) -> _core.GPUArray:
        _check_plan(name, plan)
        if s is not None:
            s = (s,) if isinstance(s, int) else tuple(s)
            axes = tuple(range(-len(s), 0)) if axes is None else axes  # as SciPy: the last axes
        return own(x, s, axes, norm)

    return _described(transform, name, as_own)


def _described(transform: Callable[..., Any], name: str, as_own: str) -> Callable[..., Any]:
    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = (
        f"Transform as {as_own}, with SciPy's parameters.\n\n    `overwrite_x` is accepted and changes nothing; "
        "`plan` must be None, because PyGPU keeps\n    the plans itself."
    )
    return transform


def _hermitian(x: Any, s: Any, axes: Any, norm: Any) -> _core.GPUArray:
    return _axes.irfftn(_core.conj(_core.asarray(x)), s, axes, _OPPOSITE[norm])


def _inverse_hermitian(x: Any, s: Any, axes: Any, norm: Any) -> _core.GPUArray:
    return _core.conj(_axes.rfftn(x, s, axes, _OPPOSITE[norm]))


fft, ifft, rfft, irfft = map(_of_axis, (_axis.fft, _axis.ifft, _axis.rfft, _axis.irfft))
hfft, ihfft = map(_of_axis, (_axis.hfft, _axis.ihfft))
fft2 = _of_axes("fft2", _axes.fftn, (-2, -1), "`PyGPU.fft.fft2`")
ifft2 = _of_axes("ifft2", _axes.ifftn, (-2, -1), "`PyGPU.fft.ifft2`")
rfft2 = _of_axes("rfft2", _axes.rfftn, (-2, -1), "`PyGPU.fft.rfft2`")
irfft2 = _of_axes("irfft2", _axes.irfftn, (-2, -1), "`PyGPU.fft.irfft2`")
fftn = _of_axes("fftn", _axes.fftn, None, "`PyGPU.fft.fftn`")
ifftn = _of_axes("ifftn", _axes.ifftn, None, "`PyGPU.fft.ifftn`")
rfftn = _of_axes("rfftn", _axes.rfftn, None, "`PyGPU.fft.rfftn`")
irfftn = _of_axes("irfftn", _axes.irfftn, None, "`PyGPU.fft.irfftn`")
hfft2 = _of_axes("hfft2", _hermitian, (-2, -1), "`PyGPU.fft.irfft2` of the conjugate")
hfftn = _of_axes("hfftn", _hermitian, None, "`PyGPU.fft.irfftn` of the conjugate")
ihfft2 = _of_axes("ihfft2", _inverse_hermitian, (-2, -1), "the conjugate of `PyGPU.fft.rfft2`")
ihfftn = _of_axes("ihfftn", _inverse_hermitian, None, "the conjugate of `PyGPU.fft.rfftn`")


def next_fast_len(target: int, real: bool = False) -> int:
    """Return the smallest length of at least `target` that has only the prime factors 2, 3, 5 and 7.

    Parameters
    ----------
    target : int
        Smallest length.
    real : bool, optional
        Accepted for SciPy's programs; both kinds of transforms are fast for the same lengths.

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
