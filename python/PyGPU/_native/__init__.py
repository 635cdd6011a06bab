"""Python parts of PyGPU's interface: printing, external allocators, C types, vendor files."""
