"""Functions that the native module calls: printing, external allocators, C types, search for vendors' files."""
