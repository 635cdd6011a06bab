"""Test `PyGPU.cupyx`, and the functions of `cupy.testing`, which compare results on a device with NumPy's."""

from __future__ import annotations

import re
import unittest

import numpy as np
import pytest

import PyGPU
import PyGPU.profile
from PyGPU import _core, cupy, cupyx
from PyGPU.cupy import testing

dtypes = pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.float32, np.complex64])


@dtypes
def test_scatter_add_matches_numpy_add_at(dtype: type) -> None:
    host = np.arange(12).reshape(4, 3).astype(dtype)
    a = cupy.array(host)
    indices = np.array([0, 3, 3, 1])
    for key, values in (
        ((indices, indices % 3), 2),
        (indices, np.arange(12).reshape(4, 3)),
        ((slice(None, None, 2), 1), 5),
        (np.array([[True, False, True]] * 4), 1),
    ):
        np.add.at(host, key, np.asarray(values).astype(dtype))
        cupyx.scatter_add(a, cupy.array(key) if isinstance(key, np.ndarray) else key, values)
    np.testing.assert_array_equal(a.get(), host)


def test_scatter_max_and_min_match_numpy_ufunc_at() -> None:
    host, values = np.zeros(4, np.int32), np.array([3, -5, 9, 1], np.int32)
    a, indices = cupy.array(host), [1, 1, 2, 2]
    cupyx.scatter_max(a, indices, cupy.array(values))
    np.maximum.at(host, indices, values)
    np.testing.assert_array_equal(a.get(), host)
    cupyx.scatter_min(a, indices, values)
    np.minimum.at(host, indices, values)
    np.testing.assert_array_equal(a.get(), host)
    with pytest.raises(TypeError, match="scatter_add: the first argument is the array that is changed"):
        cupyx.scatter_add(host, 0, 1)


def test_rsqrt_of_array_is_reciprocal_of_square_root() -> None:
    x = np.array([1.0, 4.0, 0.25], np.float32)
    got = cupyx.rsqrt(cupy.array(x))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got.get(), 1 / np.sqrt(x), rtol=1e-6)


def test_errstate_settings_are_restored_after_with_block() -> None:
    assert cupyx.geterr() == {"divide": None, "over": None, "under": None, "invalid": None, "linalg": "ignore"}
    with cupyx.errstate(linalg="raise"):
        assert cupyx.geterr()["linalg"] == "raise"
    assert cupyx.geterr()["linalg"] == "ignore"
    with pytest.raises(NotImplementedError, match="seterr\\(divide='raise'\\): kernels report no"):
        cupyx.seterr(divide="raise")
    with pytest.raises(NotImplementedError, match="'ignore' and 'raise'"):
        cupyx.seterr(linalg="warn")


def test_allow_synchronize_false_warns_that_no_wait_is_detected() -> None:
    with cupyx.allow_synchronize(True):
        pass
    with pytest.warns(UserWarning, match="PyGPU does not detect"), cupyx.allow_synchronize(False):
        assert int(cupy.ones(()).get()) == 1
    assert issubclass(cupyx.DeviceSynchronized, RuntimeError)


def test_cupyx_pinned_arrays_have_same_layout_as_numpy_arrays() -> None:
    assert cupyx.zeros_pinned((2, 3), "f4", "F").flags.f_contiguous
    assert cupyx.empty_pinned(3, np.int16).dtype == np.int16
    host = np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2)
    for order in "CFAK":
        expected = np.empty_like(host, order=order)
        for a in (host, cupy.array(host.transpose(1, 0, 2)).transpose(1, 0, 2)):
            got = cupyx.empty_like_pinned(a, order=order)
            assert (got.shape, got.strides, got.dtype) == (expected.shape, expected.strides, expected.dtype)
            assert isinstance(got.base, cupy.cuda.PinnedMemoryPointer)
    assert cupyx.zeros_like_pinned(cupy.ones(()), "i4").tolist() == 0
    assert cupyx.zeros_like_pinned(host, shape=(5,)).tolist() == [0.0] * 5
    with pytest.raises(TypeError, match="subok=True is not supported"):
        cupyx.empty_like_pinned(host, subok=True)


