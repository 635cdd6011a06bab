"""Public names of the package: their marks in modules, and the index generated from the marks."""
