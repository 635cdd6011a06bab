"""Test `Ufunc.reduceat`, which reduces segments of an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from support import assert_same, assert_same_refusal, of_few, outcome

pytestmark = pytest.mark.usefixtures("compiled_together")

PyGPU.device_count()
UFUNCS = [
    "add",
    "multiply",
    "minimum",
    "maximum",
    "logical_or",
    "logical_and",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
]
KINDS = of_few(
    ["bool", "int8", "uint8", "int32", "uint64", "float16", "float32", "float64", "complex64", "complex128"],
    ["int8", "float32", "complex64"],
)
CASES = [((7,), 0), ((90,), 0), ((3, 5, 4), 1), ((3, 5, 4), -1), ((6, 20), 0)]


def values(shape: tuple[int, ...], kind: str) -> np.ndarray:
    rng = np.random.default_rng(4)
    whole = rng.integers(0, 2 if kind == "bool" else 4, shape)
    if np.dtype(kind).kind == "c":
        return (whole + 1j * whole[::-1]).astype(kind)
    return whole.astype(kind)  # With these values all sums and most products are exact.


def assert_close(ours: Any, numpys: np.ndarray) -> None:
    if numpys.dtype.kind not in "fc":
        assert_same(ours, numpys)
        return
    assert (ours.shape, ours.dtype) == (numpys.shape, numpys.dtype)
    np.testing.assert_allclose(ours.get(), numpys, rtol=100 * np.finfo(numpys.dtype).eps)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UFUNCS)
def test_reduceat_along_any_axis_matches_numpy(name: str, kind: str) -> None:
    function, counterpart = getattr(PyGPU, name), getattr(np, name)
    if name.startswith("bitwise") and np.dtype(kind).kind in "fc":
        with pytest.raises(TypeError):
            function.reduceat(PyGPU.zeros(3, kind), [0])
        return
    for shape, axis in CASES:
        host = values(shape, kind)
        array, length = PyGPU.to_gpu(host), shape[axis]
        for indices in ([0], [0, 2, 1, 3], [length - 1, 0, 0, 2], list(range(length)), []):
            expected = counterpart.reduceat(host, indices, axis=axis)
            assert_close(function.reduceat(array, indices, axis), expected)
        assert_close(
            function.reduceat(array, PyGPU.to_gpu(np.array([1, 0, 3], "uint8")), axis=axis),
            counterpart.reduceat(host, [1, 0, 3], axis=axis),
        )


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda a: a.T,
    "steps": lambda a: a[::2, ::-3],
    "reversed": lambda a: a[::-1],
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_reduceat_of_any_layout_matches_numpy(name: str) -> None:
    host = values((20, 16), "int32")
    view = LAYOUTS[name]
    for indices in (np.array([0, 3, 7, 5]), [1], PyGPU.to_gpu(np.array([9, 0, 5, 0]))[::2]):
        on_host = indices.get() if isinstance(indices, PyGPU.GPUArray) else indices
        assert_same(PyGPU.add.reduceat(view(PyGPU.to_gpu(host)), indices), np.add.reduceat(view(host), on_host))


def test_reduceat_of_long_segments_is_exact_and_reproducible() -> None:
    whole = np.arange(200_000)
    assert_same(PyGPU.add.reduceat(PyGPU.to_gpu(whole), [0, 5, 150_000]), np.add.reduceat(whole, [0, 5, 150_000]))
    # If the sums were computed as differences of cumulative sums, small elements would be lost.
    host = np.concatenate([np.full(1000, 1e30), np.full(1000, 1e-3)]).astype("float32")
    array = PyGPU.to_gpu(host)
    found = PyGPU.add.reduceat(array, [0, 1000])
    np.testing.assert_allclose(found.get(), [1e33, 1], rtol=1e-5)
    assert found.get().tobytes() == PyGPU.add.reduceat(array, [0, 1000]).get().tobytes()


def test_reduceat_copies_element_of_one_element_segment() -> None:
    host = np.array([-0.0, np.nan, -0.0, np.inf], "float32")
    for function in (PyGPU.add, PyGPU.minimum):
        assert_same(function.reduceat(PyGPU.to_gpu(host), [0, 0, 1, 2, 3]), host[[0, 0, 1, 2, 3]])


@pytest.mark.parametrize("out_kind", ["int32", "float32", "float64"])
@pytest.mark.parametrize("kind", ["int8", "float32"])
def test_reduceat_computes_in_dtype_of_output(kind: str, out_kind: str) -> None:
    host = values((9, 4), kind)
    for keywords in ({}, {"dtype": "float64"}):
        expected = np.zeros((3, 8), out_kind)
        out = PyGPU.to_gpu(expected)[:, ::2]
        np.add.reduceat(host, [0, 3, 7], out=expected[:, ::2], **keywords)
        assert PyGPU.add.reduceat(PyGPU.to_gpu(host), [0, 3, 7], out=out, **keywords) is out
        assert_same(out, expected[:, ::2])
    assert_same(PyGPU.add.reduceat(PyGPU.to_gpu(host), [0, 2], 1, "int8"), np.add.reduceat(host, [0, 2], 1, "int8"))


def test_reduceat_output_may_overlap_operand() -> None:
    array = PyGPU.arange(8)
    PyGPU.add.reduceat(array, [0, 4], out=array[:2])
    assert array.tolist() == [6, 22, 2, 3, 4, 5, 6, 7]


def test_reduceat_of_numpy_ufunc_dispatches_to_pygpu() -> None:
    found = np.maximum.reduceat(PyGPU.to_gpu(np.array([1, 7, 3, 2])), np.array([0, 2]), dtype="float32")
    assert_same(found, np.array([7, 3], "float32"))
    assert PyGPU.add.reduceat(array=PyGPU.arange(4), indices=[0, 1]).tolist() == [0, 6]


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "index": lambda xp, a: xp.add.reduceat(a, [0, 3]),
    "negative index": lambda xp, a: xp.add.reduceat(a, [-1]),
    "index of empty axis": lambda xp, a: xp.add.reduceat(a[:0], [0]),
    "float index": lambda xp, a: xp.add.reduceat(a, np.array([0.5])),
    "number": lambda xp, a: xp.add.reduceat(a, 0),
    "None": lambda xp, a: xp.add.reduceat(a, None),
    "matrix": lambda xp, a: xp.add.reduceat(a, [[0, 1]]),
    "axis": lambda xp, a: xp.add.reduceat(a, [0], axis=2),
    "axes": lambda xp, a: xp.add.reduceat(a, [0], axis=(0, 1)),
    "no axis": lambda xp, a: xp.add.reduceat(a, [0], axis=None),
    "text as axis": lambda xp, a: xp.add.reduceat(a, [0], axis="0"),
    "scalar": lambda xp, a: xp.add.reduceat(a[0, 0].reshape(()), [0]),
    "unary": lambda xp, a: xp.sin.reduceat(a, [0]),
    "two results": lambda xp, a: xp.divmod.reduceat(a, [0]),
    "keyword": lambda xp, a: xp.add.reduceat(a, [0], keepdims=True),
    "no indices": lambda xp, a: xp.add.reduceat(a),
    "too many arguments": lambda xp, a: xp.add.reduceat(a, [0], 0, None, None, 0),
    "bits of floats": lambda xp, a: xp.bitwise_or.reduceat(a, [0]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_reduceat_rejects_same_arguments_as_numpy(name: str) -> None:
    call = REFUSED[name]
    host = np.ones((3, 4))
    assert_same_refusal(outcome(lambda: call(PyGPU, PyGPU.to_gpu(host))), outcome(lambda: call(np, host)))


def test_rejected_reduceat_call_leaves_output_unchanged() -> None:
    array, out = PyGPU.ones(3), PyGPU.zeros(2)
    with pytest.raises(IndexError, match=r"index 5 out-of-bounds in add.reduceat \[0, 3\)"):
        PyGPU.add.reduceat(array, PyGPU.to_gpu(np.array([0, 5])), out=out)
    with pytest.raises(TypeError, match="float64"):
        PyGPU.add.reduceat(array, PyGPU.zeros(2), out=out)
    with pytest.raises(ValueError, match=r"add.reduceat: out has shape \(2,\) and the result \(3,\)"):
        PyGPU.add.reduceat(array, [0, 1, 2], out=out)
    with pytest.raises(TypeError, match=r"subtract.reduceat\(\)"):
        PyGPU.subtract.reduceat(array, [0])
    assert out.tolist() == [0, 0]
