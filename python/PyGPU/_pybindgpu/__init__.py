"""Implementation of PybindGPU's interface: status objects, classes for each dtype, functions `cuda*` and `nvml*`."""
