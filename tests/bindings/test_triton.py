"""Test the attributes of an array that Triton reads: `data_ptr()`, and a `dtype` whose name Triton accepts."""

from importlib.util import find_spec

import pytest

import PyGPU

pytestmark = pytest.mark.enough_on("cpu")
NAMES = {
    "bool": "u1",
    "int8": "i8",
    "int32": "i32",
    "int64": "i64",
    "uint16": "u16",
    "float16": "fp16",
    "float32": "fp32",
}


@pytest.mark.parametrize("dtype", NAMES)
def test_array_has_attributes_that_triton_reads(dtype: str) -> None:
    a = PyGPU.zeros(64, dtype)
    assert type(a.data_ptr()) is int
    # Triton uses the part of `str(dtype)` after the last dot: `float32` in `torch.float32`, which is the `str` of
    # PyTorch's dtype.
    assert str(a.dtype).rpartition(".")[2] in NAMES
    assert a.data_ptr() % 16 == 0
    assert a[1:].data_ptr() == a.ptr + a.itemsize


@pytest.mark.skipif(find_spec("triton") is None, reason="needs Triton")
@pytest.mark.parametrize("dtype", NAMES)
def test_triton_detects_dtype_and_alignment_of_array(dtype: str) -> None:
    from triton._C.libtriton import native_specialize_impl
    from triton.backends.nvidia.compiler import CUDABackend

    a = PyGPU.zeros(64, dtype)
    assert native_specialize_impl(CUDABackend, a, False, True, True) == (f"*{NAMES[dtype]}", "D")
    assert native_specialize_impl(CUDABackend, a[1:], True, True, True) == (f"*k{NAMES[dtype]}", "")
