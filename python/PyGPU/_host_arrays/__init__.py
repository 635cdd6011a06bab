"""Functions that compute by NumPy on arrays in host memory."""
