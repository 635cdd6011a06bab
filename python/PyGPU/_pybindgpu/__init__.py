"""Implementation of PybindGPU's interface: status objects, classes for each dtype, calls `cuda*` and `nvml*`."""
