"""Define cases of random numbers: a long draw equals NumPy's draw, and draws of a generator after `advance`."""

from __future__ import annotations

from typing import Any

import numpy as np

import PyGPU
from large_array_support.array_checker import ArrayChecker, CheckFailure
from large_array_support.case_registry import case

SEED = 2026
# Number of random numbers that the generator computes from one block of bits, by the size of a number in bytes.
IN_BLOCK = {4: 8, 8: 4}


def advanced(module: Any, blocks: int) -> Any:
    """Return a generator of PyGPU or NumPy that was advanced by a number of blocks."""
    if module is PyGPU:
        return PyGPU.random.default_rng(SEED).advance(blocks)
    source = np.random.Philox(SEED)
    source.advance(blocks)
    return np.random.Generator(source)


def check_draw(large: ArrayChecker, draw: Any, in_block: int) -> PyGPU.GPUArray:
    """Draw numbers, and compare them with generators that begin at different blocks; return the numbers."""
    size = large.elements
    drawn = draw(advanced(PyGPU, 0), size)
    large.note(drawn)
    for place in large.spread:
        start = min(place // in_block, size // in_block - 3)
        expected = draw(advanced(np, start), 2 * in_block)
        found = drawn[start * in_block : start * in_block + expected.size].get()
        if found.tobytes() != expected.tobytes():
            raise CheckFailure(f"numbers from {start * in_block} are {found.tolist()} instead of {expected.tolist()}")
    start = size // 3 // in_block
    rest = draw(advanced(PyGPU, start), size - start * in_block)
    if not bool((drawn[start * in_block :] == rest).all()):
        raise CheckFailure(f"numbers from {start * in_block} differ from those of a generator that was advanced there")
    return drawn


@case("random")
def uniform_numbers(large: ArrayChecker) -> None:
    drawn = check_draw(large, lambda rng, size: rng.random(size, np.float32), IN_BLOCK[4])
    mean = float(drawn.mean(dtype=np.float64))
    # The mean of uniform numbers has the standard deviation 0.29 / sqrt(size).
    if abs(mean - 0.5) > 6 * 0.29 / large.elements**0.5:
        raise CheckFailure(f"the mean of uniform numbers is {mean}")


@case("random")
def integers(large: ArrayChecker) -> None:
    drawn = check_draw(large, lambda rng, size: rng.integers(1 << 20, size=size, dtype=np.int32), IN_BLOCK[4])
    large.check_value(drawn.max() < 1 << 20, True, "greatest")


@case("random")
def normal_numbers(large: ArrayChecker) -> None:
    size = large.elements
    drawn = PyGPU.random.default_rng(SEED).standard_normal(size, np.float32)
    large.note(drawn)
    start = size // 3 // IN_BLOCK[4]
    rest = advanced(PyGPU, start).standard_normal(size - start * IN_BLOCK[4], np.float32)
    if not bool((drawn[start * IN_BLOCK[4] :] == rest).all()):
        raise CheckFailure("numbers differ from those of a generator that was advanced")
    mean = float(drawn.mean(dtype=np.float64))
    if abs(mean) > 6 / size**0.5:
        raise CheckFailure(f"the mean of normal numbers is {mean}")
