"""Implementation of NumPy's and the array API's protocols. Each module of this folder is imported at its first use."""
