"""Test rows, columns and slices of matrices as operands.

If all rows are aligned, a kernel processes several consecutive elements of a row at once.
"""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU


def matrix(kind: str, rows: int = 37, columns: int = 64, start: int = 0) -> np.ndarray:
    found = (np.arange(start, start + rows * columns) * 7) % 61
    return found.astype(kind).reshape(rows, columns)


@pytest.mark.parametrize("kind", ["float32", "int8", "complex128"])
def test_sum_of_matrix_and_row_or_column_matches_numpy(kind: str) -> None:
    x, row, column = matrix(kind), matrix(kind, 1, 64, 3), matrix(kind, 37, 1, 5)
    device_x, device_row, device_column = map(PyGPU.to_gpu, (x, row, column))
    np.testing.assert_array_equal((device_x + device_row[0]).get(), x + row[0])
    np.testing.assert_array_equal((device_x + device_column).get(), x + column)
    np.testing.assert_array_equal((device_column + device_row).get(), column + row)
    device_x += device_row
    np.testing.assert_array_equal(device_x.get(), x + row)


# `start` is the first column of the slice; `columns` is the number of columns of the matrix. For the first two pairs
# (start, columns) all rows of the slice are aligned; for the last three pairs they are not.
@pytest.mark.parametrize(("start", "columns"), [(0, 80), (16, 80), (1, 80), (16, 81), (4, 82)])
@pytest.mark.parametrize("kind", ["float32", "int8"])
def test_sum_of_matrix_slices_at_any_column_offset_matches_numpy(kind: str, start: int, columns: int) -> None:
    x, y = matrix(kind, 21, columns), matrix(kind, 21, columns, 9)
    device_x, device_y = PyGPU.to_gpu(x), PyGPU.to_gpu(y)
    part = np.s_[:, start : start + 48]
    np.testing.assert_array_equal((device_x[part] + device_y[part]).get(), x[part] + y[part])
    PyGPU.add(device_x[part], device_y[:, :48], out=device_y[part])
    np.add(x[part], y[:, :48].copy(), out=y[part])
    np.testing.assert_array_equal(device_y.get(), y)


def test_operations_on_rows_with_mixed_item_sizes_match_numpy() -> None:
    x, mask = matrix("float32", 12, 40).reshape(3, 4, 40), matrix("int32", 3, 40, 2) > 20
    device_x, device_mask = PyGPU.to_gpu(x), PyGPU.to_gpu(mask)
    chosen = PyGPU.where(device_mask[:, None], device_x, device_x[:, ::-1])
    np.testing.assert_array_equal(chosen.get(), np.where(mask[:, None], x, x[:, ::-1]))
    np.testing.assert_array_equal((device_x[..., :-1] > device_x[:1, :, 1:]).get(), x[..., :-1] > x[:1, :, 1:])
    np.testing.assert_array_equal((device_x[..., 8:] * device_mask[:, None, 8:]).get(), x[..., 8:] * mask[:, None, 8:])
