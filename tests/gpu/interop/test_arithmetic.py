"""Test arrays of PyTorch, CuPy and JAX as operands of PyGPU: values, conversions and waits for their streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from gpu import support

support.require_peers()

COUNT = 1000


def torchs() -> Any:
    return pytest.importorskip("torch").arange(COUNT, dtype=pytest.importorskip("torch").float32, device="cuda")


def cupys() -> Any:
    return pytest.importorskip("cupy").arange(COUNT, dtype="float32")


def jaxs() -> Any:
    jax = pytest.importorskip("jax")
    return jax.device_put(np.arange(COUNT, dtype="float32"), jax.devices("gpu")[0])


@pytest.mark.parametrize("theirs", [torchs, cupys, jaxs])
def test_arrays_of_other_libraries_as_operands_give_correct_results(theirs: Any) -> None:
    host = np.arange(COUNT, dtype="float32")
    array, other = PyGPU.to_gpu(host), theirs()
    np.testing.assert_array_equal((array * other).get(), host * host)
    np.testing.assert_array_equal(PyGPU.subtract(other, array).get(), host - host)
    np.testing.assert_array_equal(PyGPU.negative(other).get(), -host)


@pytest.mark.parametrize("theirs", [torchs, cupys, jaxs])
def test_assigned_arrays_of_other_libraries_are_converted_to_dtype(theirs: Any) -> None:
    expected, other = np.arange(COUNT, dtype="int16"), theirs()
    array = PyGPU.zeros((2, COUNT), "int16")
    array[0] = other
    PyGPU.copyto(array[1], other, casting="unsafe", where=array[0] > 5)
    np.testing.assert_array_equal(array.get(), [expected, np.where(expected > 5, expected, 0)])


def test_operation_waits_for_unfinished_write_of_torch_to_operand() -> None:
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        other = torch.zeros(COUNT, dtype=torch.float32, device="cuda")
        torch.cuda._sleep(50_000_000)
        other += 1
        result = PyGPU.ones(COUNT, "float32") + other
    np.testing.assert_array_equal(result.get(), np.full(COUNT, 2, "float32"))


def test_torch_imports_result_of_pygpu_operation_by_dlpack() -> None:
    torch = pytest.importorskip("torch")
    array = PyGPU.arange(COUNT, dtype="float32")
    tensor = torch.from_dlpack(array * 2 + 1)
    assert tensor.sum().item() == float(np.sum(np.arange(COUNT, dtype="float64") * 2 + 1))
