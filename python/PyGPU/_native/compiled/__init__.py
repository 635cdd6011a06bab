"""Queries of compiled kernels: names, headers, disassembly, occupancy."""
