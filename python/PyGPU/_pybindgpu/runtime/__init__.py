"""The parts of `PyGPU.runtime`."""
