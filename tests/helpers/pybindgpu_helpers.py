"""Provide shared code of the tests of PybindGPU's interface."""

from __future__ import annotations

from typing import Any

import numpy

import PyGPU


def typed(kind: str, label: str = "float64") -> Any:
    """Return PybindGPU's array class for a dtype."""
    return getattr(PyGPU, f"{kind}_{label}")


def device_content(pointer: Any, count: int, dtype: str = "float64") -> list[Any]:
    """Return the values in device memory at an address."""
    result = numpy.empty(count, dtype)
    status = PyGPU.cudaMemcpy(result, int(pointer), result.nbytes, PyGPU.cudaMemcpyDeviceToHost)
    assert status == 0
    return result.tolist()
