"""Implementation of `PyGPU.driver`, one module per subject."""
