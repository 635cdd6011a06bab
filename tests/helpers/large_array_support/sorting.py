"""Define cases of sorts, searches, unique values and counts."""

from __future__ import annotations

import numpy as np

import PyGPU
from large_array_support.array_checker import ArrayChecker
from large_array_support.case_registry import case
from large_array_support.element_rules import BYTES, P, Rule

# Each of the P values occurs equally often, because the number of elements is a multiple of P.
VALUES = np.arange(P, dtype=np.uint8)


def in_order(size: int, table: np.ndarray = VALUES) -> Rule:
    """Return the rule of a sorted array, in which each value of the table fills a part of equal size."""
    return Rule(table).over((len(table), size // len(table)), 1, 0)


@case("sorting")
def sort_of_bytes(large: ArrayChecker) -> None:
    for size in (large.whole(P), 2 * large.whole(P)):
        large.check(PyGPU.sort(large.bytes(size)), in_order(size), what=f"{size} elements")
    array = large.bytes(large.whole(P))
    array.sort()
    large.check(array, in_order(array.size), what="in place")


@case("sorting")
def sort_of_signed_bytes(large: ArrayChecker) -> None:
    signed = (BYTES.astype(np.int16) - 125).astype(np.int8)
    size = large.whole(P)
    large.check(PyGPU.sort(large.bytes(size, signed)), in_order(size, np.sort(signed)))


@case("sorting")
def sort_of_floats(large: ArrayChecker) -> None:
    table = BYTES.astype(np.float32) - 125
    array = large.bytes(large.whole(P), table)
    array.sort()
    large.check(array, in_order(array.size, np.sort(table)))


@case("sorting")
def sort_of_rows(large: ArrayChecker) -> None:
    # Test rows that one block of threads sorts, and longer rows.
    for periods in (2, 20):
        rows = large.whole(periods * P) // (periods * P)
        array = PyGPU.sort(large.bytes((rows, periods * P)))
        expected = Rule(VALUES).over((rows, P, periods), 0, 1, 0)
        large.check(array, expected, what=f"rows of {periods * P} elements")
        del array


@case("sorting")
def sort_along_first_axis(large: ArrayChecker) -> None:
    columns = large.whole(2 * P) // (2 * P)
    # Column x contains the table's entries x, x + 2, x + 4, ...; in a column of 2 P elements each value occurs twice.
    array = large.pattern((2 * P, columns), Rule(BYTES).over((2 * P, columns), 2, 1))
    large.check(PyGPU.sort(array, axis=0), Rule(VALUES).over((P, 2, columns), 1, 0, 0))


@case("sorting")
def argsort(large: ArrayChecker) -> None:
    size = large.whole(P)
    order = PyGPU.argsort(large.bytes(size), stable=True)
    first = np.argsort(BYTES)
    # Value v occurs at its first position and at every P-th element after it.
    large.check(order, Rule(first, growth=P).over((P, size // P), 1, P))


@case("sorting")
def search_of_many_values(large: ArrayChecker) -> None:
    edges = np.arange(0, 256, 3).astype(np.uint8)
    positions = PyGPU.searchsorted(PyGPU.to_gpu(edges), large.bytes(large.elements))
    large.check(positions, Rule(np.searchsorted(edges, BYTES)))


@case("sorting")
def search_in_many_elements(large: ArrayChecker) -> None:
    ascending = large.pattern(large.elements, Rule(np.arange(P, dtype=np.uint32), growth=P))
    expected = np.array(large.spread)
    values = PyGPU.to_gpu(expected.astype(np.uint32))
    large.check_value(PyGPU.searchsorted(ascending, values), expected, "left")
    large.check_value(PyGPU.searchsorted(ascending, values, side="right"), expected + 1, "right")


@case("sorting")
def unique_values(large: ArrayChecker) -> None:
    size = large.whole(P)
    values, counts = PyGPU.unique(large.bytes(size), return_counts=True)
    large.check_value(values, VALUES, "values")
    large.check_value(counts, np.full(P, size // P), "counts")


@case("sorting")
def counts_of_values(large: ArrayChecker) -> None:
    size = large.whole(P)
    array = large.bytes(size)
    large.check_value(PyGPU.bincount(array), np.full(P, size // P), "bincount")
    counts, _ = PyGPU.histogram(array, bins=np.array([0, 100, 250], np.uint8))
    large.check_value(counts, np.array([100, 151]) * (size // P), "histogram")
