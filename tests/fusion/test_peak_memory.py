"""Test the peak memory of deferral: it exceeds the peak in eager mode by at most the size limit for operands that the
queue holds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import PyGPU
from fusion_support.operation_counts import limits, waiting
from gpu import support

HELPERS = Path(__file__).parents[1] / "helpers"
MIB = 1 << 20


def run(call: str) -> None:
    script = f"""
import sys
sys.path.insert(0, {str(HELPERS)!r})
from fusion_support import peak_memory

peak_memory.{call}()
"""
    support.ended_well(support.run_script(script, timeout=120))


@pytest.mark.starts_processes
@pytest.mark.sampled(on="cuda", elsewhere=0)
@pytest.mark.timeout(150)
def test_peak_memory_of_deferred_programs_does_not_exceed_eager_mode() -> None:
    run("main")


@pytest.mark.starts_processes
@pytest.mark.timeout(150)
def test_operand_memory_limit_applies_to_sum_over_all_pending_queues() -> None:
    run("check_threads")


def test_operand_dropped_by_other_thread_causes_flush_of_its_queue() -> None:
    host = np.arange(MIB // 8, dtype="float64")
    with ThreadPoolExecutor(1) as pool, limits(held=MIB // 2):
        operands = [PyGPU.to_gpu(host)]
        mask = operands[0] > 5
        assert waiting() == 1
        pool.submit(operands.clear).result()
        assert waiting() == 0
    np.testing.assert_array_equal(mask.get(), host > 5)


def test_pending_result_is_launched_before_memory_limit_is_reached() -> None:
    host = np.arange(MIB // 8, dtype="float64")
    x = PyGPU.to_gpu(host)
    PyGPU.synchronize()
    PyGPU.trim_memory()
    PyGPU.set_memory_limit(PyGPU.memory_statistics()["bytes"] + 2 * MIB)
    try:
        first = x + 1
        del x
        # This upload launches the pending `first`; eager mode would have launched `first` at its call.
        other = PyGPU.to_gpu(host)
        second = other * 2
        del other
        np.testing.assert_array_equal(second.get(), host * 2)
        np.testing.assert_array_equal(first.get(), host + 1)
    finally:
        PyGPU.set_memory_limit(None)
