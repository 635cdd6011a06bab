"""Functions that inspect arrays: dtypes, shared memory, broadcast shapes and parts of numbers."""
