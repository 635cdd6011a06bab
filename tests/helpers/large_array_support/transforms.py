"""Define cases of Fourier transforms of many rows or columns with more than 2^31 elements in all."""

from __future__ import annotations

import numpy as np

import PyGPU
from large_array_support.array_checker import ArrayChecker
from large_array_support.case_registry import case
from large_array_support.element_rules import Rule

POINTS = 32
# Number of different rows, which is coprime to the number of points.
ROWS = 61
LEAST = 1e-3
REAL = ((np.arange(ROWS * POINTS) * 37 + 11) % 101 - 50).reshape(ROWS, POINTS).astype(np.float32)
COMPLEX = (REAL + 1j * REAL[::-1]).astype(np.complex64)


def as_floats(array: PyGPU.GPUArray) -> PyGPU.GPUArray:
    """View an array of complex numbers as floats, with a last axis that is twice as long."""
    return array.view(np.float32)


def by_rows(spectra: np.ndarray) -> Rule:
    """Return the rule that describes an array of repeated matrix rows, with complex numbers as pairs of floats."""
    return Rule(np.ascontiguousarray(spectra).view(np.float32).reshape(-1))


@case("transforms")
def complex_rows(large: ArrayChecker) -> None:
    rows = large.whole(POINTS) // POINTS
    array = large.bytes((rows, POINTS), COMPLEX.reshape(-1))
    # The transforms are in place, because the FFT library may need as much memory as the array in addition.
    PyGPU.fft.fft(array, axis=1, out=array)
    expected = np.fft.fft(COMPLEX, axis=1).astype(np.complex64)
    large.check(as_floats(array), by_rows(expected), least=LEAST, what="fft")
    PyGPU.fft.ifft(array, axis=1, out=array)
    large.check(as_floats(array), by_rows(COMPLEX), least=LEAST, what="ifft")


@case("transforms")
def real_rows(large: ArrayChecker) -> None:
    rows = large.whole(POINTS) // POINTS
    halves = PyGPU.fft.rfft(large.bytes((rows, POINTS), REAL.reshape(-1)), axis=1)
    expected = np.fft.rfft(REAL, axis=1).astype(np.complex64)
    large.check(as_floats(halves), by_rows(expected), least=LEAST, what="rfft")
    again = PyGPU.fft.irfft(halves, axis=1)
    large.check(again, Rule(REAL.reshape(-1)), least=LEAST, what="irfft")


@case("transforms")
def complex_columns(large: ArrayChecker) -> None:
    columns = large.whole(POINTS) // POINTS
    # Choose steps with which `f` equals the row modulo POINTS and the column modulo ROWS (Chinese remainder theorem).
    of_points = ROWS * pow(ROWS, -1, POINTS)
    of_columns = POINTS * pow(POINTS, -1, ROWS)
    positions = np.arange(POINTS * ROWS)

    def rule(matrix: np.ndarray) -> Rule:
        return Rule(np.ascontiguousarray(matrix[positions % ROWS, positions % POINTS]))

    array = large.pattern((POINTS, columns), rule(COMPLEX).over((POINTS, columns), of_points, of_columns))
    PyGPU.fft.fft(array, axis=0, out=array)
    expected = rule(np.fft.fft(COMPLEX, axis=1).astype(np.complex64))
    # In the table, the real part of an element is at index 2 f, and its imaginary part at index 2 f + 1.
    floats = Rule(expected.table.view(np.float32)).over((POINTS, columns, 2), 2 * of_points, 2 * of_columns, 1)
    large.check(as_floats(array), floats, least=LEAST)
