"""Products of arrays, implemented with ``matmul``."""
