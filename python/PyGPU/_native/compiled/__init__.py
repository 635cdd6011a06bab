"""Functions for compiled kernels: name lookup, header insertion, disassembly, occupancy."""
