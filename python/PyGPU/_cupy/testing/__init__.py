"""Implementation of `cupy.testing`: helpers for tests that compare results of `cupy` with those of NumPy."""
