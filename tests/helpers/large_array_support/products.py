"""Define cases of products of matrices and vectors whose operands or results have more than 2^31 elements."""

from __future__ import annotations

import numpy as np

import PyGPU
from large_array_support.array_checker import ArrayChecker
from large_array_support.case_registry import case
from large_array_support.element_rules import BYTES, P, Rule, total

K = 13
SMALL = ((np.arange(K) * 5 + 2) % K).astype(np.int64)


def selector(columns: int, dtype: str) -> PyGPU.GPUArray:
    """Return a matrix of K rows whose column j has a one in row j modulo K."""
    return PyGPU.to_gpu((np.arange(K)[:, None] == np.arange(columns) % K).astype(dtype))


@case("products")
def large_results(large: ArrayChecker) -> None:
    rows, columns = large.square()
    for dtype in ("uint8", "float16", "float32"):
        table = SMALL.astype(dtype)
        left = large.pattern((rows, K), Rule(table).over((rows, K), 1, 1))
        product = left @ selector(columns, dtype)
        # Column j of the second factor selects element j modulo K of a row, so element (i, j) of the product is the
        # table's entry i + j.
        large.check(product, Rule(table).over((rows, columns), 1, 1), what=dtype)
        del product


@case("products")
def large_operands(large: ArrayChecker) -> None:
    rows = large.whole(K) // K
    mirrored = np.eye(K)[::-1]
    for dtype in ("uint8", "float32"):
        table = SMALL.astype(dtype)
        left = large.pattern((rows, K), Rule(table).over((rows, K), 3, 1))
        product = left @ PyGPU.to_gpu(mirrored.astype(dtype))
        large.check(product, Rule(table).over((rows, K), 3, -1 % K, start=K - 1), what=dtype)
        turned = PyGPU.to_gpu(mirrored.astype(dtype)) @ left.T
        large.check(turned, Rule(table).over((K, rows), -1 % K, 3, start=K - 1), what=f"{dtype}, transposed")
        del product, turned, left


@case("products")
def matrix_and_vector(large: ArrayChecker) -> None:
    rows, columns = large.square()
    ones = np.ones(1, np.uint8)
    product = large.bytes((rows, columns)) @ large.bytes(columns, ones)
    starts = (np.arange(P) * columns) % P
    sums = [total(np.roll(BYTES, -start), columns) % 256 for start in starts.tolist()]
    large.check(product, Rule(np.array(sums, np.uint8)), what="matrix @ vector")
    sums = [total(BYTES[(column + np.arange(P) * columns) % P], rows) % 256 for column in range(P)]
    product = large.bytes(rows, ones) @ large.bytes((rows, columns))
    large.check(product, Rule(np.array(sums, np.uint8)), what="vector @ matrix")


@case("products")
def long_inner_axis(large: ArrayChecker) -> None:
    size = large.elements
    ones = large.bytes(size, np.ones(1, np.uint8))
    array = large.bytes((2, size))
    sums = [total(BYTES, size), total(BYTES, 2 * size) - total(BYTES, size)]
    expected = np.array([one % 256 for one in sums], np.uint8)
    large.check_value(array @ ones, expected, "matrix @ vector")
    large.check_value(PyGPU.dot(array[1], ones), expected[1], "dot")
    large.check_value(array @ array.T, squares(size), "matrix @ matrix")


def squares(size: int) -> np.ndarray:
    """Return the 2 x 2 matrix of the products, modulo 256, of two rows with each other and with themselves."""
    rows = [BYTES.astype(np.int64), np.roll(BYTES, -(size % P)).astype(np.int64)]
    return np.array([[total(one * other, size) % 256 for other in rows] for one in rows], np.uint8)


@case("products")
def many_small_matrices(large: ArrayChecker) -> None:
    count = large.whole(9) // 9
    left = large.bytes((count, 3, 3), (BYTES % 16).astype(np.uint8))
    exchange = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]], np.uint8)
    product = left @ PyGPU.to_gpu(exchange)
    table = np.resize(BYTES % 16, 9 * P).reshape(-1, 3)[:, ::-1].reshape(-1)
    large.check(product, Rule(np.ascontiguousarray(table)))
