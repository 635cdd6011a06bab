"""Rules by which NumPy estimates the number of bins of a histogram, such as ``'sturges'`` and ``'fd'``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.quantiles import percentile

__all__: list[str] = []

Frequencies = Callable[[int], "np.ndarray[Any, Any]"]
"""Type of a function that counts the values in a given number of bins of equal width."""

_MOST_BINS_OF_STONE = 100


def _on_host(value: _core.GPUArray) -> Any:
    """Copy a zero-dimensional device array to the host as a NumPy scalar."""
    return value.get()[()]


def _extent(a: _core.GPUArray) -> Any:
    """Return the greatest value minus the least value; for integers the difference does not overflow."""
    if a.dtype.kind in "iu":
        return int(a.max().item()) - int(a.min().item())
    return _on_host(a.max()) - _on_host(a.min())


def _sqrt(a: _core.GPUArray, frequencies: Frequencies) -> Any:
    return _extent(a) / np.sqrt(a.size)


def _sturges(a: _core.GPUArray, frequencies: Frequencies) -> Any:
    return _extent(a) / (np.log2(a.size) + 1.0)


def _rice(a: _core.GPUArray, frequencies: Frequencies) -> Any:
    return _extent(a) / (2.0 * a.size ** (1.0 / 3))


def _scott(a: _core.GPUArray, frequencies: Frequencies) -> Any:
    return (24.0 * np.pi**0.5 / a.size) ** (1.0 / 3.0) * _on_host(a.std())


def _stone(a: _core.GPUArray, frequencies: Frequencies) -> Any:
    """Return the bin width of Stone's rule, which minimizes an estimate of the integrated squared error."""
    count, extent = a.size, _extent(a)
    if count <= 1 or extent == 0:
        return 0

    def error(bins: int) -> Any:
        shares = frequencies(bins) / count
        return (2 - (count + 1) * shares.dot(shares)) / (extent / bins)

    most = max(_MOST_BINS_OF_STONE, int(np.sqrt(count)))
    bins = min(range(1, most + 1), key=error)
    if bins == most:
        warnings.warn("The number of bins estimated may be suboptimal.", RuntimeWarning, stacklevel=4)
    return extent / bins


def _doane(a: _core.GPUArray, frequencies: Frequencies) -> Any:
    if a.size <= 2:
        return 0.0
    deviation = _on_host(a.std())
    if not deviation > 0.0:
        return 0.0
    skewness = _on_host((((a - a.mean()) / deviation) ** 3).mean())
    bound = np.sqrt(6.0 * (a.size - 2) / ((a.size + 1.0) * (a.size + 3)))
    return _extent(a) / (1.0 + np.log2(a.size) + np.log2(1.0 + np.absolute(skewness) / bound))


def _freedman_diaconis(a: _core.GPUArray, frequencies: Frequencies) -> Any:
    upper, lower = percentile(a, [75, 25]).get()
    return 2.0 * (upper - lower) * a.size ** (-1.0 / 3.0)


def _auto(a: _core.GPUArray, frequencies: Frequencies) -> Any:
    return min(max(_freedman_diaconis(a, frequencies), _sqrt(a, frequencies) / 2), _sturges(a, frequencies))


_WIDTHS: dict[str, Callable[[_core.GPUArray, Frequencies], Any]] = {
    "auto": _auto,
    "doane": _doane,
    "fd": _freedman_diaconis,
    "rice": _rice,
    "scott": _scott,
    "sqrt": _sqrt,
    "stone": _stone,
    "sturges": _sturges,
}
"""The width of a bin by each rule, computed from values that lie within the limits of the bins."""


def bin_count(a: _core.GPUArray, rule: str, edges: np.ndarray, is_limited: bool, histogram: Callable[..., Any]) -> int:
    """Return the number of bins that a rule chooses for a range; the host waits for values from the device.

    Parameters
    ----------
    a : GPUArray
        The values, on one axis.
    rule : str
        Name of the rule.
    edges : ndarray
        The first and the last bin edge.
    is_limited : bool
        Whether values may lie outside of `edges`.
    histogram : callable
        The function that counts values in bins.
    """
    if rule not in _WIDTHS:
        raise ValueError(f"{rule!r} is not a valid estimator for `bins`")
    first, last = edges
    if is_limited:
        a = a[(a >= first) & (a <= last)]
    if a.size == 0:
        return 1
    width = _WIDTHS[rule](a, lambda bins: histogram(a, bins, (first, last))[0].get())
    if not width:
        return 1
    if a.dtype.kind in "iu" and width < 1:
        width = 1
    return int(np.ceil((last - first) / width))
