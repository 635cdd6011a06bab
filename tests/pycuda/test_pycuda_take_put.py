"""Test PyCUDA's `take` and `put` functions."""

from __future__ import annotations

import numpy as np
import pytest

from PyGPU import gpuarray


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_take_matches_numpy_in_dtype_of_array(dtype):
    a = np.arange(20).astype(dtype)
    indices = np.array([3, 19, 0, 3], np.uint32)
    ours, positions = gpuarray.to_gpu(a), gpuarray.to_gpu(indices)
    np.testing.assert_array_equal(gpuarray.take(ours, positions).get(), a[indices])
    out = gpuarray.zeros(4, dtype)
    assert gpuarray.take(ours, positions, out) is out
    np.testing.assert_array_equal(out.get(), a[indices])
    results = gpuarray.multi_take([ours, ours[::-1]], positions)
    for result, expected in zip(results, (a, a[::-1]), strict=True):
        assert result.dtype == dtype
        np.testing.assert_array_equal(result.get(), expected[indices])


def test_multi_put_and_multi_take_put_match_numpy():
    arrays = [np.arange(4.0), np.arange(4.0) + 10]
    to, at = np.array([5, 0, 2, 1]), np.array([3, 3, 0, 1])
    outs = [gpuarray.zeros(6) for _ in arrays]
    results = gpuarray.multi_put(list(map(gpuarray.to_gpu, arrays)), gpuarray.to_gpu(to), out=outs)
    for result, array in zip(results, arrays, strict=True):
        expected = np.zeros(6)
        expected[to] = array
        np.testing.assert_array_equal(result.get(), expected)
    assert gpuarray.multi_put(list(map(gpuarray.to_gpu, arrays)), gpuarray.to_gpu(to), (2, 3))[0].shape == (2, 3)
    sources = list(map(gpuarray.to_gpu, arrays))
    results = gpuarray.multi_take_put(sources, gpuarray.to_gpu(to), gpuarray.to_gpu(at), (6,))
    for result, array in zip(results, arrays, strict=True):
        np.testing.assert_array_equal(result.get()[to], array[at])
    moved = gpuarray.multi_take_put(sources, gpuarray.to_gpu(to), gpuarray.to_gpu(at // 2), (6,), src_offsets=[1, 2])
    np.testing.assert_array_equal(moved[1].get()[to], arrays[1][at // 2 + 2])


def test_take_and_put_reject_mismatched_arguments_like_pycuda():
    a, positions = gpuarray.to_gpu(np.arange(4.0)), gpuarray.to_gpu(np.arange(2))
    assert gpuarray.multi_take([], positions) == gpuarray.multi_put([], positions) == []
    with pytest.raises(AssertionError):
        gpuarray.take(a, positions.reshape(1, 2))
    with pytest.raises(ValueError, match="same length"):
        gpuarray.multi_take([a], positions, out=[])
    with pytest.raises(TypeError, match="same dtype"):
        gpuarray.multi_put([a], positions, out=[gpuarray.zeros(4, "float32")])
    with pytest.raises(TypeError, match="same dtype"):
        gpuarray.multi_take_put([a], positions, positions.astype("int8"), (4,))
    with pytest.raises(ValueError, match="same shape"):
        gpuarray.multi_take_put([a], positions, positions[:1], (4,))
