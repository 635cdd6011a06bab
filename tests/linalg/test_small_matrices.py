"""Test PyGPU's kernels for stacks of small matrices, and their limits, beyond which the vendor's library computes."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
import simulated_driver
from linear_algebra import adjoint, close, hermitian, sample_matrix
from PyGPU import _core, linalg
from PyGPU._linalg import factorizations, small_matrices, solver_library
from support import of_few, on_cpu

pytestmark = pytest.mark.skipif(on_cpu(), reason="NumPy computes there")

TYPES = of_few(["float32", "float64", "complex64", "complex128"], ["float32", "complex128"])
SIDES = [1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64]


@pytest.fixture
def without_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each call of the vendor's library fail."""
    for name in ("lu", "lu_solve", "cholesky"):
        monkeypatch.setattr(solver_library, name, None)


@pytest.mark.usefixtures("without_library")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("side", SIDES)
def test_small_cholesky_factors_match_numpy(side: int, dtype: str) -> None:
    a = hermitian(dtype, 3, side, side)
    if np.dtype(dtype).itemsize * side * (side | 1) > 47 << 10:
        pytest.skip("too large for a block")
    lower = linalg.cholesky(PyGPU.to_gpu(np.tril(a)))
    close(lower, np.linalg.cholesky(a))
    close(linalg.cholesky(PyGPU.to_gpu(np.triu(a)), upper=True), adjoint(np.linalg.cholesky(a)))


@pytest.mark.usefixtures("without_library")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("side", [side for side in SIDES if side <= 33])
def test_small_systems_and_inverses_match_numpy(side: int, dtype: str) -> None:
    a, b = sample_matrix(dtype, 3, side, side), sample_matrix(dtype, 3, side, 5)
    close(linalg.solve(PyGPU.to_gpu(a), PyGPU.to_gpu(b)), np.linalg.solve(a, b))
    # For a vector, and for matrices that are transposed in memory.
    transposed = PyGPU.to_gpu(np.ascontiguousarray(a.swapaxes(-1, -2))).swapaxes(-1, -2)
    close(linalg.solve(transposed[0], PyGPU.to_gpu(b[0, :, 0])), np.linalg.solve(a[0], b[0, :, 0]))
    if np.dtype(dtype).itemsize * side * (2 * side | 1) <= 47 << 10:
        close(linalg.inv(transposed), np.linalg.inv(a))


@pytest.mark.usefixtures("without_library")
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_small_system_with_zeros_on_diagonal_needs_exchanges_of_rows(dtype: str) -> None:
    n = 20
    # The largest element of each column is in another row, and some absolute values are equal.
    a = np.roll(np.diag(np.arange(1, n + 1)), 7, axis=0).astype(dtype) + np.tri(n, k=-9, dtype=dtype)
    x = sample_matrix(dtype, n, 3)
    close(linalg.solve(PyGPU.to_gpu(a), PyGPU.to_gpu(a @ x)), x)
    close(linalg.inv(PyGPU.to_gpu(a)), np.linalg.inv(a))


@pytest.mark.parametrize("side", [40, 64, 65])
def test_matrices_beyond_limit_of_shared_memory_match_numpy(side: int) -> None:
    a = hermitian("complex128", 2, side, side)
    array = PyGPU.to_gpu(a)
    close(linalg.inv(array), np.linalg.inv(a))
    close(linalg.cholesky(array), np.linalg.cholesky(a))
    close(linalg.solve(array, array), np.broadcast_to(np.eye(side, dtype="complex128"), a.shape))


@pytest.mark.usefixtures("without_library")
def test_operands_of_other_types_layouts_and_shapes_match_numpy() -> None:
    a, b = sample_matrix("float64", 4, 6, 6), sample_matrix("float64", 4, 6, 2)
    wide = PyGPU.zeros((4, 6, 12), "float64")
    wide[..., ::2] = PyGPU.to_gpu(a)
    close(linalg.solve(wide[..., ::2], PyGPU.to_gpu(b)[:, ::-1]), np.linalg.solve(a, b[:, ::-1]))
    close(linalg.solve(wide[:1, :, ::2], PyGPU.to_gpu(b)), np.linalg.solve(a[:1], b))
    integers = (10 * a).astype("int64")
    close(linalg.inv(PyGPU.to_gpu(integers)), np.linalg.inv(integers))
    for empty in (np.zeros((0, 3, 3)), np.zeros((2, 0, 0)), np.zeros((0, 0))):
        close(linalg.inv(PyGPU.to_gpu(empty)), np.linalg.inv(empty))
    operands = PyGPU.to_gpu(a), PyGPU.to_gpu(b)
    linalg.solve(*operands)
    for operand, host in zip(operands, (a, b), strict=True):
        np.testing.assert_array_equal(operand.get(), host)


