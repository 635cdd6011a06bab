"""Implementation of `cupy.testing`: helpers for tests that compare the results of `cupy` with NumPy's results."""
