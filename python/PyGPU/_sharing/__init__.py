"""Arrays shared between processes: one process exports an array, and other processes open it."""
