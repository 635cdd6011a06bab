"""Test views with arbitrary strides: the views equal NumPy's, and never reach beyond the array's block of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib import stride_tricks as numpys

import PyGPU
from PyGPU.lib import stride_tricks as ours
from support import assert_same, assert_same_layout, assert_same_refusal, outcome

HOST = np.arange(24, dtype=np.int32).reshape(4, 6)
LAYOUTS = {
    "whole": lambda a: a,
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[::-1, ::2],
    "row": lambda a: a[2],
    "empty": lambda a: a[:, :0],
}


@pytest.mark.parametrize(
    ("shape", "strides"),
    [((3, 2), (4, 8)), ((2, 3, 2), (24, 4, 0)), ((), ()), ((0, 5), (400, 4)), (None, None), ((4,), None), ([2], [-4])],
)
def test_as_strided_view_matches_numpy(shape: Any, strides: Any) -> None:
    for part in (lambda a: a, lambda a: a[1], lambda a: a[1:, 2:]):
        host, device = part(HOST), part(PyGPU.to_gpu(HOST))
        expected = outcome(lambda host=host: numpys.as_strided(host, shape, strides))
        got = outcome(lambda device=device: ours.as_strided(device, shape, strides))
        if expected[0] == "error":
            assert_same_refusal(got, expected)
        elif host is HOST and strides == [-4]:
            # With these strides NumPy reads memory before the array's block, so its result is undefined.
            assert_same_refusal(got, ("error", ValueError()))
        else:
            assert_same(got[1], expected[1])
            assert_same_layout(got[1], expected[1], (device, host))


def test_as_strided_rejects_view_beyond_memory_block() -> None:
    a = PyGPU.arange(6)
    for shape, strides in (((7,), (8,)), ((2, 3), (40, 8)), ((2,), (-8,)), ((2,), (1 << 62,)), ((1 << 40,), (8,))):
        with pytest.raises(ValueError, match=r"bytes|big|large|overflow"):
            ours.as_strided(a, shape, strides)
    assert ours.as_strided(a[4:], (5,), (-8,)).tolist() == [4, 3, 2, 1, 0]
    assert a.tolist() == [0, 1, 2, 3, 4, 5]


def test_write_to_as_strided_view_changes_array_unless_view_is_read_only() -> None:
    a = PyGPU.zeros((3, 3)) + 1
    diagonal = ours.as_strided(a, (3,), (32,))
    diagonal[...] = 5
    assert a.tolist() == [[5, 1, 1], [1, 5, 1], [1, 1, 5]]
    for read_only in (
        ours.as_strided(a, (3,), (32,), writeable=False),
        ours.as_strided(PyGPU.broadcast_to(a, (2, 3, 3)), (3,), (32,)),
    ):
        assert not read_only.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            read_only[...] = 0
    assert a.sum().item() == 21


def test_as_strided_rejects_arguments_that_numpy_rejects() -> None:
    for shape, strides in (((2,), (4, 4)), ((-1,), (4,)), ((2.0,), (4,)), (2, (4,)), ((2,), ("a",))):
        assert_same_refusal(
            outcome(lambda shape=shape, strides=strides: ours.as_strided(PyGPU.to_gpu(HOST), shape, strides)),
            outcome(lambda shape=shape, strides=strides: numpys.as_strided(HOST, shape, strides)),
        )


WINDOWS = [
    (3, None), ((2, 3), None), (2, 0), (2, -1), ((2, 3), (1, 1)), ((2, 2), (1, 0)), ((2,), (1,)), ((2, 3), (1, 0)),
    (0, 0), ((), ()), ((4, 6), None), (7, 1), (-1, 0), (2, 2), ((2, 2), (0,)), ((1, 2, 3), None), (2.0, 0), ("a", 0),
    (np.int64(2), np.int64(0)), ([2, 2], [0, 1]),
]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sliding_window_view_matches_numpy(layout: str) -> None:
    host, device = LAYOUTS[layout](HOST), LAYOUTS[layout](PyGPU.to_gpu(HOST))
    for window, axis in WINDOWS:
        expected = outcome(lambda window=window, axis=axis: numpys.sliding_window_view(host, window, axis))
        for function in (ours.sliding_window_view, numpys.sliding_window_view):
            got = outcome(lambda f=function, window=window, axis=axis: f(device, window, axis))
            if expected[0] == "error":
                assert_same_refusal(got, expected)
            else:
                assert_same(got[1], expected[1])
                assert not got[1].flags.writeable


def test_sliding_window_view_is_writeable_if_requested() -> None:
    a = PyGPU.arange(6)
    view = ours.sliding_window_view(a, 3, writeable=True)
    view[0, 1] = 10
    assert a.tolist() == [0, 10, 2, 3, 4, 5]
    assert view[1].tolist() == [10, 2, 3]
    with pytest.raises(TypeError, match="host memory"):
        ours.sliding_window_view(np.arange(6), 3)  # type: ignore[arg-type]


def test_moving_average_of_sliding_windows_matches_numpy() -> None:
    host = np.sin(np.arange(50.0))
    got = PyGPU.lib.stride_tricks.sliding_window_view(PyGPU.to_gpu(host), 5).mean(axis=-1)
    np.testing.assert_allclose(got.get(), numpys.sliding_window_view(host, 5).mean(axis=-1), rtol=1e-12, atol=1e-15)
