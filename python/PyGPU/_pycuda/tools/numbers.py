"""PyCUDA's arithmetic of its pools' bins."""

from __future__ import annotations

from typing import SupportsIndex

__all__ = ["bitlog2"]


def bitlog2(n: SupportsIndex) -> int:
    """Give the logarithm to base 2, rounded down.

    Parameters
    ----------
    n : int
        A number that is not negative.

    Returns
    -------
    int
        0 for 0.

    Examples
    --------
    >>> from PyGPU.tools import bitlog2
    >>> bitlog2(17)
    4
    """
    return max(n.__index__().bit_length() - 1, 0)
