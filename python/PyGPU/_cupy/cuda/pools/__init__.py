"""Memory pools in CuPy's form, and the hooks that they call."""
