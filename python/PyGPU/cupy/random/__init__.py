"""Random numbers with CuPy's parameters.

All numbers come from Philox: they differ from CuPy's numbers, but have the same distributions.
"""

from typing import Any

from PyGPU._cupy.functions import random_numbers as _numbers
from PyGPU._cupy.functions.random_numbers import (
    XORWOW,
    BitGenerator,
    MRG32k3a,
    Philox4x3210,
    RandomState,
    get_random_state,
    reset_states,
    seed,
    set_random_state,
)
from PyGPU._names import public_modules as _public_modules
from PyGPU._random.generator import Generator, default_rng

_FUNCTIONS = (
    "beta", "binomial", "bytes", "chisquare", "choice", "dirichlet", "exponential", "f", "gamma", "geometric", "gumbel",
    "hypergeometric", "laplace", "logistic", "lognormal", "logseries", "multinomial", "multivariate_normal",
    "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal", "pareto", "permutation", "poisson", "power",
    "rand", "randint", "randn", "random", "random_integers", "random_sample", "ranf", "rayleigh", "sample", "shuffle",
    "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal", "standard_t", "triangular",
    "uniform", "vonmises", "wald", "weibull", "zipf",
)  # fmt: skip
_METHODS = {"random": "random_sample", "ranf": "random_sample", "sample": "random_sample"}

__all__ = [
    "BitGenerator", "Generator", "MRG32k3a", "Philox4x3210", "RandomState", "XORWOW", "default_rng", "get_random_state",
    "reset_states", "seed", "set_random_state", *_FUNCTIONS,
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        value = globals()[name] = _public_modules.readable(_numbers.function(_METHODS.get(name, name)))
        return value
    from PyGPU._cupy.lazy_names import no_attribute

    raise no_attribute(__name__, name)


_public_modules.publish(globals())
