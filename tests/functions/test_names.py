"""What ``PyGPU._functions`` says it has is what it has."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import PyGPU
from PyGPU import _functions


@pytest.mark.parametrize("module", _functions.NAMES)
def test_a_module_has_the_names_that_the_table_says(module: str) -> None:
    names = importlib.import_module(f"PyGPU._functions.{module}").__all__
    assert sorted(names) == sorted(_functions.NAMES[module])


@pytest.mark.parametrize("name", sorted(_functions.names()))
def test_a_function_is_one_of_the_package_and_not_twice(name: str) -> None:
    assert getattr(PyGPU, name) is _functions.find(name)
    assert name in PyGPU.__all__ or hasattr(__builtins__, name)
    assert not hasattr(PyGPU._core, name)


def test_numpys_function_of_the_name_is_ours() -> None:
    host = np.arange(6).reshape(2, 3)
    turned = np.rot90(PyGPU.to_gpu(host), k=3)
    assert isinstance(turned, PyGPU.GPUArray)
    np.testing.assert_array_equal(turned.get(), np.rot90(host, k=3))
