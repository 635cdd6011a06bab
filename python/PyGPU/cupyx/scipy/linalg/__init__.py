"""CuPy's module `cupyx.scipy.linalg`. It provides no functions; error messages recommend replacements."""

from typing import Any

from PyGPU._names import public_modules as _public_modules

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    from PyGPU._cupy.lazy_names import no_attribute

    raise no_attribute(__name__, name)


_public_modules.publish(globals())