def test_status_of_small_matrices_is_number_of_failed_column() -> None:
    a = np.stack([np.eye(4)] * 5).astype("float32")
    a[1, 2, 2], a[2, 0, 0], a[3, 3, 3], a[4, 1, 1] = 0, 0, -1, np.nan
    factors = small_matrices.cholesky(PyGPU.to_gpu(a), np.dtype("float32"), False)
    assert factors is not None
    assert factors[1].tolist() == [0, 3, 1, 4, 2]
    inverses = small_matrices.inverse(PyGPU.to_gpu(a[:4]), np.dtype("float32"))
    assert inverses is not None
    assert inverses[1].tolist() == [0, 3, 1, 0]
    assert not np.isfinite(inverses[0].get()[1:3]).all(axis=(1, 2)).any()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 1, 1), (2, 7, 8), (2, 2, 16, 9), (2, 9, 16), (32, 17), (2, 20, 32)], ids=str)
def test_refined_singular_vectors_match_those_of_general_method(shape: tuple[int, ...], dtype: str) -> None:
    a = sample_matrix(dtype, *shape)
    u, _, vh = np.linalg.svd(a)
    m, n = shape[-2:]
    # Vectors of other lengths than 1; the refinement of several steps yields vectors of length 1.
    left, right = (1 + 1e-3) * u, (1 - 1e-3) * adjoint(vh)
    for count, is_transposed in (((m, n), False), ((min(m, n),) * 2, True)):
        array = PyGPU.to_gpu(a)
        if is_transposed:
            array = PyGPU.to_gpu(np.ascontiguousarray(a.swapaxes(-1, -2))).swapaxes(-1, -2)
        rows = tuple(
            PyGPU.to_gpu(np.ascontiguousarray((vectors.conj() if is_transposed else vectors).swapaxes(-1, -2)))
            for vectors in (left.astype(dtype), right.astype(dtype))
        )
        refined = small_matrices.refine(array, rows, is_transposed, count)
        if np.dtype(dtype).itemsize == 16 and max(m, n) > 16:
            assert refined is None  # Too large for the shared memory of a block.
            continue
        assert refined is not None
        general = factorizations._refined(
            array, PyGPU.to_gpu(left[..., : count[0]].astype(dtype)), PyGPU.to_gpu(adjoint(right)[..., : count[1], :])
        )
        for ours, others in zip(refined, general, strict=True):
            close(ours, others.get())


def test_refinement_rejects_arrays_of_other_sizes_and_types() -> None:
    a, values = PyGPU.ones((2, 3, 4)), PyGPU.zeros((2, 3))
    left, right = PyGPU.ones((2, 3, 3)), PyGPU.ones((2, 4, 4))
    _core._refine_small([a, left, right, left.copy(), values, right.copy()], False, False)
    assert np.all(values.get() != 0)
    with pytest.raises(ValueError, match="6 arrays, and 2 were given"):
        _core._refine_small([a, left], False, False)
    for arrays in (
        [a, left[:, :2].copy(), right, left.copy(), values, right.copy()],
        [a, left, right.astype("float32"), left.copy(), values, right.copy()],
        [a, left, right, PyGPU.ones((2, 3, 4)), values, right.copy()],
        [a, left, right, left.copy(), values.astype("float32"), right.copy()],
        [a, left, right.swapaxes(1, 2), left.copy(), values, right.copy()],
    ):
        with pytest.raises(ValueError, match="another size or type"):
            _core._refine_small(arrays, False, False)
    large = [PyGPU.ones(shape) for shape in ((1, 33, 3), (1, 33, 33), (1, 3, 3), (1, 33, 33), (1, 3), (1, 3, 3))]
    with pytest.raises(ValueError, match="another size or type"):
        _core._refine_small(large, False, False)
    sizes = [("float64", 32, 32), ("float64", 33, 3), ("complex128", 16, 16), ("complex128", 32, 32), ("float16", 3, 3)]
    assert [_core._fits_small("refine", a, *each) for each in sizes] == [True, False, True, False, False]


@pytest.mark.skipif(simulated_driver.driver() is None, reason="counts launches")
@pytest.mark.enough_on("cuda")
def test_svd_of_small_stack_launches_one_kernel_after_library() -> None:
    a = PyGPU.to_gpu(sample_matrix("float32", 3, 6, 4))
    driver = simulated_driver.driver()
    assert driver is not None
    name = "hipModuleLaunchKernel" if driver.is_hip else "cuLaunchKernel"
    linalg.svd(a)
    before = driver.call_count(name)
    linalg.svd(a)
    assert driver.call_count(name) - before == 2  # The other one tests for infinities and NaN.


def test_native_function_rejects_arrays_of_other_sizes_and_types() -> None:
    a, info = PyGPU.ones((2, 3, 3), "float32"), PyGPU.zeros(2, "int32")
    with pytest.raises(ValueError, match='no computation "qr" of small matrices'):
        _core._factorize_small("qr", a, a, info, False)
    others = [
        (a, PyGPU.ones((2, 4, 3), "float32"), info),
        (a, PyGPU.ones((2, 3, 3), "float64"), info),
        (a, a.copy(), PyGPU.zeros(3, "int32")),
        (a, a.copy(), PyGPU.zeros(2, "int64")),
        (a.swapaxes(1, 2), a.copy(), info),
        (PyGPU.ones((2, 3, 3), "float16"), PyGPU.ones((2, 3, 3), "float16"), info),
    ]
    for input_, result, status in others:
        with pytest.raises(ValueError, match="another size or type"):
            _core._factorize_small("inverse", input_, result, status, False)
