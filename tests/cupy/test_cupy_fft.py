"""Test CuPy's interface to Fourier transforms: plans, their cache, FFTPACK's layouts and SciPy's backends."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU import cupy
from PyGPU.cupy.cuda import cufft
from PyGPU.cupy.fft import config
from PyGPU.cupyx.scipy import fft as scipy_fft
from PyGPU.cupyx.scipy import fftpack
from support import on_cpu

on_gpus = pytest.mark.skipif(on_cpu(), reason="a library of a GPU's vendor")

HOST = (np.arange(60.0).reshape(3, 4, 5) ** 2 % 17) + 1j * (np.arange(60.0).reshape(3, 4, 5) % 7)
TRANSFORMS = {"C2C": "fftn", "R2C": "rfftn", "C2R": "irfftn"}


def host_for(value_type: str) -> np.ndarray:
    return HOST.real.copy() if value_type == "R2C" else HOST


@pytest.mark.parametrize(
    ("value_type", "shape", "axes", "described"),
    [
        ("C2C", None, 1, "Plan1d(nx=4, fft_type=0x69, batch=15)"),
        ("C2C", 7, -1, "Plan1d(nx=7, fft_type=0x69, batch=12)"),
        ("R2C", (6,), (0,), "Plan1d(nx=6, fft_type=0x6a, batch=20)"),
        ("C2R", None, -1, "Plan1d(nx=8, fft_type=0x6c, batch=12)"),
        ("C2C", (3, 2), None, "PlanNd(shape=(3, 2), fft_type=0x69, batch=3, order='C')"),
        ("C2C", None, (1, 0), "PlanNd(shape=(3, 4), fft_type=0x69, batch=5, order='C')"),
        ("R2C", (None, 6), (1, 2), "PlanNd(shape=(4, 6), fft_type=0x6a, batch=3, order='C')"),
        ("C2R", None, None, "PlanNd(shape=(3, 4, 8), fft_type=0x6c, batch=1, order='C')"),
    ],
)
def test_fft_plan_repr_shows_parameters_and_fft_functions_accept_plan(
    value_type: Any, shape: Any, axes: Any, described: str
) -> None:
    host = host_for(value_type)
    a = cupy.array(host)
    plan = scipy_fft.get_fft_plan(a, shape, axes, value_type)
    assert repr(plan) == described
    name = TRANSFORMS[value_type]
    s, used = ((one,) if isinstance(one, int) else one for one in (shape, axes))
    points = None if s is None else [-1 if one is None else one for one in s]
    expected = getattr(np.fft, name)(host, points, tuple(range(-len(s), 0)) if used is None and s else used)
    np.testing.assert_allclose(getattr(scipy_fft, name)(a, s, used, plan=plan).get(), expected, atol=1e-10)
    with plan:
        assert cufft.get_current_plan() is plan
        for functions in (cupy.fft, scipy_fft):
            np.testing.assert_allclose(getattr(functions, name)(a, s, used).get(), expected, atol=1e-10)
    assert cufft.get_current_plan() is None


def test_current_fft_plan_is_plan_of_innermost_with_block_in_thread() -> None:
    outer, inner = cufft.Plan1d(4, cufft.CUFFT_C2C, 1), cufft.Plan1d(5, cufft.CUFFT_C2C, 1)
    elsewhere = []
    with outer:
        with inner:
            assert cufft.get_current_plan() is inner
        assert cufft.get_current_plan() is outer
        thread = threading.Thread(target=lambda: elsewhere.append(cufft.get_current_plan()))
        thread.start()
        thread.join()
    assert elsewhere == [None]


def test_fft_rejects_plan_of_different_transform() -> None:
    a, row = cupy.array(HOST), cupy.array(HOST[0, 0])
    plan = scipy_fft.get_fft_plan(row)
    planes = scipy_fft.get_fft_plan(a, axes=(1, 2))
    single = row.astype("c8")
    refused: list[tuple[str, Callable[[], Any]]] = [
        (r"Target array size does not match the plan\.", lambda: scipy_fft.fft(row, 6, plan=plan)),
        (r"Batch size does not match the plan\.", lambda: scipy_fft.fft(a, plan=plan)),
        (r"cuFFT plan dtype mismatch\. .* 0x29, the plan 0x69", lambda: scipy_fft.fft(single, plan=plan)),
        (r"cuFFT plan dtype mismatch", lambda: scipy_fft.rfft(row.real.copy(), plan=plan)),
        (r"expected plan to have type cufft.Plan1d, not PlanNd", lambda: scipy_fft.ifft(a, plan=planes)),
        (r"expected plan to have type .*, not str", lambda: scipy_fft.fftn(a, plan="abc")),
        (r"The cuFFT plan and a.shape do not match", lambda: fftpack.fft2(a, (4, 6), plan=planes)),
        (r"Batch size does not match the plan\.", lambda: scipy_fft.fftn(a[:2], axes=(1, 2), plan=planes)),
        (r"array orders mismatch", lambda: scipy_fft.fft2(cupy.asfortranarray(a), plan=planes)),
        (r"dtype mismatch", lambda: scipy_fft.irfft2(a, (4, 5), plan=planes)),
    ]
    for text, call in refused:
        with pytest.raises(ValueError, match=text):
            call()
    for current, call in ((plan, lambda: cupy.fft.hfft(row)), (planes, lambda: cupy.fft.ifftn(a))):
        with pytest.raises(ValueError, match=r"do(es)? not match|mismatch"), current:
            call()
        assert cufft.get_current_plan() is None
    with pytest.raises(RuntimeError, match="either as a context manager or as an argument"), plan:
        fftpack.fft(row, plan=plan)


def test_get_fft_plan_rejects_arguments_that_cupy_rejects() -> None:
    a = cupy.array(HOST)
    for text, arguments in (
        ("Input array a must be contiguous", (a[:, ::2],)),
        ("Shape and axes have different lengths", (a, (3, 4), 0)),
        ("chosen axis .3. exceeds the number of dimensions", (a, None, 3)),
        ("The axes must be contiguous", (a, None, (0, 2))),
        ("The axes must be contiguous", (cupy.ones((1, 2, 1, 2)),)),
        ("Invalid number of FFT data points", (a, 0, 1)),
        ("F-order arrays is not supported", (cupy.asfortranarray(a), None, None, "R2C")),
        ("value_type='Z2Z' is not a kind of transform", (a, None, 0, "Z2Z")),
    ):
        with pytest.raises(ValueError, match=text):
            scipy_fft.get_fft_plan(*arguments)
    with pytest.raises(NotImplementedError, match=r"Plan1d: devices=\[0, 1\] is not supported"):
        cufft.Plan1d(4, cufft.CUFFT_C2C, 1, devices=[0, 1])
    with pytest.raises(ValueError, match="fft_type=3 is not a type of transform"):
        cufft.Plan1d(4, 3, 1)
    for transform in (scipy_fft.hfft, scipy_fft.ihfft, scipy_fft.hfft2, scipy_fft.ihfftn):
        with pytest.raises(NotImplementedError, match="not yet supported"):
            transform(a.real, plan=cufft.Plan1d(4, cufft.CUFFT_C2C, 1))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("axes", [(0, 1), (1, 2), (0, 1, 2)])
def test_fft_plan_transforms_into_output_array(order: str, axes: tuple[int, ...]) -> None:
    a = cupy.array(HOST, order=order)
    plan = scipy_fft.get_fft_plan(a, axes=axes)
    out = plan.get_output_array(a, order)
    plan.check_output_array(a, out)
    plan.fft(a, out, cufft.CUFFT_FORWARD)
    np.testing.assert_allclose(out.get(), np.fft.fftn(HOST, axes=axes), atol=1e-10)
    # As in cuFFT, the inverse transform does not divide by the number of elements.
    plan.fft(out, out, cufft.CUFFT_INVERSE)
    np.testing.assert_allclose(out.get(), HOST * np.prod([HOST.shape[axis] for axis in axes]), atol=1e-9)


def test_fft_plan_for_real_numbers_transforms_into_output_array() -> None:
    real, half = cupy.array(HOST.real), cupy.array(HOST)
    for axes in (-1, (1, 2)):
        forth = scipy_fft.get_fft_plan(real, axes=axes, value_type="R2C")
        back = scipy_fft.get_fft_plan(half, axes=axes, value_type="C2R")
        spectrum, values = forth.get_output_array(real), back.get_output_array(half)
        forth.fft(real, spectrum, cufft.CUFFT_FORWARD)
        back.fft(half, values, cufft.CUFFT_INVERSE)
        used = np.atleast_1d(axes)
        np.testing.assert_allclose(spectrum.get(), np.fft.rfftn(HOST.real, axes=used), atol=1e-10)
        np.testing.assert_allclose(values.get(), np.fft.irfftn(HOST, axes=used, norm="forward"), atol=1e-10)
        with pytest.raises(ValueError, match="dtype mismatch"):
            back.fft(half, spectrum, cufft.CUFFT_INVERSE)
        with pytest.raises(ValueError, match="shape"):
            back.check_output_array(half, values[:1])
    with pytest.raises(ValueError, match="Target array size does not match the plan"):
        cufft.Plan1d(5, cufft.CUFFT_Z2Z, 11).fft(half, half, cufft.CUFFT_FORWARD)
    with pytest.raises(ValueError, match="direction=0 is none"):
        cufft.Plan1d(5, cufft.CUFFT_Z2Z, 12).fft(half, half, 0)
    with pytest.raises(ValueError, match="memory"):
        cufft.PlanNd((9, 9), None, 1, 0, None, 1, 0, cufft.CUFFT_Z2Z, 12, "C", 1, None).fft(half, half, -1)


@on_gpus
def test_fft_with_existing_plan_can_be_captured() -> None:
    a = cupy.array(HOST[0, :, :3])
    plan, out = scipy_fft.get_fft_plan(a, axes=1), cupy.empty((4, 3), np.complex128)
    stream = PyGPU.Stream()
    with stream:
        stream.begin_capture()
        with plan:
            cupy.fft.fft(a, out=out)
        graph = stream.end_capture()
    graph.launch(stream)
    stream.synchronize()
    np.testing.assert_allclose(out.get(), np.fft.fft(a.get()), atol=1e-10)


@on_gpus
def test_fft_plan_cache_reports_and_limits_number_of_plans() -> None:
    cache = config.get_plan_cache()
    assert (cache.get_size(), cache.get_curr_memsize(), cache.get_memsize()) == (64, 0, -1)
    try:
        config.clear_plan_cache()
        assert cache.get_curr_size() == 0
        for length in (3, 4, 3, 5):
            cupy.fft.fft(cupy.ones(length, "c16"))
        assert cache.get_curr_size() == 3
        config.set_plan_cache_size(2)
        cupy.fft.fft(cupy.ones(6, "c16"))
        assert (cache.get_curr_size(), config.get_plan_cache_size()) == (2, 2)
        cache.set_size(0)
        assert complex(cupy.fft.fft(cupy.ones(4, "c16"))[0]) == 4
        assert cache.get_curr_size() == 0
        cache.set_size(-1)
        assert cache.get_size() == -1
        cupy.fft.fft(cupy.ones(6, "c16"))
        cache.set_memsize(0)
        assert (cache.get_curr_size(), cache.get_memsize()) == (0, 0)
    finally:
        cache.set_size(64)
        cache.set_memsize(-1)
    with pytest.raises(ValueError, match="size=-2 is below -1"):
        cache.set_size(-2)


def test_fft_plan_cache_information_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    config.show_plan_cache_info()
    assert "max size   : " in capsys.readouterr().out


def test_deprecated_fft_setting_warns_and_unsupported_setting_raises() -> None:
    with pytest.warns(DeprecationWarning, match="enable_nd_planning is deprecated"):
        assert config.enable_nd_planning is True
    with pytest.warns(DeprecationWarning, match="enable_nd_planning"):
        config.enable_nd_planning = False
    with pytest.warns(DeprecationWarning, match="enable_nd_planning"):
        assert config.enable_nd_planning is False
    with pytest.warns(DeprecationWarning, match="enable_nd_planning"):
        config.enable_nd_planning = True
    config.use_multi_gpus = False
    assert (config.use_multi_gpus, config.devices, config.get_current_callback_manager()) == (False, None, None)
    with pytest.raises(NotImplementedError, match="use_multi_gpus: True is not supported"):
        config.use_multi_gpus = True
    with pytest.raises(NotImplementedError, match="one device"):
        config.set_cufft_gpus(2)
    with pytest.raises(NotImplementedError, match="callbacks are not supported"):
        config.set_cufft_callbacks(cb_load="")


def packed(x: np.ndarray, n: int, axis: int) -> np.ndarray:
    """Compute half of a spectrum with NumPy, and store real and imaginary parts in the order of FFTPACK."""
    half = np.moveaxis(np.fft.rfft(x, n, axis), axis, -1)
    parts = np.stack([half.real, half.imag], axis=-1).reshape(*half.shape[:-1], -1)
    return np.moveaxis(np.delete(parts, 1, -1)[..., :n], -1, axis)


@pytest.mark.parametrize("axis", [0, -1])
def test_fftpack_functions_store_real_and_imaginary_parts_alternately(axis: int) -> None:
    host = HOST.real[0]
    a = cupy.array(host)
    for n in (None, 3, 8):
        points = host.shape[axis] if n is None else n
        spectrum = fftpack.rfft(a, n, axis)
        np.testing.assert_allclose(spectrum.get(), packed(host, points, axis), atol=1e-10)
        np.testing.assert_allclose(
            fftpack.irfft(spectrum, axis=axis).get(), np.fft.irfft(np.fft.rfft(host, n, axis), points, axis), atol=1e-10
        )
        np.testing.assert_allclose(
            fftpack.rfft(fftpack.irfft(a, n, axis), axis=axis).get()[:3, :3], host[:3, :3], atol=1e-10
        )
    plan = fftpack.get_fft_plan(a, axes=axis, value_type="R2C")
    np.testing.assert_array_equal(fftpack.rfft(a, axis=axis, plan=plan).get(), fftpack.rfft(a, axis=axis).get())
    for name in ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn"):
        np.testing.assert_allclose(getattr(fftpack, name)(a).get(), getattr(np.fft, name)(host), atol=1e-10)
    with pytest.raises(TypeError, match="complex128; FFTPACK's half of a spectrum has real numbers"):
        fftpack.irfft(a * 1j)
    with pytest.raises(ValueError, match="Invalid number of data points"):
        fftpack.irfft(a, 0)


def test_scipys_functions_compute_float16_in_single_precision() -> None:
    host = np.arange(6, dtype=np.float16)
    a = cupy.array(host)
    for name in ("fft", "rfft", "irfft", "hfft", "ihfft", "irfftn", "hfft2"):
        operand = a.reshape(2, 3) if name.endswith("2") else a
        expected = np.float32 if name[:2] in ("ir", "hf") else np.complex64
        assert getattr(scipy_fft, name)(operand).dtype == expected
    assert (cupy.fft.irfft(a).dtype, np.fft.irfft(host).dtype) == (np.float16, np.float16)
    assert fftpack.irfft(a).dtype == np.float32
    np.testing.assert_allclose(scipy_fft.irfft(a).get(), np.fft.irfft(host.astype("f4")), rtol=1e-5, atol=1e-5)


def test_complex_transform_with_overwrite_x_returns_input_array() -> None:
    for function, arguments, expected in (
        (scipy_fft.fft, (4, 1), np.fft.fft(HOST, axis=1)),
        (scipy_fft.ifftn, (), np.fft.ifftn(HOST)),
        (fftpack.fft2, (), np.fft.fft2(HOST)),
    ):
        a = cupy.array(HOST)
        kept = function(a, *arguments)
        assert kept is not a
        assert function(a, *arguments, overwrite_x=True) is a
        np.testing.assert_allclose(a.get(), expected, atol=1e-10)
        np.testing.assert_array_equal(a.get(), kept.get())
    a = cupy.array(HOST)
    for other in (a[:, ::2], cupy.broadcast_to(a[0], (3, 4, 5)), a.real):
        host = other.get()
        assert scipy_fft.fft(other, overwrite_x=True) is not other
        np.testing.assert_array_equal(other.get(), host)
    assert scipy_fft.fft(a, 9, overwrite_x=True).shape == (3, 4, 9)
    np.testing.assert_array_equal(a.get(), HOST)


def test_scipys_functions_take_numbers_in_place_of_sequences() -> None:
    a = cupy.array(HOST)
    np.testing.assert_allclose(scipy_fft.fft2(a, s=3, axes=-2).get(), np.fft.fft(HOST, 3, -2), atol=1e-10)
    np.testing.assert_allclose(scipy_fft.irfftn(a, (3, None)).get(), np.fft.irfftn(HOST, (3, 8), (1, 2)), atol=1e-10)
    with pytest.raises(ValueError, match="Invalid norm value"):
        scipy_fft.ihfft2(a.real, norm="")


class Dispatchable:
    """Imitate SciPy's wrapper of an argument, by which SciPy's dispatcher passes the argument to a backend."""

    def __init__(self, value: Any, type: type = np.ndarray, coercible: bool = True) -> None:
        self.value, self.type, self.coercible = value, type, coercible


def test_scipy_fft_backend_protocol_calls_pygpus_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    def rfft2(*_: Any) -> None: ...

    monkeypatch.setitem(sys.modules, "scipy.fft", types.SimpleNamespace(rfft2=rfft2, dct=len))
    host = HOST.real.copy()
    a = cupy.array(host)
    assert scipy_fft.__ua_domain__ == "numpy.scipy.fft"
    np.testing.assert_allclose(
        scipy_fft.__ua_function__(rfft2, (a,), {"norm": "ortho"}).get(), np.fft.rfft2(host, norm="ortho"), atol=1e-10
    )
    for other in (len, np.fft.rfft2, "rfft2"):
        assert scipy_fft.__ua_function__(other, (a,), {}) is NotImplemented
    assert scipy_fft.__ua_convert__([Dispatchable(a), Dispatchable(3, int)], coerce=False) == [a, 3]
    assert scipy_fft.__ua_convert__([Dispatchable(host)], coerce=False) is NotImplemented
    assert scipy_fft.__ua_convert__([Dispatchable(host, coercible=False)], coerce=True) is NotImplemented
    (copied,) = scipy_fft.__ua_convert__([Dispatchable(host)], coerce=True)
    np.testing.assert_array_equal(copied.get(), host)


def test_scipy_function_with_pygpu_as_fft_backend_runs_on_device() -> None:
    scipys = pytest.importorskip("scipy.fft")
    a = cupy.array(HOST)
    with scipys.set_backend(scipy_fft):
        result = scipys.ifftn(a, axes=(0, 2))
    assert isinstance(result, cupy.ndarray)
    np.testing.assert_allclose(result.get(), np.fft.ifftn(HOST, axes=(0, 2)), atol=1e-10)
