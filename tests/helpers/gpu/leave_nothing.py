"""Pytest plugin for leak checkers: at the end no object of PyGPU is alive, and the context is destroyed.

A process normally leaves its memory to the driver when it ends, and checkers count what is alive when a context is
destroyed. With this, whatever they count then is a leak.
"""

from __future__ import annotations

import gc
import sys

import pytest

import PyGPU


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    # A failed test's traceback keeps its arrays; failures are counted elsewhere.
    sys.last_traceback = sys.last_value = sys.last_exc = None
    gc.collect()
    PyGPU.synchronize()
    PyGPU.trim_memory()
    held = PyGPU.memory_statistics()
    print(f"at the end PyGPU holds {held['bytes']} bytes in {held['count']} allocations on the device")
    PyGPU.reset_device()
