"""The parts of `PyGPU.compiler`."""
