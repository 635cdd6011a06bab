"""Test `PyGPU.linalg` on matrices: the product of the factors equals the input, and other results match NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from linear_algebra import adjoint, close, hermitian, sample_matrix
from PyGPU import linalg
from PyGPU._linalg import small_matrices
from support import of_few, on_cpu, outcome

# Few dtypes are tested on a simulated GPU, because each kernel must be compiled for each dtype.
TYPES = of_few(["float32", "float64", "complex64", "complex128"], ["float32", "complex128"])
SHAPES = of_few(
    [(4, 4), (5, 3), (3, 5), (2, 5, 3), (2, 3, 5), (2, 1, 33, 34), (1, 1), (3, 2, 2)], [(5, 3), (2, 3, 5), (33, 34)]
)
EMPTY = of_few([(0, 3), (3, 0), (0, 0), (0, 3, 3), (2, 0, 0), (2, 0, 3)], [(3, 0), (0, 3, 3)])
EVERYWHERE = pytest.mark.enough_on("cpu", "cuda")


@pytest.fixture(params=["kernel", "library"] if not on_cpu() else ["numpy"])
def small_matrix_method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Compute small matrices by PyGPU's kernels, or by the vendor's library as large matrices."""
    if request.param == "library":
        monkeypatch.setattr(small_matrices, "fits", lambda *_: False)
    return str(request.param)


def laid(a: np.ndarray) -> list[PyGPU.GPUArray]:
    """Return the matrices in C order, and on the CPU also in F order, with reversed axes, and with gaps."""
    by_rows = PyGPU.to_gpu(a)
    by_columns = PyGPU.to_gpu(np.ascontiguousarray(np.swapaxes(a, -1, -2))).swapaxes(-1, -2)
    if not on_cpu():
        return [by_rows, by_columns]
    backwards = PyGPU.to_gpu(np.ascontiguousarray(a[..., ::-1, ::-1]))[..., ::-1, ::-1]
    wide = PyGPU.zeros((*a.shape[:-1], 2 * a.shape[-1]), a.dtype)
    wide[..., ::2] = by_rows
    return [by_rows, by_columns, backwards, wide[..., ::2]]


@pytest.mark.usefixtures("small_matrix_method")
@pytest.mark.parametrize("dtype", TYPES)
def test_solve_and_inv_match_numpy(dtype: str) -> None:
    a, many = sample_matrix(dtype, 4, 4), sample_matrix(dtype, 3, 4, 4)
    for array in laid(a):
        close(linalg.solve(array, PyGPU.to_gpu(a[0])), np.linalg.solve(a, a[0]))
        close(linalg.solve(array, PyGPU.to_gpu(a[:, :2])), np.linalg.solve(a, a[:, :2]))
        close(linalg.inv(array), np.linalg.inv(a))
    close(linalg.solve(PyGPU.to_gpu(a), PyGPU.to_gpu(many)), np.linalg.solve(a, many))
    close(np.linalg.solve(PyGPU.to_gpu(many), PyGPU.to_gpu(a)), np.linalg.solve(many, a))
    close(np.linalg.inv(PyGPU.to_gpu(many)), np.linalg.inv(many))


@pytest.mark.parametrize("dtype", TYPES if on_cpu() else TYPES[:1])
@EVERYWHERE
def test_det_and_slogdet_match_numpy(dtype: str) -> None:
    a = sample_matrix(dtype, 3, 4, 4)
    for ours, numpys in zip(linalg.slogdet(PyGPU.to_gpu(a)), np.linalg.slogdet(a), strict=True):
        close(ours, numpys)
    a[1, 0] = a[1, 1]
    close(linalg.det(PyGPU.to_gpu(a)), np.linalg.det(a))
    zero = linalg.slogdet(PyGPU.zeros((2, 2), dtype))
    assert (zero.sign.item(), zero.logabsdet.item()) == (0, -np.inf)


@pytest.mark.usefixtures("small_matrix_method")
@pytest.mark.parametrize("dtype", TYPES)
def test_cholesky_matches_numpy(dtype: str) -> None:
    for shape in ((4, 4), (3, 4, 4)):
        a = hermitian(dtype, *shape)
        for array in laid(a)[:2]:
            close(linalg.cholesky(array), np.linalg.cholesky(a))
        # Cholesky reads only the requested triangle of the matrix, so the other triangle may be zero here.
        close(linalg.cholesky(PyGPU.to_gpu(np.triu(a)), upper=True), adjoint(np.linalg.cholesky(a)))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@EVERYWHERE
