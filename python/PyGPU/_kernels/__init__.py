"""Functions for kernels: header insertion, names of instances, disassembly, occupancy and pickling."""
