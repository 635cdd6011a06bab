"""Test scans of more elements than one kernel launch processes.

In the kernel's source, the elements of one launch are called a league.
"""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU

# A run on CUDA alone suffices, because HIP uses the same kernel source; tests/reductions/test_decoupled_lookback.py
# tests both backends.
pytestmark = pytest.mark.enough_on("cuda")


# On a simulated GPU the scan takes a minute, so only `make test-all` runs the test there.
@pytest.mark.sampled(on="cpu", elsewhere=0)
def test_scan_of_more_elements_than_fit_into_one_launch_matches_numpy() -> None:
    # One launch scans a league: 2^16 tiles of 4096 elements, that is 2^28 elements. The array has more elements than
    # that.
    host = np.random.default_rng(3).integers(-3, 4, (1 << 28) + (1 << 20) + 77, dtype=np.int8)
    sums = PyGPU.cumsum(PyGPU.to_gpu(host), dtype=np.int32)
    expected = np.cumsum(host, dtype=np.int32)
    for start in range(0, len(host), 1 << 26):
        np.testing.assert_array_equal(sums[start : start + (1 << 26)].get(), expected[start : start + (1 << 26)])
