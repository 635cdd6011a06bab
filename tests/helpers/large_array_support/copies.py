"""Define cases of copies: contiguous, transposed, strided, pitched, between host and device, joined, repeated."""

from __future__ import annotations

import math

import numpy as np

import PyGPU
from large_array_support.array_checker import ArrayChecker
from large_array_support.case_registry import case
from large_array_support.element_rules import BYTES, P, Rule


@case("copies")
def contiguous(large: ArrayChecker) -> None:
    for size in large.edges:
        large.check(large.bytes(size).copy(), Rule(BYTES), what=f"{size} elements")


@case("copies")
def transposed(large: ArrayChecker) -> None:
    rows, columns = large.square()
    for divisor, table in ((1, BYTES), (16, BYTES), (4, BYTES.astype(np.uint32))):
        # If both lengths are multiples of the divisor, the kernel transposes whole vectors of elements in registers.
        shape = math.ceil(rows / divisor) * divisor, math.ceil(columns / divisor) * divisor
        turned = large.bytes(shape, table).T.copy("C")
        large.check(turned, Rule(table).over(turned.shape, 1, shape[1]), what=f"{shape} of {table.dtype}")
        del turned


@case("copies")
def permuted_axes(large: ArrayChecker) -> None:
    shape = large.cube()
    steps = (shape[1] * shape[2], shape[2], 1)
    array = large.bytes(shape)
    for order in ((2, 0, 1), (1, 0, 2), (2, 1, 0)):
        moved = array.transpose(order).copy("C")
        large.check(moved, Rule(BYTES).over(moved.shape, *(steps[axis] for axis in order)), what=f"{order}")
        del moved


@case("copies")
def fortran_order(large: ArrayChecker) -> None:
    rows, columns = large.square()
    copy = large.bytes((rows, columns)).copy("F")
    large.check(copy.T, Rule(BYTES).over((columns, rows), 1, columns))


@case("copies")
def strided(large: ArrayChecker) -> None:
    size = large.elements
    base = large.bytes(2 * size)
    large.check(base[1::2].copy("C"), Rule(BYTES).over((size,), 2, start=1), what="every second")
    large.check(base[::-1].copy("C"), Rule(BYTES).over((2 * size,), -1, start=2 * size - 1), what="reversed")
    large.check(base[size | 1 :].copy(), Rule(BYTES, start=size | 1), what="second half")
    base[::2] = large.bytes(size, np.zeros(1, np.uint8))
    table = np.resize(BYTES, 2 * P)
    table[::2] = 0
    large.check(base, Rule(table), what="assigned to every second")


@case("copies")
def overlapping(large: ArrayChecker) -> None:
    array = large.bytes(large.elements)
    array[1:] = array[:-1]
    large.check(array[1:], Rule(BYTES))


@case("copies")
def rows_that_are_far_apart(large: ArrayChecker) -> None:
    # The distance between rows exceeds 2^31 - 1 bytes, the greatest pitch that the drivers' copy functions accept.
    rows = large.bytes((3, large.elements))
    width = large.elements // 2
    first = [row * large.elements + 5 for row in range(3)]
    parts = rows[:, 5 : 5 + width].copy()
    large.check(parts, Rule(BYTES).over(parts.shape, large.elements, 1, start=5), what="copy")
    few = rows[:, 5:105].get()
    large.check_value(few, BYTES[(np.array(first)[:, None] + np.arange(100)) % P], "part on the host")
    rows[:, 5 : 5 + width] = 3
    rows[:, 5:105] = few
    for row, start in enumerate(first):
        large.check(rows[row, :105], Rule(BYTES, start=start - 5), what=f"start of row {row}")
        large.check(rows[row, 105 : 5 + width], Rule(np.array([3], np.uint8)), what=f"filled part of row {row}")
        large.check(rows[row, 5 + width :], Rule(BYTES, start=start + width), what=f"end of row {row}")


@case("copies")
def parts_on_host(large: ArrayChecker) -> None:
    array = large.bytes(large.elements)
    starts = [max(0, min(place - 500, large.elements - 1000)) for place in large.spread]
    for start in starts:
        expected = BYTES[np.arange(start, start + 1000) % P]
        large.check_value(array[start : start + 1000].get(), expected, f"elements from {start}")
    far = large.elements // 7
    large.check_value(array[::far].get(), BYTES[np.arange(0, large.elements, far) % P], "elements that are far apart")
    for start in starts:
        array[start : start + 1000] = np.full(1000, 255, np.uint8)
        large.check(array[start : start + 1000], Rule(np.array([255], np.uint8)), what=f"assigned from {start}")


@case("copies")
def joined(large: ArrayChecker) -> None:
    size = large.elements
    one, other = large.bytes(size), large.bytes(size, BYTES, start=5)
    both = PyGPU.concatenate([one, other[: size - 1]])
    large.check(both[:size], Rule(BYTES), what="first part")
    large.check(both[size:], Rule(BYTES, start=5), what="second part")
    del both
    stacked = PyGPU.stack([one, other], axis=1)
    large.check(stacked, Rule(BYTES).over((size, 2), 1, 5), what="stack")


@case("copies")
def repeated(large: ArrayChecker) -> None:
    turns = large.whole(P) // P
    small = PyGPU.to_gpu(BYTES)
    large.check(PyGPU.tile(small, turns), Rule(BYTES), what="tile")
    large.check(PyGPU.repeat(small, turns), Rule(BYTES).over((P, turns), 1, 0), what="repeat")
    large.check(PyGPU.broadcast_to(small, (turns, P)).copy("C"), Rule(BYTES), what="broadcast_to")
    columns = PyGPU.broadcast_to(small[:, None], (P, turns)).copy("C")
    large.check(columns, Rule(BYTES).over((P, turns), 1, 0), what="broadcast columns")


@case("copies")
def rolled(large: ArrayChecker) -> None:
    size = large.elements
    rolled = PyGPU.roll(large.bytes(size), size // 2 + 1)
    large.check(rolled[: size // 2 + 1], Rule(BYTES, start=size - size // 2 - 1), what="first part")
    large.check(rolled[size // 2 + 1 :], Rule(BYTES), what="second part")
