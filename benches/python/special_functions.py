"""Compare `PyGPU.special` with cupyx.scipy.special and torch.special, in gigabytes per second read and written.

    python benches/python/special_functions.py [--bytes N] [--rounds 5] [--json FILE]

Each function reads operands of N bytes, 1 GiB by default, of float32 and then of float64, and writes into an existing
array. All operands of a library need 30 N bytes of device memory. Operands are uniform in the range that `OPERANDS`
lists for the function. Times are measured between two events over 20 calls; first_calls.py measures the times of first
calls.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import Library, host_seconds, measure

WIDE, POSITIVE, UNIT = (-5.0, 5.0), (0.1, 20.0), (0.001, 0.999)
OPERANDS: dict[str, tuple[tuple[float, float], ...]] = {
    **dict.fromkeys(("erf", "erfc", "erfcx", "ndtr", "log_ndtr", "expit", "log_expit", "sinc", "i0", "i0e"), (WIDE,)),
    **dict.fromkeys(("i1", "i1e", "erfi", "dawsn", "cosm1", "exprel", "exp2", "exp10", "expm1", "cbrt"), (WIDE,)),
    **dict.fromkeys(("k0", "k0e", "k1", "k1e", "j0", "j1", "y0", "y1", "gamma", "gammaln", "digamma"), (POSITIVE,)),
    **dict.fromkeys(("rgamma", "exp1", "expi", "entr", "spence", "log1p"), (POSITIVE,)),
    **dict.fromkeys(("erfinv", "logit", "ndtri", "erfcinv", "ellipk", "ellipe"), (UNIT,)),
    "ndtri_exp": ((-20.0, -0.1),),
    **dict.fromkeys(("beta", "betaln", "gammainc", "gammaincc", "zeta"), ((1.5, 10.0), POSITIVE)),
    **dict.fromkeys(("rel_entr", "kl_div", "huber", "pseudo_huber", "xlogy", "xlog1py", "binom"), (POSITIVE, POSITIVE)),
    **dict.fromkeys(("poch", "boxcox", "chdtr", "chdtrc"), (POSITIVE, POSITIVE)),
    **dict.fromkeys(("gammaincinv", "gammainccinv"), (POSITIVE, UNIT)),
    **dict.fromkeys(("betainc", "betaincinv"), (POSITIVE, POSITIVE, UNIT)),
    **dict.fromkeys(("stdtr",), (POSITIVE, WIDE)),
}
"""The functions, with the range of each operand."""

TORCH_NAMES = {
    "ellipk": None,
    "gamma": None,
    "j0": "bessel_j0",
    "j1": "bessel_j1",
    "y0": "bessel_y0",
    "y1": "bessel_y1",
}
TORCH_NAMES |= {"k0": "modified_bessel_k0", "k1": "modified_bessel_k1", "k0e": "scaled_modified_bessel_k0"}
TORCH_NAMES |= {"k1e": "scaled_modified_bessel_k1"}
"""Functions whose name in torch differs from SciPy's; None if torch lacks the function."""


def function_of(library: Library, name: str) -> Callable[..., Any] | None:
    """Return a library's function by SciPy's name for it, or None if the library lacks it."""
    modules = {"PyGPU": "PyGPU", "torch": "torch", "cupy": "cupyx.scipy", "jax": "jax.scipy"}
    own = TORCH_NAMES.get(name, name) if library.name == "torch" else name
    return None if own is None else getattr(importlib.import_module(f"{modules[library.name]}.special"), own, None)


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return the timed functions, each with the number of bytes that a call must read and write."""
    rng = np.random.default_rng(3)
    calls: dict[str, tuple[Callable[[], Any], int]] = {}
    uniform = [library.array(rng.random(count, dtype=np.float32)) for _ in range(3)]
    for dtype in (np.float32, np.float64):
        number = count * 4 // np.dtype(dtype).itemsize
        units = [library.cast(one[:number], dtype) for one in uniform]
        out = library.cast(units[0], dtype) * 0
        scaled = functools.cache(lambda k, low, high, units=units: units[k] * (high - low) + low)
        for name, ranges in OPERANDS.items():
            if function := function_of(library, name):
                operands = [scaled(k, *one) for k, one in enumerate(ranges)]
                call = functools.partial(function, *operands, out=out)
                calls[f"{name} {np.dtype(dtype).name}"] = (call, (len(operands) + 1) * out.nbytes)
    return calls


def small(library: Library) -> dict[str, float]:
    """Return the seconds until a call on sixteen elements returns."""
    x = library.array(np.linspace(0.1, 0.9, 16, dtype=np.float32))
    function = function_of(library, "ndtri")
    assert function is not None
    return {"ndtri of 16": host_seconds(library, lambda: function(x))}


if __name__ == "__main__":
    measure(__doc__, "special_functions", large, small)
