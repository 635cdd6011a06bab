"""Test the parameters of distributions: broadcasting, device arrays, sizes, output arrays, and NumPy's errors."""

from __future__ import annotations

import inspect
import itertools
import math
from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from PyGPU._random.stream_position import StreamPosition

PyGPU.device_count()
# fmt: off
OF_PARAMETERS = [
    "beta", "binomial", "chisquare", "exponential", "f", "gamma", "geometric", "gumbel", "hypergeometric",
    "laplace", "logistic", "lognormal", "logseries", "negative_binomial", "noncentral_chisquare", "noncentral_f",
    "normal", "pareto", "poisson", "power", "rayleigh", "standard_gamma", "standard_t", "triangular", "uniform",
    "vonmises", "wald", "weibull", "zipf",
]
# fmt: on
VALUES = (-1, 0, -0.0, 0.5, 2, math.nan, math.inf, 1e300, [1, -1], [math.nan, 2], [1, 2], "a", 1j)


def outcome(rng: Any, name: str, *arguments: Any, **keywords: Any) -> Any:
    """Return the shape of the result of a call, or the type of its error."""
    try:
        return np.shape(getattr(rng, name)(*arguments, **keywords))
    except Exception as error:
        return type(error)


def number_of_parameters(name: str) -> int:
    parameters = inspect.signature(getattr(np.random.Generator, name)).parameters
    return len([one for one in parameters if one not in ("self", "size", "dtype", "out")])


@pytest.mark.enough_on("cpu")
# In NumPy 2.0, the call zipf(1e300) never returns.
@pytest.mark.parametrize("name", [name for name in OF_PARAMETERS if name != "zipf" or is_numpy("2.1")])
def test_distribution_parameters_are_accepted_or_rejected_like_numpy(name: str) -> None:
    numpys, rng = np.random.default_rng(1), PyGPU.random.default_rng(1)
    count = number_of_parameters(name)
    values = VALUES if count < 3 else VALUES[:-2]
    for arguments in itertools.product(values, repeat=count):
        for size in (None, (3, 2), (0, 2)):
            expected = outcome(numpys, name, *arguments, size=size)
            before = rng.state["state"]["counter"][0] if isinstance(expected, type) else None
            assert outcome(rng, name, *arguments, size=size) == expected, (arguments, size)
            if before is not None:
                assert rng.state["state"]["counter"][0] == before


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize(
    ("name", "arguments", "keywords"),
    [
        ("dirichlet", ([1, 0],), {}),
        ("dirichlet", ([1, 2],), {"size": -1}),
        ("dirichlet", (3,), {}),
        ("multinomial", (-1, [0.5, 0.5]), {}),
        ("multinomial", (5, [0.7, 0.7]), {}),
        ("multinomial", (5, [-0.1, 1.1]), {}),
        ("multinomial", ([5, 6], [0.5, 0.5]), {"size": 3}),
        ("multivariate_hypergeometric", ([1, 2], 4), {}),
        ("multivariate_hypergeometric", ([-1, 2], 1), {}),
        ("multivariate_hypergeometric", ([1, 2], 1), {"method": "no"}),
        ("multivariate_normal", ([0, 0], [[1, 2], [2, 1]]), {"check_valid": "raise"}),
        ("multivariate_normal", ([0, 0], [[1, 2, 3], [2, 1, 3]]), {}),
        ("multivariate_normal", ([0, 0, 1], [[1, 0], [0, 1]]), {}),
        ("multivariate_normal", ([0, 0], [[1, 0], [0, 1]]), {"method": "qr"}),
        ("multivariate_normal", ([0, 0], [[1, 2], [2, 1]]), {"method": "cholesky"}),
        ("standard_normal", (), {"dtype": "int32"}),
        ("standard_gamma", (1,), {"dtype": "float16"}),
        ("random", (3,), {"dtype": "int64"}),
        ("integers", (5, 5), {}),
        ("integers", (5, 4), {"size": 0}),
        ("integers", (300,), {"dtype": "uint8"}),
        ("integers", ([1, 5], [3, 5]), {}),
        ("integers", ([1, -1], 5), {"dtype": "uint8"}),
        ("integers", ([1, 2], 5), {"size": 3}),
        ("integers", (3,), {"dtype": "float32"}),
        ("choice", (0,), {}),
        ("choice", (2.5,), {}),
        ("choice", (3, 4), {"replace": False}),
        ("choice", (3,), {"p": [0.5, 0.5]}),
        ("choice", (3,), {"p": [0.5, 0.6, 0.1]}),
        ("permuted", (5,), {}),
        ("permuted", ([1, 2],), {"axis": 1}),
    ],
)
def test_invalid_distribution_parameters_raise_same_errors_as_numpy(name: str, arguments: Any, keywords: Any) -> None:
    expected = outcome(np.random.default_rng(1), name, *arguments, **keywords)
    assert outcome(PyGPU.random.default_rng(1), name, *arguments, **keywords) == expected


