"""Define cases of scans, which are cumulative reductions."""

from __future__ import annotations

import math

import numpy as np

import PyGPU
from large_array_support.array_checker import ArrayChecker
from large_array_support.case_registry import case
from large_array_support.element_rules import BYTES, P, Rule


def sums_of_bytes() -> np.ndarray:
    """Return the table of cumulative sums modulo 256, whose period is 256 times the period of the elements."""
    return np.cumsum(np.resize(BYTES, 256 * P), dtype=np.uint8)


@case("scans")
def sum_around_limits(large: ArrayChecker) -> None:
    for size in large.edges:
        sums = PyGPU.cumsum(large.bytes(size), dtype=np.uint8)
        large.check(sums, Rule(sums_of_bytes()), what=f"{size} elements")
        del sums


@case("scans")
def sum_in_eight_bytes(large: ArrayChecker) -> None:
    sums = PyGPU.cumsum(large.bytes(large.elements))
    table = np.cumsum(BYTES, dtype=np.uint64)
    large.check(sums, Rule(table, growth=int(table[-1])))
    large.check_steps(sums, Rule(BYTES.astype(np.uint64)), axis=0)


@case("scans")
def sum_along_each_axis(large: ArrayChecker) -> None:
    long_middle = (7, math.ceil(large.elements / 35), 5)
    for shape in (large.square(), (2, large.elements | 1), (math.ceil(large.elements / 3), 3), long_middle):
        array = large.bytes(shape)
        for axis in range(len(shape)):
            large.check_steps(PyGPU.cumsum(array, axis=axis, dtype=np.uint8), Rule(BYTES), axis)


@case("scans")
def greatest_so_far(large: ArrayChecker) -> None:
    array = large.bytes(large.elements)
    place = large.spread[4]
    array[place] = 255
    greatest = PyGPU.maximum.accumulate(array)
    large.check_value(greatest[:P], np.maximum.accumulate(BYTES), "the first elements")
    large.check(greatest[P:place], Rule(np.array([BYTES.max()])), what="before the greatest")
    large.check(greatest[place:], Rule(np.array([255], np.uint8)), what="from the greatest on")


@case("scans")
def scan_kernel_by_text(large: ArrayChecker) -> None:
    scan = PyGPU.scan.InclusiveScanKernel(np.uint8, "a + b")
    array = large.bytes(large.elements)
    large.check(scan(array), Rule(sums_of_bytes()))
