"""Implementation of NumPy's and the array API's protocols. The modules are imported at their first use."""
