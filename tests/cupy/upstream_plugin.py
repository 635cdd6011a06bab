"""Run CuPy's own tests with PyGPU, as a plugin of pytest; ``tests/cupy/run_upstream.py`` loads it.

The tests import private modules of CuPy. Private modules with helpers for tests are loaded from the checkout of CuPy.
Every other private module is replaced by an empty stand-in, so that pytest can collect a file in which one test imports
it. A test that uses an attribute of a stand-in fails with the message `PRIVATE`, and counts as private in the report.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import json
import math
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import PyGPU

PRIVATE = "private in CuPy:"
CHECKOUT = Path(os.environ["CUPY_CHECKOUT"])
# Oldest versions of packages with which CuPy's tests must pass. `skip_if_after_baseline` skips a test only for versions
# newer than these.
BASELINES = {"numpy": "2.3", "scipy": "1.14"}

PyGPU.as_cupy(force=True)

import cupy  # noqa: E402
import cupy.cuda  # noqa: E402
import cupy.fft  # noqa: E402
import cupy.fft.config  # noqa: E402
import cupy.linalg  # noqa: E402
import cupy.random  # noqa: E402
import cupy.testing  # noqa: E402
import cupyx  # noqa: E402
import cupyx.profiler  # noqa: E402
import cupyx.scipy  # noqa: E402

from PyGPU._cupy.cuda import stream as facade_stream  # noqa: E402
from PyGPU._cupy.testing import comparisons, loops  # noqa: E402
from PyGPU._observability.benchmark import BenchmarkResult  # noqa: E402


class StandIn(types.ModuleType):
    """Imitate a private module of CuPy, with only those attributes that this plugin sets."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"{PRIVATE} {self.__name__}.{name}")


def stand_in(name: str, **attributes: Any) -> StandIn:
    """Install a stand-in for a private module of CuPy, with the given attributes."""
    module = StandIn(name)
    module.__path__ = []
    vars(module).update(attributes)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], last, module)
    return module


def skip_if_after_baseline(*, reason: str = "", **cutoffs: str) -> Callable[[Any], Any]:
    """Return a decorator that skips a test if a package has at least the given version, newer than `BASELINES`."""
    from packaging.version import Version

    later = [f"{name}>={one}" for name, one in cutoffs.items() if Version(one) > Version(BASELINES[name])]
    return pytest.mark.skipif(any(cupy.testing.installed(one) for one in later), reason=reason)


def load_helper(name: str) -> None:
    """Load a private module of `cupy.testing` from the checkout."""
    path = CHECKOUT / "cupy" / "testing" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"cupy.testing.{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    setattr(cupy.testing, name, module)


def nothing(*_: Any) -> None:
    """Do nothing. This function replaces those by which CuPy selects accelerators, which PyGPU does not have."""


def private_function(*_: Any, **__: Any) -> Any:
    """Return a function that raises an error when a test calls it.

    `private_function` replaces private functions of CuPy that test files call already while pytest collects them.
    """

    def call(*_: Any, **__: Any) -> None:
        raise AttributeError(f"{PRIVATE} a function of a private module")

    return call


def benchmark_result(name: str, times: Any, devices: tuple[int, ...]) -> BenchmarkResult:
    """Imitate the result of CuPy's private benchmark function, from rows of host and device times."""
    return BenchmarkResult(name, times[0], times[1:], devices)


def run_compiler(command: list[str], *_: Any) -> str:
    """Return CUDA's version in the form that `nvcc --version` prints, because a test file reads it at collection."""
    if "--version" not in command:
        raise AttributeError(f"{PRIVATE} cupy.cuda.compiler._run_cc")
    major, rest = divmod(cupy.cuda.runtime.runtimeGetVersion(), 1000)
    return f"release {major}.{rest // 10}"


class KernelCache:
    """Replace the class of CuPy's private kernel cache.

    A test that derives another class from this class counts as a test of private names.
    """

    def __init__(self, _folder: str) -> None:
        if type(self) is not KernelCache:
            raise AttributeError(f"{PRIVATE} cupy.cuda._compiler_cache.DiskKernelCacheBackend")


def replace_compiler() -> None:
    """Add private names to `cupy.cuda.compiler`, because tests of kernels replace these names."""
    stand_in("cupy.cuda._compiler_cache", DiskKernelCacheBackend=KernelCache)
    compiler = cupy.cuda.compiler
    compiler._run_cc = run_compiler
    compiler._get_bool_env_variable = compiler._kernel_cache_backend = compiler._empty_file_preprocess_cache = None
    if cupy.cuda.get_nvcc_path() is None:
        cupy.cuda.get_nvcc_path = lambda: "nvcc"


def no_names(*_: Any) -> list[Any]:
    """Return an empty list, in place of CuPy's function that lists the accelerators in use."""
    return []


def along_each_axis() -> None:
    """Replace CuPy's private function that transforms one axis after another.

    Tests only compare this function by `is`.
    """


def along_all_axes() -> None:
    """Replace CuPy's private function that transforms all axes by one plan.

    Tests only compare this function by `is`.
    """


