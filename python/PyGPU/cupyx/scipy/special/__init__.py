"""Special functions, as in `cupyx.scipy.special`: the functions of `PyGPU.special`."""

from typing import Any

from PyGPU import round as _round, special as _own
from PyGPU._names import public_modules as _public_modules
from PyGPU.special import *  # noqa: F403

__all__ = _own.__all__

psi = digamma  # noqa: F405 (one object, as in CuPy)
round = _round  # type: ignore[assignment]  # CuPy's has the parameter `decimals`.


def __getattr__(name: str) -> Any:
    from PyGPU._cupy.lazy_names import no_attribute

    raise no_attribute(__name__, name)


_public_modules.publish(globals())
