"""Define cases of elementwise operations: dtypes, layouts, broadcasting, `out`, `where`, fusion, special functions."""

from __future__ import annotations

import math

import numpy as np

import PyGPU
from large_array_support.array_checker import ArrayChecker, CheckFailure
from large_array_support.case_registry import case
from large_array_support.element_rules import BYTES, OTHERS, P, Q, Rule, in_both, joint

SMALL = (np.arange(P) % 11).astype(np.int64)
SHIFTED = np.roll(BYTES, 17)


@case("elementwise")
def add_around_limits(large: ArrayChecker) -> None:
    for size in large.edges:
        sums = large.bytes(size) + large.bytes(size, SHIFTED)
        large.check(sums, Rule(BYTES + SHIFTED), what=f"{size} elements")
        del sums


@case("elementwise")
def multiply_of_dtypes(large: ArrayChecker) -> None:
    for name in ("int8", "float16", "int32", "float32"):
        table = SMALL.astype(name)
        product = large.bytes(large.elements, table)
        product *= large.bytes(large.elements, table[::-1].copy())
        large.check(product, Rule(table * table[::-1]), what=name)
        del product


@case("elementwise")
def scale_of_eight_bytes(large: ArrayChecker) -> None:
    table = SMALL.astype(np.float64)
    large.check(large.bytes(large.elements, table) * 2.5, Rule(table * 2.5))


@case("elementwise")
def compare(large: ArrayChecker) -> None:
    large.check(large.bytes(large.elements) < large.bytes(large.elements, SHIFTED), Rule(BYTES < SHIFTED))


@case("elementwise")
def casts(large: ArrayChecker) -> None:
    array = large.bytes(large.elements)
    for name in ("int16", "bool", "float32"):
        large.check(array.astype(name), Rule(BYTES.astype(name)), what=name)


@case("elementwise")
def chain_of_operations(large: ArrayChecker) -> None:
    a, b = large.bytes(large.elements), large.bytes(large.elements, SHIFTED)
    before = PyGPU.fusion_report()["fused"]
    result = ((a * 3 + b) ^ 5) - (a >> 1)
    large.check(result, Rule(((BYTES * 3 + SHIFTED) ^ 5) - (BYTES >> 1)))
    is_fused = PyGPU.fusion_report()["fused"] > before
    if is_fused != (large.mode == "auto" and PyGPU.backend_name() != "cpu"):
        raise CheckFailure(f"the operations were {'' if is_fused else 'not '}fused in the mode {large.mode!r}")


@case("elementwise")
def every_second_element(large: ArrayChecker) -> None:
    base = large.bytes(2 * large.elements)
    steps = (np.arange(P) * 2 + 1) % P
    large.check(base[1::2] + 1, Rule(BYTES[steps] + np.uint8(1)))


@case("elementwise")
def view_that_begins_far(large: ArrayChecker) -> None:
    size = large.elements
    base = large.bytes(2 * size + 3)
    # The start is odd, so that packs of several elements are misaligned.
    start = size | 1
    view = base[start : start + size]
    large.check(view + large.bytes(size, SHIFTED), Rule(np.roll(BYTES, -(start % P)) + SHIFTED))


@case("elementwise")
def reversed_view(large: ArrayChecker) -> None:
    size = large.elements
    backwards = BYTES[(size - 1 - np.arange(P)) % P]
    large.check(large.bytes(size)[::-1] - large.bytes(size, SHIFTED), Rule(backwards - SHIFTED))


@case("elementwise")
def view_of_three_axes(large: ArrayChecker) -> None:
    side, middle, last = large.cube()
    base = large.bytes((side, 2 * middle, last + 1))
    result = base[:, ::2, 1:] ^ 3
    steps = (2 * middle * (last + 1), 2 * (last + 1), 1)
    large.check(result, Rule(BYTES ^ 3).over(result.shape, *steps, start=1))


@case("elementwise")
def column_and_row(large: ArrayChecker) -> None:
    rows, columns = large.square()
    p, q = in_both(BYTES, OTHERS)
    result = large.bytes(rows)[:, None] + large.bytes(columns, OTHERS)
    large.check(result, Rule(p + q).over((rows, columns), *joint((1, 0), (0, 1))))


@case("elementwise")
def transposed_operand(large: ArrayChecker) -> None:
    rows, columns = large.square()
    p, q = in_both(BYTES, OTHERS)
    result = large.bytes((rows, columns)) - large.bytes((columns, rows), OTHERS).T
    large.check(result, Rule(p - q).over((rows, columns), *joint((columns, 1), (1, rows))))


@case("elementwise")
def out_is_every_second_element(large: ArrayChecker) -> None:
    size = large.elements
    base = large.bytes(2 * size)
    PyGPU.add(large.bytes(size), large.bytes(size, SHIFTED), out=base[::2])
    table = np.resize(BYTES, 2 * P)
    table[::2] = BYTES + SHIFTED
    large.check(base, Rule(table))


@case("elementwise")
def where_selects_results(large: ArrayChecker) -> None:
    size = large.elements
    p, q = in_both(BYTES, OTHERS)
    mask = large.bytes(size, OTHERS) > 100
    out = large.bytes(size, SHIFTED)
    PyGPU.add(large.bytes(size), 1, out=out, where=mask)
    former, _ = in_both(SHIFTED, OTHERS)
    large.check(out, Rule(np.where(q > 100, p + np.uint8(1), former)), what="add")
    large.check(PyGPU.where(mask, out, 9), Rule(np.where(q > 100, p + np.uint8(1), np.uint8(9))), what="where")


@case("elementwise")
def arange(large: ArrayChecker) -> None:
    large.check(PyGPU.arange(large.elements, dtype=np.uint32), Rule(np.arange(P, dtype=np.uint32), growth=P))
    large.check(PyGPU.arange(large.elements) * 3, Rule(np.arange(P) * 3, growth=3 * P))


@case("elementwise")
def fills(large: ArrayChecker) -> None:
    size = large.elements
    filled = PyGPU.full(2 * size, 3, np.uint8)
    filled[1::2] = 7
    large.check(filled, Rule(np.array([3, 7], np.uint8)), what="every second")
    filled[size:] = 9
    large.check(filled[:size], Rule(np.array([3, 7], np.uint8)), what="the first half")
    large.check(filled[size:], Rule(np.array([9], np.uint8)), what="the second half")
    del filled
    # Elements of 12 bytes, because the drivers' functions for fills support only patterns of 1, 2 and 4 bytes.
    triples = PyGPU.zeros(math.ceil(size / 12), np.dtype("u4,u4,u4"))
    triples[...] = np.array((1, 2, 3), triples.dtype)
    large.check(triples.view(np.uint32), Rule(np.array([1, 2, 3], np.uint32)), what="elements of 12 bytes")


@case("elementwise")
def error_function(large: ArrayChecker) -> None:
    table = np.linspace(-3, 3, P).astype(np.float32)
    expected = np.array([math.erf(x) for x in table], np.float32)
    large.check(PyGPU.erf(large.bytes(large.elements, table)), Rule(expected), least=1e-6)


@case("elementwise")
def square_root(large: ArrayChecker) -> None:
    table = np.arange(Q, dtype=np.float32)
    large.check(PyGPU.sqrt(large.bytes(large.elements, table * table)), Rule(table))