def test_device_arrays_as_distribution_parameters_broadcast() -> None:
    shapes = np.array([[0.5], [3.0]])
    scales = np.array([1.0, 2.0, 4.0], "float32")
    expected = PyGPU.random.default_rng(3).gamma(shapes, scales, (4, 2, 3)).get()
    rng = PyGPU.random.default_rng(3)
    np.testing.assert_array_equal(rng.gamma(PyGPU.to_gpu(shapes), PyGPU.to_gpu(scales), (4, 2, 3)).get(), expected)
    assert rng.gamma(PyGPU.to_gpu(shapes), scales).shape == (2, 3)
    trials = PyGPU.to_gpu(np.array([5, 10, 20]))
    assert (rng.binomial(trials[::-1], 0.5).get() <= [20, 10, 5]).all()
    assert rng.gamma(PyGPU.empty((0, 3)), 1.0).shape == (0, 3)
    with pytest.raises(ValueError, match="shape < 0"):
        rng.gamma(PyGPU.to_gpu(np.array([1.0, -1.0])), 1.0)
    with pytest.raises(ValueError, match="scale < 0"):
        rng.normal(0.0, PyGPU.to_gpu(np.array([1.0, -1.0])))
    with pytest.raises(ValueError, match=r"size \(3,\) is not compatible .* \(2, 3\)"):
        rng.gamma(PyGPU.to_gpu(shapes), scales, 3)
    assert set(rng.integers(PyGPU.to_gpu(np.array([3, 8])), 9).get()) <= set(range(3, 9))
    assert rng.multinomial(PyGPU.to_gpu(np.array([3, 8])), [0.5, 0.5]).sum(-1).tolist() == [3, 8]


def test_out_array_receives_numbers_of_standard_gamma() -> None:
    expected = PyGPU.random.default_rng(3).standard_gamma([1.0, 2.0, 3.0], (2, 3), "float32").get()
    out = PyGPU.zeros((2, 6), "float32")
    assert PyGPU.random.default_rng(3).standard_gamma([1.0, 2.0, 3.0], dtype="float32", out=out[:, ::2]).shape == (2, 3)
    np.testing.assert_array_equal(out.get(), np.insert(expected, [1, 2, 3], 0, axis=1))
    with pytest.raises(TypeError, match="wrong type"):
        PyGPU.random.default_rng(3).standard_gamma(1.0, out=out)
    with pytest.raises(ValueError, match="size must match"):
        PyGPU.random.default_rng(3).standard_gamma(1.0, 5, "float32", out=out)


def test_sampler_advances_random_stream_by_one_number_per_element() -> None:
    together = PyGPU.random.default_rng(8)
    together.random(3, "float32")
    parts = PyGPU.random.default_rng(8)
    parts.random(3, "float32")
    before = StreamPosition.from_state(together.state)
    values = together.standard_gamma(0.4, 1001).get()
    np.testing.assert_array_equal(
        np.concatenate([parts.standard_gamma(0.4, count).get() for count in (300, 0, 1, 700)]), values
    )
    after = StreamPosition.from_state(together.state)
    assert (after.number - before.number, after.half) == (1001, before.half)
    assert StreamPosition.from_state(parts.state).number == after.number
    assert together.random() == parts.random()


