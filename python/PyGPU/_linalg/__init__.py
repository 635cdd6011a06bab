"""The parts of `PyGPU.linalg`."""
