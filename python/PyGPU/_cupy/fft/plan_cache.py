"""CuPy's interface to PyGPU's cache of cuFFT's or hipFFT's plans."""

from __future__ import annotations

from PyGPU import _core

__all__ = [
    "PlanCache", "clear_plan_cache", "get_plan_cache", "get_plan_cache_max_memsize", "get_plan_cache_size",
    "set_plan_cache_max_memsize", "set_plan_cache_size", "show_plan_cache_info",
]  # fmt: skip


class PlanCache:
    """Cache of the plans of the vendor's library for the current device.

    Notes
    -----
    PyGPU has one cache for all threads and devices, so one maximum number of plans applies to all threads and devices.
    A cached plan owns no work area: each transform allocates a work area from the memory pool. Cached plans therefore
    never exceed a limit of memory.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cache = cupy.fft.config.get_plan_cache()
    >>> cache.clear()
    >>> cache.get_curr_size()
    0
    """

    def __init__(self) -> None:
        self._memsize = -1

    def get_size(self) -> int:
        """Return the maximum number of cached plans; -1 for no limit."""
        most = _core._fft_plan_counts()[1]
        return -1 if most is None else most

    def set_size(self, size: int) -> None:
        """Set the maximum number of cached plans.

        Parameters
        ----------
        size : int
            Maximum number of plans for all devices together: -1 for no limit, 0 for no cache.
        """
        if size < -1:
            raise ValueError(f"set_size: size={size} is below -1, which stands for no limit")
        _core._limit_fft_plans(None if size == -1 else size)

    def get_curr_size(self) -> int:
        """Return the number of cached plans of the current device."""
        return _core._fft_plan_counts()[0]

    def get_memsize(self) -> int:
        """Return the limit of the memory of work areas that `set_memsize` stored; -1 for no limit."""
        return self._memsize

    def set_memsize(self, memsize: int) -> None:
        """Store the number that `get_memsize` returns; only the number 0 has an effect.

        In CuPy the number limits the memory of the work areas of cached plans. PyGPU's cached plans own no work area.

        Parameters
        ----------
        memsize : int
            Number of bytes, or -1 for no limit; 0 also removes the cached plans of the current device.
        """
        if memsize < -1:
            raise ValueError(f"set_memsize: memsize={memsize} is below -1, which stands for no limit")
        self._memsize = memsize
        if memsize == 0:
            self.clear()

    def get_curr_memsize(self) -> int:
        """Return 0, because a cached plan owns no work area."""
        return 0

    def clear(self) -> None:
        """Remove the cached plans of the current device."""
        _core._clear_fft_plans()

    def __repr__(self) -> str:
        size, memsize = ("(unlimited)" if limit == -1 else limit for limit in (self.get_size(), self._memsize))
        return (
            f"------------------- FFT plan cache (device {_core.Device().index}) -------------------\n"
            f"current / max size   : {self.get_curr_size()} / {size} (counts)\n"
            f"current / max memsize: {self.get_curr_memsize()} / {memsize} (bytes)\n"
        )

    def show_info(self) -> None:
        """Print the number of cached plans and the limits of the cache."""
        print(self)


_cache = PlanCache()


def get_plan_cache() -> PlanCache:
    """Return the cache of plans.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.fft.config.get_plan_cache().get_size()
    64
    """
    return _cache


get_plan_cache_size = _cache.get_size
set_plan_cache_size = _cache.set_size
get_plan_cache_max_memsize = _cache.get_memsize
set_plan_cache_max_memsize = _cache.set_memsize
clear_plan_cache = _cache.clear
show_plan_cache_info = _cache.show_info
