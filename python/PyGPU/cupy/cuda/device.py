"""CuPy's module `cupy.cuda.device`; `Device` is `PyGPU.Device`."""

# ruff: noqa: F403
from typing import TYPE_CHECKING, Any as _Any

from PyGPU._cupy.cuda.device import *


def __getattr__(name: str) -> _Any:
    from PyGPU._cupy.names import no_attribute

    raise no_attribute(__name__, name)


if not TYPE_CHECKING:
    from PyGPU._native.public import listing as _listing

    __all__ = _listing.listed(globals())
    _listing.publish(globals())
