"""Python code that the native module calls: printing, external allocators, C types, searches for vendors' files."""
