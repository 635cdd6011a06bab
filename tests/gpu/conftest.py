"""Fixtures of the tests on a device. Every file here skips itself where there is none for it (`support.require_*`)."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

# Otherwise JAX takes three quarters of the card for itself, and the tests of memory have nothing left to fill.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import PyGPU
from gpu import kernel_library, support


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "provokes_errors: makes the driver refuse calls on purpose")
    config.addinivalue_line("markers", "starts_processes: runs Python in processes of its own")


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> kernel_library.Kernels:
    """The kernels, compiled and warmed up."""
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


@pytest.fixture
def slow() -> PyGPU.Stream:
    """A stream that nothing waits for by itself, not even the legacy default stream."""
    return PyGPU.Stream(non_blocking=True)


@pytest.fixture
def other() -> PyGPU.Stream:
    """A second such stream."""
    return PyGPU.Stream(non_blocking=True)


@pytest.fixture
def block() -> Iterator[PyGPU.GPUArray]:
    """An array of `support.COUNT` ones, whose making has ended; the device is idle before and after."""
    array = PyGPU.full(support.COUNT, 1, "float32")
    PyGPU.synchronize()
    yield array
    PyGPU.synchronize()
