"""PyCUDA's module `curandom`: `rand`, random generators, and tables for quasi-random generators."""