def default_fft_function(
    a: Any, s: Any = None, axes: Any = None, plan: Any = None, value_type: str = "C2C"
) -> Callable[[], None]:
    """Return `along_all_axes` or `along_each_axis`: the replacement of the function that CuPy would use for the
    arguments."""
    is_fortran_real = a.flags.f_contiguous and value_type != "C2C"
    if plan is not None or a.ndim == 1 or is_fortran_real or not cupy.fft.config._enable_nd_planning.get():
        return along_each_axis
    used = range(-(a.ndim if s is None else len(s)), 0) if axes is None else axes
    if s is not None and len(s) != len(used):
        raise ValueError("Shape and axes have different lengths.")
    numbers = [axis % a.ndim for axis in used]
    ascending = sorted(numbers) if value_type == "C2C" else [*sorted(numbers[:-1]), *numbers[-1:]]
    are_neighbours = all(second - first == 1 for first, second in itertools.pairwise(ascending))
    is_at_end = 0 in ascending or a.ndim - 1 in ascending
    return along_all_axes if 2 <= len(ascending) <= 3 and are_neighbours and is_at_end else along_each_axis


def install_stand_ins() -> None:
    """Install replacements of CuPy's private modules that test files use when pytest collects them."""
    accelerators: dict[str, Any] = {"ACCELERATOR_CUB": 1, "ACCELERATOR_CUTENSOR": 2}
    for kind in ("routine", "reduction", "elementwise"):
        accelerators |= {f"get_{kind}_accelerators": no_names, f"set_{kind}_accelerators": nothing}
    stand_in("cupy._core", ndarray=cupy.ndarray, create_reduction_func=private_function, **accelerators)
    stand_in("cupy._core._accelerator", **accelerators)
    stand_in("cupy._core.core", ndarray=cupy.ndarray)
    stand_in("cupy._core._cub_reduction", _CUB_REDUCE_SIZE_THRESHOLD=0)
    stand_in("cupy._core.internal", prod=math.prod)
    types_of_products = ("DEFAULT", "PEDANTIC", "FP16", "FP32", "FP64", "BF16", "TF32")
    numbers = {f"COMPUTE_TYPE_{name}": number for number, name in enumerate(types_of_products)}
    stand_in("cupy._core._routines_linalg", **numbers)
    for name in ("_gufuncs", "flags", "_routines_math", "_scalar", "syncdetect", "_kernel"):
        stand_in(f"cupy._core.{name}", _GUFunc=None, _scan_for_test=None, get_typename=private_function())
    stand_in("cupy._util", clear_memo=cupy.clear_memo, ENABLE_SLICE_COPY=False, PerformanceWarning=UserWarning)
    for name in ("cupy._environment", "cupy._indexing", "cupy._indexing.generate", "cupy.linalg._util"):
        stand_in(name)
    stand_in("cupy.fft._config")
    stand_in(
        "cupy.fft._fft",
        _default_fft_func=default_fft_function,
        _fft=along_each_axis,
        _fftn=along_all_axes,
        _size_last_transform_axis=None,
    )
    stand_in("cupy._creation")
    stand_in("cupy._creation.from_data", array=cupy.array)
    stand_in("cupy_backends")
    stand_in("cupy_backends.cuda", stream=cupy.cuda.stream)
    stand_in("cupy_backends.cuda.api", runtime=cupy.cuda.runtime, driver=cupy.cuda.driver)
    sys.modules["cupy_backends.cuda.api.runtime"] = cupy.cuda.runtime
    stand_in("cupy_backends.cuda.libs", nvrtc=cupy.cuda.nvrtc)
    for name in ("cub", "cutensor"):
        stand_in(f"cupy.cuda.{name}", available=False)
    replace_compiler()
    cupy.cuda.memory._malloc = cupy.cuda.alloc
    cupy.cuda.memory._allocation_unit_size = 512
    cupy.cuda.driver._is_cuda_python = lambda: False
    cupyx.scipy._scipy_available = importlib.util.find_spec("scipy") is not None
    stand_in("cupyx.profiler._time", _PerfCaseResult=benchmark_result)
    importlib.import_module("cupyx.time")._PerfCaseResult = benchmark_result  # type: ignore[attr-defined]
    stand_in("cupyx.cusolver", check_availability=lambda _: True)
    stand_in("cupy.cublas", get_batched_gesv_limit=lambda: 0, set_batched_gesv_limit=nothing)
    drawing = {name: getattr(cupy.random, name) for name in cupy.random.__all__}
    stand_in("cupy.random._distributions", **drawing)
    stand_in("cupy.random._generator", **drawing)


def install_helpers() -> None:
    """Install the private modules of `cupy.testing` from the checkout of CuPy."""
    names = {name: value for module in (loops, comparisons) for name, value in vars(module).items() if name[:2] != "__"}
    private = stand_in("cupy.testing._loops", **names)
    private._wraps_partial = lambda test, *parameters: lambda run: loops.without_parameters(test, run, *parameters)
    private._wraps_partial_xp = lambda test, *parameters: (
        lambda run: loops.without_parameters(test, run, *filter(None, parameters))
    )
    public = {name: getattr(cupy.testing, name) for name in cupy.testing.__all__}
    stand_in("cupy.testing._helper", skip_if_after_baseline=skip_if_after_baseline, **public)
    for name in ("_condition", "_protocol_helpers", "_hypothesis"):
        load_helper(name)


install_stand_ins()
install_helpers()


def pytest_runtest_teardown() -> None:
    """End stream captures that a failed test has left active, because later tests could not wait for the device."""
    for stream in list(facade_stream._known.values()):
        if stream.is_capturing():
            with contextlib.suppress(RuntimeError):
                stream.end_capture()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Append the outcome and the error message of a test to the result file that run_upstream.py reads."""
    if report.when != "call" and report.outcome == "passed":
        return
    crash = getattr(report.longrepr, "reprcrash", None)
    message = crash.message if crash is not None else str(report.longrepr) if report.failed else ""
    with Path(os.environ["CUPY_OUTCOMES"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps([report.nodeid, report.outcome, message]) + "\n")


assert cupyx.__name__ == "PyGPU.cupyx"
