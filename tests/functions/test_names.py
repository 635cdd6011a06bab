"""Test that the functions of ``PyGPU._functions`` are names of the package, and are there only."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
from PyGPU import _functions
from PyGPU._names import index

FUNCTIONS = sorted(name for name, home in index.HOME.items() if home.startswith("PyGPU._functions."))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_is_defined_once_in_package(name: str) -> None:
    assert getattr(PyGPU, name) is _functions.find(name)
    assert name in PyGPU.__all__ or hasattr(__builtins__, name)
    assert not hasattr(PyGPU._core, name)


def test_numpy_function_dispatches_to_same_name() -> None:
    host = np.arange(6).reshape(2, 3)
    turned = np.rot90(PyGPU.to_gpu(host), k=3)
    assert isinstance(turned, PyGPU.GPUArray)
    np.testing.assert_array_equal(turned.get(), np.rot90(host, k=3))
