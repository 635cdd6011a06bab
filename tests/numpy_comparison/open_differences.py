"""List the differences from NumPy that are defects: whoever mends one deletes its line."""

from __future__ import annotations

from .entries import Entry

OPEN: list[Entry] = [
    Entry("*", "kind == 'error' and order == 3", "raises ValueError for an order that is no text"),
]  # fmt: skip
"""Functions, condition, what PyGPU does."""