def test_product_of_qr_factors_equals_input(dtype: str, shape: tuple[int, ...]) -> None:
    a = sample_matrix(dtype, *shape)
    for array in laid(a):
        for mode in ("reduced", "complete"):
            q, r = linalg.qr(array, mode)
            numpys = np.linalg.qr(a, mode)
            assert (q.shape, r.shape) == (numpys.Q.shape, numpys.R.shape)
            columns, triangle = q.get(), r.get()
            close(columns @ triangle, a)
            close(
                adjoint(columns) @ columns,
                np.broadcast_to(np.eye(q.shape[-1], dtype=dtype), (*a.shape[:-2], *2 * q.shape[-1:])),
            )
            close(np.tril(triangle, -1), np.zeros_like(triangle))
    close(np.abs(linalg.qr(PyGPU.to_gpu(a), "r").get()), np.abs(np.linalg.qr(a, "r")))
    raw, factors = linalg.qr(PyGPU.to_gpu(a), "raw")
    numpys_raw, numpys_factors = np.linalg.qr(a, "raw")
    assert (raw.shape, factors.shape) == (numpys_raw.shape, numpys_factors.shape)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@EVERYWHERE
def test_product_of_svd_factors_equals_input(dtype: str, shape: tuple[int, ...]) -> None:
    a = sample_matrix(dtype, *shape)
    values = np.linalg.svd(a, compute_uv=False)
    for array in laid(a):
        for full in (True, False):
            u, s, vh = linalg.svd(array, full)
            numpys = np.linalg.svd(a, full)
            assert (u.shape, vh.shape) == (numpys.U.shape, numpys.Vh.shape)
            close(s, values)
            few = s.shape[-1]
            left, right = u.get(), vh.get()
            close((left[..., :few] * values[..., None, :]) @ right[..., :few, :], a)
            for one in (adjoint(left) @ left, right @ adjoint(right)):
                close(one, np.broadcast_to(np.eye(one.shape[-1], dtype=dtype), one.shape))
    close(np.linalg.svdvals(PyGPU.to_gpu(a)), values)


@EVERYWHERE
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(2, 12, 16), (100, 60)], ids=str)
def test_singular_values_are_accurate_to_few_units_of_precision(dtype: str, shape: tuple[int, ...]) -> None:
    a = sample_matrix(dtype, *shape)
    expected = np.linalg.svd(a.astype("float64"), compute_uv=False)
    error = np.abs(linalg.svdvals(PyGPU.to_gpu(a)).get() - expected).max() / expected.max()
    assert error <= 12 * np.finfo(dtype).eps


@pytest.mark.parametrize("value", [np.nan, np.inf], ids=str)
def test_svd_of_matrix_that_is_not_finite_raises_linalg_error(value: float) -> None:
    a = sample_matrix("float32", 3, 5, 4)
    a[1, 2, 3] = value
    if on_cpu() and np.isinf(value):
        pytest.skip("NumPy has a result for infinities")
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        linalg.svd(PyGPU.to_gpu(a))


@pytest.mark.parametrize("dtype", TYPES)
def test_eigh_satisfies_eigenvalue_equation(dtype: str) -> None:
    for shape in ((4, 4), (3, 4, 4)):
        a = hermitian(dtype, *shape)
        for array, triangle in zip(laid(a)[:2], "LU", strict=True):
            w, v = linalg.eigh(array, triangle)
            close(w, np.linalg.eigvalsh(a))
            vectors = v.get()
            close(a @ vectors, vectors * w.get()[..., None, :].astype(dtype))
    close(linalg.eigvalsh(PyGPU.to_gpu(np.triu(a)), "U"), np.linalg.eigvalsh(a))


@EVERYWHERE
@pytest.mark.skipif(PyGPU.backend_name() == "hip", reason="hipSOLVER has no such function, as the next test says")
@pytest.mark.parametrize("dtype", TYPES)
def test_eig_satisfies_eigenvalue_equation(dtype: str) -> None:
    a = sample_matrix(dtype, 2, 4, 4)
    w, v = linalg.eig(PyGPU.to_gpu(a))
    vectors, values = v.get(), w.get()
    close((a @ vectors).astype(values.dtype), vectors * values[..., None, :])
    ours, numpys = (np.sort_complex(one[0]) for one in (linalg.eigvals(PyGPU.to_gpu(a)).get(), np.linalg.eigvals(a)))
    close(ours, numpys.astype(ours.dtype))


@EVERYWHERE
@pytest.mark.skipif(PyGPU.backend_name() == "hip", reason="hipSOLVER has no such function, as the next test says")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_complex_eigenvalues_of_real_matrix_are_exactly_conjugate(dtype: str) -> None:
    a = np.random.default_rng(5).standard_normal((3, 7, 7)).astype(dtype)
    w, v = (result.get() for result in linalg.eig(PyGPU.to_gpu(a)))
    for values, vectors in zip(w, v, strict=True):
        is_complex = values.imag != 0
        assert is_complex.any()
        first, second = (np.flatnonzero(is_complex)[start::2] for start in (0, 1))
        assert (values[first] == values[second].conj()).all()
        assert (vectors[:, first] == vectors[:, second].conj()).all()
        assert (vectors[:, ~is_complex].imag == 0).all()
    values = linalg.eigvals(PyGPU.to_gpu(a)).get()
    assert (np.sort_complex(values) == np.sort_complex(values.conj())).all()
    close(np.sort_complex(values), np.sort_complex(w))


