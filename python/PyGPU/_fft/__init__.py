"""Implementation of `PyGPU.fft`."""
