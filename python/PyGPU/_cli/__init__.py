"""Command line of ``python -m PyGPU``."""
