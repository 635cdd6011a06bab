"""Test matrix products on a real GPU: every dtype, shapes at the edges of tiles, batches, and any layout.

`PYGPU_BACKEND=cuda python -m pytest -q tests/gpu/products` runs these tests.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable
from typing import Any

import numpy as np
import pytest

import PyGPU
from gpu import support
from products import check, check_bfloat16, numbers, product

support.require_gpu()
if support.is_simulated():
    pytest.skip("many kernels, each of which a simulated GPU compiles a program for", allow_module_level=True)

KINDS = [
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
# Cases that racecheck runs. Products of the other types, sizes and layouts use the same exchange of values.
FEW_KINDS, FEW_EDGES = ("int8", "float16", "float32", "float64"), (17, 129)
EDGES = [1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 257]


def few_under_racecheck(cases: Iterable[Any], few: Container[Any]) -> list[Any]:
    """Return the cases of a parameter, marked as too long for racecheck unless they are in `few`."""
    long = pytest.mark.long_under_racecheck
    return [one if one in few else pytest.param(one, marks=long) for one in cases]


def test_bfloat16_product_is_accumulated_in_float32() -> None:
    check_bfloat16((300, 400), (400, 200))


@pytest.mark.parametrize("kind", few_under_racecheck(KINDS, FEW_KINDS))
def test_products_of_every_dtype_match_numpy(kind: str) -> None:
    for m, k, n in (
        (3, 3, 3),
        (65, 70, 66),
        (128, 256, 192),
        (1000, 300, 1100),
        (5, 100_000, 6),
        (400, 500, 1),
        (1, 501, 300),
    ):
        a, b = numbers(kind, m, k), numbers(kind, k, n)
        check(PyGPU.to_gpu(a) @ PyGPU.to_gpu(b), product(a, b))
        check(PyGPU.to_gpu(a.T.copy()).T @ PyGPU.to_gpu(b.T.copy()).T, product(a, b))


@pytest.mark.parametrize("m", few_under_racecheck(EDGES, FEW_EDGES))
def test_products_with_shapes_at_tile_edges_match_numpy(m: int) -> None:
    for k, n in itertools.product(EDGES, EDGES):
        a, b = numbers("float32", m, k), numbers("float32", k, n)
        check(PyGPU.to_gpu(a) @ PyGPU.to_gpu(b), a @ b)


@pytest.mark.parametrize("batch", [(1,), (7,), (3, 5), (4096,), (70_000,)])
def test_batched_products_match_numpy(batch: tuple[int, ...]) -> None:
    side = 3 if batch[0] > 4096 else 20
    a, b = numbers("float32", *batch, side, side + 1), numbers("float32", *batch, side + 1, side)
    own = PyGPU.to_gpu(a), PyGPU.to_gpu(b)
    check(own[0] @ own[1], a @ b)
    check(own[0] @ own[1][0], a @ b[0])
    check(own[1].swapaxes(-1, -2) @ own[0].swapaxes(-1, -2), b.swapaxes(-1, -2) @ a.swapaxes(-1, -2))
    check(PyGPU.vecdot(own[0], own[0]), (a * a).sum(-1))


LYING: dict[str, Any] = {
    "as it is": lambda a: a,
    "turned": lambda a: a.T,
    "backwards": lambda a: a[::-1, ::-1],
    "every second": lambda a: a[::2, ::2],
    "inner": lambda a: a[1:, 3:],
    "one row": lambda a: a[:1].repeat(len(a), 0) if isinstance(a, np.ndarray) else PyGPU.broadcast_to(a[:1], a.shape),
}


@pytest.mark.parametrize("kind", few_under_racecheck(["int8", "float16", "float32", "complex128"], ["float32"]))
@pytest.mark.parametrize("left", few_under_racecheck(LYING, ["as it is", "turned", "one row"]))
def test_products_of_operands_in_any_layout_match_numpy(left: str, kind: str) -> None:
    host = numbers(kind, 300, 300)
    array = PyGPU.to_gpu(host)
    for right in LYING:
        a, b = LYING[left](host), LYING[right](host)
        depth = min(a.shape[1], b.shape[0])
        a, b = a[:, :depth], b[:depth]
        own = LYING[left](array)[:, :depth] @ LYING[right](array)[:depth]
        check(own, product(a, b))
        out = PyGPU.empty((2 * own.shape[1], own.shape[0]), kind)[::2].T
        check(PyGPU.matmul(LYING[left](array)[:, :depth], LYING[right](array)[:depth], out=out), product(a, b))


@pytest.mark.long_under_racecheck
def test_large_products_and_long_sums_match_numpy() -> None:
    a, b = numbers("float32", 2048, 3000), numbers("float32", 3000, 2500)
    check(PyGPU.to_gpu(a) @ PyGPU.to_gpu(b), a @ b)
    x = numbers("float64", (1 << 24) + 3)
    np.testing.assert_allclose((PyGPU.to_gpu(x) @ PyGPU.to_gpu(x)).item(), x @ x, rtol=1e-12)
    tall = numbers("float32", 1 << 20, 8)
    check(PyGPU.to_gpu(tall) @ PyGPU.to_gpu(tall[:8]), tall @ tall[:8])
    np.testing.assert_allclose((PyGPU.to_gpu(tall).T @ PyGPU.to_gpu(tall)).get(), tall.T @ tall, rtol=1e-3)


def test_repeated_products_are_bitwise_equal() -> None:
    a = PyGPU.to_gpu(numbers("float32", 100, 50_000))
    first = (a @ a.T).get().tobytes()
    assert all((a @ a.T).get().tobytes() == first for _ in range(20))
