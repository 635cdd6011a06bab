"""Fail tests that misuse a device on the simulated driver, even if their values are right.

Also define fixtures with kernels that act as another library on the same simulated or real GPU.
"""

from __future__ import annotations

import functools
import gc
import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import case_sampling
import PyGPU
import simulated_driver
from gpu import kernel_library, support
from PyGPU import _core


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "long_under_racecheck: takes minutes there, and other cases use the same kernels"
    )
    config.addinivalue_line("markers", "provokes_findings: gives the driver what it must refuse")
    config.addinivalue_line("markers", "provokes_errors: makes the driver refuse calls on purpose")
    config.addinivalue_line("markers", "reads_in_place: lets NumPy read host memory in place, also in a strict run")
    config.addinivalue_line("markers", "starts_processes: runs Python in separate processes")
    config.addinivalue_line("markers", "enough_on(backends): the same everywhere; other simulated GPUs leave it out")
    config.addinivalue_line("markers", "whole_device: fills the device's memory; no other process may use the device")
    config.addinivalue_line(
        "markers", "sampled(on, elsewhere): `make test` runs a sample of the cases: helpers/case_sampling.py"
    )
    config.addinivalue_line("markers", "matrix: a case outside the sample, which `make test-all` runs")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[case_sampling.COLLECTED] = [item.nodeid for item in items]
    backend = PyGPU.backend_name()
    is_simulated = backend != "cpu" and support.is_simulated()
    case_sampling.mark(items, backend, is_simulated)
    if not is_simulated:
        return

    def is_left_out(item: pytest.Item) -> bool:
        mark = item.get_closest_marker("enough_on")
        return mark is not None and backend not in mark.args

    config.hook.pytest_deselected(items=[item for item in items if is_left_out(item)])
    items[:] = [item for item in items if not is_left_out(item)]


@pytest.fixture(scope="module", autouse=True)
def young_heap() -> None:
    """Exclude the objects that exist before a module's tests from garbage collection.

    Many tests call `gc.collect()`. Without `gc.freeze()`, each collection traverses all tests and reports of pytest:
    this took half of the time of a whole test run.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_findings(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check after each test that the simulated driver has reported no misuse."""
    yield
    driver = simulated_driver.driver()
    if driver is None:
        return
    reports = driver.reports()
    driver.forget_reports()
    if request.node.get_closest_marker("provokes_findings") is None:
        assert reports == []


@pytest.fixture(autouse=True)
def strict(request: pytest.FixtureRequest) -> Iterator[None]:
    """Turn strict mode off for tests marked `reads_in_place`, which test behaviour that `PYGPU_STRICT=1` removes."""
    if request.node.get_closest_marker("reads_in_place") is None:
        yield
        return
    before = _core._set_strict(False)
    yield
    _core._set_strict(before)


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> kernel_library.Kernels:
    """Compile and load the kernels of kernels.cu, which act as another library, and launch each kernel once."""
    if PyGPU.backend_name() == "cpu":
        pytest.skip("the kernels need a GPU")
    path = kernel_library.simulated()
    if path is None:
        compiler = kernel_library.find_compiler()
        if compiler is None:
            pytest.skip("nvcc is not installed: nothing can compile kernels.cu")
        path = kernel_library.build(compiler, tmp_path_factory.mktemp("kernels"))
    library = kernel_library.Kernels(path)
    scratch = PyGPU.zeros(1, "float32")
    library.warm_up(scratch.ptr)
    PyGPU.synchronize()
    return library


# Largest number of kernels of one test that are compiled together with kernels of other tests.
ROUNDS = 24


def attempt(item: pytest.Function) -> None:
    """Call a test, and ignore its errors except `CompileError`, which a kernel that is not compiled yet raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            item.function(**(item.callspec.params if hasattr(item, "callspec") else {}))
    except PyGPU.CompileError:
        raise
    except (Exception, pytest.skip.Exception, pytest.fail.Exception, pytest.xfail.Exception):
        pass


@pytest.fixture(scope="module")
def compiled_together(request: pytest.FixtureRequest) -> None:
    """Compile the kernels of the selected tests of a module on a simulated GPU, a few dozen at a time.

    Before the first test, this calls each test until its next kernel is compiled, up to `ROUNDS` times. Tests that need
    fixtures in addition to their parameters, and random tests, are not called.
    """
    chosen = [item for item in request.session.items if item.path == request.path]
    chosen = [item for item in chosen if not hasattr(item.function, "hypothesis")]
    simulated_driver.compile_together([functools.partial(attempt, item) for item in chosen], ROUNDS)


@pytest.fixture
def slow() -> PyGPU.Stream:
    """Return a non-blocking stream: no other stream waits for it implicitly, not even the legacy default stream."""
    return PyGPU.Stream(non_blocking=True)


@pytest.fixture
def other() -> PyGPU.Stream:
    """Return a second non-blocking stream."""
    return PyGPU.Stream(non_blocking=True)


@pytest.fixture
def block() -> Iterator[PyGPU.GPUArray]:
    """Return an array of `support.COUNT` ones.

    The device is idle before the test, and completes all work at the end of the test.
    """
    array = PyGPU.full(support.COUNT, 1, "float32")
    PyGPU.synchronize()
    yield array
    PyGPU.synchronize()


@pytest.fixture
def late() -> Iterator[None]:
    """Make the simulated driver delay work at random, so that a wrong execution order gives wrong values."""
    PyGPU.zeros(1)
    found = simulated_driver.driver()
    if found is not None:
        found.delay(0, most=300)
    yield
    if found is not None:
        found.delay(0)
