"""The public names of the package: how modules mark them, and the index that is made of the marks."""
