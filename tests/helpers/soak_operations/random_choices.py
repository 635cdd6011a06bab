"""Make the random choices of the random test soak.py: values, shapes, keys.

All choices come from one seed, independently of the speed of a device.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np

try:
    import ml_dtypes
except ImportError:  # The package ml_dtypes may be missing on a machine with a GPU.
    ml_dtypes = None

NUMBERS = ["bool", "int8", "uint8", "int16", "uint32", "int32", "int64", "float16", "float32", "float64"]
NUMBERS += ["complex64", "complex128"]
NUMPYS_OWN = [np.dtype(name) for name in NUMBERS]
DTYPES = [*NUMPYS_OWN, np.dtype([("id", "i4"), ("position", "f4", (2,))]), np.dtype("V3")]
if ml_dtypes is not None:
    DTYPES += [np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.float8_e4m3fn)]

# Largest sizes of an array in bytes. A few arrays are large, because large arrays use other code paths.
SMALL, LARGE = 1 << 14, 1 << 20
RANDOM_BYTES = 2 * LARGE


class Choices(Random):
    """Generate random numbers by Python's generator, and arrays of random bytes."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._bytes = np.random.default_rng(seed).integers(0, 256, RANDOM_BYTES, np.uint8)

    def chance(self, one_in: int) -> bool:
        return self.randrange(one_in) == 0

    def shape(self) -> tuple[int, ...]:
        if self.chance(500):
            return (self.randrange(LARGE // 32, LARGE // 16),)
        longest = 12 if self.chance(4) else 5
        lengths = [self.randint(0 if self.chance(4) else 1, longest) for _ in range(self.randrange(5))]
        return tuple(lengths)

    def order(self) -> str:
        return self.choice("CF")

    def values(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return elements of random bytes, so that all arrays differ and a misplaced byte is detected."""
        count = math.prod(shape) * dtype.itemsize
        first = self.randrange(RANDOM_BYTES - count + 1)
        raw = self._bytes[first : first + count].copy()
        if dtype.kind == "b":
            raw &= 1
        return raw.view(dtype).reshape(shape)

    def strided_values(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return random elements in an array with any strides: in C or F order, stepped, or reversed."""
        return self.strided_twins(shape, dtype)[0]

    def strided_twins(self, shape: tuple[int, ...], dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
        """Return two arrays with equal random values and equal strides."""
        values = self.values(shape, dtype)
        match self.randrange(5):
            case 0:
                return np.array(values, order="F"), np.array(values, order="F")
            case 1 if shape:
                stepped = np.zeros((2, *shape[:-1], 2 * shape[-1]), dtype)[..., ::2]
                stepped[...] = values
                return stepped[0], stepped[1]
            case 2 if shape:
                return values[::-1], values.copy()[::-1]
        return values, values.copy()

    def bounds(self, length: int) -> slice:
        step = self.choice([None, None, 1, 2, 3, -1, -1, -2])
        first, last = (self.choice([None, self.randint(-length - 1, length + 1)]) for _ in range(2))
        return slice(first, last, step)

    def basic_key(self, shape: tuple[int, ...]) -> tuple[Any, ...]:
        """Return a key of integers, slices, `...` and `None`, which selects a view."""
        items: list[Any] = []
        for length in shape[: self.randint(0, len(shape))]:
            integer = length > 0 and self.chance(4)
            items.append(self.randrange(-length, length) if integer else self.bounds(length))
        items.append(Ellipsis)
        if self.chance(4) and len(shape) < 8:
            items.insert(self.randint(0, len(items)), None)
        return tuple(items)

    def mask(self, shape: tuple[int, ...]) -> np.ndarray:
        return self.values(shape, np.dtype(bool))

    def advanced_key(self, shape: tuple[int, ...], *, distinct: bool = False) -> Any:
        """Return a mask for the first axes, or an integer array for one axis after slices for earlier axes.

        With `distinct`, the key selects no element twice.
        """
        axis = self.randrange(len(shape))
        length = shape[axis]
        if length == 0 or self.chance(2):
            return self.mask(shape[: axis + 1])
        most = min(length, 8)
        taken = self.sample(range(length), self.randint(0, most)) if distinct else self.choices(range(length), k=most)
        return (*(slice(None) for _ in range(axis)), np.array(taken, np.int64))

    def broadcast(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return a shape to which the given shape can be broadcast."""
        longer = [self.randint(0, 3) if length == 1 else length for length in shape]
        return (*(self.randint(1, 3) for _ in range(self.randrange(3))), *longer)

    def broadcasting(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return a shape that can be broadcast to the given shape."""
        shorter = shape[self.randint(0, len(shape)) :]
        return tuple(1 if self.chance(3) else length for length in shorter)

    def same_size(self, size: int) -> tuple[int, ...]:
        """Return a shape with `size` elements."""
        shape: list[int] = []
        rest = size
        for _ in range(self.randrange(3)):
            factor = self.choice([n for n in range(1, 8) if rest % n == 0])
            shape.append(factor)
            rest //= factor
        shape.insert(self.randint(0, len(shape)), rest)
        return tuple(shape)
