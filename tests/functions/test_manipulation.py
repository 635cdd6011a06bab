"""Test rotation, flip, roll, tile, resize and copy: results match NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import PyGPU
from support import assert_same, assert_same_refusal, outcome


@pytest.mark.parametrize("k", range(-1, 5))
def test_rot90_matches_numpy(k: int) -> None:
    host = np.arange(24).reshape(2, 3, 4)
    for axes in itertools.permutations(range(-1, 2), 2):
        np.testing.assert_array_equal(PyGPU.rot90(PyGPU.to_gpu(host), k, axes).get(), np.rot90(host, k, axes))


@pytest.mark.parametrize(
    ("axes", "said"), [((0,), "must be 2"), ((0, 0), "different"), ((0, -2), "different"), ((0, 3), "out of range")]
)
def test_rot90_requires_two_axes(axes: tuple[int, ...], said: str) -> None:
    a = np.zeros((2, 3))
    for rot90, operand in ((np.rot90, a), (PyGPU.rot90, PyGPU.to_gpu(a))):
        with pytest.raises(ValueError, match=said):
            rot90(operand, 1, axes)  # type: ignore[operator]


HOST = np.arange(24, dtype="float32").reshape(2, 3, 4)


@pytest.mark.parametrize("name", ["flipud", "fliplr"])
def test_flip_returns_view_of_same_memory(name: str) -> None:
    a = PyGPU.to_gpu(HOST)
    for module in (PyGPU, np):
        turned = getattr(module, name)(a)
        assert_same(turned, getattr(np, name)(HOST))
        assert turned.base is a
    assert_same_refusal(
        outcome(lambda: getattr(PyGPU, name)(a[0, 0, 0])), outcome(lambda: getattr(np, name)(HOST[0, 0, 0]))
    )


@pytest.mark.parametrize("shift", [0, 1, -2, 7, 50, (1, 2), (1, 2, -1), -(10**6)])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (1, 1), (0, 1, 2), 3])
def test_roll_matches_numpy_for_any_axis_and_shift(shift: Any, axis: Any) -> None:
    for host, a in (
        (HOST, PyGPU.to_gpu(HOST)),
        (HOST.T, PyGPU.to_gpu(HOST).T),
        (HOST[:, :0], PyGPU.to_gpu(HOST)[:, :0]),
    ):
        ours, numpys = outcome(lambda: np.roll(a, shift, axis)), outcome(lambda: np.roll(host, shift, axis))  # noqa: B023
        if numpys[0] == "error":
            assert_same_refusal(ours, numpys)
        else:
            assert_same(ours[1], numpys[1])


@pytest.mark.parametrize("reps", [0, 1, 3, (2,), (2, 1, 3), (1, 2, 1, 2), (2, 0, 1), ()])
def test_tile_repeats_array_like_numpy(reps: Any) -> None:
    for host in (HOST, HOST[0].T, HOST[0, 0, 0], HOST[:0], HOST[:, ::2]):
        assert_same(np.tile(PyGPU.to_gpu(host), reps), np.tile(host, reps))


@pytest.mark.parametrize(
    ("shape", "reps"),
    [((40000,), 4), ((40003,), 3), ((6, 5000), (2, 2)), ((3, 2, 4100), (2, 3, 1)), ((300, 12), (3, 2, 1))],
)
def test_tile_and_broadcast_assignment_of_long_rows_match_numpy(shape: tuple[int, ...], reps: Any) -> None:
    host = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    assert_same(PyGPU.tile(PyGPU.to_gpu(host), reps), np.tile(host, reps))
    target = PyGPU.zeros((3, *shape), "float32")
    target[:, ..., 1:] = PyGPU.to_gpu(host)[..., 1:]
    assert_same(target[:, ..., 1:], np.broadcast_to(host, (3, *shape))[..., 1:])


@pytest.mark.parametrize("shape", [3, (5, 6), (2, 3, 4), 0, (0, 2), -1, ()])
def test_resize_repeats_array_to_shape(shape: Any) -> None:
    for host in (HOST, HOST.T, HOST[:0]):
        ours, numpys = outcome(lambda: np.resize(PyGPU.to_gpu(host), shape)), outcome(lambda: np.resize(host, shape))  # noqa: B023
        if numpys[0] == "error":
            assert_same_refusal(ours, numpys)
        else:
            assert_same(ours[1], numpys[1])


def test_copy_function_returns_new_memory_in_requested_memory_order() -> None:
    a = PyGPU.to_gpu(HOST).T
    for order in "KCFA":
        copied = PyGPU.copy(a, order)
        assert copied.base is None
        assert_same(copied, HOST.T)
        assert copied.strides == np.copy(HOST.T, order).strides
