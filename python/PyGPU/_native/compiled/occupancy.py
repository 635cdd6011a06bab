"""Result of `Kernel.occupancy`."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Occupancy"]


class Occupancy(NamedTuple):
    """Occupancy of a multiprocessor by blocks of one shape; the result of `Kernel.occupancy`."""

    blocks: int
    """Number of blocks that run on one multiprocessor at once; 0 if one block needs more resources than it has."""
    fraction: float
    """Warps of these blocks divided by the maximum number of warps of a multiprocessor, from 0 to 1."""
