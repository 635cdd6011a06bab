"""Inspection of arrays: dtypes, shared memory, real parts and rounding."""
