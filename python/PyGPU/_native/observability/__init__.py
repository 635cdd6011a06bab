"""Functions for observability: notebook views, messages for `logging`, progress bars and benchmarks."""
