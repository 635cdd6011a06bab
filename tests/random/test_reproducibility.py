"""Test that one seed gives the same numbers on every backend: the backend's numbers equal those that are stored in the
repository.

``python tests/random/test_reproducibility.py`` stores the numbers of the current backend after an intended change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import PyGPU

STORED = Path(__file__).parent / "reproducible_numbers.json"
COUNT = 6

Draw = Callable[[Any], PyGPU.GPUArray]


def _sampled() -> Iterator[tuple[str, Draw]]:
    parameters: dict[str, tuple[Any, ...]] = {
        "beta": ([0.3, 2.0], [0.4, 3.0]),
        "binomial": ([10, 1000, 10**14], [0.5, 0.3, 0.9]),
        "chisquare": (3.0,),
        "f": (2.0, 9.0),
        "gamma": ([0.1, 2.0, 30.0], 2.0),
        "geometric": ([0.2, 0.9],),
        "gumbel": (1.0, 2.0),
        "hypergeometric": ([9, 5000], [5, 9000], [4, 3000]),
        "laplace": (1.0, 2.0),
        "logistic": (1.0, 2.0),
        "lognormal": (1.0, 0.5),
        "logseries": ([0.5, 0.99],),
        "negative_binomial": (3, 0.1),
        "noncentral_chisquare": ([0.5, 3.0], 1.5),
        "noncentral_f": (2.0, 9.0, 1.5),
        "pareto": (3.0,),
        "poisson": ([0.3, 50.0, 1e14],),
        "power": (3.0,),
        "rayleigh": (2.0,),
        "standard_cauchy": (),
        "standard_t": (5.0,),
        "triangular": (-1.0, 0.0, 3.0),
        "vonmises": (1.0, [1e-6, 2.0, 1e7]),
        "wald": (1.0, 2.0),
        "weibull": (1.5,),
        "zipf": ([1.1, 2.5],),
    }
    for name, values in parameters.items():
        size = (COUNT, *np.broadcast_shapes(*(np.shape(value) for value in values)))
        yield name, lambda rng, name=name, values=values, size=size: getattr(rng, name)(*values, size=size)


DRAWS: dict[str, Draw] = {
    **dict(_sampled()),
    # Sums of long draws, for which a GPU uses several thread blocks.
    "binomial in sums": lambda rng: rng.binomial(100, 0.3, (9, 250)).sum(axis=1),
    "chisquare in sums": lambda rng: rng.chisquare(3.0, (9, 250)).sum(axis=1),
    "gamma in sums": lambda rng: rng.gamma([0.5, 2.0], 3.0, (300, 2)).sum(axis=0),
    "poisson in sums": lambda rng: rng.poisson([3.0, 50.0, 700.0], (300, 3)).sum(axis=0),
    "choice": lambda rng: rng.choice(50, 9, replace=False),
    "choice of probabilities": lambda rng: rng.choice(6, 4, replace=False, p=[0.1, 0.2, 0.3, 0.2, 0.1, 0.1]),
    "choice with replacement": lambda rng: rng.choice([1.5, 2.5, 3.5], 9, p=[0.1, 0.2, 0.7]),
    "dirichlet": lambda rng: rng.dirichlet([1.0, 2.0, 3.0], COUNT),
    "dirichlet of small parameters": lambda rng: rng.dirichlet([0.01, 0.02, 0.03], COUNT),
    "exponential": lambda rng: rng.exponential(3.0, COUNT),
    "exponential float32": lambda rng: rng.standard_exponential(13, "float32"),
    "integers": lambda rng: rng.integers(0, 3 << 30, 40),
    "integers of arrays": lambda rng: rng.integers([0, 5, -(2**62)], [9, 10, 2**62], (COUNT, 3)),
    "integers of 8 bits": lambda rng: rng.integers(-3, 99, 40, "int8"),
    "multinomial": lambda rng: rng.multinomial([5, 50], [0.2, 0.3, 0.5]),
    "multivariate hypergeometric": lambda rng: rng.multivariate_hypergeometric([5, 6, 7], 4, COUNT),
    "multivariate normal": lambda rng: rng.multivariate_normal([0, 1], [[2, 1], [1, 2]], COUNT, method="cholesky"),
    "normal": lambda rng: rng.normal(1.0, 2.0, 7),
    "normal of arrays": lambda rng: rng.normal([1.0, 2.0], [3.0, 4.0], (COUNT, 2)),
    "normal float32": lambda rng: rng.standard_normal(13, "float32"),
    "permutation": lambda rng: rng.permutation(40),
    "permuted": lambda rng: rng.permuted(np.arange(24).reshape(4, 6), axis=1),
    "standard_gamma float32": lambda rng: rng.standard_gamma(0.7, COUNT, "float32"),
    "uniform": lambda rng: rng.uniform(-1.0, 3.0, COUNT),
}


def drawn(name: str) -> np.ndarray:
    """Return the numbers of a draw that begins within a block of the generator, because three 32-bit numbers are drawn
    first and half of a 64-bit number is left over."""
    rng = PyGPU.random.default_rng(36)
    rng.random(3, "float32")
    return DRAWS[name](rng).get()


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_of_seed_equal_stored_numbers_on_every_backend(name: str) -> None:
    stored = json.loads(STORED.read_text())[name]
    values = drawn(name)
    assert values.dtype == stored["dtype"]
    expected = np.array(stored["values"], values.dtype)
    if values.dtype.kind == "f":
        np.testing.assert_array_max_ulp(values.ravel(), expected, 4)
    else:
        np.testing.assert_array_equal(values.ravel(), expected)


def test_shuffle_orders_elements_like_permutation_of_same_seed() -> None:
    array = PyGPU.arange(40)
    PyGPU.random.default_rng(5).shuffle(array)
    np.testing.assert_array_equal(array.get(), PyGPU.random.default_rng(5).permutation(40).get())


SPLIT: dict[str, Callable[..., PyGPU.GPUArray]] = {
    "chisquare": lambda rng, size: rng.chisquare(3.0, size),
    "poisson": lambda rng, size: rng.poisson(50.0, size),
    "standard_exponential": lambda rng, size: rng.standard_exponential(size, "float32"),
    "standard_normal": lambda rng, size: rng.standard_normal(size, "float32"),
}


@pytest.mark.parametrize("name", SPLIT)
def test_split_and_captured_draws_give_same_numbers_as_single_draw(name: str) -> None:
    sizes = (1, 900, 2, 6) if name in ("chisquare", "poisson") else (2, 900, 2, 6)
    whole = SPLIT[name](PyGPU.random.default_rng(36), sum(sizes)).get()
    rng = PyGPU.random.default_rng(36)
    parts = [SPLIT[name](rng, size).get() for size in sizes[:-1]]
    stream = PyGPU.Stream()
    with stream:
        stream.begin_capture()
        last = SPLIT[name](rng, sizes[-1])
        graph = stream.end_capture()
    graph.launch(stream)
    np.testing.assert_array_equal(np.concatenate([*parts, last.get()]), whole)


def store() -> None:
    """Store the numbers of the current backend as the expected numbers."""
    rows = {name: drawn(name) for name in sorted(DRAWS)}
    texts = [
        f'"{name}": {{"dtype": "{values.dtype}", "values": {json.dumps(values.ravel().tolist())}}}'
        for name, values in rows.items()
    ]
    STORED.write_text("{\n" + ",\n".join(texts) + "\n}\n")


if __name__ == "__main__":
    store()
