"""Public names: their declaration, index, documentation and annotations, and names that have moved."""
