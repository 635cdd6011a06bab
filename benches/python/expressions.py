"""Define expressions as written for NumPy, their necessary traffic, and the comparison with NumPy's results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# Number of elements after which the operands repeat; NumPy computes only these elements.
PERIOD = 1 << 12
ROOT = math.sqrt(0.5)


class Names:
    """Hold one library's functions that the expressions call."""

    def __init__(self, module: Any, erf: Callable[[Any], Any]) -> None:
        self.log, self.exp, self.sqrt, self.erf = module.log, module.exp, module.sqrt, erf


NUMPY = Names(np, np.vectorize(math.erf, otypes=[float]))


def polynomial(names: Names, x: Any, y: Any) -> Any:
    """Evaluate a polynomial by five operations, with one result."""
    return 0.9 * x + y - 2 * x * y


def two(names: Names, x: Any, y: Any) -> Any:
    """Evaluate an expression with two result arrays; the second result is computed from the first."""
    t = 0.9 * x
    z = t + y
    return t, z


def squares(names: Names, x: Any, m: Any) -> Any:
    """Return the sum of the squared differences of two arrays as one number."""
    return ((x - m) ** 2).sum()


def black_scholes(names: Names, price: Any, strike: Any, years: Any) -> Any:
    """Return the prices of a call option and a put option by the Black-Scholes formula."""
    rate, volatility = 0.02, 0.3
    spread = volatility * names.sqrt(years)
    d1 = (names.log(price / strike) + (rate + volatility * volatility / 2) * years) / spread
    d2 = d1 - spread
    discounted = strike * names.exp(-rate * years)
    call = price * (0.5 * (1 + names.erf(ROOT * d1))) - discounted * (0.5 * (1 + names.erf(ROOT * d2)))
    return call, call - price + discounted


def stencil(names: Names, u: Any) -> Any:
    """Subtract from each inner element of a plane the mean of its neighbours."""
    return 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) - u[1:-1, 1:-1]


@dataclass(frozen=True)
class Expression:
    """Describe one expression: its function, the ranges of its operands, and the arrays that it must read and write."""

    what: str
    function: Callable[..., Any]
    ranges: tuple[tuple[float, float], ...]
    moved: int
    # The size of an array in bytes is the size that the command line requests, divided by `part`.
    part: int = 1
    is_plane: bool = False
    has_number: bool = False

    def operands(self, nbytes: int) -> list[np.ndarray[Any, Any]]:
        """Return the operands in float32: arrays that repeat `PERIOD` values, and numbers as 0-d arrays."""
        count = max(nbytes // 4 // self.part // PERIOD, 1) * PERIOD
        arrays = []
        for index, (low, high) in enumerate(self.ranges):
            values = np.random.default_rng(index).uniform(low, high, PERIOD).astype(np.float32)
            if self.has_number and index:
                arrays.append(np.array(values[0]))
            elif self.is_plane:
                side = max(math.isqrt(count) // PERIOD, 1) * PERIOD
                arrays.append(np.tile(values, (max(count // side, 8), side // PERIOD)))
            else:
                arrays.append(np.tile(values, count // PERIOD))
        return arrays

    def nbytes(self, operands: Sequence[np.ndarray[Any, Any]]) -> int:
        """Return the number of bytes that the expression must read and write."""
        return self.moved * operands[0].nbytes

    def check(self, operands: Sequence[np.ndarray[Any, Any]], results: Any, fetch: Callable[[Any], Any]) -> None:
        """Compare a sum, or the first and last elements of an array, with NumPy's result in float64."""
        every = results if isinstance(results, tuple) else (results,)
        if self.has_number:
            heads = [operand[:PERIOD].astype(np.float64) if operand.ndim else operand for operand in operands]
            sums = self.function(NUMPY, *heads) * (operands[0].size // PERIOD)
            np.testing.assert_allclose(fetch(every[0]), sums, rtol=1e-4)
            return
        cuts = [slice(None, PERIOD), slice(-PERIOD, None)] if not self.is_plane else [slice(None, 8), slice(-8, None)]
        for cut in cuts:
            expected = self.function(NUMPY, *(operand[cut].astype(np.float64) for operand in operands))
            inner = cut if not self.is_plane else slice(None, 6) if cut.stop else slice(-6, None)
            for result, values in zip(every, expected if isinstance(expected, tuple) else (expected,), strict=True):
                scale = float(np.abs(values).max())
                np.testing.assert_allclose(fetch(result[inner]), values, rtol=1e-4, atol=1e-5 * scale)


POLYNOMIAL, TWO, SQUARES = "0.9*x + y - 2*x*y", "t = 0.9*x; z = t + y", "((x - m)**2).sum()"
BLACK_SCHOLES, STENCIL = "Black-Scholes", "stencil of five points"
LARGE = (
    Expression(POLYNOMIAL, polynomial, ((0, 1), (1, 2)), 3),
    Expression(TWO, two, ((0, 1), (1, 2)), 4),
    Expression(SQUARES, squares, ((0, 1), (0.4, 0.6)), 1, has_number=True),
    Expression(BLACK_SCHOLES, black_scholes, ((5, 30), (1, 100), (0.25, 10)), 5, part=4),
    Expression(STENCIL, stencil, ((0, 1),), 2, is_plane=True),
)
