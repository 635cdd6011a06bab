"""Test products of matrices and vectors: values, types, shapes and errors match NumPy."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from gpu import support
from products import check, numbers

IS_GPU = PyGPU.backend_name() != "cpu"
# Few dtypes are tested on a simulated GPU, because compiling a kernel takes 0.3 s there.
IS_SIMULATED = IS_GPU and support.is_simulated()
ALL = [
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
# One operand dtype for each dtype in which products are accumulated.
TYPES = ["bool", "int8", "uint64", "float16", "float32", "complex64", "complex128"] if IS_SIMULATED else ALL
if IS_SIMULATED and PyGPU.backend_name() == "hip":
    TYPES = ["int8", "float32"]


def compare(function: Callable[..., Any], *hosts: Any, **keywords: Any) -> None:
    with np.errstate(all="ignore"):
        check(function(*map(PyGPU.to_gpu, hosts), **keywords), np.asarray(function(*hosts, **keywords)))


@pytest.mark.parametrize("dtype", TYPES)
def test_matmul_supports_every_dtype(dtype: str) -> None:
    compare(operator.matmul, numbers(dtype, 3, 3), numbers(dtype, 3, 3))
    compare(operator.matmul, numbers(dtype, 33, 40), numbers(dtype, 40, 34))
    compare(operator.matmul, numbers(dtype, 70, 90), numbers(dtype, 90))


@pytest.mark.enough_on("cpu", "cuda")
@pytest.mark.parametrize(
    "types", [("float32", "int16"), ("bool", "int8"), ("float16", "float32"), ("int64", "float32")]
)
def test_matmul_type_promotion_matches_numpy(types: tuple[str, str]) -> None:
    compare(operator.matmul, numbers(types[0], 33, 40), numbers(types[1], 40, 34))


def test_products_of_16_bit_floats_are_accumulated_in_float32() -> None:
    ones = PyGPU.ones((1, 4096), "float16")
    assert (ones @ ones.T).item() == 4096
    name = "bfloat16"
    if np.dtype("float32") == PyGPU.ones(1, "float32").dtype:
        pytest.importorskip("ml_dtypes")
    small = PyGPU.ones((1, 512), name)
    product = small @ small.T
    assert (product.dtype.name, float(product.item())) == (name, 512.0)


SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    *[
        ((m, k), (k, n))
        for m, k, n in ((1, 1, 1), (1, 40, 1), (33, 40, 1), (1, 40, 33), (31, 17, 33), (64, 16, 64), (65, 15, 63))
    ],
    *[((m, k), (k, n)) for m, k, n in ((0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0), (2, 300, 3), (130, 33, 129))],
    *[
        ((40,), (40,)),
        ((40,), (40, 33)),
        ((33, 40), (40,)),
        ((0,), (0,)),
        ((0,), (0, 3)),
        ((1,), (1, 1)),
        ((2, 3), (3,)),
    ],
    *[((5, 3, 3), (5, 3, 3)), ((5, 33, 40), (40, 34)), ((2, 1, 33, 40), (3, 40, 34)), ((33, 40), (2, 40, 34))],
    *[
        ((40,), (3, 40, 33)),
        ((2, 33, 40), (40,)),
        ((0, 3, 3), (3, 3)),
        ((2, 1, 3, 3), (1, 0, 3, 3)),
        ((4, 1, 40), (4, 40, 1)),
    ],
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_matmul_shapes_match_numpy(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    compare(np.matmul, numbers("float32", *shapes[0]), numbers("float32", *shapes[1]))


def flip(a: Any) -> Any:
    return a[..., ::-1, ::-1]


LYING: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda a: a,
    "turned": lambda a: a.swapaxes(-1, -2),
    "backwards": lambda a: a[::-1, ::-1],
    "every second": lambda a: a[::2, ::2],
    "inner": lambda a: a[1:, 1:],
}


@pytest.mark.enough_on("cpu", "cuda")
@pytest.mark.parametrize("left", LYING)
def test_matmul_matches_numpy_for_any_layout(left: str) -> None:
    host = numbers("float32", 80, 80)
    array = PyGPU.to_gpu(host)
    a, own_a = LYING[left](host), LYING[left](array)
    for right in LYING:
        b, own_b = LYING[right](host)[: a.shape[1]], LYING[right](array)[: a.shape[1]]
        a_, own = a[:, : b.shape[0]], own_a[:, : b.shape[0]]
        check(own @ own_b, a_ @ b)
        check(own @ own_b[:, 3], a_ @ b[:, 3])
        check(own[3] @ own_b, a_[3] @ b)


@pytest.mark.enough_on("cpu", "cuda")
def test_matmul_accepts_broadcast_rows_and_batches() -> None:
    row, batch = numbers("float32", 1, 40), numbers("float32", 1, 40, 36)
    a, b = PyGPU.broadcast_to(PyGPU.to_gpu(row), (33, 40)), PyGPU.broadcast_to(PyGPU.to_gpu(batch), (4, 40, 36))
    check(a @ b, np.broadcast_to(row, (33, 40)) @ np.broadcast_to(batch, (4, 40, 36)))
    turned = PyGPU.to_gpu(numbers("float32", 40, 33, 3)).transpose(2, 1, 0)
    check(turned @ b[0], numbers("float32", 40, 33, 3).transpose(2, 1, 0) @ batch[0])


@pytest.mark.enough_on("cpu", "cuda")
def test_matmul_accepts_unaligned_elements() -> None:
    host = np.zeros(4 * 9 + 1, np.uint8)
    host[1:] = np.arange(9, dtype=np.float32).view(np.uint8)
    odd = PyGPU.to_gpu(host)[1:].view("float32").reshape(3, 3)
    plain = np.arange(9, dtype=np.float32).reshape(3, 3)
    check(odd @ odd.T, plain @ plain.T)
    check(PyGPU.matmul(plain_ := PyGPU.to_gpu(plain), plain_, out=odd), plain @ plain)


@pytest.mark.enough_on("cpu", "cuda")
@pytest.mark.parametrize("depth", [4096, 5000])
def test_long_inner_axis_is_split_across_blocks(depth: int) -> None:
    a, b = numbers("float32", 5, depth), numbers("float32", depth, 6)
    compare(operator.matmul, a, b)
    compare(operator.matmul, b.T, a.T)
    compare(operator.matmul, a[0], b[:, 0])
    compare(operator.matmul, np.stack([a, a + 1]), b)
    compare(operator.matmul, a[0], b)
    first = PyGPU.to_gpu(a) @ PyGPU.to_gpu(b)
    assert first.get().tobytes() == (PyGPU.to_gpu(a) @ PyGPU.to_gpu(b)).get().tobytes()


@pytest.mark.enough_on("cpu", "cuda")
def test_matmul_accepts_lengths_that_are_no_multiple_of_vector_size() -> None:
    for length in (4096, 4099, 21):
        compare(operator.matmul, numbers("float32", length), numbers("float32", length))
        compare(np.vecdot, numbers("float32", 3, length), numbers("float32", length))
    # For contiguous rows, the kernel also uses vector loads.
    for rows in (64, 66):
        compare(operator.matmul, numbers("float32", 500), numbers("float32", 500, rows))
        compare(operator.matmul, numbers("float32", 2, 1, 21), numbers("float32", 2, 21, rows))


@pytest.mark.enough_on("cpu", "cuda")
@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "complex64"])
def test_long_inner_axis_of_other_dtypes_matches_numpy(dtype: str) -> None:
    compare(operator.matmul, numbers(dtype, 5, 4100), numbers(dtype, 4100, 6))


@pytest.mark.enough_on("cpu", "cuda")
def test_matmul_writes_to_out_array_of_any_layout() -> None:
    a, b = numbers("float32", 33, 40), numbers("float32", 40, 34)
    own = PyGPU.to_gpu(a), PyGPU.to_gpu(b)
    for out in (
        PyGPU.empty((33, 34), "float32"),
        PyGPU.empty((34, 33), "float32").T,
        PyGPU.empty((66, 102))[::-2, ::3],
    ):
        assert PyGPU.matmul(*own, out=out) is out
        check(out.astype("float32"), a @ b)
        assert np.matmul(*own, out=(out,)) is out
    out = PyGPU.empty((2, 33, 34), "complex64")
    check(PyGPU.matmul(*own, out), np.matmul(a, b, np.empty((2, 33, 34), "complex64")))
    assert PyGPU.matmul(*own, order="F").flags.f_contiguous
    check(PyGPU.matmul(*own, dtype="float64"), np.matmul(a, b, dtype="float64"))


def test_matmul_accepts_operand_as_out_array() -> None:
    host = numbers("float32", 40, 40)
    for view in (lambda a: a, lambda a: a.T, lambda a: a[::-1]):
        a = PyGPU.to_gpu(host)
        check(PyGPU.matmul(view(a), a, out=a), view(host) @ host)
        a = PyGPU.to_gpu(host)
        kept = a
        a @= view(a)
        assert a is kept
        check(a, host @ view(host))


@pytest.mark.enough_on("cpu", "cuda")
def test_matvec_vecmat_and_vecdot_match_numpy() -> None:
    a, x = numbers("complex64", 3, 40, 33), numbers("complex64", 3, 33)
    y = numbers("complex64", 3, 40)
    own = {name: PyGPU.to_gpu(value) for name, value in (("a", a), ("x", x), ("y", y))}
    check(PyGPU.matvec(own["a"], own["x"]), (a @ x[..., None])[..., 0])
    check(PyGPU.vecmat(own["y"], own["a"]), (y.conj()[:, None] @ a)[:, 0])
    check(PyGPU.vecdot(own["x"], own["x"][0]), (x.conj() * x[0]).sum(-1))
    check(PyGPU.vecdot(own["x"], own["x"], axis=0), (x.conj() * x).sum(0))
    check(np.vecdot(own["x"], own["x"]), np.vecdot(x, x))
    assert PyGPU.vecdot(own["x"][0], own["x"][0]).shape == ()


@pytest.mark.enough_on("cpu", "cuda")
def test_matmul_accepts_axes() -> None:
    a, b = numbers("float32", 3, 4, 5), numbers("float32", 4, 5, 6)
    own = PyGPU.to_gpu(a), PyGPU.to_gpu(b)
    axes = [(0, 1), (0, 2), (1, 2)]
    check(PyGPU.matmul(*own, axes=axes), np.matmul(a, b, axes=axes))
    check(PyGPU.matmul(*own, axes=[(0, 1), (0, 2), (0, 1)]), np.matmul(a, b, axes=[(0, 1), (0, 2), (0, 1)]))
    out = PyGPU.empty((3, 6, 5), "float32")
    assert PyGPU.matmul(*own, axes=[(0, 1), (0, 2), (0, 1)], out=out) is out
    check(out, np.matmul(a, b, axes=[(0, 1), (0, 2), (0, 1)]))


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "lengths": lambda np, a: np.matmul(a, a),
    "no axes": lambda np, a: a @ a[0, 0, ...],
    "a number": lambda np, a: a @ 2,
    "a number on the left": lambda np, a: 2.0 @ a,
    "the shape of out": lambda np, a: np.matmul(a, a.T, out=np.empty((3, 3), "float32")),
    "the axes of out": lambda np, a: np.matmul(a, a.T, out=np.empty(2, "float32")),
    "the type of out": lambda np, a: np.matmul(a, a.T, out=np.empty((2, 2), "int32")),
    "the type of an operand": lambda np, a: np.matmul(a, a.T, dtype="int32"),
    "where": lambda np, a: np.matmul(a, a.T, where=True),
    "vectors": lambda np, a: operator.imatmul(a, a[0]),
    "another shape in place": lambda np, a: operator.imatmul(a[:1], a[:, :2].T),
    "vecdot": lambda np, a: np.vecdot(a, a[:, :2]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_matmul_rejects_arguments_that_numpy_rejects(name: str) -> None:
    call, host = REFUSED[name], numbers("float32", 2, 3)
    with pytest.raises(Exception) as numpys:  # noqa: PT011
        call(np, host)
    with pytest.raises(Exception) as ours:  # noqa: PT011
        call(PyGPU, PyGPU.to_gpu(host))
    assert isinstance(numpys.value, type(ours.value))
    if name in ("lengths", "no axes", "a number", "the shape of out", "the type of an operand", "where", "vecdot"):
        assert str(ours.value) == str(numpys.value)


def test_matmul_rejects_operand_in_host_memory() -> None:
    array = PyGPU.to_gpu(np.eye(3, dtype="float32"))
    for call in (lambda: array @ np.eye(3), lambda: np.eye(3) @ array, lambda: np.matmul(array, np.eye(3))):
        with pytest.raises(TypeError, match="copy it to a device first"):
            call()


def test_matmul_calls_rmatmul_of_unknown_operand_type() -> None:
    class Stranger:
        def __rmatmul__(self, other: Any) -> str:
            return "mine"

    assert PyGPU.ones((3, 3)) @ Stranger() == "mine"


def test_captured_products_use_values_at_graph_launch() -> None:
    a, out = PyGPU.to_gpu(numbers("float32", 3, 4)), PyGPU.empty((3, 3), "float32")
    stream = PyGPU.Stream()
    with stream:
        stream.begin_capture()
        PyGPU.matmul(a, a.T, out=out)
        more = a @ a.T
        graph = stream.end_capture()
    a.set(numbers("float32", 3, 4) + 1)
    graph.launch()
    host = numbers("float32", 3, 4) + 1
    check(out, host @ host.T)
    check(more, host @ host.T)


def test_vecdot_result_includes_axis_of_length_one() -> None:
    host = np.arange(6.0).reshape(2, 3)
    array = PyGPU.to_gpu(host)
    for keywords in ({}, {"axis": 0}, {"axes": [0, 0, 0]}, {"axes": [0, 0]}, {"axes": [(1,), 1, -2]}):
        expected = np.vecdot(host, host, keepdims=True, **keywords)
        ours = PyGPU.vecdot(array, array, keepdims=True, **keywords)
        assert ours.shape == expected.shape
        np.testing.assert_array_equal(ours.get(), expected)
        out = PyGPU.zeros(expected.shape)
        assert PyGPU.vecdot(array, array, out, keepdims=True, **keywords) is out
        np.testing.assert_array_equal(out.get(), expected)
    with pytest.raises(ValueError, match="kept axis"):
        PyGPU.vecdot(array, array, PyGPU.zeros((2, 2)), keepdims=True)
    for function in (PyGPU.matmul, PyGPU.matvec, PyGPU.vecmat):
        with pytest.raises(TypeError, match="keepdims"):
            function(array, array.T, keepdims=False)


def test_matvec_and_vecmat_write_into_out_array_passed_by_position() -> None:
    host = np.arange(6.0).reshape(2, 3)
    axes = [(0, 1), (1, 0), (1, 0)]
    expected = np.matmul(host, host + 1, np.zeros((2, 2)), axes=axes)
    out = PyGPU.zeros((2, 2))
    assert PyGPU.matmul(PyGPU.to_gpu(host), PyGPU.to_gpu(host + 1), out, axes=axes) is out
    np.testing.assert_array_equal(out.get(), expected)
