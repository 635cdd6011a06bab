"""Provide the cases of tests/gpu/large/run_large.py, on arrays of more than 2^31 elements, and check their results."""
