"""Linear algebra, as in `cupy.linalg`: the functions of `PyGPU.linalg`."""

from typing import Any

from numpy.linalg import LinAlgError as LinAlgError

from PyGPU import linalg as _own
from PyGPU._names import public_modules as _public_modules
from PyGPU.linalg import *  # noqa: F403

__all__ = ["LinAlgError", *_own.__all__]


def __getattr__(name: str) -> Any:
    from PyGPU._cupy.lazy_names import no_attribute

    raise no_attribute(__name__, name)


_public_modules.publish(globals())
