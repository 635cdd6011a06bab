"""Functions that create arrays from values, ranges and files."""
