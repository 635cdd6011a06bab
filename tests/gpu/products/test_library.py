"""Test matrix products that PyGPU computes with cuBLAS, on a real GPU: dtypes, layouts, batches and very long arrays.

`PYGPU_BACKEND=cuda python -m pytest -q tests/gpu/products` runs these tests.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import PyGPU
from gpu import support
from products import check, check_bfloat16, numbers, product

support.require_gpu()
if support.is_simulated():
    pytest.skip("a simulated library multiplies one by one", allow_module_level=True)

KINDS = ["float16", "float32", "float64", "complex64", "complex128"]


@pytest.fixture(autouse=True)
def library() -> None:
    large = PyGPU.ones((512, 512), "float32")
    _ = large @ large
    if "for large ones of floats" not in PyGPU.config()["products"]:
        pytest.skip(PyGPU.config()["products"])


@pytest.mark.parametrize("kind", KINDS)
def test_products_of_every_dtype_and_layout_match_numpy(kind: str) -> None:
    host = numbers(kind, 700, 650)
    array = PyGPU.to_gpu(host)
    ways: list[Callable[[Any], Any]] = [
        lambda a: a[:600, :600],
        lambda a: a[:600, :600].T,
        lambda a: a[5:605, 7:607],
        lambda a: a[::-1][:600, :600],
        lambda a: a[:600, ::-1][:, :600],
    ]
    for left, right in itertools.product(ways, ways):
        expected = product(left(host), right(host))
        check(left(array) @ right(array), expected)
        out = PyGPU.empty((600, 600), kind).T
        check(PyGPU.matmul(left(array), right(array), out=out), expected)
    assert "refuses" not in PyGPU.config()["products"]


def test_bfloat16_product_matches_float32_product() -> None:
    check_bfloat16((600, 700), (700, 500))


@pytest.mark.parametrize("kind", KINDS)
def test_batched_products_match_numpy(kind: str) -> None:
    a, b = numbers(kind, 6, 8, 100, 110), numbers(kind, 6, 8, 110, 90)
    own = PyGPU.to_gpu(a), PyGPU.to_gpu(b)
    for of_a, of_b in (
        (lambda a: a, lambda b: b),
        (lambda a: a, lambda b: b[0, 0]),
        (lambda a: a[0, 0], lambda b: b),
        (lambda a: a[:, :1], lambda b: b[:1]),
        (lambda a: a[::-1], lambda b: b[:, ::2, :, :].repeat(2, 1)),
    ):
        check(of_a(own[0]) @ of_b(own[1]), product(of_a(a), of_b(b)))
    vectors = numbers(kind, 600, 500)
    matrix = numbers(kind, 500, 400)
    check(PyGPU.vecmat(PyGPU.to_gpu(vectors), PyGPU.to_gpu(matrix)), product(vectors.conj(), matrix))


def test_float32_product_is_not_rounded_to_tf32() -> None:
    # 1 + 2^-11 needs 11 fraction bits. TF32 has only 10, so a product in TF32 would return another value.
    a = PyGPU.empty((1024, 1024), "float32")
    a.fill(1 + 2.0**-11)
    b = PyGPU.eye(1024, dtype="float32")
    assert (a @ b).get().tobytes() == a.get().tobytes()


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_products_are_bitwise_reproducible_on_any_stream(kind: str) -> None:
    a, b = PyGPU.to_gpu(numbers(kind, 300, 20_000)), PyGPU.to_gpu(numbers(kind, 20_000, 300))
    first = (a @ b).get().tobytes()
    for _ in range(10):
        with PyGPU.Stream():
            assert (a @ b).get().tobytes() == first


def test_captured_product_uses_values_at_launch() -> None:
    host = numbers("float32", 600, 600)
    a, out = PyGPU.to_gpu(host), PyGPU.empty((600, 600), "float32")
    stream = PyGPU.Stream()
    with stream:
        stream.begin_capture()
        PyGPU.matmul(a, a.T, out=out)
        graph = stream.end_capture()
    for turn in range(3):
        a.set(host + turn)
        graph.launch()
        check(out, (host + turn) @ (host + turn).T)


@pytest.mark.whole_device
def test_product_of_array_with_more_than_2_to_31_elements_is_correct() -> None:
    """Multiply an array with more than 2^31 elements, whose offsets do not fit into a signed 32-bit integer."""
    rows = (1 << 31) // 64 + 5
    try:
        tall = PyGPU.ones((rows, 64), "float16")
        made = tall @ PyGPU.ones((64, 64), "float16")
    except PyGPU.OutOfMemoryError:
        pytest.skip("not enough memory")
    assert made.shape == (rows, 64)
    assert (float(made[-1, -1].item()), float(made[0, 0].item())) == (64.0, 64.0)
    assert float(made[-3:].astype("float32").sum().item()) == 3 * 64 * 64
