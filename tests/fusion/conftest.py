"""Start every test of this folder without pending operations, with default limits, in the fusion mode "auto"."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

import PyGPU
from fusion_support.operation_counts import OperationCounts
from PyGPU import _core


@pytest.fixture(autouse=True)
def fusion_settings() -> Iterator[None]:
    """Set and restore the fusion settings. Skip the test on the CPU, where no operation is deferred."""
    if PyGPU.backend_name() == "cpu":
        pytest.skip("operations on arrays of the host are never deferred")
    if os.environ.get("PYGPU_FUSION") == "off":
        pytest.skip("these tests choose the mode themselves, so a run with PYGPU_FUSION=off would repeat them")
    before = _core._set_fusion("auto")
    # Without this setting, the helper thread would launch operations that are pending for 200 us.
    _core._bound_fusion_age(0)
    _core._limit_fusion()
    PyGPU.flush()
    yield
    _core.flush()
    _core._limit_fusion()
    _core._bound_fusion_age()
    _core._set_fusion(before)


@pytest.fixture
def counted() -> OperationCounts:
    """Count deferred operations, launches and flushes from the start of a test."""
    return OperationCounts()
