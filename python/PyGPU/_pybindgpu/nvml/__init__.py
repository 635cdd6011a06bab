"""The parts of `PyGPU.nvml`."""
