"""PyCUDA's `curandom`: `rand`, generators by the vendors' names, and their tables."""
