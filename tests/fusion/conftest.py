"""Start and end every test of this folder without pending operations, with the usual limits and the mode auto."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import PyGPU
from fusion_support.figures import Counted
from PyGPU import _core


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    """Operations wait on GPUs only."""
    if PyGPU.backend_name() == "cpu":
        pytest.skip("operations on arrays of the host are never put off")
    before = _core._set_fusion("auto")
    _core._bound_fusion_age(0)  # what is pending stays so until the test looks at it
    _core._limit_fusion()
    PyGPU.flush()
    yield
    _core.flush()
    _core._limit_fusion()
    _core._bound_fusion_age()
    _core._set_fusion(before)


@pytest.fixture
def counted() -> Counted:
    """The counts since the test began, or since it made its own."""
    return Counted()
