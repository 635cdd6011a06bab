"""Test methods that return or write the bytes of an array, and `byteswap`."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest

import PyGPU

DTYPES = ["bool", "int8", "int16", "uint32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
VIEWS = [np.s_[:], np.s_[:, ::2], np.s_[::-1, ::-1], np.s_[1], np.s_[1, 1], np.s_[:0]]


def values(dtype: str) -> np.ndarray:
    """Return an array of numbers that differ from each other."""
    return (np.arange(1, 13) * 37).reshape(3, 4).astype(dtype)


@pytest.mark.parametrize("view", VIEWS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_tobytes_of_array_returns_same_bytes_as_numpy(dtype, view):
    host = np.asarray(values(dtype)[view])
    array = PyGPU.to_gpu(values(dtype))[view]
    assert bytes(array) == host.tobytes()
    # NumPy's `tobytes` fails for 0-d arrays in order 'F'.
    for order in (None, "C", "F", "A") if host.ndim else ("C",):
        assert array.tobytes(order) == host.tobytes(order)
        assert array.T.tobytes(order) == host.T.tobytes(order)


@pytest.mark.parametrize("view", VIEWS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_byteswap_reverses_bytes_of_each_number(dtype, view):
    host, array = values(dtype), PyGPU.to_gpu(values(dtype))
    swapped = array[view].byteswap()
    expected = np.asarray(host[view]).byteswap()
    assert swapped.dtype == expected.dtype
    assert swapped.shape == expected.shape
    assert swapped.tobytes() == expected.tobytes()
    assert array.tobytes() == host.tobytes()
    part = array[view]
    assert part.byteswap(inplace=True) is part
    host[view] = np.asarray(host[view]).byteswap()
    assert array.tobytes() == host.tobytes()


def test_byteswap_result_has_same_memory_order_of_axes():
    assert PyGPU.zeros((2, 3), order="F").byteswap().flags.f_contiguous


def test_byteswap_rejects_structured_and_read_only_arrays():
    with pytest.raises(TypeError, match="fields"):
        PyGPU.zeros(2, [("a", "i4"), ("b", "f8")]).byteswap()
    array = PyGPU.broadcast_to(PyGPU.arange(3), (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        array.byteswap(inplace=True)


def test_tofile_writes_same_file_as_numpy(tmp_path):
    host = values("float32")
    array = PyGPU.to_gpu(host)
    array[:, ::2].tofile(tmp_path / "binary")
    np.testing.assert_array_equal(np.fromfile(tmp_path / "binary", "float32"), host[:, ::2].ravel())
    array.tofile(str(tmp_path / "text"), sep=",", format="%.1f")
    assert (tmp_path / "text").read_text() == ",".join(f"{value:.1f}" for value in host.ravel())


def test_dump_writes_pickle_of_array(tmp_path):
    array = PyGPU.to_gpu(values("int16"))
    file = io.BytesIO()
    array.dump(file)
    array.dump(tmp_path / "array.pickle")
    for data in (array.dumps(), file.getvalue(), (tmp_path / "array.pickle").read_bytes()):
        restored = pickle.loads(data)
        assert isinstance(restored, PyGPU.GPUArray)
        np.testing.assert_array_equal(restored.get(), values("int16"))
