"""Test that each function of `PyGPU._functions` is in the namespace of `PyGPU`, and not in that of `PyGPU._core`."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
from PyGPU import _functions
from PyGPU._names import index

FUNCTIONS = sorted(name for name, home in index.HOME.items() if home.startswith("PyGPU._functions."))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_function_is_in_package_and_not_in_core_module(name: str) -> None:
    assert getattr(PyGPU, name) is _functions.find(name)
    assert name in PyGPU.__all__ or hasattr(__builtins__, name)
    assert not hasattr(PyGPU._core, name)


def test_numpy_rot90_of_device_array_dispatches_to_pygpu() -> None:
    host = np.arange(6).reshape(2, 3)
    turned = np.rot90(PyGPU.to_gpu(host), k=3)
    assert isinstance(turned, PyGPU.GPUArray)
    np.testing.assert_array_equal(turned.get(), np.rot90(host, k=3))
