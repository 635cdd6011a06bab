"""On the simulated driver, a test that lets PyGPU do something wrong to a device fails, though its values are right."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import simulated


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "provokes_findings: gives the driver what it must refuse")


@pytest.fixture(autouse=True)
def no_findings(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hold that the simulated driver found nothing wrong."""
    yield
    driver = simulated.driver()
    if driver is None:
        return
    reports = driver.reports()
    driver.forget_reports()
    if request.node.get_closest_marker("provokes_findings") is None:
        assert reports == []
