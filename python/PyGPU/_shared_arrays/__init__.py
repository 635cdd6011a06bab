"""Share arrays between processes: one process creates a handle of an array, by which other processes open the array."""
