"""Elementwise functions in host memory without a NumPy ufunc: NumPy's multi-step functions, and `math`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

Results = tuple[Any, ...]


def _into(out: Results, value: Any, mask: Any, casting: Any) -> None:
    np.copyto(out[0], value, where=mask, casting=casting)


def _of(function: Callable[..., Any]) -> Callable[..., None]:
    """Write the result to the requested output, computed in the requested type."""

    def computed(
        *operands: Any, out: Results, where: Any = True, casting: str = "same_kind", dtype: np.dtype[Any] | None = None
    ) -> None:
        if dtype is not None:
            operands = tuple(np.asarray(one).astype(dtype) for one in operands)
        _into(out, function(*operands), where, casting)

    return computed


def _one_by_one(function: Callable[[float], float], at_pole: float = math.nan) -> Callable[..., None]:
    def value(x: Any) -> float:
        try:
            return function(float(x))
        except OverflowError:
            return math.inf
        except ValueError:  # a pole, or negative infinity
            return at_pole

    return _of(np.vectorize(value, otypes=[np.float64]))


def _choose(condition: Any, x: Any, y: Any) -> Any:
    return np.where(condition, x, y)


def _of_vectors(name: str, product: Callable[..., Any]) -> Callable[..., None]:
    """Call NumPy's function of the name, available from 2.2 on; otherwise compute a matrix product."""

    def computed(x1: Any, x2: Any, *, out: Results, **keywords: Any) -> None:
        function = getattr(np, name, None)
        if function is None:
            _into(out, product(x1, x2, **keywords), True, keywords.get("casting", "same_kind"))
        else:
            function(x1, x2, out=out, **keywords)

    return computed


matvec = _of_vectors("matvec", lambda x1, x2, **keywords: np.matmul(x1, x2[..., None], **keywords)[..., 0])
vecmat = _of_vectors("vecmat", lambda x1, x2, **keywords: np.matmul(x1.conj()[..., None, :], x2, **keywords)[..., 0, :])


def where(condition: Any, x: Any, y: Any, *, out: Results, **keywords: Any) -> None:
    """Select in two steps without a temporary array; with NumPy's function if an operand may be the output."""
    (result,) = out
    if keywords or any(np.may_share_memory(result, one) for one in (condition, x, y)):
        _of(_choose)(condition, x, y, out=out, **keywords)
        return
    mask = condition if np.asarray(condition).dtype == bool else np.not_equal(condition, 0)
    np.copyto(result, y)
    np.copyto(result, x, where=mask)


def _round_behind(a: Any, scale: Any) -> Any:
    return np.round(a, round(math.log10(scale)))


def _round_before(a: Any, scale: Any) -> Any:
    return np.round(a, -round(math.log10(scale)))


def _nan_to_num(x: Any, nan: float, above: float, below: float) -> Any:
    return np.nan_to_num(x, nan=nan, posinf=above, neginf=below)


def _weighted_sum(x: Any, a: Any, y: Any, b: Any) -> Any:
    kind = np.result_type(x, a, y, b)
    return np.add(np.multiply(x, a, dtype=kind), np.multiply(y, b, dtype=kind))


real = _of(np.real)
imag = _of(np.imag)
sinc = _of(np.sinc)
i0 = _of(lambda x: np.i0(x).reshape(np.shape(x)))
round_behind = _of(_round_behind)
round_before = _of(_round_before)
angle = _of(np.angle)
angle_in_degrees = _of(functools.partial(np.angle, deg=True))
weighted_sum = _of(_weighted_sum)
nan_to_num = _of(_nan_to_num)
erf = _one_by_one(math.erf)
erfc = _one_by_one(math.erfc)
gamma = _one_by_one(math.gamma)
lgamma = _one_by_one(math.lgamma, math.inf)
