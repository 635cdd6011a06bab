"""PyCUDA's `curandom`: `rand`, generators with cuRAND's names, and the tables of quasi-random generators."""
