"""Arrays that several processes share: one process creates a handle of an array, and others open it."""