def test_vector_distributions_have_correct_sums_and_moments() -> None:
    rng = PyGPU.random.default_rng(4)
    shares = rng.dirichlet([1.0, 2.0, 5.0], 4000).get()
    np.testing.assert_allclose(shares.sum(-1), 1, rtol=1e-14)
    np.testing.assert_allclose(shares.mean(0), [0.125, 0.25, 0.625], atol=0.02)
    counts = rng.multinomial(30, [0.2, 0.0, 0.5, 0.3], 4000).get()
    assert (counts.sum(-1) == 30).all()
    np.testing.assert_allclose(counts.mean(0) / 30, [0.2, 0.0, 0.5, 0.3], atol=0.01)
    drawn = rng.multivariate_hypergeometric([10, 0, 30], 12, 4000, "count").get()
    assert (drawn.sum(-1) == 12).all()
    np.testing.assert_allclose(drawn.mean(0), [3, 0, 9], atol=0.15)
    covariance = np.array([[2.0, 1.0], [1.0, 3.0]])
    for method in ("svd", "eigh", "cholesky"):
        vectors = rng.multivariate_normal([1.0, -1.0], covariance, 4000, method=method).get()
        np.testing.assert_allclose(vectors.mean(0), [1, -1], atol=0.15)
        np.testing.assert_allclose(np.cov(vectors.T), covariance, atol=0.3)
    assert rng.multivariate_normal([0.0], [[1.0]]).shape == (1,)
    assert rng.multinomial(5, [1.0]).tolist() == [5]
    assert rng.dirichlet([1.0, 1.0], (0, 2)).shape == (0, 2, 2)


def test_permuted_moves_elements_of_each_row_independently() -> None:
    rng = PyGPU.random.default_rng(4)
    host = np.tile(np.arange(50), (20, 1))
    rows = rng.permuted(PyGPU.to_gpu(host), axis=1).get()
    np.testing.assert_array_equal(np.sort(rows, 1), host)
    assert len({tuple(row) for row in rows}) == 20
    anywhere = rng.permuted(host)
    assert anywhere.shape == host.shape
    np.testing.assert_array_equal(np.sort(anywhere.get(), axis=None), np.sort(host, axis=None))
    own = PyGPU.to_gpu(host)
    assert rng.permuted(own, axis=0, out=own) is own
    np.testing.assert_array_equal(own.get(), host)


def test_captured_samplers_draw_next_numbers_at_each_launch() -> None:
    rng, other = (PyGPU.random.default_rng(6) for _ in range(2))
    shapes = PyGPU.to_gpu(np.array([0.5, 2.0, 9.0]))
    stream = PyGPU.Stream()
    result = PyGPU.empty(3)
    with stream:
        stream.begin_capture()
        rng.standard_gamma(shapes, out=result)
        graph = stream.end_capture()
    for _ in range(3):
        graph.launch(stream)
        np.testing.assert_array_equal(result.get(), other.standard_gamma(shapes).get())
    assert rng.random() == other.random()


def test_captured_samplers_accept_device_arrays_as_parameters() -> None:
    rng, other = (PyGPU.random.default_rng(6) for _ in range(2))
    low, high = PyGPU.to_gpu(np.array([1, 5])), PyGPU.to_gpu(np.array([4, 50]))
    stream = PyGPU.Stream()
    with stream:
        stream.begin_capture()
        results = rng.integers(low, high), rng.normal(low, 2.0)
        graph = stream.end_capture()
    for _ in range(2):
        graph.launch(stream)
        for result, expected in zip(results, (other.integers(low, high), other.normal(low, 2.0)), strict=True):
            np.testing.assert_array_equal(result.get(), expected.get())
