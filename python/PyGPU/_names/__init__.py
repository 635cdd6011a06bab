"""Public names of the package: the decorators that mark them, and the index that is generated from the marks."""
