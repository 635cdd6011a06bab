"""What ``python -m PyGPU`` does."""
