"""What NumPy and the array API ask of arrays and of the package; loaded when it is first asked for."""
