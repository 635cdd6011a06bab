"""Implementation of `PyGPU.fusion` and `PyGPU.fusion_report`."""
