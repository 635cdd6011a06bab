"""List the differences from NumPy that are defects of PyGPU. Remove a difference from the list when it is corrected."""

from __future__ import annotations

from .difference_entries import parse

DEFECTS = parse("")
"""The differences from NumPy that are defects of PyGPU.

No defect is known at present.
"""
