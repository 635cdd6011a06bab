"""Test Fourier transforms: values, types, shapes and errors match NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from layouts import LAYOUTS, lie
from support import of_few

DTYPES = ["float32", "complex64", "complex128", "float16", "int32", "bool", "float64", "uint8"]
IS_GPU = PyGPU.backend_name() != "cpu"


def numbers(dtype: str, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    made = rng.integers(-9, 9, shape) + (1j * rng.random(shape) if dtype.startswith("complex") else 0)
    return made.astype(dtype)


def same(got: PyGPU.GPUArray, expected: Any, about: object = "", loose: bool = False) -> None:
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape), about
    few = {"float16": 2e-3, "float32": 1e-5, "complex64": 1e-5}.get(expected.dtype.name, 1e-12)
    few = 2e-3 if loose else few  # For float16 input, NumPy also rounds the scale factor to 16 bits.
    most = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(got.get(), expected, rtol=few, atol=few * most, err_msg=str(about))


def compare(name: str, host: np.ndarray, *arguments: Any, **keywords: Any) -> None:
    expected = getattr(np.fft, name)(host, *arguments, **keywords)
    got = getattr(PyGPU.fft, name)(PyGPU.to_gpu(host), *arguments, **keywords)
    same(got, expected, (name, host.dtype, arguments, keywords), loose=host.dtype == "float16")


def takes(name: str, dtype: str) -> bool:
    return not (name in ("rfft", "ihfft", "rfftn", "rfft2") and dtype.startswith("complex"))


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("dtype", of_few(DTYPES, DTYPES[:5]))
def test_fft_of_one_axis_matches_numpy(dtype: str) -> None:
    host = numbers(dtype, 3, 4, 6)
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        if takes(name, dtype):
            compare(name, host)
            compare(name, host, None, 1, "ortho")
            compare(name, host, 9, 0, norm="forward")
            compare(name, host, n=3, axis=-2, norm="backward")
            compare(name, host, 1)


@pytest.mark.parametrize("dtype", of_few(DTYPES, DTYPES[:2]))
def test_fft_of_several_axes_matches_numpy(dtype: str) -> None:
    host = numbers(dtype, 3, 4, 5, 2)
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        if takes(name, dtype):
            compare(name, host)
            compare(name, host, axes=(2, 0), norm="forward")
            compare(name, host, (5, 2), (1, 3), "ortho")
            compare(name, host, s=(-1, 3), axes=(0, 1))
            compare(name, host, axes=(1, 1))
            compare(name[:-1] + "2", host)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fft_accepts_any_layout(layout: str) -> None:
    for dtype in ("complex64", "float32"):
        host, array = lie(layout, numbers(dtype, 6, 8))
        for axis in range(host.ndim):
            if host.shape[axis]:
                same(PyGPU.fft.fft(array, axis=axis), np.fft.fft(host, axis=axis))
                same(PyGPU.fft.irfft(array, 5, axis), np.fft.irfft(host, 5, axis))
            if host.shape[axis] and dtype == "float32":
                same(PyGPU.fft.rfft(array, axis=axis), np.fft.rfft(host, axis=axis))
        if host.size:
            same(PyGPU.fft.fftn(array), np.fft.fftn(host))
        np.testing.assert_array_equal(array.get(), host)  # The transforms must not have changed their input array.


def test_fft_of_inner_axes_matches_numpy() -> None:
    host = numbers("complex64", 12, 4, 10)
    compare("fft", host, axis=1)
    compare("irfft", host, axis=1)
    compare("rfft", host.real.copy(), axis=1)
    compare("fftn", numbers("complex64", 2, 3, 2, 3, 2))
    wide = numbers("float32", 5, 7)[:, 1:6]
    assert PyGPU.fft.fft(PyGPU.to_gpu(np.asfortranarray(host))).flags.f_contiguous
    same(PyGPU.fft.rfft(PyGPU.to_gpu(numbers("float32", 5, 7))[:, 1:6]), np.fft.rfft(wide))


def test_fft_writes_into_out_array_of_any_dtype_and_layout() -> None:
    host = numbers("complex64", 4, 6)
    expected = np.fft.fft(host)
    array = PyGPU.to_gpu(host)
    assert PyGPU.fft.fft(array, out=array) is array
    same(array, expected)
    for out in (
        PyGPU.empty((4, 6), "complex128"),
        PyGPU.empty((6, 4), "complex64").T,
        PyGPU.empty((4, 13), "complex64")[:, 1::2],
        PyGPU.empty((4, 6), "complex64")[::-1],
    ):
        assert PyGPU.fft.fft(PyGPU.to_gpu(host), out=out) is out
        same(out.astype("complex64"), expected)
    both = PyGPU.to_gpu(np.concatenate([host, host]))
    PyGPU.fft.ifftn(both[1:5], out=both[2:6])
    same(both[2:6], np.fft.ifftn(np.concatenate([host, host])[1:5]))
    real = PyGPU.empty((4, 10), "float32")
    PyGPU.fft.irfft2(PyGPU.to_gpu(host), out=real)
    same(real, np.fft.irfft2(host))
    half = PyGPU.empty((4, 6), "complex64")
    assert PyGPU.fft.ihfft(real, out=half) is half
    same(half, np.fft.ihfft(real.get()))


def test_fft_is_correct_if_out_array_overlaps_padded_input() -> None:
    memory = PyGPU.to_gpu(numbers("complex128", 10))
    host = memory.get()
    PyGPU.fft.fft(memory[:4], 8, out=memory[2:])
    same(memory[2:], np.fft.fft(host[:4], 8))


def test_fft_over_empty_or_one_element_axis_matches_numpy() -> None:
    compare("fft", np.zeros((0, 4)))
    compare("rfftn", np.zeros((3, 0, 4), "float32"), axes=(0, 2))
    compare("fft", np.zeros(0), 3)
    # NumPy leaves this result uninitialized, so PyGPU's result, which is zero, is not compared with NumPy's.
    if IS_GPU:
        assert not PyGPU.fft.irfft(PyGPU.zeros((2, 0), "complex64"), 4).get().any()
    for name in ("fft", "ifftn", "rfft", "rfft2", "ihfft"):
        compare(name, numbers("float32", 1, 1))
    compare("irfft", numbers("complex64", 2, 1), 1)
    compare("irfftn", numbers("complex64", 4, 3), s=(4, 1), axes=(0, 1))
    for name in ("fftn", "ifftn"):
        array = PyGPU.ones(())
        assert getattr(PyGPU.fft, name)(array) is array


CALLS: list[Callable[[Any, Any], Any]] = [
    lambda f, a: f.fft(a, 0),
    lambda f, a: f.irfft(a[:, :1]),
    lambda f, a: f.fft(a, norm="x"),
    lambda f, a: f.irfftn(a, norm="x"),
    lambda f, a: f.hfft(a, norm="x"),
    lambda f, a: f.fft(a, 4, 5),
    lambda f, a: f.fftn(a, axes=(0, 7), s=(2, 2)),
    lambda f, a: f.fftn(a, (2,), (0, 1)),
    lambda f, a: f.ifftn(a, (2, 2), (0,)),
    lambda f, a: f.rfftn(a, axes=()),
    lambda f, a: f.rfft(a + 0j),
    lambda f, a: f.rfft(a[:, :3] + 0j),
    lambda f, a: f.fft(a, out=a),
    lambda f, a: f.fft(a, 3, out=a + 0j),
    lambda f, a: f.fftfreq(2.5),
]


@pytest.mark.parametrize("place", range(len(CALLS)))
def test_fft_with_invalid_arguments_raises_same_message_as_numpy(place: int) -> None:
    host = numbers("float64", 2, 4)
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - each call has another type of error
        CALLS[place](np.fft, host)
    kinds = tuple(kind for kind in type(theirs.value).__mro__ if kind.__module__ in ("builtins", "numpy.exceptions"))
    with pytest.raises(kinds[0]) as ours:
        CALLS[place](PyGPU.fft, PyGPU.to_gpu(host))
    assert str(ours.value) == str(theirs.value)


def test_fft_rejects_host_arrays_invalid_axes_and_read_only_out_array() -> None:
    with pytest.raises(TypeError, match="to_gpu"):
        PyGPU.fft.fft(np.ones(3))
    array = PyGPU.ones(4, "complex64")
    with pytest.raises(TypeError, match="out= is 3"):
        PyGPU.fft.fft(array, out=3)
    with pytest.raises(TypeError):
        PyGPU.fft.fft(array, 2.5)
    with pytest.raises(TypeError):
        PyGPU.fft.fftn(array, axes=0)
    frozen = PyGPU.broadcast_to(PyGPU.ones(1, "complex64"), (4,))
    with pytest.raises(ValueError, match="read-only"):
        PyGPU.fft.fft(array, out=frozen)
    with pytest.warns(DeprecationWarning, match="axes"):
        PyGPU.fft.fftn(array, (4,))
    with warnings.catch_warnings(), pytest.warns(DeprecationWarning, match="None"):
        PyGPU.fft.fftn(array, (None,), (0,))  # type: ignore[arg-type]


def test_fftfreq_and_fftshift_functions_match_numpy() -> None:
    for count in (1, 4, 5, np.int64(8)):
        same(PyGPU.fft.fftfreq(count, 0.5), np.fft.fftfreq(count, 0.5))
        same(PyGPU.fft.rfftfreq(count), np.fft.rfftfreq(count))
    device = PyGPU.Device()
    single = PyGPU.fft.fftfreq(4, d=2.0, device=device, dtype="float32")
    assert (single.dtype, single.device) == (np.float32, device)
    with pytest.raises(ValueError, match="real"):
        PyGPU.fft.rfftfreq(4, dtype="int32")
    host = numbers("complex64", 4, 5)
    for axes in (None, 0, (1,), (-1, 0)):
        compare("fftshift", host, axes)
        compare("ifftshift", host, axes=axes)


def test_numpy_fft_functions_dispatch_device_arrays_to_pygpu() -> None:
    host = numbers("float32", 4, 6)
    array = PyGPU.to_gpu(host)
    assert "fft" in dir(PyGPU)
    assert array.__array_namespace__().fft is PyGPU.fft
    for name in PyGPU.fft.__all__:
        if not name.endswith("freq"):
            made = getattr(np.fft, name)(array)
            assert isinstance(made, PyGPU.GPUArray)
            same(made, getattr(np.fft, name)(host), name)
    out = PyGPU.empty((4, 6), "complex64")
    assert np.fft.fft(array, norm="ortho", out=out) is out
    same(out, np.fft.fft(host, norm="ortho"))


class Own(PyGPU.GPUArray):
    """Define a subclass without additions, whose class the results must have."""


@pytest.mark.skipif(not IS_GPU, reason="NumPy's results are wrapped as they are")
def test_fft_of_subclass_array_has_same_class() -> None:
    made = Own((4,), "complex64")
    made.fill(1)
    assert type(PyGPU.fft.fft(made)) is Own
