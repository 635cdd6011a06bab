"""Test the real and imaginary parts of arrays, which are views as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU

NUMBERS = np.array([[1 + 2j, 3 - 4j, 0], [5j, -6, 7 + 7j]])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["real", "imag"])
@pytest.mark.parametrize("key", [np.s_[:], np.s_[:, ::2], np.s_[::-1, 1], np.s_[1, 2], np.s_[:0]])
def test_write_into_part_changes_complex_array(dtype, name, key):
    host = NUMBERS.astype(dtype)
    for get_part in (lambda module, array: getattr(array, name), lambda module, array: getattr(module, name)(array)):
        expected, array = host.copy(), PyGPU.to_gpu(host)
        expected_part, part = get_part(np, expected[key]), get_part(PyGPU, array[key])
        assert part.dtype == expected_part.dtype
        assert part.strides == expected_part.strides or not part.size
        np.testing.assert_array_equal(part.get(), expected_part)
        part += 1
        part[...] = part * 2
        if np.ndim(expected[key]):
            expected_part += 1
            expected_part[...] = expected_part * 2
        else:
            setattr(expected, name, getattr(expected, name))
            value = (getattr(expected[key], name) + 1) * 2
            expected[key] = complex(value, expected[key].imag) if name == "real" else complex(expected[key].real, value)
        np.testing.assert_array_equal(array.get(), expected)


def test_parts_of_transposed_array_are_views():
    array = PyGPU.to_gpu(NUMBERS)
    array.T.imag[...] = 0
    np.testing.assert_array_equal(array.get(), NUMBERS.real)


def test_numpy_real_of_device_array_is_view():
    array = PyGPU.to_gpu(NUMBERS)
    np.real(array)[...] = 5
    np.testing.assert_array_equal(array.get().real, np.full((2, 3), 5))


def test_parts_of_read_only_array_are_read_only():
    array = PyGPU.broadcast_to(PyGPU.to_gpu(NUMBERS), (2, 2, 3))
    for part in (array.real, array.imag):
        with pytest.raises(ValueError, match="read-only"):
            part[...] = 1


def test_real_part_of_real_array_is_array_itself():
    array = PyGPU.arange(3)
    assert PyGPU.real(array) is array
    assert PyGPU.imag(array).tolist() == [0, 0, 0]


def test_real_and_imag_functions_accept_numbers_and_out_argument():
    assert PyGPU.real(3 + 4j).item() == 3
    assert PyGPU.imag(3.5).item() == 0
    out = PyGPU.zeros((2, 3))
    assert PyGPU.imag(PyGPU.to_gpu(NUMBERS), out=out) is out
    np.testing.assert_array_equal(out.get(), NUMBERS.imag)


def test_real_part_of_pending_result_is_view_into_that_result():
    array = PyGPU.to_gpu(NUMBERS)
    total = array + array
    total.real[...] = 1
    np.testing.assert_array_equal(total.get(), 1 + 2j * NUMBERS.imag)
