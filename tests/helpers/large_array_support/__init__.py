"""Provide the cases of tests/gpu/large_arrays/run_large.py, on arrays of more than 2^31 elements, and their checks."""
