"""Commands of ``python -m PyGPU``, one per module."""
