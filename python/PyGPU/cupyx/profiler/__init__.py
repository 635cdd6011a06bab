"""Measurement of calls, and ranges in a profiler's timeline, as in `cupyx.profiler`."""

from typing import Any

from PyGPU._cupy.cupyx.profiling import profile, time_range
from PyGPU._names import public_modules as _public_modules
from PyGPU._observability.benchmark import benchmark

__all__ = ["benchmark", "profile", "time_range"]


def __getattr__(name: str) -> Any:
    from PyGPU._cupy.lazy_names import no_attribute

    raise no_attribute(__name__, name)


_public_modules.publish(globals())
