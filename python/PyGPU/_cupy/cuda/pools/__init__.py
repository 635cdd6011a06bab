"""CuPy's memory pools, and the memory hooks that they call."""
