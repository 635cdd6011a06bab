"""Test `Ufunc.at`, which applies a function once for each index, in the order of the indices."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import PyGPU
from support import assert_same, assert_same_refusal, of_few, outcome, print_each

SEED = random.randrange(1 << 32)


def moved(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(moved, value))
    return PyGPU.to_gpu(value) if isinstance(value, np.ndarray) else value


def check(name: str, host: np.ndarray, *arguments: Any) -> None:
    target, expected = PyGPU.to_gpu(host), host.copy("K")
    numpys = outcome(lambda: getattr(np, name).at(expected, *arguments))
    for function in (getattr(PyGPU, name), getattr(np, name)):
        target[...] = host
        ours = outcome(lambda function=function: function.at(target, *map(moved, arguments)))
        if numpys[0] == "error":
            assert_same_refusal(ours, numpys)
            assert_same(target, host)
        else:
            assert ours == ("value", None), repr(ours[1])
            assert_same(target, expected)


@pytest.mark.parametrize("name", of_few(["add", "subtract", "multiply", "maximum", "bitwise_or"], ["add", "maximum"]))
def test_ufunc_at_applies_function_once_for_each_repeated_index(name: str) -> None:
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    host = rng.integers(1, 5, 20)
    index = rng.integers(-20, 20, 500)
    check(name, host, index, rng.integers(1, 3, 500))
    check(name, host, index, np.array(2))
    # NumPy's `at` would read beyond the end of values that are too short, so the test repeats these values for NumPy.
    values = rng.integers(1, 3, 10)
    target, expected = PyGPU.to_gpu(host), host.copy()
    getattr(PyGPU, name).at(target, PyGPU.to_gpu(index.reshape(50, 10)), PyGPU.to_gpu(values))
    getattr(np, name).at(expected, index, np.tile(values, 50))
    assert_same(target, expected)
    # In this call, the second operand is an ndarray in host memory.
    getattr(PyGPU, name).at(target, PyGPU.to_gpu(index.reshape(50, 10)), values)
    getattr(np, name).at(expected, index, np.tile(values, 50))
    assert_same(target, expected)


def test_result_of_add_at_with_repeated_indices_equals_numpy_bitwise() -> None:
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    index, values = rng.integers(0, 7, 1000), rng.standard_normal(1000).astype("float32")
    check("add", np.zeros(7, "float32"), index, values)
    check("subtract", np.zeros(7), np.zeros(1000, int), values.astype("float64"))


def test_ufunc_at_accepts_any_kind_of_index() -> None:
    host = np.arange(12.0).reshape(3, 4)
    values = np.arange(4.0)
    for key in print_each(
        [
            np.array([0, 0, 2]),
            (slice(None), np.array([1, 1])),
            (np.array([0, 0]), np.array([1, 1])),
            (Ellipsis, np.array([3, 3])),
            host > 4,
            slice(None, None, 2),
            1,
        ]
    ):
        check("add", host, key, 1.0)
        check("add", np.asfortranarray(host), key, 1.0)
    check("add", host, np.array([0, 0, 2]), values)
    check("negative", host, np.array([0, 0, 2]))


def test_ufunc_at_rejects_mismatched_arguments_and_changes_nothing() -> None:
    host = np.arange(4)
    check("add", host, np.array([0, 4]), 1)
    check("add", host, np.array([0, 1]), np.array([1.5, 2.5]))
    check("add", host, np.array([0, 1]), np.arange(3))
    check("add", host, np.array([0, 1]))
    check("divmod", host, np.array([0, 1]), 1)
    check("add", host, np.array([], int), np.array([], int))
