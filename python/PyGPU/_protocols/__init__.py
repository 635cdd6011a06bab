"""Implementation of NumPy's and the array API's protocols; the modules are loaded at their first use."""
