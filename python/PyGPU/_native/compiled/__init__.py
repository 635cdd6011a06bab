"""What is asked of compiled kernels beside launches: names, headers, machine code as text, occupancy."""
