"""Test kernels that read shifted views of one array, like stencils, which combine each element with its neighbours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import PyGPU
from PyGPU.elementwise import ElementwiseKernel
from support_kernels import needs_kernels

pytestmark = needs_kernels

KERNEL = ElementwiseKernel("float *a, float *b, float *c, float *z", "z[i] = a[i] + 2 * b[i] - 3 * c[i]", "rows")
SHAPES = [(6, 130), (7, 300), (10, 140), (11, 131), (17, 133), (3, 11, 132), (258, 130)]
UP, DOWN = (..., slice(None, -2), slice(1, -1)), (..., slice(2, None), slice(1, -1))
MIDDLE = (..., slice(1, -1), slice(2, None))


@pytest.mark.parametrize("shape", SHAPES)
def test_user_kernel_of_shifted_views_matches_numpy(shape: tuple[int, ...]) -> None:
    u = np.random.default_rng(0).integers(1, 9, shape).astype(np.float32)
    lent = PyGPU.to_gpu(u)
    z = PyGPU.full(u[UP].shape, -1, np.float32)
    KERNEL(lent[UP], lent[DOWN], lent[MIDDLE], z)
    np.testing.assert_array_equal(z.get(), u[UP] + 2 * u[DOWN] - 3 * u[MIDDLE])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["add", "arctan2", "logaddexp"])
def test_large_ufunc_kernels_of_shifted_views_match_numpy(name: str, shape: tuple[int, ...]) -> None:
    u = np.random.default_rng(0).uniform(1, 9, shape)
    lent = PyGPU.to_gpu(u)
    got = getattr(PyGPU, name)(lent[UP], lent[DOWN]).get()
    np.testing.assert_allclose(got, getattr(np, name)(u[UP], u[DOWN]), rtol=1e-14)


def test_gaps_between_output_elements_of_stencil_are_unchanged() -> None:
    u = np.arange(13 * 300, dtype=np.float32).reshape(13, 300)
    lent, base = PyGPU.to_gpu(u), PyGPU.full((11, 602), -1, np.float32)
    KERNEL(lent[:-2, 1:], lent[2:, 1:], lent[1:-1, :-1], base[:, 1:599:2])
    expected = np.full((11, 602), -1, np.float32)
    expected[:, 1:599:2] = u[:-2, 1:] + 2 * u[2:, 1:] - 3 * u[1:-1, :-1]
    np.testing.assert_array_equal(base.get(), expected)


@pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="the threads of the CPU take turns")
def test_kernel_loads_rows_for_overlapping_views_of_one_array(capsys: pytest.CaptureFixture[str]) -> None:
    u, other = PyGPU.ones((12, 300), np.float32), PyGPU.ones((12, 300), np.float32)
    z = PyGPU.empty((10, 299), np.float32)

    def source(*arrays: PyGPU.GPUArray) -> str:
        ElementwiseKernel("float *a, float *b, float *z", "z[i] = a[i] + b[i]", "rows_kept", keep=True)(*arrays, z)
        path = Path(capsys.readouterr().out.rpartition(" ")[2].strip())
        text = path.read_text()
        path.unlink()
        path.parent.rmdir()
        return text

    assert "pygpu_row" in source(u[:-2, 1:], u[2:, 1:])
    assert "pygpu_row" not in source(u[:-2, 1:], other[2:, 1:])
    assert "pygpu_row" not in source(u[:-2, 1:], u[:-2, :-1])
    far = PyGPU.ones((60, 300), np.float32)
    assert "pygpu_row" not in source(far[:10, 1:], far[50:, 1:])
