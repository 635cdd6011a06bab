"""Observability: printed arrays, notebook views, messages for `logging`, progress bars and benchmarks."""
