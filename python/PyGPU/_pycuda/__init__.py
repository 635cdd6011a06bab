"""Implementation of PyCUDA's interface, whose public modules are `PyGPU.driver`, `PyGPU.compiler` and others."""
