"""Measurement of calls, and ranges in a profiler's timeline, as in `cupyx.profiler`."""

from typing import Any

from PyGPU._cupy.additions.profiling import profile, time_range
from PyGPU._native.observability.benchmark import benchmark
from PyGPU._native.public import listing as _listing

__all__ = ["benchmark", "profile", "time_range"]


def __getattr__(name: str) -> Any:
    from PyGPU._cupy.names import no_attribute

    raise no_attribute(__name__, name)


_listing.publish(globals())
