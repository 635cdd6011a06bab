"""PyCUDA's function `bitlog2`, by which memory pools compute the bin number for a size."""

from __future__ import annotations

from typing import SupportsIndex

__all__ = ["bitlog2"]


def bitlog2(n: SupportsIndex) -> int:
    """Return the logarithm of a number to base 2, rounded down.

    Parameters
    ----------
    n : int
        Non-negative number.

    Returns
    -------
    int
        The logarithm; 0 if `n` is 0.

    Examples
    --------
    >>> from PyGPU.tools import bitlog2
    >>> bitlog2(17)
    4
    """
    return max(n.__index__().bit_length() - 1, 0)
