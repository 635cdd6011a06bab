"""Begin and end every test of this folder without pending operations, with default limits and fusion mode "auto"."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import PyGPU
from fusion_support.figures import Counted
from PyGPU import _core


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    """Set up the fusion settings, and skip the tests on the CPU, because operations are deferred only on GPUs."""
    if PyGPU.backend_name() == "cpu":
        pytest.skip("operations on arrays of the host are never put off")
    before = _core._set_fusion("auto")
    _core._bound_fusion_age(0)  # With this setting, pending operations stay pending until the test flushes them.
    _core._limit_fusion()
    PyGPU.flush()
    yield
    _core.flush()
    _core._limit_fusion()
    _core._bound_fusion_age()
    _core._set_fusion(before)


@pytest.fixture
def counted() -> Counted:
    """Return the counts of operations since the beginning of the test."""
    return Counted()
