"""Base class that stores the sources of compiled kernels for debugging."""

from __future__ import annotations

import warnings
from typing import Any

__all__ = ["CachedSources"]


class CachedSources:
    """Base class of kernel classes, which stores the source of each compiled kernel."""

    def __init__(self) -> None:
        self._cached_codes: dict[tuple[Any, ...], str] = {}

    @property
    def cached_codes(self) -> dict[tuple[Any, ...], str]:
        """Dict of the compiled kernels' sources by the dtypes of their arrays, for debugging."""
        if not self._cached_codes:
            warnings.warn(
                "No codes are cached because compilation is deferred until the first function call.", stacklevel=2
            )
        return dict(self._cached_codes)

    @property
    def cached_code(self) -> str:
        """Source of the first compiled kernel in `cached_codes`, for debugging."""
        if len(self._cached_codes) > 1:
            warnings.warn(
                "The input types of the kernel could not be inferred. Please use `.cached_codes` instead.", stacklevel=2
            )
        # `dict` copies the sources in one atomic step, so that the iteration does not fail if another thread adds a
        # source.
        codes: dict[tuple[Any, ...], str] = dict(self._cached_codes)
        return next(iter(codes.values()))
