"""Implementation of `PyGPU.testing`."""