def test_benchmark_reports_host_and_device_times() -> None:
    a = cupy.ones(1000)
    calls = []
    times = cupyx.profiler.benchmark(
        lambda x, by: calls.append((x * by).sum()), (a,), {"by": 2}, 6, name="f", n_warmup=2
    )
    assert len(calls) == 8
    assert (times.cpu_times.shape, times.gpu_times.shape, times.name) == ((6,), (1, 6), "f")
    assert (times.cpu_times > 0).all()
    assert (times.gpu_times >= 0).all()
    number = r" *\d+\.\d{3}"
    part = rf"{number} us   \+/- {number} \(min: {number} / max: {number}\) us"
    device = "device cpu" if PyGPU.backend_name() == "cpu" else f"GPU-{PyGPU.current_device()}"
    assert re.fullmatch(rf"f {{19}}:    CPU: {part}     {device}: {part}", str(times))
    assert re.fullmatch(rf"f {{19}}:    CPU: {part}", times.to_str())
    assert PyGPU.profile.benchmark is cupyx.profiler.benchmark
    assert PyGPU.profile.benchmark(cupy.sum, (a,), n_repeat=10**9, max_duration=0.01).cpu_times.size < 10**7
    with pytest.raises(ValueError, match=r"args= is 3 \(int\); expected a tuple"):
        cupyx.profiler.benchmark(cupy.sum, 3)
    with pytest.warns(DeprecationWarning, match=r"cupyx.profiler.benchmark"):
        cupyx.time.repeat(cupy.sum, (a,), n_repeat=1)


def test_benchmark_of_launch_has_name_of_kernel() -> None:
    module = PyGPU.Module("template <typename T> __global__ void fill(T *x) { *x = 1; }", instances=["fill<int>"])
    kernel, x = module["fill<int>"], PyGPU.zeros(1, np.int32)
    for launch in (kernel[1, 1], kernel[PyGPU.LaunchConfig(1, 1)]):
        assert PyGPU.profile.benchmark(launch, (x,), n_repeat=1).name == kernel.name
    fill = cupy.RawKernel('extern "C" __global__ void fill(int *x) { *x = 1; }', "fill")
    assert PyGPU.profile.benchmark(fill, ((1,), (1,), (x,)), n_repeat=1).name == "fill"


def test_benchmark_computes_deferred_operations_with_unused_results() -> None:
    a = PyGPU.ones(1000, np.float32)
    with PyGPU.fusion_report() as report:
        PyGPU.profile.benchmark(lambda: 2 * a + 1, n_repeat=3, n_warmup=2)
    assert report.dropped == 0
    assert report.computed == report.operations
    assert report.operations == (0 if PyGPU.backend_name() == "cpu" or _core._get_fusion() == "off" else 10)


def test_time_range_and_profile_run_body_of_with_block() -> None:
    @cupyx.profiler.time_range()
    def add(x: int) -> int:
        return x + 1

    assert (add(1), add.__name__) == (2, "add")
    with cupyx.profiler.time_range("block", color_id=1, sync=True), cupyx.profiler.profile():
        assert int(cupy.arange(3).sum()) == 3
    with pytest.raises(ValueError, match="a block needs a label"), cupyx.profiler.time_range():
        pass
    with pytest.raises(ValueError, match="color_id=1 and argb_color=2 exclude"):
        cupyx.profiler.time_range("x", 1, 2)


def test_cupyx_scipy_modules_have_functions_of_pygpu() -> None:
    host = np.arange(12.0).reshape(3, 4)
    a = cupy.array(host)
    fft = cupyx.scipy.fft
    np.testing.assert_allclose(fft.fft(a, 5, 0, overwrite_x=True).get(), np.fft.fft(host, 5, 0), atol=1e-12)
    np.testing.assert_allclose(fft.rfftn(a, (2, 4)).get(), np.fft.rfftn(host, (2, 4), axes=(0, 1)), atol=1e-12)
    hermitian = np.fft.irfftn(host.conj(), axes=(0, 1), norm="forward")
    np.testing.assert_allclose(fft.hfft2(a).get(), hermitian, atol=1e-10)
    np.testing.assert_allclose(
        fft.ihfftn(fft.hfftn(a)).get(), np.fft.rfftn(hermitian, norm="forward").conj(), atol=1e-10
    )
    assert [fft.next_fast_len(n) for n in (1, 11, 13, 97)] == [1, 12, 14, 98]
    assert cupyx.scipy.special.expit is PyGPU.special.expit


