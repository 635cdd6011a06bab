"""The parts of `PyGPU.tools`."""
