"""CuPy's module `cupy.cuda.device`; `Device` is `PyGPU.Device`."""

# ruff: noqa: F403
from typing import TYPE_CHECKING, Any as _Any

from PyGPU._cupy.cuda.device import *


def __getattr__(name: str) -> _Any:
    from PyGPU._cupy.lazy_names import no_attribute

    raise no_attribute(__name__, name)


if not TYPE_CHECKING:
    from PyGPU._names import public_modules as _public_modules

    __all__ = _public_modules.listed(globals())
    _public_modules.publish(globals())
