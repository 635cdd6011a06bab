"""Define cases of selections: take, put, index arrays, masks, positions of nonzero elements."""

from __future__ import annotations

import itertools

import numpy as np

import PyGPU
from large_array_support.array_checker import ArrayChecker
from large_array_support.case_registry import case
from large_array_support.element_rules import BYTES, P, Rule

SHIFTED = np.roll(BYTES, 17)
CHOSEN = BYTES % 3 != 0  # A mask with the same period P as `BYTES`.


def backwards(large: ArrayChecker, dtype: type) -> PyGPU.GPUArray:
    """Return the indices of all elements from the last to the first."""
    size = large.elements
    # In this rule, `f` decreases by 1 from each element to the next, and each period of P indices adds P to the table's
    # values.
    return large.pattern(size, Rule(np.arange(P, dtype=dtype), growth=P).over((size,), -1, start=size - 1))


@case("selection")
def take_of_all_elements(large: ArrayChecker) -> None:
    size = large.elements
    expected = Rule(BYTES).over((size,), -1, start=size - 1)
    array, indices = large.bytes(size), backwards(large, np.int64)
    large.check(PyGPU.take(array, indices), expected, what="take")
    large.check(array[indices], expected, what="index array")


@case("selection")
def take_of_few_elements(large: ArrayChecker) -> None:
    array = large.bytes(large.elements)
    positions = np.array(large.spread)
    large.check_value(PyGPU.take(array, positions), BYTES[positions % P], "take")
    large.check_value(array[PyGPU.to_gpu(positions - large.elements)], BYTES[positions % P], "negative indices")
    for place in positions.tolist():
        large.check_value(array[place], BYTES[place % P], f"element {place}")


@case("selection")
def take_from_small_table(large: ArrayChecker) -> None:
    table = np.arange(1000, 1000 + P).astype(np.uint16)
    large.check(PyGPU.to_gpu(table)[large.bytes(large.elements)], Rule(table[BYTES]))


@case("selection")
def take_along_each_axis(large: ArrayChecker) -> None:
    rows, columns = large.square()
    array = large.bytes((rows, columns))
    last = np.array([rows - 1, 0, rows - 2])
    for place, row in enumerate(last.tolist()):
        taken = PyGPU.take(array, last, axis=0)[place]
        large.check(taken, Rule(BYTES, start=row * columns), what=f"row {row}")
    taken = PyGPU.take(array, np.array([columns - 1, 0]), axis=1)
    large.check(taken[:, 0].copy(), Rule(BYTES).over((rows,), columns, start=columns - 1), what="last column")
    wide = PyGPU.take(array, np.arange(columns - 1, -1, -1), axis=1)
    large.check(wide, Rule(BYTES).over((rows, columns), columns, -1, start=columns - 1), what="all columns")


@case("selection")
def take_along_axis(large: ArrayChecker) -> None:
    array = large.bytes((large.elements // 4 + 1, 4))
    order = PyGPU.take_along_axis(array, PyGPU.to_gpu(np.array([[3, 1, 2, 0]])), axis=1)
    table = np.resize(BYTES, 4 * P).reshape(-1, 4)[:, [3, 1, 2, 0]].reshape(-1)
    large.check(order, Rule(table))


@case("selection")
def put_of_all_elements(large: ArrayChecker) -> None:
    size = large.elements
    target = PyGPU.zeros(size, np.uint8)
    target[backwards(large, np.uint32)] = large.bytes(size)
    large.check(target, Rule(BYTES).over((size,), -1, start=size - 1))


@case("selection")
def put_of_repeated_positions(large: ArrayChecker) -> None:
    # Elements 2 i and 2 i + 1 are both assigned to position i, which keeps element 2 i + 1.
    size = large.whole(2)
    positions = large.pattern(size, Rule(np.arange(P, dtype=np.uint32), growth=P).over((size // 2, 2), 1, 0))
    target = PyGPU.zeros(size // 2, np.uint8)
    target[positions] = large.bytes(size)
    large.check(target, Rule(BYTES).over((size // 2,), 2, start=1))


@case("selection")
def put_of_one_value(large: ArrayChecker) -> None:
    target = large.bytes(large.elements)
    positions = np.array(large.spread)
    target[PyGPU.to_gpu(positions)] = 255
    PyGPU.put(target, positions[1:4] + 1, np.array([251, 252, 253], np.uint8))
    expected = dict.fromkeys(positions.tolist(), 255)
    expected |= dict(zip((positions[1:4] + 1).tolist(), (251, 252, 253), strict=True))
    for place, value in expected.items():
        large.check_value(target[place], value, f"element {place}")
    bounds = [-1, *sorted(expected), large.elements]
    for low, high in itertools.pairwise(bounds):
        if high - low > 1:
            large.check(target[low + 1 : high], Rule(BYTES, start=low + 1), what=f"elements after {low}")


@case("selection")
def add_at_positions(large: ArrayChecker) -> None:
    target = large.bytes(large.elements)
    place = large.spread[4]
    PyGPU.add.at(target, np.array([place, large.elements - 1, place]), np.array([1, 2, 3], np.uint8))
    expected = [BYTES[place % P] + np.uint8(4), BYTES[(large.elements - 1) % P] + np.uint8(2)]
    large.check_value(target[np.array([place, large.elements - 1])], np.array(expected), "changed elements")
    large.check(target[:place], Rule(BYTES), what="elements before")


@case("selection")
def mask(large: ArrayChecker) -> None:
    for size in large.edges[2:]:
        size = size // P * P
        array, chosen = large.bytes(size), large.bytes(size, CHOSEN)
        selected = array[chosen]
        large.check(selected, Rule(BYTES[CHOSEN]), what=f"{size} elements")
        large.check_value(selected.size, size // P * int(CHOSEN.sum()), "size")
        array[chosen] = large.bytes(selected.size, SHIFTED[CHOSEN])
        large.check(array, Rule(np.where(CHOSEN, SHIFTED, BYTES)), what="assigned values")
        array[chosen] = 255
        large.check(array, Rule(np.where(CHOSEN, np.uint8(255), BYTES)), what="assigned value")
        del array, chosen, selected


@case("selection")
def mask_of_view(large: ArrayChecker) -> None:
    size = large.whole(P)
    view = large.bytes(2 * size)[::-2]
    chosen = large.bytes(size, CHOSEN)
    elements = BYTES[(2 * size - 1 - 2 * np.arange(P)) % P]
    large.check(view[chosen], Rule(elements[CHOSEN]))


@case("selection")
def nonzero(large: ArrayChecker) -> None:
    rows, columns = large.square(divisor=P)
    sparse = (BYTES < 2).astype(np.uint8)
    positions = np.flatnonzero(sparse)
    flat = large.bytes(rows * columns, sparse)
    (found,) = PyGPU.nonzero(flat)
    large.check(found, Rule(positions, growth=P), what="one axis")
    down, across = PyGPU.nonzero(flat.reshape(rows, columns))
    each = columns // P * len(positions)
    large.check(down, Rule(np.zeros(1, np.int64), growth=1).over((rows, each), 1, 0), what="rows")
    large.check(across, Rule(positions, growth=P).over((rows, each), 0, 1), what="columns")
