"""Compare random numbers with torch and CuPy, in gigabytes per second written.

    python benches/python/random_numbers.py [--bytes N] [--rounds 5] [--json FILE]

N bytes of each kind are drawn into existing memory, 1 GiB by default; calls that return integers, and torch's function
for gamma-distributed numbers, allocate an array. Times of large arrays are measured between two events over 20 calls.
The time of a small array is measured on the host until the call returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timing import Library, host_seconds, measure

Calls = dict[str, tuple[Callable[[], Any], int]]


def of_torch(library: Library, count: int) -> Calls:
    """Return torch's timed functions, which write into existing tensors."""
    torch = library.module
    single = torch.empty(count, dtype=torch.float32, device="cuda")
    double, whole = single.view(torch.float64), single.view(torch.int32)
    shapes, means, trials, chances = (torch.full_like(double, value) for value in (2.0, 50.0, 100.0, 0.3))
    return {
        "uniform float32": (single.uniform_, 4 * count),
        "uniform float64": (double.uniform_, 4 * count),
        "normal float32": (single.normal_, 4 * count),
        "normal float64": (double.normal_, 4 * count),
        "exponential float32": (single.exponential_, 4 * count),
        "integers below 1000": (lambda: whole.random_(0, 1000), 4 * count),
        "gamma of shape 2, float64": (lambda: torch._standard_gamma(shapes), 4 * count),
        "poisson of mean 50": (lambda: torch.poisson(means), 4 * count),
        "binomial of 100, 0.3": (lambda: torch.binomial(trials, chances), 4 * count),
    }


def large(library: Library, count: int) -> Calls:
    """Return the timed functions, each with the number of bytes that a call must read and write."""
    count = count // 64 * 64
    if library.name == "torch":
        return of_torch(library, count)
    module = library.module
    rng = module.random.default_rng(1)
    single = module.empty(count, "float32")
    double = single.view("float64")
    calls = {
        "uniform float32": lambda: rng.random(dtype="float32", out=single),
        "uniform float64": lambda: rng.random(out=double),
        "normal float32": lambda: rng.standard_normal(dtype="float32", out=single),
        "normal float64": lambda: rng.standard_normal(out=double),
        "exponential float32": lambda: rng.standard_exponential(dtype="float32", out=single),
        "integers below 1000": lambda: rng.integers(0, 1000, count, dtype="int32"),
        "gamma of shape 2, float64": lambda: rng.standard_gamma(2.0, out=double),
        "poisson of mean 50": lambda: rng.poisson(50.0, count // 2),
        "binomial of 100, 0.3": lambda: rng.binomial(100, 0.3, count // 2),
    }
    if library.name == "PyGPU":
        odd = single[1:-3]
        calls["uniform float32, not aligned"] = lambda: rng.random(dtype="float32", out=odd)
    return {name: (call, 4 * count) for name, call in calls.items()}


def small(library: Library) -> dict[str, float]:
    """Return the seconds until a call that draws sixteen elements returns."""
    if library.name == "torch":
        single = library.module.empty(16, device="cuda")
        return {"uniform float32 of 16": host_seconds(library, single.uniform_)}
    rng = library.module.random.default_rng(1)
    single = library.module.empty(16, "float32")
    return {"uniform float32 of 16": host_seconds(library, lambda: rng.random(dtype="float32", out=single))}


if __name__ == "__main__":
    measure(__doc__, "random", large, small)
