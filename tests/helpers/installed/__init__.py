"""Provide conditions on NumPy's version, and hide installed packages from a test's processes."""
