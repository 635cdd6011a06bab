"""CuPy's deprecated module `cupyx.time`, whose `repeat` is `cupyx.profiler.benchmark`."""

from __future__ import annotations

import warnings
from typing import Any

from PyGPU._names import public_modules as _public_modules
from PyGPU._observability.benchmark import BenchmarkResult, benchmark

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


_public_modules.publish(globals())
