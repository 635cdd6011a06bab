"""Dask's array backend ``pygpu``: creation functions such as `da.ones`, and `to_backend("pygpu")`."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
from dask.array.backends import ArrayBackendEntrypoint
from dask.array.wrap import wrap_func_shape_as_first_arg

from PyGPU import _core
from PyGPU._dask import chunks, registration
from PyGPU._dask.random_numbers import Philox, RandomState

__all__: list[str] = []


def _ones(shape: Any, dtype: Any = None, order: Any = None) -> _core.GPUArray:
    return _core.ones(shape, dtype, order)


def _zeros(shape: Any, dtype: Any = None, order: Any = None) -> _core.GPUArray:
    return _core.zeros(shape, dtype, order)


def _empty(shape: Any, dtype: Any = None, order: Any = None) -> _core.GPUArray:
    return _core.empty(shape, dtype, order)


def _full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = None) -> _core.GPUArray:
    return _core.full(shape, fill_value, dtype, order)


def _chunked(make: Any, shape: Any, **kwargs: Any) -> da.Array:
    """Create a Dask array by calling the given function, which creates a chunk, for each chunk.

    Each chunk has its own memory, so that kernels may write it.
    """
    delayed_array = wrap_func_shape_as_first_arg(
        make, shape, **{name: value for name, value in kwargs.items() if value is not None}
    )
    return da.Array(
        delayed_array.dask,
        delayed_array.name,
        delayed_array.chunks,
        meta=_core.empty((0,) * delayed_array.ndim, delayed_array.dtype),
    )


class Backend(ArrayBackendEntrypoint):  # type: ignore[misc]
    """Dask's backend for the setting ``array.backend`` equal to ``"pygpu"``, and for ``x.to_backend("pygpu")``.

    Examples
    --------
    >>> import dask
    >>> import dask.array as da
    >>> with dask.config.set({"array.backend": "pygpu"}):
    ...     x = da.ones((4, 6), chunks=(2, 3))
    >>> type(x.sum(axis=0).compute()).__name__
    'GPUArray'
    """

    def __init__(self) -> None:
        registration.register()

    @classmethod
    def to_backend_dispatch(cls) -> Any:
        """Return the function that copies a chunk to the current device."""
        return chunks.to_pygpu_dispatch

    @classmethod
    def to_backend(cls, data: da.Array, **kwargs: Any) -> da.Array:
        """Copy the chunks of a Dask array to the current device."""
        if isinstance(data._meta, _core.GPUArray):
            return data
        return data.map_blocks(cls.to_backend_dispatch(), meta=_core.empty((0,) * data.ndim, data.dtype), **kwargs)

    @property
    def RandomState(self) -> type[RandomState]:
        """Return the class that draws the numbers of `da.random.RandomState`."""
        return RandomState

    @property
    def default_bit_generator(self) -> type[Philox]:
        """Return the bit generator that `da.random.default_rng` uses by default."""
        return Philox

    @staticmethod
    def ones(shape: Any, *, dtype: Any = None, meta: Any = None, **kwargs: Any) -> da.Array:
        """Create a Dask array of ones."""
        return _chunked(_ones, shape, dtype=dtype or "f8", **kwargs)

    @staticmethod
    def zeros(shape: Any, *, dtype: Any = None, meta: Any = None, **kwargs: Any) -> da.Array:
        """Create a Dask array of zeros."""
        return _chunked(_zeros, shape, dtype=dtype or "f8", **kwargs)

    @staticmethod
    def empty(shape: Any, *, dtype: Any = None, meta: Any = None, **kwargs: Any) -> da.Array:
        """Create an uninitialised Dask array."""
        return _chunked(_empty, shape, dtype=dtype or "f8", **kwargs)

    @staticmethod
    def full(shape: Any, fill_value: Any, *, dtype: Any = None, meta: Any = None, **kwargs: Any) -> da.Array:
        """Create a Dask array filled with one value."""
        kind = dtype or _core.full((), fill_value).dtype
        return _chunked(_full, shape, fill_value=fill_value, dtype=kind, **kwargs)

    @staticmethod
    def arange(
        start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, meta: Any = None, **kwargs: Any
    ) -> da.Array:
        """Create a Dask array of evenly spaced values."""
        kwargs.setdefault("like", _core.empty(0, dtype or "f8"))
        with dask.config.set({"array.backend": "numpy"}):
            return da.arange(start, stop, step, dtype=dtype, **kwargs)
