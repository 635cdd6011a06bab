"""Settings of transforms, as in `cupy.fft.config`; none of them changes how PyGPU transforms an array."""

from __future__ import annotations

import contextvars as _contextvars
import sys as _sys
import types as _types
import warnings as _warnings
from typing import Any

from PyGPU._cupy.fft.plan_cache import (
    clear_plan_cache,
    get_plan_cache,
    get_plan_cache_max_memsize,
    get_plan_cache_size,
    set_plan_cache_max_memsize,
    set_plan_cache_size,
    show_plan_cache_info,
)
from PyGPU._names import public_modules as _public_modules

# `__all__` excludes the settings, because reading them emits a warning.
__all__ = [
    "clear_plan_cache", "get_current_callback_manager", "get_plan_cache", "get_plan_cache_max_memsize",
    "get_plan_cache_size", "set_cufft_callbacks", "set_cufft_gpus", "set_plan_cache_max_memsize",
    "set_plan_cache_size", "show_plan_cache_info",
]  # fmt: skip

_enable_nd_planning = _contextvars.ContextVar("cupy.fft.config.enable_nd_planning", default=True)

devices: Any
enable_nd_planning: bool
use_multi_gpus: bool


def _several_gpus(name: str, value: Any) -> NotImplementedError:
    return NotImplementedError(
        f"{name}: {value!r} is not supported; PyGPU transforms an array on one device: transform a part of the array "
        "on each device"
    )


def set_cufft_gpus(gpus: int | list[int]) -> None:
    """Raise an error, because PyGPU does not support several GPUs for one transform.

    Parameters
    ----------
    gpus : int or list of int
        Number or indices of the GPUs.

    Raises
    ------
    NotImplementedError
        Always.
    """
    raise _several_gpus("set_cufft_gpus", gpus)


def set_cufft_callbacks(*callbacks: Any, **keywords: Any) -> None:
    """Raise an error, because PyGPU does not support callbacks of cuFFT.

    Parameters
    ----------
    *callbacks, **keywords
        Source code and arrays of the callbacks.

    Raises
    ------
    NotImplementedError
        Always.
    """
    raise NotImplementedError(
        "set_cufft_callbacks: callbacks are not supported; compute before and after the transform: a "
        "cupy.ElementwiseKernel is one pass over the array"
    )


def get_current_callback_manager() -> None:
    """Return None, because PyGPU supports no callbacks."""


def _warn() -> None:
    _warnings.warn(
        "enable_nd_planning is deprecated as of CuPy 14 and will always be True in the future.",
        DeprecationWarning,
        stacklevel=3,
    )


class _Config(_types.ModuleType):
    """Class of this module, whose settings are properties."""

    @property
    def enable_nd_planning(self) -> bool:
        """CuPy's preference for plans over several axes; it has no effect, because PyGPU selects its plans itself."""
        _warn()
        return _enable_nd_planning.get()

    @enable_nd_planning.setter
    def enable_nd_planning(self, value: bool) -> None:
        _warn()
        _enable_nd_planning.set(value)

    @property
    def use_multi_gpus(self) -> bool:
        """Whether one transform uses several GPUs; always False."""
        return False

    @use_multi_gpus.setter
    def use_multi_gpus(self, value: bool) -> None:
        if value:
            raise _several_gpus("use_multi_gpus", value)

    @property
    def devices(self) -> None:
        """GPUs that share one transform: None, because a transform runs on the device of its array."""


_sys.modules[__name__].__class__ = _Config


_public_modules.publish(globals())
