"""Implementation of `PyGPU.driver`; each module of this folder covers one subject."""
