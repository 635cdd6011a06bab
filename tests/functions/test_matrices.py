"""Test functions that return matrices, diagonals, differences or grids, or that compare arrays: results match NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU._functions import matrices
from support import assert_same, assert_same_refusal, of_few, outcome

KS = of_few([-5, -1, 0, 1, 2, 9], [-1, 9])


def compare(name: str, host: Any, *arguments: Any, **keywords: Any) -> None:
    def on_device(value: Any) -> Any:
        return PyGPU.to_gpu(value) if isinstance(value, (np.ndarray, np.generic)) else value

    numpys = outcome(lambda: getattr(np, name)(host, *arguments, **keywords))
    own = [on_device(one) for one in (host, *arguments)]
    own_keywords = {keyword: on_device(value) for keyword, value in keywords.items()}
    for module in (PyGPU, np):
        if module is np and not any(isinstance(one, PyGPU.GPUArray) for one in own):
            continue
        ours = outcome(lambda: getattr(module, name)(*own, **own_keywords))  # noqa: B023
        if numpys[0] == "error":
            assert_same_refusal(ours, numpys)
        elif isinstance(numpys[1], (list, tuple)):
            for one, expected in zip(ours[1], numpys[1], strict=True):
                assert_same(one, expected)
        elif isinstance(numpys[1], (np.ndarray, np.generic)) and not isinstance(ours[1], bool):
            assert_same(ours[1], numpys[1])
        else:
            assert ours == ("value", numpys[1])


@pytest.mark.parametrize("k", KS)
def test_matrix_functions_match_numpy(k: int) -> None:
    for shape in ((3, 4), (4, 3), (3, None), (0, 3)):
        for name in ("eye", "tri"):
            compare(name, *shape, k)
            compare(name, *shape, k, "int32")
    for name in ("tril", "triu"):
        compare(name, np.arange(1, 25, dtype="float32").reshape(2, 3, 4), k)
        compare(name, np.arange(1, 13, dtype="int16").reshape(3, 4).T, k)
        compare(name, np.ones(3, bool), k)
        compare(name, np.ones((0, 3), "float32"), k)
    compare("diag", np.arange(1, 4, dtype="float32"), k)
    compare("diagflat", np.arange(1, 5, dtype="float32").reshape(2, 2).T, k)
    for name in ("diag", "diagonal", "trace"):
        compare(name, np.arange(12, dtype="int32").reshape(3, 4), k)
    compare("identity", 3)
    compare("eye", 3, 2, 0, "float32", "F")
    compare("trace", np.arange(24, dtype="int8").reshape(2, 3, 4), k, 2, 0, "float32")


VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda a: a,
    "from the second column": lambda a: a[..., 1:],
    "rows backwards": lambda a: a[..., ::-1, :],
    "every second row": lambda a: a[..., ::2, :],
    "every second matrix, backwards": lambda a: a[..., ::-2, :, :],
    "other order of stacks": lambda a: a.swapaxes(0, -3),
    "columns backwards": lambda a: a[..., ::-1],
    "transposed": lambda a: a.swapaxes(-1, -2),
}


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "int64", "complex64", "complex128"])
def test_triangles_of_large_arrays_match_numpy(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "_LARGE", 0)
    for shape in ((1, 1, 1), (2, 3, 4), (1, 5, 33), (3, 64, 64), (1, 7, 4128), (1, 300, 17), (2, 3, 4, 5)):
        host = (np.arange(np.prod(shape)) % 100 + 1).reshape(shape).astype(dtype)
        own = PyGPU.to_gpu(host)
        for name, view in VIEWS.items():
            for k in (-(1 << 70), -3, 0, 6, 1 << 70):
                for function in ("tril", "triu"):
                    actual = getattr(PyGPU, function)(view(own), k)
                    expected = getattr(np, function)(view(host), max(-9999, min(k, 9999)))
                    assert_same(actual, expected)
                    assert actual.flags.c_contiguous == expected.flags.c_contiguous, (name, shape)


@pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="there is no kernel for host memory")
def test_kernel_of_triangles_supports_contiguous_rows() -> None:
    a = PyGPU.ones((4, 6, 8, 10), "float32")
    supported = (a, a[0], a[0, 0], a[..., 1:], a[0, ::-1], a[:, ::2], a[:, :1], a[..., ::3, :])
    assert all(PyGPU._core._triangle(one, 0, False) is not None for one in supported)
    others = (a[..., ::2], a.T, a[:, 1:], a[:, :, 0, 0], a[:0], a[0, 0, 0])
    assert all(PyGPU._core._triangle(one, 0, False) is None for one in others)


def test_matrix_functions_of_wrong_rank_match_numpy() -> None:
    compare("diag", np.zeros((2, 2, 2), "float32"))
    compare("diag", np.float32(3))
    compare("trace", np.zeros(2, "float32"))
    compare("tril", np.float32(3))
    compare("diagonal", np.zeros((2, 2), "float32"), 0, 1, 1)


@pytest.mark.parametrize("axis", [0, 1, -1, 2])
def test_diff_matches_numpy(axis: int) -> None:
    host = (np.arange(12, dtype="float32") ** 2).reshape(3, 4)
    for n in range(-1, 5):
        compare("diff", host, n, axis)
    compare("diff", host, 1, axis, prepend=np.float32(3))
    compare("diff", host, 1, axis, append=host)
    compare("diff", host > 5, 1, axis)
    compare("diff", host[0, 0])


def test_ediff1d_matches_numpy() -> None:
    host = (np.arange(6, dtype="int64") ** 2).reshape(2, 3)
    compare("ediff1d", host)
    compare("ediff1d", host, 7, np.array([1, 2]))
    compare("ediff1d", host, 7.5)
    compare("ediff1d", host[:0])


@pytest.mark.parametrize("indexing", ["xy", "ij", "ab"])
def test_meshgrid_matches_numpy(indexing: str) -> None:
    hosts = [np.arange(length, dtype="float32") for length in (2, 3, 4)]
    for count in range(1, 4):
        for sparse in (False, True):
            for copy in (False, True):
                compare("meshgrid", *hosts[:count], indexing=indexing, sparse=sparse, copy=copy)
    if indexing == "xy":
        a = PyGPU.arange(3)
        assert all(one.base is a for one in PyGPU.meshgrid(a, a, copy=False))


def test_indices_match_numpy() -> None:
    compare("indices", (2, 3))
    compare("indices", (2, 3, 0), "float32")
    compare("indices", (2, 3), "int32", True)
    assert_same(PyGPU.indices(()), np.indices(()))


def test_array_comparisons_match_numpy() -> None:
    one = np.array([1, 2, np.nan, np.inf, 1e9], "float32")
    near = np.array([1 + 1e-6, 2.1, np.nan, np.inf, 1e9], "float32")
    for name in ("isclose", "allclose", "array_equal"):
        for pair in ((one, near), (one, one), (one[:2], one[:2]), (one, one[:1]), (one, one[:2])):
            for equal_nan in (False, True):
                compare(name, *pair, equal_nan=equal_nan)
    compare("array_equiv", one[:2], np.stack([one[:2]] * 2))
    compare("array_equiv", one[:2], one[:3])
    compare("isclose", np.arange(3), np.arange(3), 0.1, 0.5)
    compare("array_equal", np.zeros(0, "float32"), np.zeros(0, "float32"))


def test_type_query_functions_match_numpy() -> None:
    numbers = np.array([1, 1j, 0], "complex64")
    for name in ("iscomplex", "isreal", "iscomplexobj", "isrealobj"):
        compare(name, numbers)
        compare(name, numbers.real.copy())
    compare("result_type", np.zeros(2, "float32"), np.zeros(2, "int32"), "int8", 3)
    compare("can_cast", np.zeros(2, "float32"), "int32", "unsafe")


def test_array_methods_trace_round_clip_and_flatten_match_numpy() -> None:
    host = (np.arange(12, dtype="float64") / 8).reshape(3, 4)
    for view, a in ((host, PyGPU.to_gpu(host)), (host.T, PyGPU.to_gpu(host).T)):
        assert_same(a.trace(1), view.trace(1))
        assert_same(a.round(1), view.round(1))
        assert_same(a.clip(0.3, 0.7), view.clip(0.3, 0.7))
        assert_same(a.clip(max=0.7), view.clip(max=0.7))
        for order in "CFA":
            assert_same(a.flatten(order), view.flatten(order))
            assert a.flatten(order).base is None
    out = PyGPU.zeros((3, 4))
    assert PyGPU.to_gpu(host).round(1, out=out) is out
    assert PyGPU.to_gpu(host).clip(0.3, out=out) is out
    assert PyGPU.zeros(()).flatten().shape == (1,)
    assert PyGPU.zeros((0, 3)).flatten().shape == (0,)
