"""Test convolution and correlation of infinities and NaNs, computed in one block of rows or in several."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
from PyGPU._functions.calculus import filters


@pytest.mark.parametrize("rows", [512, 2])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("sizes", [(7, 4), (3, 5)])
def test_convolution_with_infinities_matches_numpy(
    name: str, sizes: tuple[int, int], rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filters, "_ROWS", rows)
    a, v = (np.arange(1.0, size + 1, dtype="f4") for size in sizes)
    a[0], v[-2] = -np.inf, np.inf
    for mode in ("full", "same", "valid"):
        expected = getattr(np, name)(a, v, mode)
        with np.errstate(invalid="ignore"):
            ours = getattr(PyGPU, name)(PyGPU.to_gpu(a), PyGPU.to_gpu(v), mode)
        np.testing.assert_array_equal(ours.get(), expected, err_msg=f"{name} {sizes} {mode}")
