"""Test arrays of small elements at unaligned addresses: results match NumPy.

For such arrays a kernel loads aligned words and shifts their bytes, instead of loading each element separately.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import PyGPU
from PyGPU.elementwise import ElementwiseKernel
from support_kernels import needs_kernels

# Kernels load aligned words only from arrays of at least 2^14 elements; from smaller arrays they load single elements.
COUNT = 20_011


def values(kind: str, start: int = 0) -> np.ndarray:
    found = (np.arange(start, start + COUNT) * 7) % 61
    dtype: Any = ml_dtypes.bfloat16 if kind == "bfloat16" else kind
    return found % 2 == 0 if kind == "bool" else found.astype(dtype)


@pytest.mark.parametrize("kind", ["bool", "int8", "uint16", "float16", "bfloat16", "float32", "float64"])
def test_product_of_unaligned_operands_matches_numpy(kind: str) -> None:
    x, y = values(kind), values(kind, 5)
    device_x, device_y = PyGPU.to_gpu(x), PyGPU.to_gpu(y)
    for first, second in [(1, 0), (0, 1), (1, 3), (2, 2), (5, 8), (15, 16), (17, 7)]:
        end = COUNT - max(first, second)
        found = device_x[first : first + end] * device_y[second : second + end]
        np.testing.assert_array_equal(found.get(), x[first : first + end] * y[second : second + end])


@pytest.mark.parametrize("length", [16_384, 16_385, 16_399, 16_400, 19_000])
@pytest.mark.parametrize("place", [0, 1, 3, 13, 16, 31])
def test_unaligned_out_array_leaves_neighbouring_elements_unchanged(length: int, place: int) -> None:
    x, out = values("int8"), values("int8", 9)
    device_x, device_out = PyGPU.to_gpu(x), PyGPU.to_gpu(out)
    for start in (0, 2, place):
        PyGPU.add(device_x[start : start + length], 3, out=device_out[place : place + length])
        out[place : place + length] = x[start : start + length] + 3
        np.testing.assert_array_equal(device_out.get(), out)
        device_out[place : place + length] -= device_x[1 : 1 + length]
        out[place : place + length] -= x[1 : 1 + length]
        np.testing.assert_array_equal(device_out.get(), out)


def test_unaligned_operands_of_mixed_sizes_with_mask_match_numpy() -> None:
    x, y, mask = values("float16"), values("int8", 4), values("bool", 3)
    device_x, device_y, device_mask = map(PyGPU.to_gpu, (x, y, mask))
    np.testing.assert_array_equal((device_x[1:] > device_y[:-1]).get(), x[1:] > y[:-1])
    out, expected = PyGPU.zeros(COUNT, "float16"), np.zeros(COUNT, "float16")
    PyGPU.add(device_x[3:], device_y[:-3], out=out[1:-2], where=device_mask[2:-1])
    np.add(x[3:], y[:-3], out=expected[1:-2], where=mask[2:-1])
    np.testing.assert_array_equal(out.get(), expected)


@needs_kernels
def test_user_kernel_may_skip_or_update_elements_of_unaligned_array() -> None:
    x, z, w = values("int8"), values("int8", 2), values("int8", 7)
    device_x, device_z, device_w = map(PyGPU.to_gpu, (x, z, w))
    text = "if (i % 3 == 0) continue; z[i] = x[i] + i % 7; w[i] += x[i]"
    kernel = ElementwiseKernel("const signed char *x, signed char *z, signed char *w", text)
    # The two results start 1 and 2 elements after an aligned address, so the kernel can align its stores to one result
    # only.
    for first, second in [(1, 1), (3, 3), (1, 2)]:
        kernel(device_x[2:-2], device_z[first : first - 4], device_w[second : second - 4])
        index = np.arange(COUNT - 4)
        chosen = index % 3 != 0
        z[first : first - 4] = np.where(chosen, x[2:-2] + index % 7, z[first : first - 4])
        w[second : second - 4] += np.where(chosen, x[2:-2], 0).astype("int8")
        np.testing.assert_array_equal(device_z.get(), z)
        np.testing.assert_array_equal(device_w.get(), w)


@pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="the CPU reads bytes as quickly")
def test_kernel_reads_unaligned_small_elements_by_loads_of_whole_words() -> None:
    # The generated source defines the name `pygpu_head` only if the kernel loads aligned words and shifts their bytes.
    # Without this definition, the test's kernel does not compile.
    text = "z[i] = x[i] + 0 * sizeof(pygpu_head)"
    small = ElementwiseKernel("const unsigned char *x, unsigned char *z", text)
    large = ElementwiseKernel("const float *x, float *z", text)
    array, floats = PyGPU.ones(COUNT, "uint8"), PyGPU.ones(COUNT, "float32")
    result = PyGPU.zeros(COUNT, "uint8")
    small(array[1:], result[:-1])
    assert np.all(result.get()[:-1] == 1)
    others = [
        (small, (array, result)),
        (small, (array[1:99], result[:98])),
        (large, (floats[1:], PyGPU.zeros(COUNT - 1, "float32"))),
    ]
    for kernel, arrays in others:
        with pytest.raises(PyGPU.CompileError):
            kernel(*arrays)
