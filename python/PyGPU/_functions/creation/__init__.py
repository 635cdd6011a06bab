"""Creation of arrays from values, ranges and files."""
