"""Test lists and tuples of numbers as operands: PyGPU converts them as NumPy does, and copies them to the device."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU

HOST = np.array([[1.5, -2, 3], [4, 5, -6]])
CALLS = {
    "operator": lambda xp, a: a.__add__([1, 2, 3]),
    "reflected operator": lambda xp, a: (1, 2, 3) - a,
    "in-place operator": lambda xp, a: a.__imul__([[2], [3]]),
    "comparison": lambda xp, a: a == [1.5, 5, 3],
    "ufunc": lambda xp, a: xp.maximum(a, [[0, 1, 2]]),
    "ufunc of lists": lambda xp, a: xp.add([1, 2], (3, 4)),
    "bools": lambda xp, a: xp.logical_and(a > 0, [True, False, True]),
    "dtype": lambda xp, a: xp.asarray(a, dtype="int8").astype("int8") - [1, 2, 3],
    "float32": lambda xp, a: a.astype("float32") * [1, 2, 3],
    "complex": lambda xp, a: a * [1j, 2, 3],
    "NumPy scalars": lambda xp, a: a * [np.float32(1), np.float32(2), np.float32(3)],
    "where": lambda xp, a: xp.where(a > 0, [1, 2, 3], a),
    "condition": lambda xp, a: xp.where([True, False, True], a, 0),
    "clip": lambda xp, a: xp.clip(a, [0, 1, 2], 4),
    "diag": lambda xp, a: xp.diag([1, 2]),
    "bincount": lambda xp, a: xp.bincount([1, 2, 2, 5]),
    "sum": lambda xp, a: xp.sum([[1, 2], [3, 4]], axis=0),
    "dot": lambda xp, a: xp.dot(a, [1, 2, 3]),
    "matmul": lambda xp, a: a @ [1, 2, 3],
    "concatenate": lambda xp, a: xp.concatenate([a, [[7, 8, 9]]]),
    "stack": lambda xp, a: xp.stack([a[0], [7, 8, 9]]),
    "interp": lambda xp, a: xp.interp(a, [0, 1, 2], [0.0, 10.0, 20.0]),
    "searchsorted": lambda xp, a: xp.searchsorted([-5, 0, 2, 4], a),
    "isin": lambda xp, a: xp.isin(a, [3, -6]),
    "cross": lambda xp, a: xp.cross(a, [1, 2, 3]),
    "empty": lambda xp, a: xp.add([], 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_operator_accepts_list_or_tuple_of_numbers_as_operand(name):
    call = CALLS[name]
    found, expected = call(PyGPU, PyGPU.to_gpu(HOST)), call(np, HOST.copy())
    assert isinstance(found, PyGPU.GPUArray)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found.get(), expected, rtol=1e-14)


@pytest.mark.parametrize(
    "operand",
    [["a", "b", "c"], [None, 1, 2], [np.ones(3), np.ones(3)], [object()]],
    ids=["text", "None", "ndarrays", "object"],
)
def test_operator_rejects_sequence_of_objects_other_than_numbers(operand):
    array = PyGPU.to_gpu(HOST)
    for call in (lambda: array + operand, lambda: PyGPU.maximum(array, operand), lambda: PyGPU.diag(operand)):
        with pytest.raises(TypeError, match="list"):
            call()


def test_operator_rejects_list_of_rows_with_different_lengths():
    with pytest.raises(ValueError, match="inhomogeneous"):
        PyGPU.add(PyGPU.arange(3), [[1, 2], [3]])


def test_list_of_device_arrays_is_rejected_as_operand():
    array = PyGPU.arange(3)
    with pytest.raises(TypeError, match="not a list of arrays"):
        PyGPU.add(array, [array, array])


def test_operator_rejects_ndarray_operand():
    with pytest.raises(TypeError, match="is in host memory"):
        PyGPU.arange(3) + np.ones(3)
