"""Implementation of `PyGPU.nvml`."""
