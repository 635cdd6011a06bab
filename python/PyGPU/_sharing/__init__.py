"""Arrays that several processes share: one process creates a handle, by which other processes open the array."""
