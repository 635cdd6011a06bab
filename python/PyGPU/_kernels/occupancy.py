"""The class `Occupancy`, which `Kernel.occupancy` returns."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Occupancy"]


class Occupancy(NamedTuple):
    """Occupancy of a multiprocessor by a kernel's blocks of a given shape; the result of `Kernel.occupancy`."""

    blocks: int
    """Number of blocks that run at once on one multiprocessor; 0 if its resources do not suffice for one block."""
    fraction: float
    """Warps of these blocks divided by the maximum number of warps of a multiprocessor, from 0 to 1."""
