"""Implementation of PyCUDA's import paths; `PyGPU.driver` and its siblings list their names."""
