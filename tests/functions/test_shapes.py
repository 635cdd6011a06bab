"""Test functions that return views with other shapes or axes, and shape queries: results match NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from support import assert_same, assert_same_refusal, outcome

HOST = np.arange(24, dtype="float32").reshape(2, 3, 4)
CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("reshape", ((4, -1),)),
    ("reshape", ((4, -1), "F")),
    ("reshape", (5,)),
    ("ravel", ()),
    ("ravel", ("F",)),
    ("squeeze", ()),
    ("squeeze", (0,)),
    ("transpose", ()),
    ("transpose", ((1, 0, 2),)),
    ("transpose", ((1, 1, 2),)),
    ("permute_dims", ((2, 0, 1),)),
    ("matrix_transpose", ()),
    ("swapaxes", (0, -1)),
    ("swapaxes", (0, 3)),
    ("rollaxis", (2,)),
    ("rollaxis", (0, 3)),
    ("rollaxis", (-1, -2)),
    ("rollaxis", (0, 4)),
    ("rollaxis", (3, 0)),
    ("atleast_1d", ()),
    ("atleast_2d", ()),
    ("atleast_3d", ()),
]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_functions_that_move_or_add_axes_match_numpy(name: str, arguments: tuple[Any, ...]) -> None:
    for host in (HOST, HOST[:, ::2], HOST[0], HOST[:1], HOST[0, 0], HOST[0, 0, 0], HOST[:0]):
        a = PyGPU.to_gpu(HOST)
        begin = (
            PyGPU.to_gpu(host)
            if host.ndim == 0
            else a[tuple(slice(None, length) for length in host.shape)]
            if host.ndim == 3 and host.flags.c_contiguous
            else PyGPU.to_gpu(host)
        )
        for module in (PyGPU, np):
            ours = outcome(lambda: getattr(module, name)(begin, *arguments))  # noqa: B023
            numpys = outcome(lambda: getattr(np, name)(host, *arguments))  # noqa: B023
            if numpys[0] == "error":
                assert_same_refusal(ours, numpys)
            else:
                assert_same(ours[1], numpys[1])


def test_reshape_returns_view_or_copy_as_requested() -> None:
    a = PyGPU.arange(6)
    assert PyGPU.reshape(a, (2, 3)).base is a
    assert PyGPU.reshape(a, (2, 3), copy=True).base is None
    assert PyGPU.reshape(a, (2, 3), copy=False).base is a
    with pytest.raises(ValueError, match="avoid creating a copy"):
        PyGPU.reshape(a.reshape(2, 3).T, (6,), copy=False)


def test_atleast_functions_accept_several_arrays() -> None:
    a, b = PyGPU.atleast_2d(PyGPU.arange(3), 5)
    assert (a.shape, b.shape) == ((1, 3), (1, 1))


def test_broadcast_arrays_returns_views_of_common_shape() -> None:
    a, b = PyGPU.zeros((3, 1)), PyGPU.zeros(4)
    for views in (PyGPU.broadcast_arrays(a, b), np.broadcast_arrays(a, b)):
        assert [view.shape for view in views] == [(3, 4)] * 2
        assert [view.strides for view in views] == [view.strides for view in np.broadcast_arrays(a.get(), b.get())]
        assert views[0].base is a
    assert PyGPU.broadcast_arrays(a, a)[1] is a
    assert PyGPU.broadcast_shapes((3, 1), (4,), 1) == (3, 4)
    with pytest.raises(ValueError, match="shape"):
        PyGPU.broadcast_arrays(a, PyGPU.zeros((2, 2)))


def test_ndim_and_shape_functions_match_numpy() -> None:
    a = PyGPU.zeros((2, 3))
    for module in (PyGPU, np):
        assert (module.ndim(a), module.shape(a), module.size(a), module.size(a, 1)) == (2, (2, 3), 6, 3)
    assert (PyGPU.ndim(3), PyGPU.shape(3), PyGPU.size(3)) == (0, (), 1)
