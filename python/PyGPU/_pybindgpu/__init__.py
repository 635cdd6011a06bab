"""Implementation of PybindGPU's names: statuses, the classes of each dtype, and the calls `cuda*` and `nvml*`."""
