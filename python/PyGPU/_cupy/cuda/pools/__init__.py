"""CuPy's memory pools, and the memory hooks that the pools call."""
