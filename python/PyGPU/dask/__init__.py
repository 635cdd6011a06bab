"""Arrays of a device as the chunks of Dask's arrays and as what its workers hold and send.

Nothing has to be called: Dask finds this module by its entry points in every process, and all is registered when
`dask.array` is imported. Importing this module needs no Dask and does nothing.
"""

from typing import TYPE_CHECKING, Any

from PyGPU._dask.registration import dask_setup, register, register_sizeof

__all__ = ["Backend", "dask_setup", "register", "register_sizeof"]

if TYPE_CHECKING:
    from PyGPU._dask.backend import Backend
else:

    def __getattr__(name: str) -> Any:
        # Its base class is Dask's, which importing this module must not bring along.
        if name != "Backend":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from PyGPU._dask.backend import Backend

        return Backend
