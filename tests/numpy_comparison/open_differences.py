"""List the differences from NumPy that are defects of PyGPU. Remove a difference from the list when it is corrected."""

from __future__ import annotations

from .entries import parse

OPEN = parse("")
"""The differences from NumPy that are defects of PyGPU.

No defect is known at present.
"""
