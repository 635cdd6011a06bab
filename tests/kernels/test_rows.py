"""Views of one array that lie beside each other, as stencils read them: rows one above the other are each its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import PyGPU
from PyGPU.elementwise import ElementwiseKernel
from support_kernels import needs_kernels

pytestmark = needs_kernels

ARGUMENTS = "float *a, float *b, float *c, float *z"
TEXTS = {
    "light": "z[i] = a[i] + 2 * b[i] - 3 * c[i]",
    # Behind calls, so heavy that it is written for one element.
    "heavy": "z[i] = a[i] + 2 * b[i] - 3 * c[i] + 0 * (erf(a[i]) + tgamma(b[i]) + lgamma(c[i]) + tgamma(c[i]))",
}
KERNELS = {name: ElementwiseKernel(ARGUMENTS, text, f"rows_{name}") for name, text in TEXTS.items()}


@pytest.mark.parametrize("shape", [(6, 130), (7, 300), (9, 140), (11, 131), (3, 5, 132), (258, 130)])
@pytest.mark.parametrize("text", TEXTS)
def test_each_element_has_its_own_neighbours(shape: tuple[int, ...], text: str) -> None:
    u = np.random.default_rng(0).integers(1, 9, shape).astype(np.float32)
    up, down = (..., slice(None, -2), slice(1, -1)), (..., slice(2, None), slice(1, -1))
    middle = (..., slice(1, -1), slice(2, None))
    lent = PyGPU.to_gpu(u)
    z = PyGPU.full(u[up].shape, -1, np.float32)
    KERNELS[text](lent[up], lent[down], lent[middle], z)
    np.testing.assert_array_equal(z.get(), u[up] + 2 * u[down] - 3 * u[middle])


def test_what_is_written_may_have_gaps_and_stays_between_them() -> None:
    u = np.arange(9 * 300, dtype=np.float32).reshape(9, 300)
    lent, base = PyGPU.to_gpu(u), PyGPU.full((7, 602), -1, np.float32)
    KERNELS["light"](lent[:-2, 1:], lent[2:, 1:], lent[1:-1, :-1], base[:, 1:599:2])
    expected = np.full((7, 602), -1, np.float32)
    expected[:, 1:599:2] = u[:-2, 1:] + 2 * u[2:, 1:] - 3 * u[1:-1, :-1]
    np.testing.assert_array_equal(base.get(), expected)


@pytest.mark.skipif("on_cpu()", reason="the threads of the CPU take turns")
def test_rows_are_taken_where_views_of_one_array_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    u, other = PyGPU.ones((9, 300), np.float32), PyGPU.ones((9, 300), np.float32)
    z = PyGPU.empty((7, 299), np.float32)

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
