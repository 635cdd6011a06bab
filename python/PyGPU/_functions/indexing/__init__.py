"""Functions that create index arrays, apply functions along axes, and access elements by a flat index."""
