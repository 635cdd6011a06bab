"""Write and check arrays of any size, by device kernels with 64-bit indices and by host copies of a few parts.

The kernels share no index computation with PyGPU's own kernels. The host copies also test the transfer of parts that
begin beyond 2^31 elements and 2^32 bytes.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import PyGPU
from large_array_support.element_rules import BYTES, Rule

# Sizes around which indices or offsets overflow: signed and unsigned 32-bit integers.
LIMITS = (1 << 31, 1 << 32)
# Number of elements before and after each size of `LIMITS` that are copied to the host for the check.
WINDOW = 8
BLOCKS, THREADS = 1 << 14, 256

SOURCE = Path(__file__).with_name("array_checker.cu").read_text()


class CheckFailure(AssertionError):
    """Report an array that does not have the expected elements."""


class ArrayChecker:
    """Create arrays and check results, for cases whose arrays have at least `elements` elements."""

    def __init__(self, elements: int) -> None:
        self.elements = elements
        self.mode = "off"
        self.most_elements = 0
        self.most_bytes = 0
        self._module = PyGPU.Module(SOURCE)
        self._wrong = PyGPU.empty(2, np.uint64)
        self._tables: dict[tuple[bytes, str], PyGPU.GPUArray] = {}

    @property
    def edges(self) -> tuple[int, ...]:
        """Return array sizes just below and above 2^31, and above 2^32; smaller sizes for a run with small arrays."""
        middle = 1 << 31 if self.elements >= 1 << 31 else self.elements
        return (middle - 1, middle, middle + 1, 2 * middle + 5)

    @property
    def spread(self) -> list[int]:
        """Return a few ascending positions that include both sides of 2^31 and the last element."""
        middle = 1 << 31 if self.elements > 1 << 31 else self.elements // 2
        return [0, 5, middle - 1, middle, middle + 1, self.elements - 1]

    def whole(self, divisor: int) -> int:
        """Return the smallest multiple of `divisor` that is at least the number of elements."""
        return math.ceil(self.elements / divisor) * divisor

    def square(self, divisor: int = 1) -> tuple[int, int]:
        """Return the shape of a nearly square matrix, whose number of columns is a multiple of `divisor`."""
        rows = math.isqrt(self.elements) | 1
        return rows, math.ceil(math.ceil(self.elements / rows) / divisor) * divisor

    def cube(self) -> tuple[int, int, int]:
        """Return the shape of an array with three axes of nearly equal length."""
        side = math.ceil(self.elements ** (1 / 3))
        return side, side + 1, math.ceil(self.elements / (side * (side + 1)))

    def note(self, array: PyGPU.GPUArray) -> None:
        """Record the size of an array for the report."""
        self.most_elements = max(self.most_elements, array.size)
        self.most_bytes = max(self.most_bytes, array.nbytes)

    def pattern(self, shape: int | tuple[int, ...], rule: Rule) -> PyGPU.GPUArray:
        """Return a new array whose elements follow a rule."""
        array = PyGPU.empty(shape, rule.table.dtype)
        self.note(array)
        self._launch("write", array, rule)
        return array

    def bytes(self, shape: int | tuple[int, ...], table: np.ndarray = BYTES, start: int = 0) -> PyGPU.GPUArray:
        """Return a new array that repeats a table in C order."""
        return self.pattern(shape, Rule(table, start=start))

    def check(self, array: PyGPU.GPUArray, rule: Rule, least: float | None = None, what: str = "") -> None:
        """Compare all elements with a rule on the device, and some of them on the host.

        `least` is the absolute difference up to which real numbers are equal; by default all bits must be equal.
        """
        self._check_form(array, rule.table.dtype, what)
        self._judge("compare", array, rule, what, least)
        self._check_parts(array, rule, least, what)

    def check_steps(self, array: PyGPU.GPUArray, rule: Rule, axis: int) -> None:
        """Compare the differences of consecutive integers along an axis with a rule."""
        self._check_form(array, rule.table.dtype, "")
        lag = math.prod(array.shape[axis + 1 :])
        self._judge("steps", array, rule, "differences", None, lag, array.shape[axis])

    def check_value(self, found: Any, expected: Any, what: str = "", least: float = 0) -> None:
        """Compare a few values with the expected values."""
        found = found.get() if isinstance(found, PyGPU.GPUArray) else np.asarray(found)
        expected = np.asarray(expected)
        if found.shape != expected.shape or not np.allclose(found, expected, rtol=least, atol=0):
            raise CheckFailure(f"{what}: {found.tolist()} instead of {expected.tolist()}")

    def _check_form(self, array: PyGPU.GPUArray, dtype: np.dtype[Any], what: str) -> None:
        self.note(array)
        if array.dtype != dtype or not array.flags.c_contiguous:
            raise CheckFailure(
                f"{what}: the result is {array.dtype} with the strides {array.strides}, expected {dtype} in C order"
            )

    def _judge(
        self, kernel: str, array: PyGPU.GPUArray, rule: Rule, what: str, least: float | None, *more: int
    ) -> None:
        self._wrong[...] = np.array([0, 2**64 - 1], np.uint64)
        arguments = map(np.uint64, more) if kernel == "steps" else (np.float64(least or 0.0),)
        self._launch(kernel, array, rule, *arguments, self._wrong, is_near=least is not None)
        count, first = self._wrong.tolist()
        if count:
            place = np.array([first])
            found = array.reshape(-1)[first : first + 1].get()
            raise CheckFailure(
                f"{what}: {count} of {array.size} elements are wrong; the first is {first} of {array.shape}, {found[0]}"
                + (f" instead of {rule.at(place)[0]}" if kernel == "compare" else "")
            )

    def _check_parts(self, array: PyGPU.GPUArray, rule: Rule, least: float | None, what: str) -> None:
        flat = array.reshape(-1)
        positions = {0, array.size, array.size // 2, *LIMITS, *(limit // array.itemsize for limit in LIMITS)}
        for place in sorted(positions):
            low, high = max(place - WINDOW, 0), min(place + WINDOW, array.size)
            if low >= high:
                continue
            found, expected = flat[low:high].get(), rule.at(np.arange(low, high))
            same = found.tobytes() == expected.tobytes() if least is None else np.allclose(found, expected, 0, least)
            if not same:
                raise CheckFailure(
                    f"{what}: elements {low} to {high - 1} are {found.tolist()} instead of {expected.tolist()}"
                )

    def _launch(self, kernel: str, array: PyGPU.GPUArray, rule: Rule, *more: Any, is_near: bool = False) -> None:
        bits = array.dtype if is_near else np.dtype(f"u{array.itemsize}")
        name = f"{kernel}_{'f' if is_near else ''}{array.itemsize}"
        table = self._table(rule.table.view(bits), bits)
        grid = max(1, min(BLOCKS, math.ceil(array.size / THREADS)))
        # Macros hide the types of the kernel's parameters from PyGPU, so convert each number to the type of its
        # parameter.
        self._module[name][grid, THREADS](
            array.reshape(-1).view(bits),
            np.uint64(array.size),
            table,
            np.uint64(len(rule.table)),
            np.uint64(rule.growth),
            np.int64(rule.start),
            *map(np.uint64, rule.inner),
            *map(np.int64, rule.steps),
            *more,
        )

    def _table(self, table: np.ndarray, bits: np.dtype[Any]) -> PyGPU.GPUArray:
        key = (table.tobytes(), bits.str)
        if key not in self._tables:
            self._tables[key] = PyGPU.to_gpu(table)
        return self._tables[key]

    def forget_tables(self) -> None:
        """Free the device copies of tables."""
        self._tables.clear()
