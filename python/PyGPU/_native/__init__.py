"""Python code that the native module calls, for printing, external allocators, C types and vendors' files."""
