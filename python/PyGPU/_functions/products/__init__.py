"""Products of arrays that are a few calls of ``matmul``."""
