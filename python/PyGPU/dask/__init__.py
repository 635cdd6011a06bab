"""Support device arrays as chunks of Dask arrays, and in the memory and messages of Dask's workers.

Programs need not call a function of this module: Dask finds this module by PyGPU's entry points in every process, and
registers the module when `dask.array` is imported. Importing this module needs no Dask and has no effect.
"""

from typing import TYPE_CHECKING, Any

from PyGPU._dask.registration import dask_setup, register, register_sizeof
from PyGPU._names import public_modules as _public_modules

__all__ = ["Backend", "dask_setup", "register", "register_sizeof"]

if TYPE_CHECKING:
    from PyGPU._dask.backend import Backend
else:

    def __getattr__(name: str) -> Any:
        # The import of this module must not import Dask, from which `Backend` derives.
        # `Backend` is therefore imported at its first use.
        if name != "Backend":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from PyGPU._dask.backend import Backend

        return _public_modules.readable(Backend)

    _public_modules.publish(globals())