def test_for_dtypes_decorator_tests_every_dtype_and_names_failed_dtype() -> None:
    seen = []

    @testing.for_all_dtypes(no_complex=True)
    @testing.for_orders("CF")
    def collect(dtype: type, order: str) -> None:
        seen.append((dtype, order))

    collect()
    assert {dtype for dtype, _ in seen} >= {np.bool_, np.float16, np.int8, np.uint64}
    assert len(seen) == 2 * 14

    @testing.for_dtypes([np.int8, np.float32])
    def fail(dtype: type) -> None:
        assert dtype is np.int8

    with pytest.raises(AssertionError) as caught:
        fail()
    assert caught.value.__notes__ == ["for dtype=float32"]


def test_numpy_cupy_decorator_detects_different_values_dtypes_errors() -> None:
    @testing.numpy_cupy_array_equal()
    def same(xp):
        return testing.shaped_arange((2, 3), xp).T, xp.zeros(3)

    same()
    tests = {
        "Arrays are not equal": lambda xp: xp.zeros(2) + (xp is np),
        "has dtype float32, of numpy float64": lambda xp: xp.zeros(2, "f8" if xp is np else "f4"),
        r"has shape \(2,\), of numpy \(3,\)": lambda xp: xp.zeros(3 if xp is np else 2),
        "only numpy raised an error": lambda xp: xp.zeros(2).reshape(3) if xp is np else xp.zeros(2),
        "the types of the errors differ": lambda xp: xp.zeros(2)[5] if xp is np else xp.zeros(2).nothing,
        "both raised an error that is not accepted": lambda xp: xp.zeros(2).reshape(3),
        "returned no|returns no result": lambda xp: None,
    }
    for message, test in tests.items():
        with pytest.raises(AssertionError, match=message):
            testing.numpy_cupy_array_equal()(test)()
    testing.numpy_cupy_array_equal(accept_error=ValueError)(tests["both raised an error that is not accepted"])()
    testing.numpy_cupy_allclose(rtol={"default": 1e-3})(lambda xp: xp.ones(2) + (xp is np) * 1e-4)()
    with pytest.raises(AssertionError, match="cupy returned 3, numpy 4"):
        testing.numpy_cupy_equal()(lambda xp: 4 if xp is np else 3)()


def test_numpy_cupy_decorator_ignores_negative_to_unsigned_casts() -> None:
    @testing.numpy_cupy_array_equal()
    def cast(xp, source, target):
        values = xp.array([1, 255 if source is np.uint8 else -1], source).astype(target)
        # The tested function imitates a device that converts -1 to the unsigned integer 0.
        return values * xp.array([1, 0], target) if xp is cupy and target is np.uint8 else values

    cast(source=np.float32, target=np.uint8)
    with pytest.raises(AssertionError, match="Arrays are not equal"):
        cast(source=np.uint8, target=np.uint8)


def test_parameterize_decorator_sets_parameters_as_attributes() -> None:
    cases = testing.product({"n": [1, 2], "f": [abs]})
    assert cases == [{"f": abs, "n": 1}, {"f": abs, "n": 2}]

    class Numbers(unittest.TestCase):
        def test_abs_of_negative_number_is_positive(self):
            assert self.f(-self.n) == self.n

    assert testing.parameterize(*cases)(Numbers) is None
    names = [name for name in globals() if name.startswith("Numbers_param_")]
    assert names == ["Numbers_param_0_{f=abs, n=1}", "Numbers_param_1_{f=abs, n=2}"]
    for name in names:
        case = globals().pop(name)("test_abs_of_negative_number_is_positive")
        case.test_abs_of_negative_number_is_positive()


@pytest.mark.enough_on("cpu")
def test_generated_matrices_have_requested_singular_values() -> None:
    for dtype in (np.float32, np.complex128):
        a = testing.generate_matrix((2, 3, 4), dtype=dtype, singular_values=[3, 2, 1])
        assert a.dtype == dtype
        np.testing.assert_allclose(np.linalg.svd(a.get(), compute_uv=False), [[3, 2, 1]] * 2, rtol=1e-4)
    with pytest.raises(TypeError, match="pass the singular values"):
        testing.generate_matrix((2, 2))


def test_fix_random_decorator_gives_same_numbers_in_every_run() -> None:
    @testing.fix_random()
    def draw():
        return testing.generate_seed(), cupy.random.rand(3).tolist(), np.random.rand()

    before = np.random.get_state()[1].tolist()
    assert draw() == draw()
    assert np.random.get_state()[1].tolist() == before
    with pytest.raises(AssertionError, match="generate_seed is called in a test"):
        testing.generate_seed()
