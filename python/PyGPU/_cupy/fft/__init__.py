"""CuPy's interface to Fourier transforms: plans, their cache, and functions with SciPy's parameters."""
