"""Result of `Kernel.occupancy`."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Occupancy"]


class Occupancy(NamedTuple):
    """Occupancy of a multiprocessor by blocks of one shape; the result of `Kernel.occupancy`."""

    blocks: int
    """Blocks that run on one multiprocessor at once; 0 where not even one fits."""
    fraction: float
    """Their warps of all that a multiprocessor runs at once, from 0 to 1."""
