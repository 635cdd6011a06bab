"""Define cases of reductions: of all elements, along each axis, with masks, of views, fused operands and segments."""

from __future__ import annotations

import math

import numpy as np

import PyGPU
from large_array_support.array_checker import ArrayChecker
from large_array_support.case_registry import case
from large_array_support.element_rules import BYTES, REDUCTIONS, P, Rule, reduced, total

MOST = int(BYTES.max())


@case("reductions")
def of_all_elements(large: ArrayChecker) -> None:
    for size in large.edges:
        array, what = large.bytes(size), f"{size} elements"
        sum_of_all = total(BYTES, size)
        zeros = total((BYTES == 0).astype(np.uint8), size)
        large.check_value(array.sum(), np.uint64(sum_of_all), f"sum, {what}")
        large.check_value(array.mean(), sum_of_all / size, f"mean, {what}", least=1e-12)
        large.check_value(PyGPU.count_nonzero(array), size - zeros, f"count_nonzero, {what}")
        large.check_value(array.max(), MOST, f"max, {what}")
        large.check_value(array.argmax(), int(BYTES.argmax()), f"argmax, {what}")
        del array


@case("reductions")
def of_elements_behind_the_limits(large: ArrayChecker) -> None:
    for size in large.edges[2:]:
        array, what = large.bytes(size, np.zeros(1, np.uint8)), f"{size} elements"
        large.check_value(array.any(), False, f"any, {what}")
        array[size - 3 :] = np.array([5, 7, 7], np.uint8)
        large.check_value(array.any(), True, f"any, {what}")
        large.check_value(array.sum(), 19, f"sum, {what}")
        large.check_value(array.max(), 7, f"max, {what}")
        large.check_value(array.argmax(), size - 2, f"argmax, {what}")
        large.check_value(PyGPU.count_nonzero(array), 3, f"count_nonzero, {what}")
        del array


@case("reductions")
def variance(large: ArrayChecker) -> None:
    size = large.elements
    squares = total(BYTES.astype(np.int64) ** 2, size)
    mean = total(BYTES, size) / size
    large.check_value(large.bytes(size).var(), squares / size - mean**2, "var", least=1e-9)


def along_axes(large: ArrayChecker, shape: tuple[int, ...], functions: tuple[str, ...] = REDUCTIONS) -> None:
    """Reduce an array of a shape along each axis by each function."""
    array = large.bytes(shape)
    steps = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    for axis, length in enumerate(shape):
        kept = [place for place in range(len(shape)) if place != axis]
        for function in functions:
            result = getattr(PyGPU, function)(array, axis=axis)
            rule = Rule(reduced(function, BYTES, steps[axis], length))
            rule = rule.over(result.shape, *(steps[place] for place in kept))
            what = f"{function} along axis {axis} of {shape}"
            large.check(result, rule, least=1e-9 if function == "mean" else None, what=what)


@case("reductions")
def along_each_axis_of_square(large: ArrayChecker) -> None:
    along_axes(large, large.square())


@case("reductions")
def along_each_axis_of_three_columns(large: ArrayChecker) -> None:
    along_axes(large, (math.ceil(large.elements / 3), 3))


@case("reductions")
def along_each_axis_of_two_long_rows(large: ArrayChecker) -> None:
    # Each row has more than 2^31 elements, and the rows begin at odd addresses.
    along_axes(large, (2, large.elements | 1), ("sum", "argmax", "any"))


@case("reductions")
def along_each_axis_of_cube(large: ArrayChecker) -> None:
    along_axes(large, large.cube(), ("sum", "max", "argmax"))


@case("reductions")
def along_each_axis_of_long_middle_axis(large: ArrayChecker) -> None:
    along_axes(large, (7, math.ceil(large.elements / 35), 5), ("sum", "max", "argmax"))


@case("reductions")
def argmax_behind_limit_along_axis(large: ArrayChecker) -> None:
    array = large.bytes((2, large.elements), np.zeros(1, np.uint8))
    array[1, -2] = 9
    large.check_value(array.argmax(axis=1), np.array([0, large.elements - 2]), "axis 1")
    columns = array.reshape(large.elements, 2)
    place = 2 * large.elements - 2
    expected = np.zeros(2, np.int64)
    expected[place % 2] = place // 2
    large.check_value(columns.argmax(axis=0), expected, "axis 0")


@case("reductions")
def of_masked_elements(large: ArrayChecker) -> None:
    size = large.elements
    mask = large.bytes(size) > 99
    expected = total(np.where(BYTES > 99, BYTES, 0).astype(np.uint8), size)
    large.check_value(large.bytes(size).sum(where=mask), np.uint64(expected), "sum")


@case("reductions")
def of_fused_operands(large: ArrayChecker) -> None:
    size = large.elements
    array = large.bytes(size)
    large.check_value(((array ^ 1) + 2).sum(), np.uint64(total((BYTES ^ 1) + np.uint8(2), size)), "sum")
    large.check_value((array == 7).sum(), size // P + (int(np.flatnonzero(BYTES == 7)[0]) < size % P), "sum of bools")


@case("reductions")
def of_views(large: ArrayChecker) -> None:
    size = large.elements
    base = large.bytes(2 * size)
    every_second = total(BYTES[np.arange(P) * 2 % P], size)
    large.check_value(base[::2].sum(), np.uint64(every_second), "every second")
    large.check_value(base[::-1].sum(), np.uint64(total(BYTES, 2 * size)), "reversed")
    large.check_value(base[::-1].argmin(), int(BYTES[(2 * size - 1 - np.arange(P)) % P].argmin()), "argmin, reversed")


@case("reductions")
def of_segments_behind_limit(large: ArrayChecker) -> None:
    # A few threads reduce one segment, so the segments are short.
    starts = np.array([large.elements - 1000, large.elements - 700, large.elements - 1])
    sums = PyGPU.add.reduceat(large.bytes(large.elements), starts, dtype=np.uint64)
    ends = [*starts[1:].tolist(), large.elements]
    expected = [total(BYTES, end) - total(BYTES, start) for start, end in zip(starts.tolist(), ends, strict=True)]
    large.check_value(sums, np.array(expected, np.uint64), "reduceat")
