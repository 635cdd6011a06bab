"""NumPy's older random functions, such as `rand`, which draw from one `RandomState` per device."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from PyGPU import _core
from PyGPU._process.fork_lock import fork_safe_lock
from PyGPU._random.random_state import RandomState

_lock = fork_safe_lock()
_states: dict[_core.Device, RandomState] = {}


def _current() -> RandomState:
    """Return the `RandomState` of the current device; the first seed of a `RandomState` is unpredictable."""
    device = _core.Device()
    with _lock:
        if device not in _states:
            _states[device] = RandomState(device=device)
        return _states[device]


def _function(name: str) -> Callable[..., Any]:
    """Return a function that calls a method of the current device's `RandomState`."""
    method = getattr(RandomState, name)

    @functools.wraps(method)
    def function(*arguments: Any, **keywords: Any) -> Any:
        return getattr(_current(), name)(*arguments, **keywords)

    signature = inspect.signature(method)
    parameters = list(signature.parameters.values())[1:]
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    function.__doc__ = (inspect.getdoc(method) or "").replace("PyGPU.random.RandomState(1)", "PyGPU.random")
    function.__name__ = function.__qualname__ = name
    function.__module__ = "PyGPU.random"
    del function.__wrapped__
    return function


beta = _function("beta")
binomial = _function("binomial")
bytes = _function("bytes")
chisquare = _function("chisquare")
choice = _function("choice")
dirichlet = _function("dirichlet")
exponential = _function("exponential")
f = _function("f")
gamma = _function("gamma")
geometric = _function("geometric")
get_state = _function("get_state")
gumbel = _function("gumbel")
hypergeometric = _function("hypergeometric")
laplace = _function("laplace")
logistic = _function("logistic")
lognormal = _function("lognormal")
logseries = _function("logseries")
multinomial = _function("multinomial")
multivariate_normal = _function("multivariate_normal")
negative_binomial = _function("negative_binomial")
noncentral_chisquare = _function("noncentral_chisquare")
noncentral_f = _function("noncentral_f")
normal = _function("normal")
pareto = _function("pareto")
permutation = _function("permutation")
poisson = _function("poisson")
power = _function("power")
rand = _function("rand")
randint = _function("randint")
randn = _function("randn")
random = _function("random")
random_integers = _function("random_integers")
random_sample = _function("random_sample")
rayleigh = _function("rayleigh")
seed = _function("seed")
set_state = _function("set_state")
shuffle = _function("shuffle")
standard_cauchy = _function("standard_cauchy")
standard_exponential = _function("standard_exponential")
standard_gamma = _function("standard_gamma")
standard_normal = _function("standard_normal")
standard_t = _function("standard_t")
triangular = _function("triangular")
uniform = _function("uniform")
vonmises = _function("vonmises")
wald = _function("wald")
weibull = _function("weibull")
zipf = _function("zipf")
ranf = sample = random_sample
