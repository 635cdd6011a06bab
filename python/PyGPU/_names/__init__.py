"""Decorators that mark public names of PyGPU, and the index of these names that a script generates."""
