"""Destroy all objects of PyGPU and the context at the end of the process, as a pytest plugin for leak checkers.

Normally a process that ends does not free its device memory, because the driver frees it. Leak checkers count the
memory that is still allocated when a context is destroyed. With this plugin, any memory that the checkers count is a
leak.
"""

from __future__ import annotations

import functools
import gc
import sys

import pytest

import PyGPU


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    # The interpreter keeps the last traceback, and thereby the arrays of a failed test.
    # Drop the traceback, because pytest has already reported the failure.
    sys.last_traceback = sys.last_value = sys.last_exc = None
    # Cached kernels keep the arrays that are bound to their textures, and generators cache tables on the device.
    for cached in [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]:
        cached.cache_clear()
    PyGPU.tools.clear_context_caches()
    PyGPU.cupy.get_default_pinned_memory_pool().free_all_blocks()
    gc.collect()
    PyGPU.synchronize()
    PyGPU.trim_memory()
    held = PyGPU.memory_statistics()
    print(f"at the end PyGPU holds {held['bytes']} bytes in {held['count']} allocations on the device")
    PyGPU.reset_device()
