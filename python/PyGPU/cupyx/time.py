"""CuPy's deprecated module `cupyx.time`, whose `repeat` is `cupyx.profiler.benchmark`."""

from __future__ import annotations

import warnings
from typing import Any

from PyGPU._native.observability.benchmark import BenchmarkResult, benchmark
from PyGPU._native.public import listing as _listing

__all__ = ["repeat"]


def repeat(*args: Any, **kwargs: Any) -> BenchmarkResult:
    """Call `cupyx.profiler.benchmark`, and warn that the name `repeat` is deprecated.

    Parameters
    ----------
    *args, **kwargs : object
        As for `benchmark`.

    Returns
    -------
    BenchmarkResult
    """
    warnings.warn("cupyx.time.repeat: use cupyx.profiler.benchmark", DeprecationWarning, stacklevel=2)
    return benchmark(*args, **kwargs)


_listing.publish(globals())
