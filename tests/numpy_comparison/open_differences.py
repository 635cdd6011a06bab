"""List the differences from NumPy that are defects. Mending a defect deletes its paragraph, or the function there."""

from __future__ import annotations

from .entries import parse

OPEN = parse("")
"""The defects; none is known."""
