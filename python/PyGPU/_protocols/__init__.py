"""Protocols of NumPy and the array API for arrays and the package; loaded at their first use."""
