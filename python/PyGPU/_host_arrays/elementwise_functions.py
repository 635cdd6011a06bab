"""Elementwise functions that NumPy does not provide as ufuncs, for arrays in host memory.

The functions combine several functions of NumPy, or use Python's `math`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

Results = tuple[Any, ...]


def _write(out: Results, value: Any, mask: Any, casting: Any) -> None:
    np.copyto(out[0], value, where=mask, casting=casting)


def _with_output(function: Callable[..., Any]) -> Callable[..., None]:
    """Wrap a function so that it accepts the parameters of a ufunc: `out`, `where`, `casting` and `dtype`."""

    def computed(
        *operands: Any, out: Results, where: Any = True, casting: str = "same_kind", dtype: np.dtype[Any] | None = None
    ) -> None:
        if dtype is not None:
            operands = tuple(np.asarray(operand).astype(dtype) for operand in operands)
        _write(out, function(*operands), where, casting)

    return computed


def _elementwise(function: Callable[[float], float], at_pole: float = math.nan) -> Callable[..., None]:
    def value(x: Any) -> float:
        try:
            return function(float(x))
        except OverflowError:
            return math.inf
        except ValueError:  # The argument is negative infinity or a pole of the function.
            return at_pole

    return _with_output(np.vectorize(value, otypes=[np.float64]))


def _choose(condition: Any, x: Any, y: Any) -> Any:
    return np.where(condition, x, y)


def _numpy_or_product(name: str, product: Callable[..., Any]) -> Callable[..., None]:
    """Return a function that calls NumPy's function `name`, or `product` if NumPy is older than 2.2."""

    def computed(x1: Any, x2: Any, *, out: Results, **keywords: Any) -> None:
        function = getattr(np, name, None)
        if function is None:
            _write(out, product(x1, x2, **keywords), True, keywords.get("casting", "same_kind"))
        else:
            function(x1, x2, out=out, **keywords)

    return computed


matvec = _numpy_or_product("matvec", lambda x1, x2, **keywords: np.matmul(x1, x2[..., None], **keywords)[..., 0])
vecmat = _numpy_or_product(
    "vecmat", lambda x1, x2, **keywords: np.matmul(x1.conj()[..., None, :], x2, **keywords)[..., 0, :]
)


def where(condition: Any, x: Any, y: Any, *, out: Results, **keywords: Any) -> None:
    """Select elements by copies of `x` and `y` into the output, or by `numpy.where` if an operand may overlap it."""
    (result,) = out
    if keywords or any(np.may_share_memory(result, operand) for operand in (condition, x, y)):
        _with_output(_choose)(condition, x, y, out=out, **keywords)
        return
    mask = condition if np.asarray(condition).dtype == bool else np.not_equal(condition, 0)
    np.copyto(result, y)
    np.copyto(result, x, where=mask)


def _digits(scale: Any) -> int:
    # `scale` is 10 to the power of the number of digits. For an infinite `scale`, 400 digits are returned, because
    # 10**400 also exceeds float64.
    return round(math.log10(scale)) if math.isfinite(scale) else 400


def _round_decimals(a: Any, scale: Any) -> Any:
    return np.round(a, _digits(scale))


def _round_integer_digits(a: Any, scale: Any) -> Any:
    return np.round(a, -_digits(scale))


def _nan_to_num(x: Any, nan: float, above: float, below: float) -> Any:
    return np.nan_to_num(x, nan=nan, posinf=above, neginf=below)


def _weighted_sum(x: Any, a: Any, y: Any, b: Any) -> Any:
    kind = np.result_type(x, a, y, b)
    return np.add(np.multiply(x, a, dtype=kind), np.multiply(y, b, dtype=kind))


real = _with_output(np.real)
imag = _with_output(np.imag)
sinc = _with_output(np.sinc)
i0 = _with_output(lambda x: np.i0(x).reshape(np.shape(x)))
round_behind = _with_output(_round_decimals)
round_before = _with_output(_round_integer_digits)
angle = _with_output(np.angle)
angle_in_degrees = _with_output(functools.partial(np.angle, deg=True))
weighted_sum = _with_output(_weighted_sum)
nan_to_num = _with_output(_nan_to_num)
erf = _elementwise(math.erf)
erfc = _elementwise(math.erfc)
gamma = _elementwise(math.gamma)
lgamma = _elementwise(math.lgamma, math.inf)
