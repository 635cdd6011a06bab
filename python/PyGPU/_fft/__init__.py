"""What `PyGPU.fft` consists of."""
