"""List the differences from NumPy that are kept, each with its reason."""

from __future__ import annotations

from .entries import Entry

KEPT: list[Entry] = [
    Entry("*", "kind in ('refused', 'error') and foreign and ours in ('TypeError', 'ValueError')", "raises TypeError or ValueError", "needs an array of a device, and uploads nothing implicitly (docs/arithmetic.md, Operands)"),
    Entry("*", "kind == 'accepted' and foreign", "accepts a number or a list", "converts it to an array, where NumPy fails at an attribute that only arrays have"),
    Entry("*", "numpy == 'objects' and ours == 'TypeError'", "raises TypeError", "Python objects and texts have no representation on a device"),
    Entry("*", "kind == 'error' and numpy in ('AttributeError', 'SystemError', 'KeyError')", "raises TypeError, ValueError or AxisError", "NumPy's error is an accident of its implementation"),
    Entry("*", "kind == 'error' and optional >= 2", "raises the error of another argument", "the order in which several wrong arguments are found is unspecified"),
]  # fmt: skip
"""Functions, condition, what PyGPU does, reason."""
