"""Test large kernels, whose threads run a grid-stride loop."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
from support_kernels import needs_kernels

pytestmark = needs_kernels


@pytest.mark.sampled(on="cuda", elsewhere=0)
@pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="its threads live on in every kernel")
def test_elements_beyond_first_grid_stride_are_computed() -> None:
    multiprocessors = PyGPU.device_properties(0)["multiprocessor_count"]
    # The array has more elements than all threads together process in one iteration of the loop.
    count = multiprocessors * 128 * 256 * 2 + 12_345
    x = np.linspace(-700, 700, count)
    got = PyGPU.logaddexp(PyGPU.to_gpu(x), 0.5).get()
    np.testing.assert_allclose(got, np.logaddexp(x, 0.5), rtol=1e-13)
