"""The transforms of `cupy.fft`, which check the thread's current plan and then call the transforms of `PyGPU.fft`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from PyGPU import _core
from PyGPU._cupy.fft.plan_checks import check_plan
from PyGPU._cupy.fft.plans import get_current_plan
from PyGPU._cupy.fft.transform_types import ValueType
from PyGPU._fft import one_axis as _axis, several_axes as _axes

__all__ = [
    "fft", "fft2", "fftn", "hfft", "ifft", "ifft2", "ifftn", "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2",
    "rfftn",
]  # fmt: skip

_Transform = Callable[..., _core.GPUArray]


def _along_axis(own: _Transform, value_type: ValueType) -> _Transform:
    @functools.wraps(own)
    def transform(a: Any, n: int | None = None, axis: int = -1, norm: Any = None, out: Any = None) -> _core.GPUArray:
        if get_current_plan() is not None:
            check_plan(None, value_type, a, (n,), (axis,), is_along_axis=True)
        return own(a, n, axis, norm, out)

    return transform


def _along_axes(own: _Transform, value_type: ValueType, name: str, default: tuple[int, ...] | None) -> _Transform:
    @functools.wraps(own)
    def transform(
        a: Any, s: Sequence[int | None] | None = None, axes: Any = default, norm: Any = None, out: Any = None
    ) -> _core.GPUArray:
        if get_current_plan() is not None:
            check_plan(None, value_type, a, s, axes)
        # The native function is called, because PyGPU's public function warns of arguments that NumPy, but not CuPy,
        # deprecates.
        return _core._fft(name, a, s, axes, norm, out)

    return transform


fft, ifft = _along_axis(_axis.fft, "C2C"), _along_axis(_axis.ifft, "C2C")
rfft, irfft = _along_axis(_axis.rfft, "R2C"), _along_axis(_axis.irfft, "C2R")
hfft, ihfft = _along_axis(_axis.hfft, "C2R"), _along_axis(_axis.ihfft, "R2C")
fft2, fftn = _along_axes(_axes.fft2, "C2C", "fftn", (-2, -1)), _along_axes(_axes.fftn, "C2C", "fftn", None)
ifft2, ifftn = _along_axes(_axes.ifft2, "C2C", "ifftn", (-2, -1)), _along_axes(_axes.ifftn, "C2C", "ifftn", None)
rfft2, rfftn = _along_axes(_axes.rfft2, "R2C", "rfftn", (-2, -1)), _along_axes(_axes.rfftn, "R2C", "rfftn", None)
irfft2, irfftn = _along_axes(_axes.irfft2, "C2R", "irfftn", (-2, -1)), _along_axes(_axes.irfftn, "C2R", "irfftn", None)