@pytest.mark.skipif(PyGPU.backend_name() != "hip", reason="of hipSOLVER")
def test_eig_with_hipsolver_raises_not_supported_error() -> None:
    with pytest.raises(PyGPU.NotSupportedError, match="has no Xgeev_bufferSize"):
        linalg.eig(PyGPU.ones((2, 2)))


@EVERYWHERE
@pytest.mark.parametrize("shape", EMPTY, ids=str)
def test_empty_matrices_match_numpy(shape: tuple[int, ...]) -> None:
    a = np.ones(shape, "float32")
    array = PyGPU.to_gpu(a)
    names = ["svd", "qr", "svdvals", "pinv", *(["matrix_rank"] if is_numpy("2.4") else [])]
    names += ["det", "slogdet", "inv", "cholesky", "eigh", "eigvalsh"] if shape[-1] == shape[-2] else []
    for name in names:
        ours, numpys = getattr(linalg, name)(array), getattr(np.linalg, name)(a)
        for one, other in zip(*((got if isinstance(got, tuple) else (got,)) for got in (ours, numpys)), strict=True):
            # For an empty matrix, NumPy's pseudo-inverse has the matrix's dtype, but PyGPU's has a float dtype.
            close(one, other)


REFUSED = {
    "of another shape": lambda module, a: module.inv(a[:1]),
    "a vector": lambda module, a: module.cholesky(a[0]),
    "right sides of another length": lambda module, a: module.solve(a, a[0, :2]),
    "of half precision": lambda module, a: module.svd(a.astype("float16")),
    "of a triangle": lambda module, a: module.eigh(a, "X"),
    "of a mode": lambda module, a: module.qr(a, "some"),
    "not positive definite": lambda module, a: module.cholesky(-a),
    "no exponent": lambda module, a: module.matrix_power(a, 1.5),
    "of two bounds": lambda module, a: module.pinv(a, 0.1, rtol=0.1),
    "an empty one's condition": lambda module, a: module.cond(a[:0, :0]),
    "other rows": lambda module, a: module.lstsq(a, a[0, :2]),
    "vectors of two": lambda module, a: module.cross(a[:, :2], a[:, :2]),
    "outer products of matrices": lambda module, a: module.outer(a, a),
    "one matrix": lambda module, a: module.multi_dot([a]),
    "singular": lambda module, a: module.solve(a - a, a),
    "singular, inverted": lambda module, a: module.inv(a - a),
}


@EVERYWHERE
@pytest.mark.parametrize("case", REFUSED)
def test_linalg_raises_same_exception_as_numpy(case: str) -> None:
    a = 2 * np.eye(3)
    ours = outcome(lambda: REFUSED[case](linalg, PyGPU.to_gpu(a)))
    numpys = outcome(lambda: REFUSED[case](np.linalg, a))
    assert (ours[0], numpys[0]) == ("error", "error")
    assert type(ours[1]) is type(numpys[1])
    if isinstance(ours[1], np.linalg.LinAlgError):
        assert str(ours[1]) == str(numpys[1])


@pytest.mark.usefixtures("small_matrix_method")
def test_singular_matrix_in_batch_raises_linalg_error() -> None:
    a = np.stack([np.eye(3), np.ones((3, 3)), np.eye(3)]).astype("float32")
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        linalg.solve(PyGPU.to_gpu(a), PyGPU.to_gpu(a))
    with pytest.raises(np.linalg.LinAlgError, match="Matrix is not positive definite"):
        linalg.cholesky(PyGPU.to_gpu(a - 1))


@pytest.mark.usefixtures("small_matrix_method")
@pytest.mark.skipif(on_cpu(), reason="NumPy computes there")
def test_captured_solve_uses_values_at_graph_launch() -> None:
    a, b = PyGPU.to_gpu(sample_matrix("float32", 4, 4)), PyGPU.to_gpu(sample_matrix("float32", 4, 1))
    many = PyGPU.to_gpu(sample_matrix("float32", 3, 4, 4))
    linalg.solve(a, b)
    linalg.inv(many)
    stream = PyGPU.Stream()
    with stream:
        stream.begin_capture()
        x = linalg.solve(a, b)
        inverses = linalg.inv(many)
        graph = stream.end_capture()
    twice = 2 * b.get()
    b.set(twice)
    graph.launch(stream)
    close(x, np.linalg.solve(a.get(), twice))
    close(inverses, np.linalg.inv(many.get()))


@pytest.mark.skipif(not on_cpu(), reason="NumPy computes on the CPU only")
def test_capture_on_cpu_rejects_linalg_functions() -> None:
    a = PyGPU.eye(2)
    with PyGPU.Stream() as stream:
        stream.begin_capture()
        with pytest.raises(PyGPU.NotSupportedError, match="cannot be captured"):
            linalg.inv(a)
        stream.end_capture()
