"""Test assignments to `a.shape`: the array describes the same memory with another shape, as in NumPy."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from support import assert_same, assert_same_refusal, on_cpu, outcome

pytestmark = pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
IS_DEPRECATED = np.lib.NumpyVersion(np.__version__) >= "2.5.0"

SHAPES: list[Any] = [(2, 3), (-1, 2), 6, [3, 2], np.int64(6), (1, 6, 1), (4,), (), (2, -1, -1), (0, -1), "x", 1.5]
# Before version 2.3, NumPy accepts None as the shape ().
SHAPES += [None] if is_numpy("2.3") else []
VIEWS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "every second element": (lambda a: a[::2], (2, 3)),
    "split axis of transposed": (lambda a: a.reshape(3, 4).T, (2, 2, 3)),
    "joined axes of transposed": (lambda a: a.reshape(3, 4).T, (12,)),
    "joined axes of columns": (lambda a: a.reshape(3, 4)[:, :2], (6,)),
    "Fortran order": (lambda a: a.reshape(3, 4, order="F"), (4, 3)),
    "no elements": (lambda a: a[:0].reshape(0, 3), (5, 0)),
    "no axes": (lambda a: a[5:6].reshape(()), (1, 1)),
}


def set_shape(array: Any, shape: Any) -> Any:
    array.shape = shape
    return array


def assert_same_assignment(ours: Any, numpys: Any, shape: Any) -> None:
    address, before = ours.ptr, numpys.shape
    found, expected = outcome(lambda: set_shape(ours, shape)), outcome(lambda: set_shape(numpys, shape))
    if expected[0] == "error":
        assert_same_refusal(found, expected)
        assert ours.shape == before
        return
    assert_same(ours, numpys)
    assert ours.strides == numpys.strides
    assert ours.size == 0 or ours.ptr == address


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shape_setter_accepts_shapes_that_numpy_accepts(shape: Any) -> None:
    if not IS_DEPRECATED:
        assert_same_assignment(PyGPU.arange(6), np.arange(6), shape)


@pytest.mark.skipif(IS_DEPRECATED, reason="warnings are errors in `outcome`")
@pytest.mark.parametrize("name", VIEWS)
def test_shape_setter_rejects_shape_that_needs_copy_or_has_wrong_size(name: str) -> None:
    view, shape = VIEWS[name]
    assert_same_assignment(view(PyGPU.arange(12)), view(np.arange(12)), shape)


def test_error_for_rejected_shape_contains_old_and_new_shape() -> None:
    a = PyGPU.arange(12).reshape(3, 4).T
    with pytest.raises(
        AttributeError, match=r"array of shape \(4, 3\) and strides \(8, 32\) has no view of shape \(12,\)"
    ):
        a.shape = 12
    with pytest.raises(AttributeError):
        del a.shape


def test_shape_setter_warns_if_numpy_warns() -> None:
    a = PyGPU.arange(6)
    if IS_DEPRECATED:
        with pytest.warns(DeprecationWarning, match="deprecated in NumPy 2.5"):
            a.shape = (2, 3)
    else:
        a.shape = (2, 3)
    assert a.shape == (2, 3)


def test_array_with_new_shape_has_same_memory_and_other_views_are_valid() -> None:
    a = PyGPU.arange(6)
    view, memory = a[1:], a.gpudata
    address = a.ptr
    for _ in range(3):
        a.shape = (2, 3)
        a.shape = (3, 2)
        a.shape = 6
    a.shape = (2, 3)
    a[1, 1] = 77
    assert view.tolist() == [1, 2, 3, 77, 5]
    assert (a.ptr, a.base, a.flags.owndata, a.gpudata is memory) == (address, None, True, True)
    assert copy.deepcopy(a).shape == pickle.loads(pickle.dumps(a)).shape == (2, 3)


def test_shape_of_pending_results_and_operands_can_be_set() -> None:
    a = PyGPU.arange(6, dtype="float32")
    doubled = a * 2
    a.shape = (3, 2)
    a += 1
    doubled.shape = (2, 3)
    assert (doubled + 1).tolist() == [[1, 3, 5], [7, 9, 11]]
    assert a.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert (a.T @ a).shape == (2, 2)


def test_host_mirror_has_new_shape_of_array() -> None:
    host = np.arange(6.0)
    a = PyGPU.GPUArray(host)
    a.shape = (2, 3)
    host[0] = 9
    a.to_device()
    assert a.tolist() == [[9, 1, 2], [3, 4, 5]]
    assert a.get().shape == (2, 3)
    a.shape = 6
    assert a.get().shape == (6,)


def test_shape_of_subclass_and_borrowed_tensor_can_be_set() -> None:
    class Named(PyGPU.GPUArray):
        pass

    a = Named((6,), "int32")
    a.fill(1)
    before = a.__dlpack__()
    a.name = "x"  # type: ignore[attr-defined]
    a.shape = (2, 3)
    assert (type(a), a.shape, a.name) == (Named, (2, 3), "x")  # type: ignore[attr-defined]
    if on_cpu():
        assert np.from_dlpack(a).shape == (2, 3)
    del before


def test_memory_is_freed_with_last_view_after_shape_assignment() -> None:
    PyGPU.flush()
    before = PyGPU.memory_statistics()["bytes"]
    a = PyGPU.empty(1 << 22, "uint8")
    for _ in range(100):
        a.shape = (1 << 11, 1 << 11)
        a.shape = 1 << 22
    view = a[1:]
    del a
    assert PyGPU.memory_statistics()["bytes"] >= before + (1 << 22)
    del view
    assert PyGPU.memory_statistics()["bytes"] < before + (1 << 22)
