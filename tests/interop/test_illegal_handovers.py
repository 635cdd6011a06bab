"""Test that the simulated driver reports each illegal handover between libraries, and no legal handover."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import hostile_consumer
import PyGPU
import simulated_driver
from handover_support import illegal_programs

PyGPU.device_count()
pytestmark = [
    pytest.mark.skipif(simulated_driver.driver() is None, reason="the simulated driver delays work and reports races"),
    pytest.mark.skipif(
        hostile_consumer.compiler() is None, reason="there is no C compiler, or Python's headers are missing"
    ),
    pytest.mark.provokes_findings,
]


@pytest.fixture
def foreign() -> Iterator[int]:
    driver = simulated_driver.driver()
    assert driver is not None
    PyGPU.synchronize()
    driver.forget_reports()
    stream = driver.foreign_stream()
    driver.delay(illegal_programs.DELAY_US, stream)
    yield stream
    driver.delay(0, stream)
    PyGPU.synchronize()


@pytest.mark.parametrize("name", illegal_programs.PROGRAMS)
def test_legal_handover_gives_right_values_and_no_race_report(name: str, foreign: int) -> None:
    driver = simulated_driver.driver()
    assert driver is not None
    assert illegal_programs.PROGRAMS[name].run(driver, foreign, True)
    PyGPU.synchronize()
    assert driver.reports() == []


@pytest.mark.parametrize("name", illegal_programs.PROGRAMS)
def test_illegal_handover_is_reported_as_race_or_use_after_free(name: str, foreign: int) -> None:
    driver = simulated_driver.driver()
    assert driver is not None
    # The values depend on the speed of the host, so the returned comparison of the values is ignored.
    illegal_programs.PROGRAMS[name].run(driver, foreign, False)
    PyGPU.synchronize()
    kinds = {report["kind"] for report in driver.reports()}
    assert kinds
    # The driver reports use after free if the block is freed during the other library's work.
    assert kinds <= {"race", "use_after_free"}
